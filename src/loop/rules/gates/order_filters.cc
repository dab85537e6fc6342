// The venue's filters, held to exactly: what it would refuse is refused here first, with the same
// arithmetic. A zero in the rules disables a filter.
#include <algorithm>

#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

bool is_multiple(Decimal value, Decimal step) {
    return !step.is_positive() || value.units() % step.units() == 0;
}

void check_price(Decimal price, const SymbolScratch& symbol, GateNotes& notes) {
    const MarketRules& rules = symbol.market->rules;
    if (!is_multiple(price, rules.tick_size)) {
        notes.add(
            breach_codes::kTickSize,
            symbol.symbol,
            sentence("the price", price, "must be a multiple of", rules.tick_size));
    }
    if (rules.price_min.is_positive() && price < rules.price_min) {
        notes.add(
            breach_codes::kPriceRange,
            symbol.symbol,
            sentence("the price", price, "must be at least", rules.price_min));
    }
    if (rules.price_max.is_positive() && price > rules.price_max) {
        notes.add(
            breach_codes::kPriceRange,
            symbol.symbol,
            sentence("the price", price, "may be at most", rules.price_max));
    }
}

void check_percent_price(Decimal price, const SymbolScratch& symbol, GateNotes& notes) {
    const MarketRules& rules = symbol.market->rules;
    Reckoning reckon;
    const Decimal highest = reckon.multiply_down(*symbol.mid, rules.percent_up);
    const Decimal lowest = reckon.multiply_up(*symbol.mid, rules.percent_down);
    if (reckon.overflowed()) {
        notes.add_overflow(symbol.symbol);
        return;
    }
    if (rules.percent_up.is_positive() && price > highest) {
        notes.add(
            breach_codes::kPercentPrice,
            symbol.symbol,
            sentence("the price", price, "may be at most", highest));
    }
    if (rules.percent_down.is_positive() && price < lowest) {
        notes.add(
            breach_codes::kPercentPrice,
            symbol.symbol,
            sentence("the price", price, "must be at least", lowest));
    }
}

void check_qty(const Intent& intent, const SymbolScratch& symbol, GateNotes& notes) {
    const MarketRules& rules = symbol.market->rules;
    if (!is_multiple(intent.qty, rules.step_size)) {
        notes.add(
            breach_codes::kStepSize,
            symbol.symbol,
            sentence("the quantity", intent.qty, "must be a multiple of", rules.step_size));
    }
    if (rules.qty_min.is_positive() && intent.qty < rules.qty_min) {
        notes.add(
            breach_codes::kQtyMin,
            symbol.symbol,
            sentence("the quantity", intent.qty, "must be at least", rules.qty_min));
    }
    Decimal largest = rules.qty_max;
    if (intent.order_type == OrderType::market && rules.market_qty_max.is_positive()) {
        largest =
            largest.is_positive() ? std::min(largest, rules.market_qty_max) : rules.market_qty_max;
    }
    if (largest.is_positive() && intent.qty > largest) {
        notes.add(
            breach_codes::kQtyMax,
            symbol.symbol,
            sentence("the quantity", intent.qty, "may be at most", largest));
    }
}

// A market order has no price of its own: the venue values it near the mid, we at the estimate, and
// it must fit either way.
void check_notional(const IntentScratch& intent, const SymbolScratch& symbol, GateNotes& notes) {
    const MarketRules& rules = symbol.market->rules;
    const Decimal limit = intent.intent->limit_price.value_or(Decimal());
    const bool is_limit = intent.intent->limit_price.has_value();
    const Decimal low = is_limit ? limit : std::min(intent.estimate.price, *symbol.mid);
    const Decimal high = is_limit ? limit : std::max(intent.estimate.price, *symbol.mid);
    Reckoning reckon;
    const Decimal least = reckon.multiply_down(intent.intent->qty, low);
    const Decimal most = reckon.multiply_up(intent.intent->qty, high);
    if (reckon.overflowed()) {
        notes.add_overflow(symbol.symbol);
        return;
    }
    if (rules.notional_min.is_positive() && least < rules.notional_min) {
        notes.add(
            breach_codes::kNotionalMin,
            symbol.symbol,
            sentence("the order's value", least, "must be at least", rules.notional_min));
    }
    if (rules.notional_max.is_positive() && most > rules.notional_max) {
        notes.add(
            breach_codes::kNotionalMax,
            symbol.symbol,
            sentence("the order's value", most, "may be at most", rules.notional_max));
    }
}

}  // namespace

void check_order_filters(
    const IntentScratch& intent, const SymbolScratch& symbol, GateNotes& notes) {
    if (const auto& price = intent.intent->limit_price) {
        check_price(*price, symbol, notes);
        check_percent_price(*price, symbol, notes);
    }
    check_qty(*intent.intent, symbol, notes);
    check_notional(intent, symbol, notes);
}

}  // namespace interlock
