// A strategy: a pure function of recorded facts and its own small memory that says which orders it
// wants. It never sends anything: its plan goes through the agent loop like any other (I3), and a
// replay steps it again to the same bytes (I9).
//
// A type is one folder trader/rules/strategies/<type>/ and one line in strategy_types.cc.
// CONTRIBUTING.md shows how.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/state_facts.h"
#include "base/json.h"
#include "base/time.h"
#include "market/wire/market_facts.h"
#include "market/wire/timeframe_signals.h"
#include "trader/rules/own_trades.h"

namespace interlock {

inline constexpr Duration kTickEveryDefault = Duration::of_seconds(60);
inline constexpr Duration kTickEveryMin = Duration::of_seconds(1);
inline constexpr Duration kTickEveryMax = Duration::of_hours(1);
// The state a strategy keeps, as text; a step that wants more has failed.
inline constexpr std::size_t kStrategyMemoryBytesMax = 16 * 1024;

// How bold a human wants a strategy to be; each type maps it to its own thresholds.
enum class RiskPosture { conservative, balanced, aggressive };
std::string_view to_word(RiskPosture posture);
Result<RiskPosture> parse_risk_posture(std::string_view word);

// An open order that this strategy placed.
struct OwnOrder {
    OrderClientId order_client_id;
    Side side = Side::buy;
    Decimal price;  // Its limit; what was reserved for a market order.
    Decimal remaining_qty;
    bool is_uncertain = false;      // Its fate is not known: neither there nor gone.
    bool cancel_requested = false;  // On its way out.
    friend bool operator==(const OwnOrder&, const OwnOrder&) = default;
};
Json encode(const OwnOrder& order);
Result<OwnOrder> decode_own_order(const Json& json);

// Everything one step sees. The effective risk mode is `state.risk_mode_in(symbol)`
// (agent-loop.md#risk-modes). Whether the plan will be sent is not among it: an observer plans
// exactly what it would trade.
struct StrategyInput {
    const StrategyId& strategy_id;
    const Symbol& symbol;
    const StateFacts& state;
    const MarketSet& market;
    const MarketSignals& signals;             // Of the timeframes it asked for.
    const std::vector<OwnOrder>& own_orders;  // Ascending by id.
    const Json& memory;                       // What the step before left; null at first.
    const OwnTrades* trades = nullptr;        // Null unless it asks for them.
    RiskPosture posture = RiskPosture::balanced;
};

// Facts of a strategy for whoever supervises it. They describe and never command.
struct StrategyAssessment {
    std::string current_intent;  // One word: "quote", "hold", "buy", "sell", "rebalance", "wait".
    std::string current_reason;  // One plain sentence.
    std::vector<std::string> key_drivers;
    std::vector<std::string> warnings;
    std::vector<std::string> constraints;
    std::optional<Decimal> confidence;  // 0 to 1.
    std::string uncertainty;            // "low", "medium", "high".
    // inventory_pressure, capacity_available, side_capacity, trend_strength, rebalance_needed,
    // signal; further ones may follow.
    Json supervision = Json::object();
};

struct StrategyStep {
    // Cancels before orders: a plan that has cancels has no intents, what they free is planned with
    // in the next step. Empty: nothing to change.
    Plan plan;
    Json memory;  // An object; only keys of the type's state schema.
    StrategyAssessment assessment;
};

// One configured strategy. Immutable; any thread.
class Strategy {
public:
    virtual ~Strategy() = default;
    virtual Duration tick_every() const = 0;
    virtual std::vector<Timeframe> timeframes() const { return {}; }
    // A quantile of the Bollinger bandwidths of one of those timeframes, told with its signals.
    virtual std::optional<BandwidthWish> bandwidth_wish() const { return std::nullopt; }
    // Set: it is told of its own trades, and of the cost of the oldest so many units held.
    virtual std::optional<Decimal> cost_qty() const { return std::nullopt; }
    // One sentence when its amounts are too small for the venue to take a single order of it.
    virtual std::optional<std::string> why_too_small(const MarketFacts&) const {
        return std::nullopt;
    }
    // An Error: a fact is missing or a number overflows; then nothing is planned (I5) and the tick
    // counts as failed.
    virtual Result<StrategyStep> step(const StrategyInput& input) const = 0;
};

// What a type wants of a market, for the report's `fit`.
struct StrategyFit {
    std::string_view expected_market_regime;
    std::string_view avoided_market_regime;
    std::string_view risk_profile;
    std::string_view liquidity_expectation;
    std::string_view event_risk_expectation;
    std::string_view volatility_expectation;
};

struct StrategyType {
    std::string_view name;  // "grid_trader"
    std::string_view label;
    StrategyFit fit;
    Json (*config_schema)();  // JSON Schema 2020-12 with defaults; additionalProperties false.
    Json (*state_schema)();
    // Decodes a config (missing keys take their defaults, unknown ones are refused by name).
    Result<std::shared_ptr<const Strategy>> (*open)(const Json& config);
};
// Ascending by name.
std::span<const StrategyType> strategy_types();
const StrategyType* find_strategy_type(std::string_view name);

// What one decision of a tick carries: one side at a time, so that reductions keep their exemption
// from the gates that stop entries (agent-loop.md#reductions).
enum class PlanPart { cancels, sells, buys };
std::string_view to_word(PlanPart part);
Plan part_of(const Plan& plan, PlanPart part);

// The recorded input of a built-in decision, besides state and market facts, and the plan again
// from it.
struct PlannerInput {
    std::string strategy_type;
    Json config;
    StrategyId strategy_id;
    Symbol symbol;
    MarketSignals signals;
    std::vector<OwnOrder> own_orders;
    Json memory;
    std::optional<OwnTrades> trades = std::nullopt;  // When the strategy asked for them.
    RiskPosture posture = RiskPosture::balanced;
    PlanPart part = PlanPart::cancels;
};
Json encode(const PlannerInput& input);
Result<PlannerInput> decode_planner_input(const Json& json);
Result<Plan> replan(const Json& planner_input, const StateFacts& state, const MarketSet& market);

}  // namespace interlock
