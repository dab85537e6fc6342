#include "loop/rules/planning_rules.h"

namespace interlock {
namespace {

Json rule(const MarketFacts* market, Decimal MarketRules::* value) {
    return market == nullptr ? Json() : Json(to_text(market->rules.*value));
}

}  // namespace

Json planning_symbols(const StateFacts& state, const MarketSet& market) {
    Json list = Json::array();
    for (const SymbolFacts& symbol : state.symbols) {
        if (!symbol.in_universe) {
            continue;
        }
        const MarketFacts* facts = market.find(symbol.symbol);
        list.push(Json::object({
            {"symbol", symbol.symbol.text()},
            {"tick_size", rule(facts, &MarketRules::tick_size)},
            {"step_size", rule(facts, &MarketRules::step_size)},
            {"qty_min", rule(facts, &MarketRules::qty_min)},
            {"notional_min", rule(facts, &MarketRules::notional_min)},
        }));
    }
    return list;
}

}  // namespace interlock
