// Gate 4 (docs/contracts/agent-loop.md#market-sanity): whether the market can be traded on now, and
// whether each order is one the venue accepts at a price no sane trader would regret.
#include <algorithm>

#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

// The account's limit, or the strategy's own where that is tighter.
Decimal tighter(
    Decimal limit, const StrategyFacts* strategy, std::optional<Decimal> StrategyFacts::* own) {
    return strategy != nullptr && strategy->*own ? std::min(limit, *(strategy->*own)) : limit;
}

void check_spread(
    const MarketFacts& market,
    const IntentScratch& intent,
    const RiskLimits& limits,
    GateNotes& notes) {
    const auto spread = spread_bps_of(market);
    if (!spread) {
        notes.add(breach_codes::kPriceUnknown, market.symbol, "the spread cannot be told");
        return;
    }
    const Decimal allowed =
        tighter(limits.max_spread_bps, intent.strategy, &StrategyFacts::max_spread_bps);
    if (*spread > allowed) {
        notes.add(
            breach_codes::kSpread,
            market.symbol,
            sentence("the spread in bps is", *spread, "and may be at most", allowed));
    }
    Reckoning reckon;
    const Decimal usual =
        reckon.multiply_down(limits.spread_spike_multiple, market.spread_median_5m_bps);
    const Decimal spike = std::max(usual, limits.spread_spike_floor_bps);
    if (reckon.overflowed()) {
        notes.add_overflow(market.symbol);
    } else if (*spread > spike) {
        notes.add(
            breach_codes::kSpreadSpike,
            market.symbol,
            sentence("the spread in bps is", *spread, "and a spike begins above", spike));
    }
}

void check_market(const GateFacts& facts, const IntentScratch& intent, GateNotes& notes) {
    const MarketFacts& market = *facts.scratch.symbol_of(intent).market;
    const RiskLimits& limits = facts.state.limits;
    const Decimal age = staleness_seconds_of(market, facts.state.now);
    const Decimal age_max =
        tighter(limits.max_staleness_sec, intent.strategy, &StrategyFacts::max_staleness_sec);
    if (age > age_max) {
        notes.add(
            breach_codes::kStaleMarketData,
            market.symbol,
            sentence("market data is", age, "seconds old and may be at most", age_max));
    }
    if (is_halted(market)) {
        notes.add(
            breach_codes::kMarketHalted,
            market.symbol,
            "the market is halted, or its book is empty, one-sided or crossed");
    } else {
        check_spread(market, intent, limits, notes);
    }
    const Decimal vol_max = tighter(limits.max_vol_1m, intent.strategy, &StrategyFacts::max_vol_1m);
    if (market.vol_1m > vol_max) {
        notes.add(
            breach_codes::kVolatility,
            market.symbol,
            sentence("one-minute volatility is", market.vol_1m, "and may be at most", vol_max));
    }
}

void check_warm(const MarketFacts& market, const RiskLimits& limits, GateNotes& notes) {
    const Decimal samples(market.vol_samples);
    if (!market.is_hydrated && samples < limits.min_vol_samples) {
        notes.add(
            breach_codes::kWarmingUp,
            market.symbol,
            sentence("volatility samples", samples, "must be at least", limits.min_vol_samples));
    }
}

// How far an aggressive price may reach; the passive side is the venue's to bound.
void check_collar(
    const IntentScratch& intent,
    const SymbolScratch& symbol,
    const RiskLimits& limits,
    GateNotes& notes) {
    const MarketFacts& market = *symbol.market;
    const Decimal price = intent.intent->limit_price.value_or(intent.estimate.price);
    const bool is_buy = intent.intent->side == Side::buy;
    Reckoning reckon;
    const Decimal one(1);
    const Decimal reach = reckon.fraction_of_bps(limits.touch_collar_bps);
    const Decimal from_mid =
        is_buy ? reckon.multiply_down(*symbol.mid, reckon.add(one, limits.price_collar))
               : reckon.multiply_up(*symbol.mid, reckon.subtract(one, limits.price_collar));
    const Decimal from_touch =
        is_buy ? reckon.multiply_down(*market.best_ask, reckon.add(one, reach))
               : reckon.multiply_up(*market.best_bid, reckon.subtract(one, reach));
    if (reckon.overflowed()) {
        notes.add_overflow(symbol.symbol);
        return;
    }
    const std::string_view relation = is_buy ? "may be at most" : "must be at least";
    if (is_buy ? price > from_mid : price < from_mid) {
        notes.add(
            breach_codes::kPriceCollar,
            symbol.symbol,
            sentence("the price", price, relation, from_mid));
    }
    if (is_buy ? price > from_touch : price < from_touch) {
        notes.add(
            breach_codes::kTouchCollar,
            symbol.symbol,
            sentence("the price", price, relation, from_touch));
    }
}

// A neighbour with the same market and strategy has been told the same already.
bool is_same_question(const PlanScratch& scratch, std::size_t at) {
    if (at == 0) {
        return false;
    }
    const IntentScratch& before = scratch.intents[at - 1];
    const IntentScratch& now = scratch.intents[at];
    return before.symbol_at == now.symbol_at && before.strategy == now.strategy;
}

}  // namespace

void check_market_sanity(const GateFacts& facts, GateNotes& notes) {
    const PlanScratch& scratch = facts.scratch;
    for (std::size_t i = 0; i < scratch.intents.size(); ++i) {
        const IntentScratch& intent = scratch.intents[i];
        const SymbolScratch& symbol = scratch.symbol_of(intent);
        if (intent.problem == FillProblem::malformed) {
            notes.add(
                breach_codes::kMalformedIntent,
                symbol.symbol,
                "quantity or price of " + intent.intent->intent_id.text() +
                    " is missing or not positive");
        }
        if (symbol.market == nullptr) {
            notes.add(breach_codes::kMarketUnknown, symbol.symbol, "nothing is known of it");
            continue;
        }
        if (!is_same_question(scratch, i)) {
            check_market(facts, intent, notes);
        }
        if (intent.is_entry) {
            check_warm(*symbol.market, facts.state.limits, notes);
        }
        if (intent.problem == FillProblem::overflow) {
            notes.add_overflow(symbol.symbol);
        }
        if (intent.problem == FillProblem::none) {
            check_collar(intent, symbol, facts.state.limits, notes);
            check_order_filters(intent, symbol, notes);
        }
    }
}

}  // namespace interlock
