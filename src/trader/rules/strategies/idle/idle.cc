#include "trader/rules/strategies/idle/idle.h"

#include "trader/rules/market_desk.h"

namespace interlock {
namespace {

class Idle final : public Strategy {
public:
    explicit Idle(const IdleConfig& config) : config_(config) {}
    Duration tick_every() const override { return Duration::of_seconds(config_.tick_seconds); }

    Result<StrategyStep> step(const StrategyInput& input) const override {
        StrategyStep step;
        step.memory = Json::object();
        StrategyAssessment& assessment = step.assessment;
        assessment.current_intent = "hold";
        assessment.current_reason = "The idle strategy never trades.";
        assessment.uncertainty = "low";
        if (const auto desk = MarketDesk::open(input, Decimal())) {
            assessment.supervision = supervision_facts(*desk, {.signal = "none"});
        } else {
            assessment.warnings.push_back(desk.error().message);
        }
        if (!input.own_orders.empty()) {
            assessment.warnings.emplace_back("Orders of this strategy are open; it places none.");
        }
        return step;
    }

private:
    IdleConfig config_;
};

}  // namespace

void IdleConfig::describe(ConfigFields& fields) {
    describe_tick(fields, tick_seconds);
}

Json idle_state_schema() {
    return state_schema_of({});
}

Result<std::shared_ptr<const Strategy>> open_idle(const Json& config) {
    TRY_ASSIGN(const IdleConfig read, decode_config<IdleConfig>(config));
    return std::make_shared<const Idle>(read);
}

}  // namespace interlock
