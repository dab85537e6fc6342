// Risk scaling (docs/contracts/agent-loop.md#risk-tiers): from the health of an account to one of
// four tiers, top down, first match.
//
//     stop → defensive → reduced → normal
//
// A worse tier holds at once; a better one must be seen on three ticks in a row. A daily-loss stop
// lasts until 00:00 UTC; a drawdown stop is latched until a human resets it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/state_facts.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

// Strictest last, so that a comparison reads "stricter than".
enum class Tier { normal, reduced, defensive, stop };
std::string_view to_word(Tier tier);
RiskMode mode_of(Tier tier);

inline constexpr std::int64_t kTicksToLoosen = 3;

struct TierState {
    Tier tier = Tier::normal;
    // The strictest tier seen since better ones began to show, and on how many ticks.
    Tier candidate = Tier::normal;
    std::int64_t better_ticks = 0;
    std::optional<Timestamp> daily_stop_day;  // 00:00 UTC of the day that hit its loss limit.
    std::optional<Timestamp> drawdown_latched_at;
    std::vector<std::string> stops;  // Codes of the stops that held at the last step.
    friend bool operator==(const TierState&, const TierState&) = default;
};
Json encode(const TierState& state);
Result<TierState> decode_tier_state(const Json& json);

struct TierInput {
    Timestamp now;
    RiskLimits limits;
    std::optional<Decimal> equity;  // Nothing fails closed: stop.
    Decimal peak;
    Decimal net_deposits;
    Decimal realized_today;  // Net of fees.
    Decimal rolling_surplus_30d;
    Decimal runway_days;
    Decimal fees_30d;
    bool costs_are_zero = false;  // Configured and booked ones, fees aside: the grace needs it.
    Timestamp opened_at;
    bool drift_unresolved = false;  // Safe recovery escalated.
    bool kill_switch_active = false;
    // Worst-case exposures: positions at mid plus open buys.
    Decimal portfolio_exposure;
    Decimal symbol_exposure_max;
};

// One fired rule; codes are stable, the detail has both numbers.
struct TierReason {
    std::string_view code;
    std::string detail;
};

struct TierStep {
    TierState state;
    Tier raw = Tier::normal;          // What this tick alone says.
    std::vector<TierReason> reasons;  // Of the raw tier.
    bool in_grace = false;            // A surplus below zero was forgiven.
    bool changed = false;
    // Stops that hold now and did not at the last step: each is a critical audit event and an
    // alert.
    std::vector<TierReason> new_stops;
};
TierStep step_tier(const TierState& before, const TierInput& input);

// The mandatory stops that hold (agent-loop.md#mandatory-stops), in that order:
// `kill_switch_active`, `daily_loss_limit`, `drawdown`, `runway_below_hard_min`,
// `drift_unresolved`. Latched ones count.
std::vector<TierReason> stop_conditions(const TierState& state, const TierInput& input);

// A human lifts the drawdown stop; the caller also sets a new peak, or it latches again at once.
TierState reset_drawdown(TierState state);

}  // namespace interlock
