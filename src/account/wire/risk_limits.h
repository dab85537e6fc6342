// The limits of an account (docs/contracts/agent-loop.md#limits), each with one name everywhere:
// configuration, API, audit, doctor. A name that is not in the table is refused, so a misspelt
// guard disarms nothing.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/json.h"

namespace interlock {

struct RiskLimits {
    Decimal principal_baseline;
    Decimal daily_loss_limit;
    Decimal max_drawdown;  // Fraction of the peak.
    Decimal max_notional_per_trade;
    Decimal max_symbol_exposure;
    Decimal max_portfolio_exposure;
    Decimal max_leverage;
    Decimal max_order_qty;  // In base units; 0: only the venue's.
    Decimal hard_min_runway_days;
    Decimal soft_min_runway_days;
    Decimal target_surplus;
    Decimal max_deficit;
    Decimal reserve_accrual_rate;
    Decimal infra_cost_per_day;
    Decimal data_cost_per_day;
    Decimal ops_cost_per_day;
    Decimal max_staleness_sec;
    Decimal max_spread_bps;
    Decimal max_vol_1m;
    Decimal spread_spike_multiple;   // × the 5-minute median.
    Decimal spread_spike_floor_bps;  // Below this a spread is never a spike.
    Decimal min_vol_samples;         // Fewer: warming up.
    Decimal price_collar;            // Fraction from mid, aggressive side.
    Decimal touch_collar_bps;        // Through the far touch.
    Decimal max_open_orders_per_symbol;
    Decimal order_rate_share;  // Of the venue's ORDERS limits.
    Decimal duplicate_window_sec;
    Decimal repeated_execution_max;
    Decimal repeated_execution_window_sec;
    Decimal slippage_bps;
    Decimal taker_fee_bps;
    Decimal maker_fee_bps;
    Decimal enforce_edge;  // 1: a thin edge blocks; 0: it warns.
    friend bool operator==(const RiskLimits&, const RiskLimits&) = default;
};

// Which way a change makes the guard weaker; such a change needs a human's approval.
enum class LooserWhen { higher, lower, never };

struct LimitSpec {
    std::string_view name;
    Decimal RiskLimits::* member;
    LooserWhen looser_when;
    // Scales with net deposits (value × D) or is absolute.
    bool per_deposit;
    std::string_view fallback;  // Decimal text: the default, or the default's share of D.
    std::string_view min;       // Allowed range of a configured value.
    std::string_view max;
    // Loosening it needs two people under the two-person rule.
    bool is_hard;
    std::string_view meaning;
    bool zero_is_off = false;  // A value of 0 switches the guard off, so it is the loosest of all.
};
std::span<const LimitSpec> limit_specs();
const LimitSpec* find_limit_spec(std::string_view name);

// The defaults for net deposits D.
Result<RiskLimits> default_limits(Decimal net_deposits);

Json encode(const RiskLimits& limits);
Result<RiskLimits> decode_risk_limits(const Json& json);  // A stored one: every name, no other.

// A wanted change: some names with new values. Unknown names and values out of range are problems.
struct LimitChange {
    const LimitSpec* spec = nullptr;
    Decimal value;
};
Result<std::vector<LimitChange>> decode_limit_changes(const Json& json);
bool is_loosening(const RiskLimits& now, const LimitChange& change);

}  // namespace interlock
