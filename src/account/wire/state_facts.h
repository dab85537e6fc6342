// What was known of an account when a decision was made: the state input of gates, dry run and
// built-in planners, and the `state` artifact of a replay (replay.md#1-what-is-replayed).
// Everything a gate compares stands here as an exact decimal; nothing is looked up later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/risk_limits.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace interlock {

// agent-loop.md#risk-modes, strictest last.
enum class RiskMode { normal, reduced, defensive, reduce_only, halted };
std::string_view to_word(RiskMode mode);
Result<RiskMode> parse_risk_mode(std::string_view word);  // Aliases `cautious`, `observe_only` too.
Decimal size_factor_of(RiskMode mode);

struct OpenOrderFacts {
    OrderClientId order_client_id;
    Symbol symbol;
    Side side = Side::buy;
    Decimal remaining_qty;
    // What it may still cost or sell at: its limit, or the worst price reserved for it (market and
    // unknown orders).
    Decimal price;
    bool is_uncertain = false;
    bool is_reduce = false;
    friend bool operator==(const OpenOrderFacts&, const OpenOrderFacts&) = default;
};

struct SymbolFacts {
    Symbol symbol;
    Decimal position;  // Base units held, ≥ 0.
    Decimal avg_price;
    // Cash that open buys lock: Σ remaining × price × (1 + taker fee).
    Decimal open_buy_quote;
    Decimal open_buy_notional;  // Σ remaining × price.
    Decimal open_sell_qty;
    std::int64_t open_orders = 0;
    std::optional<Decimal> best_own_bid;  // Highest open buy, for the self-cross check.
    std::optional<Decimal> best_own_ask;  // Lowest open sell.
    bool in_universe = false;
    RiskMode risk_mode = RiskMode::normal;  // Of its concern alone; normal without one.
    friend bool operator==(const SymbolFacts&, const SymbolFacts&) = default;
};

struct StrategyFacts {
    StrategyId strategy_id;
    bool is_active = false;
    bool is_external = false;                  // Stands for an outside planner.
    bool is_disabled = false;                  // By the repeated-execution throttle.
    std::int64_t aggressive_executions = 0;    // Inside the window.
    std::optional<Decimal> max_staleness_sec;  // Its own guardrails, tighter only.
    std::optional<Decimal> max_spread_bps;
    std::optional<Decimal> max_vol_1m;
    friend bool operator==(const StrategyFacts&, const StrategyFacts&) = default;
};

// An intent that was executed lately: duplicates by content are refused
// (agent-loop.md#policy-guardrails).
struct RecentIntent {
    Symbol symbol;
    Side side = Side::buy;
    Decimal qty;
    std::optional<Decimal> limit_price;
    DecisionId decision_id;
    Timestamp at;
    friend bool operator==(const RecentIntent&, const RecentIntent&) = default;
};

// Bounds of the lists below; a stored document over one of them is refused.
inline constexpr std::size_t kStateSymbolsMax = 1000;
inline constexpr std::size_t kStateStrategiesMax = 1000;
inline constexpr std::size_t kStateRecentMax = 10'000;
inline constexpr std::size_t kStateOpenOrdersMax = 20'000;

struct StateFacts {
    Timestamp now;
    std::int64_t state_version = 0;
    TenantId tenant_id;
    AccountId account_id;
    TradeMode mode = TradeMode::paper;
    Asset quote;

    bool trading_enabled = false;
    bool kill_switch_active = true;
    bool permissions_verified = false;  // Live only: within 26 h.
    bool entries_halted = false;        // Safe recovery or a stop.
    std::string entries_halted_reason;
    std::int64_t uncertain_orders = 0;
    RiskMode risk_mode = RiskMode::normal;  // Of the account: tier, recovery, kill switch.

    std::optional<Decimal> equity;  // Nothing: a held asset has no price; gates fail closed.
    Decimal peak;
    Decimal cash_free;  // Quote not locked by open buys and reservations.
    Decimal net_deposits;
    Decimal realized_today;  // Net of fees.
    Decimal fees_today;
    // Treasury (agent-loop.md#costs).
    Decimal ops_reserve;
    Decimal fees_mean_30d;        // Per day.
    Decimal accrual_mean_30d;     // Per day.
    Decimal other_costs_per_day;  // Model costs booked, 30-day mean; configured ones are limits.
    Decimal rolling_surplus_30d;

    std::int64_t orders_last_10s = 0;
    std::int64_t orders_today = 0;

    RiskLimits limits;
    std::vector<SymbolFacts> symbols;         // Ascending.
    std::vector<StrategyFacts> strategies;    // Ascending by id.
    std::vector<RecentIntent> recent;         // Oldest first, inside the window.
    std::vector<OpenOrderFacts> open_orders;  // Ascending by id.

    const SymbolFacts* find(const Symbol& symbol) const;
    const StrategyFacts* find(const StrategyId& strategy_id) const;
    // The effective mode in one market: the stricter of the account's and its concern's. Its factor
    // is size_factor_of().
    RiskMode risk_mode_in(const Symbol& symbol) const;
    friend bool operator==(const StateFacts&, const StateFacts&) = default;
};

Json encode(const StateFacts& facts);
Result<StateFacts> decode_state_facts(const Json& json);

}  // namespace interlock
