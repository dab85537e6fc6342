#include "market/wire/market_rules.h"

#include <array>
#include <limits>

#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

struct RuleField {
    std::string_view key;
    Decimal MarketRules::* member;
};

constexpr std::array<RuleField, 11> kDecimals{{
    {"tick_size", &MarketRules::tick_size},
    {"price_min", &MarketRules::price_min},
    {"price_max", &MarketRules::price_max},
    {"step_size", &MarketRules::step_size},
    {"qty_min", &MarketRules::qty_min},
    {"qty_max", &MarketRules::qty_max},
    {"market_qty_max", &MarketRules::market_qty_max},
    {"notional_min", &MarketRules::notional_min},
    {"notional_max", &MarketRules::notional_max},
    {"percent_up", &MarketRules::percent_up},
    {"percent_down", &MarketRules::percent_down},
}};

constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

}  // namespace

Json encode(const MarketRules& rules) {
    Json json = Json::object({
        {"symbol", rules.symbol.text()},
        {"base", rules.base.text()},
        {"quote", rules.quote.text()},
    });
    for (const RuleField& field : kDecimals) {
        json.set(std::string(field.key), to_text(rules.*field.member));
    }
    json.set("open_orders_max", rules.open_orders_max);
    json.set("orders_per_10s_max", rules.orders_per_10s_max);
    json.set("orders_per_day_max", rules.orders_per_day_max);
    return json;
}

Result<MarketRules> decode_market_rules(const Json& json) {
    FieldReader in(json);
    MarketRules rules;
    rules.symbol = read_stored_symbol(in, "symbol");
    rules.base = read_stored_asset(in, "base");
    rules.quote = read_stored_asset(in, "quote");
    for (const RuleField& field : kDecimals) {
        rules.*field.member = in.required<Decimal>(field.key);
        if ((rules.*field.member).is_negative()) {
            in.add_problem(field.key, "must not be negative");
        }
    }
    rules.open_orders_max = in.required_integer("open_orders_max", 0, kCountMax);
    rules.orders_per_10s_max = in.required_integer("orders_per_10s_max", 0, kCountMax);
    rules.orders_per_day_max = in.required_integer("orders_per_day_max", 0, kCountMax);
    in.reject_unknown();
    return in.finish(std::move(rules));
}

}  // namespace interlock
