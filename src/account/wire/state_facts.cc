#include "account/wire/state_facts.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kRiskModes{
    "normal", "reduced", "defensive", "reduce_only", "halted"};
constexpr std::array<std::string_view, 2> kSides{"buy", "sell"};
constexpr std::array<std::string_view, 3> kTradeModes{"paper", "shadow", "live"};
constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kVersionMax = std::int64_t{1} << 53;

Json encode_optional(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Decimal read_amount(FieldReader& in, std::string_view key) {
    const Decimal value = in.required<Decimal>(key);
    if (value.is_negative()) {
        in.add_problem(key, "must not be negative");
    }
    return value;
}

Json encode(const OpenOrderFacts& order) {
    return Json::object({
        {"order_client_id", order.order_client_id.text()},
        {"symbol", order.symbol.text()},
        {"side", to_word(order.side)},
        {"remaining_qty", to_text(order.remaining_qty)},
        {"price", to_text(order.price)},
        {"is_uncertain", order.is_uncertain},
        {"is_reduce", order.is_reduce},
    });
}

Result<OpenOrderFacts> decode_open_order(const Json& json) {
    FieldReader in(json);
    OpenOrderFacts order{
        .order_client_id = in.required<OrderClientId>("order_client_id"),
        .symbol = read_stored_symbol(in, "symbol"),
        .side = static_cast<Side>(in.required_word_index("side", kSides)),
        .remaining_qty = read_amount(in, "remaining_qty"),
        .price = read_amount(in, "price"),
        .is_uncertain = in.required<bool>("is_uncertain"),
        .is_reduce = in.required<bool>("is_reduce"),
    };
    in.reject_unknown();
    return in.finish(std::move(order));
}

Json encode(const SymbolFacts& facts) {
    return Json::object({
        {"symbol", facts.symbol.text()},
        {"position", to_text(facts.position)},
        {"avg_price", to_text(facts.avg_price)},
        {"open_buy_quote", to_text(facts.open_buy_quote)},
        {"open_buy_notional", to_text(facts.open_buy_notional)},
        {"open_sell_qty", to_text(facts.open_sell_qty)},
        {"open_orders", facts.open_orders},
        {"best_own_bid", encode_optional(facts.best_own_bid)},
        {"best_own_ask", encode_optional(facts.best_own_ask)},
        {"in_universe", facts.in_universe},
        {"risk_mode", to_word(facts.risk_mode)},
    });
}

Result<SymbolFacts> decode_symbol_facts(const Json& json) {
    FieldReader in(json);
    SymbolFacts facts{
        .symbol = read_stored_symbol(in, "symbol"),
        .position = read_amount(in, "position"),
        .avg_price = read_amount(in, "avg_price"),
        .open_buy_quote = read_amount(in, "open_buy_quote"),
        .open_buy_notional = read_amount(in, "open_buy_notional"),
        .open_sell_qty = read_amount(in, "open_sell_qty"),
        .open_orders = in.required_integer("open_orders", 0, kCountMax),
        .best_own_bid = in.required_nullable<Decimal>("best_own_bid"),
        .best_own_ask = in.required_nullable<Decimal>("best_own_ask"),
        .in_universe = in.required<bool>("in_universe"),
        .risk_mode = static_cast<RiskMode>(in.required_word_index("risk_mode", kRiskModes)),
    };
    in.reject_unknown();
    return in.finish(std::move(facts));
}

Json encode(const StrategyFacts& facts) {
    return Json::object({
        {"strategy_id", facts.strategy_id.text()},
        {"is_active", facts.is_active},
        {"is_external", facts.is_external},
        {"is_disabled", facts.is_disabled},
        {"aggressive_executions", facts.aggressive_executions},
        {"max_staleness_sec", encode_optional(facts.max_staleness_sec)},
        {"max_spread_bps", encode_optional(facts.max_spread_bps)},
        {"max_vol_1m", encode_optional(facts.max_vol_1m)},
    });
}

Result<StrategyFacts> decode_strategy_facts(const Json& json) {
    FieldReader in(json);
    StrategyFacts facts{
        .strategy_id = in.required<StrategyId>("strategy_id"),
        .is_active = in.required<bool>("is_active"),
        .is_external = in.required<bool>("is_external"),
        .is_disabled = in.required<bool>("is_disabled"),
        .aggressive_executions = in.required_integer("aggressive_executions", 0, kCountMax),
        .max_staleness_sec = in.required_nullable<Decimal>("max_staleness_sec"),
        .max_spread_bps = in.required_nullable<Decimal>("max_spread_bps"),
        .max_vol_1m = in.required_nullable<Decimal>("max_vol_1m"),
    };
    in.reject_unknown();
    return in.finish(std::move(facts));
}

Json encode(const RecentIntent& intent) {
    return Json::object({
        {"symbol", intent.symbol.text()},
        {"side", to_word(intent.side)},
        {"qty", to_text(intent.qty)},
        {"limit_price", encode_optional(intent.limit_price)},
        {"decision_id", intent.decision_id.text()},
        {"at_us", intent.at.microseconds},
    });
}

Result<RecentIntent> decode_recent_intent(const Json& json) {
    FieldReader in(json);
    RecentIntent intent{
        .symbol = read_stored_symbol(in, "symbol"),
        .side = static_cast<Side>(in.required_word_index("side", kSides)),
        .qty = read_amount(in, "qty"),
        .limit_price = in.required_nullable<Decimal>("limit_price"),
        .decision_id = in.required<DecisionId>("decision_id"),
        .at = read_stored_time(in, "at_us"),
    };
    in.reject_unknown();
    return in.finish(std::move(intent));
}

template <class T>
Json encode_all(const std::vector<T>& items) {
    Json json = Json::array();
    for (const T& item : items) {
        json.push(encode(item));
    }
    return json;
}

template <class T>
struct ListShape {
    std::string_view key;
    std::size_t count_max;
    Result<T> (*decode)(const Json&);
    // True when the second may stand behind the first; lookups rely on the order.
    bool (*ascends)(const T&, const T&);
};

template <class T>
std::vector<T> read_list(FieldReader& in, const ListShape<T>& shape) {
    std::vector<T> items;
    for (const Json& json : in.required_array(shape.key, shape.count_max)) {
        auto item = shape.decode(json);
        if (!item) {
            in.absorb(item.error());
            continue;
        }
        if (!items.empty() && !shape.ascends(items.back(), *item)) {
            in.add_problem(shape.key, "is not in ascending order");
        }
        items.push_back(*std::move(item));
    }
    return items;
}

void read_lists(FieldReader& in, StateFacts& facts) {
    facts.symbols = read_list<SymbolFacts>(
        in, {"symbols", kStateSymbolsMax, decode_symbol_facts, [](const auto& a, const auto& b) {
                 return a.symbol < b.symbol;
             }});
    facts.strategies = read_list<StrategyFacts>(
        in,
        {"strategies",
         kStateStrategiesMax,
         decode_strategy_facts,
         [](const auto& a, const auto& b) { return a.strategy_id < b.strategy_id; }});
    facts.recent = read_list<RecentIntent>(
        in, {"recent", kStateRecentMax, decode_recent_intent, [](const auto& a, const auto& b) {
                 return a.at <= b.at;
             }});
    facts.open_orders = read_list<OpenOrderFacts>(
        in,
        {"open_orders", kStateOpenOrdersMax, decode_open_order, [](const auto& a, const auto& b) {
             return a.order_client_id < b.order_client_id;
         }});
}

void read_flags(FieldReader& in, StateFacts& facts) {
    facts.trading_enabled = in.required<bool>("trading_enabled");
    facts.kill_switch_active = in.required<bool>("kill_switch_active");
    facts.permissions_verified = in.required<bool>("permissions_verified");
    facts.entries_halted = in.required<bool>("entries_halted");
    facts.entries_halted_reason = in.required_text("entries_halted_reason", {.length_min = 0});
    facts.uncertain_orders = in.required_integer("uncertain_orders", 0, kCountMax);
    facts.risk_mode = static_cast<RiskMode>(in.required_word_index("risk_mode", kRiskModes));
}

void read_money(FieldReader& in, StateFacts& facts) {
    facts.equity = in.required_nullable<Decimal>("equity");
    facts.peak = in.required<Decimal>("peak");
    facts.cash_free = in.required<Decimal>("cash_free");
    facts.net_deposits = in.required<Decimal>("net_deposits");
    facts.realized_today = in.required<Decimal>("realized_today");
    facts.fees_today = in.required<Decimal>("fees_today");
    facts.ops_reserve = in.required<Decimal>("ops_reserve");
    facts.fees_mean_30d = in.required<Decimal>("fees_mean_30d");
    facts.accrual_mean_30d = in.required<Decimal>("accrual_mean_30d");
    facts.other_costs_per_day = in.required<Decimal>("other_costs_per_day");
    facts.rolling_surplus_30d = in.required<Decimal>("rolling_surplus_30d");
}

}  // namespace

std::string_view to_word(RiskMode mode) {
    return kRiskModes[static_cast<std::size_t>(mode)];
}

Result<RiskMode> parse_risk_mode(std::string_view word) {
    if (word == "cautious") {
        return RiskMode::reduced;
    }
    if (word == "observe_only") {
        return RiskMode::halted;
    }
    const auto at = std::find(kRiskModes.begin(), kRiskModes.end(), word);
    if (at == kRiskModes.end()) {
        return fail(
            errors::invalid_request,
            "a risk mode is normal, reduced, defensive, reduce_only or halted");
    }
    return static_cast<RiskMode>(at - kRiskModes.begin());
}

Decimal size_factor_of(RiskMode mode) {
    constexpr __int128 kQuarter = 250'000'000'000'000'000;
    switch (mode) {
        case RiskMode::normal:
            return Decimal(1);
        case RiskMode::reduced:
            return Decimal::from_units(3 * kQuarter);
        case RiskMode::defensive:
            return Decimal::from_units(kQuarter);
        case RiskMode::reduce_only:
        case RiskMode::halted:
            break;
    }
    return Decimal();
}

const SymbolFacts* StateFacts::find(const Symbol& symbol) const {
    const auto at = std::lower_bound(
        symbols.begin(), symbols.end(), symbol, [](const SymbolFacts& facts, const Symbol& wanted) {
            return facts.symbol < wanted;
        });
    return at != symbols.end() && at->symbol == symbol ? &*at : nullptr;
}

RiskMode StateFacts::risk_mode_in(const Symbol& symbol) const {
    const SymbolFacts* facts = find(symbol);
    return facts == nullptr ? risk_mode : std::max(risk_mode, facts->risk_mode);
}

const StrategyFacts* StateFacts::find(const StrategyId& strategy_id) const {
    const auto at = std::lower_bound(
        strategies.begin(),
        strategies.end(),
        strategy_id,
        [](const StrategyFacts& facts, const StrategyId& wanted) {
            return facts.strategy_id < wanted;
        });
    return at != strategies.end() && at->strategy_id == strategy_id ? &*at : nullptr;
}

Json encode(const StateFacts& facts) {
    return Json::object({
        {"now_us", facts.now.microseconds},
        {"state_version", facts.state_version},
        {"tenant_id", facts.tenant_id.text()},
        {"account_id", facts.account_id.text()},
        {"mode", to_word(facts.mode)},
        {"quote", facts.quote.text()},
        {"trading_enabled", facts.trading_enabled},
        {"kill_switch_active", facts.kill_switch_active},
        {"permissions_verified", facts.permissions_verified},
        {"entries_halted", facts.entries_halted},
        {"entries_halted_reason", facts.entries_halted_reason},
        {"uncertain_orders", facts.uncertain_orders},
        {"risk_mode", to_word(facts.risk_mode)},
        {"equity", encode_optional(facts.equity)},
        {"peak", to_text(facts.peak)},
        {"cash_free", to_text(facts.cash_free)},
        {"net_deposits", to_text(facts.net_deposits)},
        {"realized_today", to_text(facts.realized_today)},
        {"fees_today", to_text(facts.fees_today)},
        {"ops_reserve", to_text(facts.ops_reserve)},
        {"fees_mean_30d", to_text(facts.fees_mean_30d)},
        {"accrual_mean_30d", to_text(facts.accrual_mean_30d)},
        {"other_costs_per_day", to_text(facts.other_costs_per_day)},
        {"rolling_surplus_30d", to_text(facts.rolling_surplus_30d)},
        {"orders_last_10s", facts.orders_last_10s},
        {"orders_today", facts.orders_today},
        {"limits", encode(facts.limits)},
        {"symbols", encode_all(facts.symbols)},
        {"strategies", encode_all(facts.strategies)},
        {"recent", encode_all(facts.recent)},
        {"open_orders", encode_all(facts.open_orders)},
    });
}

Result<StateFacts> decode_state_facts(const Json& json) {
    FieldReader in(json);
    StateFacts facts;
    facts.now = read_stored_time(in, "now_us");
    facts.state_version = in.required_integer("state_version", 0, kVersionMax);
    facts.tenant_id = in.required<TenantId>("tenant_id");
    facts.account_id = in.required<AccountId>("account_id");
    facts.mode = static_cast<TradeMode>(in.required_word_index("mode", kTradeModes));
    facts.quote = read_stored_asset(in, "quote");
    read_flags(in, facts);
    read_money(in, facts);
    facts.orders_last_10s = in.required_integer("orders_last_10s", 0, kCountMax);
    facts.orders_today = in.required_integer("orders_today", 0, kCountMax);
    if (const Json* limits = in.required_object("limits")) {
        if (auto read = decode_risk_limits(*limits)) {
            facts.limits = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    read_lists(in, facts);
    in.reject_unknown();
    return in.finish(std::move(facts));
}

}  // namespace interlock
