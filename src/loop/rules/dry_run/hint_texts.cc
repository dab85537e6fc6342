// What to do about each reason, in a sentence. A test holds the table to kBreachCodes.
#include <array>

#include "loop/rules/dry_run/hints.h"
#include "loop/rules/gates/breach_codes.h"

namespace interlock {
namespace {

struct Remedy {
    std::string_view code;
    std::string_view text;
};

constexpr std::array kRemedies{
    Remedy{breach_codes::kArithmeticOverflow, "Use smaller numbers."},
    Remedy{breach_codes::kPriceUnknown, "Wait until the market has a two-sided price."},
    Remedy{
        breach_codes::kEquityUnknown,
        "Wait until everything held has a price; reductions still pass."},
    Remedy{
        breach_codes::kMalformedIntent,
        "Give a positive qty, and a positive limit_price only to a limit order."},
    Remedy{breach_codes::kFactsInvalid, "Tell a human: the account's own figures do not hold."},
    Remedy{
        breach_codes::kDailyLoss,
        "Trade smaller; once the loss is reached, only reductions until 00:00 UTC."},
    Remedy{
        breach_codes::kDrawdown,
        "Trade smaller; once the fall is reached, only reductions until a human resets it."},
    Remedy{breach_codes::kPeakUnknown, "Tell a human: the equity peak must be reset."},
    Remedy{
        breach_codes::kEntriesStopped,
        "Plan reductions and cancels only, until risk_mode allows entries."},
    Remedy{breach_codes::kNotionalPerTrade, "Make the order smaller."},
    Remedy{breach_codes::kOrderQty, "Make the order smaller."},
    Remedy{
        breach_codes::kRunway,
        "Trade smaller; with too little reserve only reductions pass until a human adds to it."},
    Remedy{breach_codes::kSurplus, "Trade smaller; beyond the deficit only reductions pass."},
    Remedy{breach_codes::kSymbolExposure, "Buy less of this symbol, or sell some first."},
    Remedy{breach_codes::kPortfolioExposure, "Buy less, or sell something first."},
    Remedy{breach_codes::kLeverage, "Buy less, or sell something first."},
    Remedy{breach_codes::kShort, "Sell at most what is held and not yet offered."},
    Remedy{breach_codes::kInsufficientFunds, "Buy for at most spendable_cash, fees included."},
    Remedy{breach_codes::kOpenOrders, "Cancel open orders of this symbol first, or place fewer."},
    Remedy{breach_codes::kMarketUnknown, "Use a symbol of state.symbols."},
    Remedy{breach_codes::kStaleMarketData, "Wait for fresh market data, then plan again."},
    Remedy{breach_codes::kMarketHalted, "Wait until the market trades again."},
    Remedy{breach_codes::kSpread, "Wait until the spread is narrower."},
    Remedy{breach_codes::kSpreadSpike, "Wait until the spread is back near its median."},
    Remedy{breach_codes::kVolatility, "Wait until the market is calmer."},
    Remedy{breach_codes::kWarmingUp, "Wait until enough prices were seen."},
    Remedy{
        breach_codes::kPriceCollar,
        "Bring limit_price nearer to the mid; give a market order a limit."},
    Remedy{
        breach_codes::kTouchCollar,
        "Bring limit_price nearer to the touch; give a market order a limit."},
    Remedy{breach_codes::kTickSize, "Put limit_price on the tick."},
    Remedy{breach_codes::kPriceRange, "Bring limit_price into the venue's range."},
    Remedy{breach_codes::kPercentPrice, "Bring limit_price nearer to the mid."},
    Remedy{breach_codes::kStepSize, "Put qty on the step."},
    Remedy{breach_codes::kQtyMin, "Make the order larger."},
    Remedy{breach_codes::kQtyMax, "Make the order smaller, or split it."},
    Remedy{breach_codes::kNotionalMin, "Make the order larger."},
    Remedy{breach_codes::kNotionalMax, "Make the order smaller, or split it."},
    Remedy{breach_codes::kDust, "Leave it; buy more first to sell it with the rest."},
    Remedy{
        breach_codes::kTradingDisabled,
        "Wait: trading is off until a human enables it. Cancels still pass."},
    Remedy{
        breach_codes::kKillSwitchActive,
        "Wait: the kill switch is on and only a human can release it. Cancels still pass."},
    Remedy{breach_codes::kModeMismatch, "Use the mode in runtime_flags.mode."},
    Remedy{breach_codes::kPermissionsUnverified, "Wait until the venue key was verified again."},
    Remedy{breach_codes::kDecisionIdMissing, "Give decision_id."},
    Remedy{breach_codes::kTickIdMissing, "Give tick_id."},
    Remedy{breach_codes::kIdempotencyKeyMissing, "Give idempotency_key."},
    Remedy{breach_codes::kEmptyPlan, "Give at least one intent or cancel."},
    Remedy{breach_codes::kTooManyIntents, "Give at most 50 intents."},
    Remedy{breach_codes::kTooManyCancels, "Give at most 100 cancels."},
    Remedy{breach_codes::kNotInUniverse, "Use a symbol of state.symbols; a human can add another."},
    Remedy{breach_codes::kUnknownStrategy, "Use an id of state.strategy_ids."},
    Remedy{breach_codes::kStrategyInactive, "Use an id of state.strategy_ids."},
    Remedy{breach_codes::kStrategyNotExternal, "Use an id of state.strategy_ids."},
    Remedy{
        breach_codes::kStrategyDisabled,
        "Wait until a human enables it again, or use another of strategy_ids."},
    Remedy{breach_codes::kRepeatedExecution, "Wait: fewer aggressive decisions in the window."},
    Remedy{breach_codes::kRiskModeHalted, "Plan cancels only, until risk_mode is another."},
    Remedy{breach_codes::kHighVolSymbol, "Open in calmer symbols, or wait for another risk_mode."},
    Remedy{
        breach_codes::kUncertainOrders, "Wait until py_verify_execution knows every order's fate."},
    Remedy{breach_codes::kEntriesHalted, "Plan reductions only, until recovery is done."},
    Remedy{breach_codes::kSelfCross, "Price it behind the own order, or cancel that one first."},
    Remedy{breach_codes::kOrderRate, "Place fewer orders, or wait ten seconds."},
    Remedy{
        breach_codes::kDuplicateOf,
        "If it is the same wish, do nothing; a second one has to wait."},
    Remedy{breach_codes::kThinEdge, "Trade only where you expect more than the costs."},
    Remedy{breach_codes::kIdempotencyConflict, "Plan it under a new decision_id."},
    Remedy{"book_too_thin", "Make the order smaller, or rest a limit order."},
    Remedy{"would_take", "Price a post-only order behind the touch."},
};

}  // namespace

std::string_view remedy_of(std::string_view code) {
    for (const Remedy& remedy : kRemedies) {
        if (remedy.code == code) {
            return remedy.text;
        }
    }
    return {};
}

}  // namespace interlock
