// Everything the supervisor decides by, for one concern at one moment. Gathered once, kept as an
// artifact and read back by a replay, so the same facts give the same decision (I9).
//
// `now` is not part of the stored bundle: it stands in the record beside it, and a bundle in which
// nothing changed is the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "market/wire/timeframe_signals.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

enum class MarketRegime { range, trend_up, trend_down, wild, unclear };
std::string_view to_word(MarketRegime regime);  // `wild` is "volatile".

// Instances of one concern that a round looks at; those after them are left out.
inline constexpr std::size_t kCandidatesMax = 200;

struct SupervisorPolicy {
    Decimal min_confidence = Decimal::from_units(650'000'000'000'000'000);
    // Between two switches, and before anything that was tightened is loosened again.
    Duration minimum_hold = Duration::of_minutes(15);
    friend bool operator==(const SupervisorPolicy&, const SupervisorPolicy&) = default;
};

// What the round before left behind.
struct SupervisorMemory {
    MarketRegime regime = MarketRegime::unclear;
    // The mode that the supervisor set and may take back, and the one before it.
    std::optional<RiskMode> risk_mode_set;
    std::optional<RiskMode> risk_mode_before;
    std::optional<Timestamp> tightened_at;  // Its latest pause or stricter mode.
    friend bool operator==(const SupervisorMemory&, const SupervisorMemory&) = default;
};
Json encode(const SupervisorMemory& memory);
Result<SupervisorMemory> decode_supervisor_memory(const Json& json);

// One instance of the concern, or one that was taken for it.
struct CandidateFacts {
    StrategyId strategy_id;
    std::string strategy_type;
    ConcernId concern_id;  // Whose it is: another one's is never chosen.
    InstanceMode mode = InstanceMode::off;
    std::string status;  // As status_of() tells it.
    bool paused = false;
    bool paused_by_supervisor = false;  // What people paused stays paused.
    bool is_latched = false;
    std::string problem;     // Why it could not run; empty: it can.
    std::string trade_side;  // Of a trend follower: "long" or "short".
    // Of its assessment. Nothing: it does not say.
    std::optional<Decimal> inventory_pressure;
    std::optional<bool> capacity_available;
    std::optional<Decimal> buy_capacity;
    std::optional<Decimal> sell_capacity;
    std::optional<bool> rebalance_needed;
    std::optional<Decimal> grid_step_pct;
    friend bool operator==(const CandidateFacts&, const CandidateFacts&) = default;
};

struct SupervisorFacts {
    ConcernId concern_id;
    AccountId account_id;
    Symbol symbol;
    Timestamp now;
    ConcernStatus status = ConcernStatus::active;
    RiskMode risk_mode = RiskMode::normal;
    ExecutionQuality quality = ExecutionQuality::good;
    bool is_switching = false;
    bool kill_switch_active = false;
    std::optional<StrategyId> active_strategy_id;
    std::optional<Timestamp> active_since;
    MarketSignals signals;                   // Of 1m, 5m, 15m and 1h.
    std::vector<CandidateFacts> candidates;  // Ascending by id.
    SupervisorMemory memory;
    SupervisorPolicy policy;

    const CandidateFacts* active() const;
    friend bool operator==(const SupervisorFacts&, const SupervisorFacts&) = default;
};
// The bundle, without `now`.
Json encode(const SupervisorFacts& facts);
Result<SupervisorFacts> decode_supervisor_facts(const Json& bundle, Timestamp now);

// Takes the supervision block of an instance's assessment; what is missing there is missing here.
void take_supervision(CandidateFacts& candidate, const Json& supervision);

}  // namespace interlock
