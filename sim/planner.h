// An outside planner that does not play by the rules: it plans inside and outside the limits, skips
// steps, executes with other plans' tickets and altered ids, repeats old calls and makes bodies
// that mean nothing. It also trades properly, because a server that refuses everything would look
// safe.
//
// It sees what a planner could see: its own calls, their answers and the market.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "account/ports/venue.h"
#include "sim/command.h"
#include "sim/limit_oracle.h"
#include "sim/seeded.h"

namespace interlock::sim {

// An access key that planners let slip; it must turn up nowhere in what is kept (NEVER 8).
inline constexpr std::string_view kSlippedKey = "ilk_thiskeymustneverbekept";

class HostilePlanner {
public:
    struct Sight {
        const People& people;
        std::function<Timestamp()> now;
        const MarketFeed* feed = nullptr;  // Null: there is nothing to trade.
        // What the tenant's last plan was judged on; null before the first.
        std::function<std::shared_ptr<const SeenFacts>(const TenantId&)> facts = nullptr;
    };
    explicit HostilePlanner(Sight sight) : sight_(std::move(sight)) {}

    static constexpr std::size_t kPlansMax = 60;
    static constexpr std::size_t kHistoryMax = 200;
    static constexpr std::size_t kOrdersMax = 200;

    Command compose(SeededRandom& random);
    // The next step of a plan on its way, or a new one: what a planner in good faith would do.
    Command proceed(SeededRandom& random);
    void on_reply(const Command& command, const Result<Answer>& result);
    const std::vector<Command>& history() const { return history_; }

private:
    enum class Stage { planned, validated, rehearsed, executed, dead };
    struct PlanUnderWay {
        TenantId tenant_id;
        std::string decision_id;
        Json intents = Json::array();
        Json cancels = Json::array();
        std::vector<std::string> order_ids;
        Stage stage = Stage::planned;
    };

    Command call(SeededRandom& random, const TenantId& tenant_id, std::string tool, Json body);
    PlanUnderWay& new_plan(SeededRandom& random);
    std::optional<Json> new_intent(SeededRandom& random);
    // Plans that aim at a limit, in planner_edges.cc.
    std::optional<Json> edge_intents(SeededRandom& random, const TenantId& tenant_id);
    Command validate(SeededRandom& random, PlanUnderWay& plan);
    Command dry_run(SeededRandom& random, PlanUnderWay& plan);
    Command execute(SeededRandom& random, PlanUnderWay& plan);
    Json approved_intents(const PlanUnderWay& plan) const;
    Command cheat(SeededRandom& random);
    Command read(SeededRandom& random);
    Command nonsense(SeededRandom& random);
    Command repeat(SeededRandom& random);
    PlanUnderWay* find(const TenantId& tenant_id, const std::string& decision_id);
    Json ids_of(const PlanUnderWay& plan, SeededRandom& random);

    Sight sight_;
    std::vector<PlanUnderWay> plans_;
    std::vector<Command> history_;
    std::map<TenantId, std::vector<std::string>> orders_;
    std::map<TenantId, std::uint64_t> numbers_;  // Tenants use the same texts, on purpose.
};

}  // namespace interlock::sim
