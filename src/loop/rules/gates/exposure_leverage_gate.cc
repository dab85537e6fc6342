// Gate 3 (docs/contracts/agent-loop.md#exposure-and-leverage): what would be held and owed if every
// open buy and every buy of this plan filled. Sells add nothing, and take nothing away before they
// have happened.
#include <algorithm>

#include "account/rules/dust.h"
#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

struct Exposure {
    Decimal marked;  // Positions at mid and open buys at their limit.
    Decimal locked;  // Positions at mid and open buys at the cash they lock.
    bool is_known = true;
};

struct Holding {
    const SymbolFacts& facts;
    const MarketFacts* market = nullptr;
    Decimal net_deposits;
};

// Without a price what cost next to nothing counts at that cost; anything else is not known.
std::optional<Decimal> value_of(const Holding& holding, Reckoning& reckon) {
    const SymbolFacts& facts = holding.facts;
    if (const auto mid = holding.market == nullptr ? std::nullopt : mid_of(*holding.market)) {
        return reckon.multiply_up(facts.position, *mid);
    }
    const Decimal cost = reckon.multiply_up(facts.position, facts.avg_price);
    return is_negligible(cost, holding.net_deposits) ? std::optional(cost) : std::nullopt;
}

Exposure exposure_of(const Holding& holding, Reckoning& reckon, GateNotes& notes) {
    const SymbolFacts& facts = holding.facts;
    if (facts.position.is_negative() || facts.open_buy_notional.is_negative() ||
        facts.open_buy_quote.is_negative() || facts.open_sell_qty.is_negative()) {
        notes.add(
            breach_codes::kFactsInvalid, facts.symbol, "a position or open order is negative");
        return {.marked = {}, .locked = {}, .is_known = false};
    }
    Decimal held;
    if (!facts.position.is_zero()) {
        const auto value = value_of(holding, reckon);
        if (!value) {
            notes.add(breach_codes::kPriceUnknown, facts.symbol, "a held position has no price");
            return {.marked = {}, .locked = {}, .is_known = false};
        }
        held = *value;
    }
    return {
        .marked = reckon.add(held, facts.open_buy_notional),
        .locked = reckon.add(held, facts.open_buy_quote),
    };
}

void check_symbol(const SymbolScratch& symbol, const GateFacts& facts, GateNotes& notes) {
    const Decimal limit = facts.state.limits.max_symbol_exposure;
    Reckoning reckon;
    Decimal exposure = symbol.buys_notional;
    if (symbol.facts != nullptr) {
        const Exposure before =
            exposure_of({*symbol.facts, symbol.market, facts.state.net_deposits}, reckon, notes);
        if (!before.is_known) {
            return;
        }
        exposure = reckon.add(exposure, before.marked);
    }
    if (reckon.overflowed()) {
        notes.add_overflow(symbol.symbol);
    } else if (exposure >= limit) {
        notes.add(
            breach_codes::kSymbolExposure,
            symbol.symbol,
            sentence("the symbol's exposure would be", exposure, "and must stay below", limit));
    }
}

void check_leverage(const StateFacts& state, Decimal gross, GateNotes& notes) {
    if (!state.equity) {
        notes.add(breach_codes::kEquityUnknown, "a held asset has no price");
        return;
    }
    Reckoning reckon;
    const Decimal allowed = reckon.multiply_down(state.limits.max_leverage, *state.equity);
    if (reckon.overflowed()) {
        notes.add_overflow({});
    } else if (gross > allowed) {
        notes.add(
            breach_codes::kLeverage,
            sentence("gross exposure would be", gross, "and may be at most", allowed));
    }
}

// Both lists ascend by symbol, so one walk finds every price.
void check_portfolio(const GateFacts& facts, GateNotes& notes) {
    Reckoning reckon;
    Decimal marked;
    Decimal gross;
    auto market = facts.market.markets.begin();
    const auto end = facts.market.markets.end();
    for (const SymbolFacts& held : facts.state.symbols) {
        while (market != end && market->symbol < held.symbol) {
            ++market;
        }
        const bool found = market != end && market->symbol == held.symbol;
        const Exposure exposure = exposure_of(
            {held, found ? &*market : nullptr, facts.state.net_deposits}, reckon, notes);
        marked = reckon.add(marked, exposure.marked);
        gross = reckon.add(gross, exposure.locked);
    }
    for (const IntentScratch& intent : facts.scratch.intents) {
        if (intent.intent->side == Side::buy) {
            marked = reckon.add(marked, intent.estimate.notional);
            gross = reckon.add(gross, reckon.add(intent.estimate.notional, intent.estimate.fee));
        }
    }
    if (reckon.overflowed()) {
        notes.add_overflow({});
        return;
    }
    const Decimal limit = facts.state.limits.max_portfolio_exposure;
    if (marked >= limit) {
        notes.add(
            breach_codes::kPortfolioExposure,
            sentence("the whole exposure would be", marked, "and must stay below", limit));
    }
    check_leverage(facts.state, gross, notes);
}

void check_funds(const GateFacts& facts, GateNotes& notes) {
    Reckoning reckon;
    Decimal cost;
    for (const IntentScratch& intent : facts.scratch.intents) {
        if (intent.intent->side != Side::buy) {
            continue;
        }
        cost = reckon.add(cost, reckon.add(intent.estimate.notional, intent.estimate.fee));
        if (reckon.overflowed()) {
            notes.add_overflow(intent.intent->symbol);
            return;
        }
        if (cost > facts.state.cash_free) {
            notes.add(
                breach_codes::kInsufficientFunds,
                intent.intent->symbol,
                sentence(
                    "the buys up to here cost",
                    cost,
                    "and may cost at most",
                    facts.state.cash_free));
        }
    }
}

void check_open_orders(const SymbolScratch& symbol, const RiskLimits& limits, GateNotes& notes) {
    const std::int64_t open = symbol.facts == nullptr ? 0 : symbol.facts->open_orders;
    std::int64_t after = 0;
    if (__builtin_add_overflow(open, symbol.orders, &after)) {
        notes.add_overflow(symbol.symbol);
        return;
    }
    Decimal allowed = limits.max_open_orders_per_symbol;
    if (symbol.market != nullptr && symbol.market->rules.open_orders_max > 0) {
        allowed = std::min(allowed, Decimal(symbol.market->rules.open_orders_max));
    }
    if (Decimal(after) > allowed) {
        notes.add(
            breach_codes::kOpenOrders,
            symbol.symbol,
            sentence("open orders would be", Decimal(after), "and may be at most", allowed));
    }
}

void note_oversold(const Intent& sell, const SymbolScratch& symbol, GateNotes& notes) {
    const bool has_dust = symbol.facts != nullptr && symbol.market != nullptr &&
                          is_dust(symbol.facts->position, *symbol.market);
    if (has_dust) {
        notes.add(
            breach_codes::kDust,
            sell.symbol,
            "what is held, " + to_text(symbol.facts->position) +
                ", is less than the venue's least order and cannot be sold");
        return;
    }
    notes.add(
        breach_codes::kShort,
        sell.symbol,
        "sells " + to_text(sell.qty) + ", more than is held and not yet offered");
}

}  // namespace

void check_exposure_leverage(const GateFacts& facts, GateNotes& notes) {
    note_fill_problems(facts.scratch, notes);
    for (const IntentScratch& intent : facts.scratch.intents) {
        if (intent.is_entry && intent.intent->side == Side::sell) {
            note_oversold(*intent.intent, facts.scratch.symbol_of(intent), notes);
        }
    }
    for (const SymbolScratch& symbol : facts.scratch.symbols) {
        if (symbol.has_buy) {
            check_symbol(symbol, facts, notes);
        }
        check_open_orders(symbol, facts.state.limits, notes);
    }
    check_portfolio(facts, notes);
    check_funds(facts, notes);
}

}  // namespace interlock
