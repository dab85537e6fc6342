// Every code a gate or the dry run can refuse with. Stable: programs match on them, so a code is
// never renamed or given another meaning. kBreachCodes tells each one's meaning in a line; the
// documents and the conformance tables are held to it.
#pragma once

#include <array>
#include <string_view>

namespace interlock {

namespace breach_codes {
// Any gate.
inline constexpr std::string_view kArithmeticOverflow = "arithmetic_overflow";
inline constexpr std::string_view kPriceUnknown = "price_unknown";
inline constexpr std::string_view kEquityUnknown = "equity_unknown";
inline constexpr std::string_view kMalformedIntent = "malformed_intent";
inline constexpr std::string_view kFactsInvalid = "facts_invalid";
// risk_limits.
inline constexpr std::string_view kDailyLoss = "daily_loss";
inline constexpr std::string_view kDrawdown = "drawdown";
inline constexpr std::string_view kPeakUnknown = "peak_unknown";
inline constexpr std::string_view kEntriesStopped = "entries_stopped";
inline constexpr std::string_view kNotionalPerTrade = "notional_per_trade";
inline constexpr std::string_view kOrderQty = "order_qty";
// runway_budget.
inline constexpr std::string_view kRunway = "runway";
inline constexpr std::string_view kSurplus = "surplus";
// exposure_leverage.
inline constexpr std::string_view kSymbolExposure = "symbol_exposure";
inline constexpr std::string_view kPortfolioExposure = "portfolio_exposure";
inline constexpr std::string_view kLeverage = "leverage";
inline constexpr std::string_view kShort = "short";
inline constexpr std::string_view kDust = "dust";
inline constexpr std::string_view kInsufficientFunds = "insufficient_funds";
inline constexpr std::string_view kOpenOrders = "open_orders";
// market_sanity.
inline constexpr std::string_view kMarketUnknown = "market_unknown";
inline constexpr std::string_view kStaleMarketData = "stale_market_data";
inline constexpr std::string_view kMarketHalted = "market_halted";
inline constexpr std::string_view kSpread = "spread";
inline constexpr std::string_view kSpreadSpike = "spread_spike";
inline constexpr std::string_view kVolatility = "volatility";
inline constexpr std::string_view kWarmingUp = "warming_up";
inline constexpr std::string_view kPriceCollar = "price_collar";
inline constexpr std::string_view kTouchCollar = "touch_collar";
inline constexpr std::string_view kTickSize = "tick_size";
inline constexpr std::string_view kPriceRange = "price_range";
inline constexpr std::string_view kPercentPrice = "percent_price";
inline constexpr std::string_view kStepSize = "step_size";
inline constexpr std::string_view kQtyMin = "qty_min";
inline constexpr std::string_view kQtyMax = "qty_max";
inline constexpr std::string_view kNotionalMin = "notional_min";
inline constexpr std::string_view kNotionalMax = "notional_max";
// policy_guardrails.
inline constexpr std::string_view kTradingDisabled = "trading_disabled";
inline constexpr std::string_view kKillSwitchActive = "kill_switch_active";
inline constexpr std::string_view kModeMismatch = "mode_mismatch";
inline constexpr std::string_view kPermissionsUnverified = "permissions_unverified";
inline constexpr std::string_view kDecisionIdMissing = "decision_id_missing";
inline constexpr std::string_view kTickIdMissing = "tick_id_missing";
inline constexpr std::string_view kIdempotencyKeyMissing = "idempotency_key_missing";
inline constexpr std::string_view kEmptyPlan = "empty_plan";
inline constexpr std::string_view kTooManyIntents = "too_many_intents";
inline constexpr std::string_view kTooManyCancels = "too_many_cancels";
inline constexpr std::string_view kNotInUniverse = "not_in_universe";
inline constexpr std::string_view kUnknownStrategy = "unknown_strategy";
inline constexpr std::string_view kStrategyInactive = "strategy_inactive";
inline constexpr std::string_view kStrategyNotExternal = "strategy_not_external";
inline constexpr std::string_view kStrategyDisabled = "strategy_disabled";
inline constexpr std::string_view kRepeatedExecution = "repeated_execution";
inline constexpr std::string_view kRiskModeHalted = "risk_mode_halted";
inline constexpr std::string_view kHighVolSymbol = "high_vol_symbol";
inline constexpr std::string_view kUncertainOrders = "uncertain_orders";
inline constexpr std::string_view kEntriesHalted = "entries_halted";
inline constexpr std::string_view kSelfCross = "self_cross";
inline constexpr std::string_view kOrderRate = "order_rate";
inline constexpr std::string_view kDuplicateOf = "duplicate_of";
inline constexpr std::string_view kThinEdge = "thin_edge";
// The dry run only.
inline constexpr std::string_view kIdempotencyConflict = "idempotency_conflict";
inline constexpr std::string_view kBookTooThin = "book_too_thin";
inline constexpr std::string_view kWouldTake = "would_take";
}  // namespace breach_codes

struct BreachCode {
    std::string_view code;
    std::string_view meaning;
};

inline constexpr std::array kBreachCodes{
    BreachCode{breach_codes::kArithmeticOverflow, "A number left the range of exact decimals."},
    BreachCode{breach_codes::kPriceUnknown, "A price that the gate needs is not known."},
    BreachCode{breach_codes::kEquityUnknown, "A held asset has no price, so equity is not known."},
    BreachCode{breach_codes::kMalformedIntent, "Quantity or price are missing or not positive."},
    BreachCode{breach_codes::kFactsInvalid, "A fact is negative that cannot be."},
    BreachCode{breach_codes::kDailyLoss, "Today's result would reach the daily loss limit."},
    BreachCode{breach_codes::kDrawdown, "The fall from the peak would reach the drawdown limit."},
    BreachCode{breach_codes::kPeakUnknown, "The equity peak is not known."},
    BreachCode{breach_codes::kEntriesStopped, "The risk mode allows no new entries."},
    BreachCode{breach_codes::kNotionalPerTrade, "The order is too large for one trade."},
    BreachCode{breach_codes::kOrderQty, "The quantity is above the largest allowed one."},
    BreachCode{breach_codes::kRunway, "The operating reserve would last too few days."},
    BreachCode{breach_codes::kSurplus, "The 30-day deficit would be too large."},
    BreachCode{breach_codes::kSymbolExposure, "The symbol's exposure would reach its limit."},
    BreachCode{breach_codes::kPortfolioExposure, "The whole exposure would reach its limit."},
    BreachCode{breach_codes::kLeverage, "Gross exposure would exceed the allowed leverage."},
    BreachCode{breach_codes::kShort, "The order sells more than is held and not yet offered."},
    BreachCode{breach_codes::kDust, "What is held is less than the venue's least order."},
    BreachCode{breach_codes::kInsufficientFunds, "The free quote balance does not cover the buys."},
    BreachCode{breach_codes::kOpenOrders, "The symbol would have too many open orders."},
    BreachCode{breach_codes::kMarketUnknown, "Nothing is known of this market."},
    BreachCode{breach_codes::kStaleMarketData, "The market data is too old."},
    BreachCode{breach_codes::kMarketHalted, "The market is halted, empty, one-sided or crossed."},
    BreachCode{breach_codes::kSpread, "The spread is wider than allowed."},
    BreachCode{breach_codes::kSpreadSpike, "The spread is far above its recent median."},
    BreachCode{breach_codes::kVolatility, "The market moves more than allowed."},
    BreachCode{breach_codes::kWarmingUp, "There are too few volatility samples for an entry."},
    BreachCode{breach_codes::kPriceCollar, "The price is too aggressive against the mid."},
    BreachCode{breach_codes::kTouchCollar, "The price reaches too far through the far touch."},
    BreachCode{breach_codes::kTickSize, "The price is no multiple of the venue's tick."},
    BreachCode{breach_codes::kPriceRange, "The price lies outside the venue's range."},
    BreachCode{breach_codes::kPercentPrice, "The price is too far from the mid for the venue."},
    BreachCode{breach_codes::kStepSize, "The quantity is no multiple of the venue's step."},
    BreachCode{breach_codes::kQtyMin, "The quantity is below the venue's minimum."},
    BreachCode{breach_codes::kQtyMax, "The quantity is above the venue's maximum."},
    BreachCode{breach_codes::kNotionalMin, "The order's value is below the venue's minimum."},
    BreachCode{breach_codes::kNotionalMax, "The order's value is above the venue's maximum."},
    BreachCode{breach_codes::kTradingDisabled, "Trading is not enabled on this account."},
    BreachCode{breach_codes::kKillSwitchActive, "The kill switch is on; only cancels pass."},
    BreachCode{breach_codes::kModeMismatch, "The wanted mode is not the account's mode."},
    BreachCode{breach_codes::kPermissionsUnverified, "The venue key was not verified lately."},
    BreachCode{breach_codes::kDecisionIdMissing, "The decision has no id."},
    BreachCode{breach_codes::kTickIdMissing, "The tick has no id."},
    BreachCode{breach_codes::kIdempotencyKeyMissing, "The request has no idempotency key."},
    BreachCode{breach_codes::kEmptyPlan, "The plan neither orders nor cancels."},
    BreachCode{breach_codes::kTooManyIntents, "The plan has more intents than one plan may."},
    BreachCode{breach_codes::kTooManyCancels, "The plan has more cancels than one plan may."},
    BreachCode{breach_codes::kNotInUniverse, "The symbol is not in the approved universe."},
    BreachCode{breach_codes::kUnknownStrategy, "The account has no such strategy."},
    BreachCode{breach_codes::kStrategyInactive, "The strategy is not active."},
    BreachCode{breach_codes::kStrategyNotExternal, "Outside planners need an external strategy."},
    BreachCode{
        breach_codes::kStrategyDisabled,
        "The strategy may only reduce until a human re-enables it."},
    BreachCode{breach_codes::kRepeatedExecution, "The strategy executed too often lately."},
    BreachCode{breach_codes::kRiskModeHalted, "The risk mode allows cancels only."},
    BreachCode{breach_codes::kHighVolSymbol, "Defensive mode opens nothing in such a symbol."},
    BreachCode{breach_codes::kUncertainOrders, "An order's outcome is not known yet."},
    BreachCode{breach_codes::kEntriesHalted, "Entries are halted until recovery is done."},
    BreachCode{breach_codes::kSelfCross, "The order would trade with an own order."},
    BreachCode{breach_codes::kOrderRate, "The venue's order rate would be used up."},
    BreachCode{breach_codes::kDuplicateOf, "Another decision ordered the same a moment ago."},
    BreachCode{breach_codes::kThinEdge, "The expected edge does not cover the costs."},
    BreachCode{breach_codes::kIdempotencyConflict, "The order id is taken by another order."},
    BreachCode{breach_codes::kBookTooThin, "The book does not carry an order of this size."},
    BreachCode{breach_codes::kWouldTake, "The post-only order would trade at once."},
};

}  // namespace interlock
