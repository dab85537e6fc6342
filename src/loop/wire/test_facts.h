// Random facts for property tests: well-formed ones that a codec must give back unchanged, and
// absurd ones that no function may stumble over.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "account/wire/state_facts.h"
#include "market/wire/market_facts.h"

namespace interlock {

// Any decimal at all, with a liking for the edges.
inline rc::Gen<Decimal> gen_any_decimal() {
    return rc::gen::map(
        rc::gen::tuple(
            rc::gen::arbitrary<std::int64_t>(),
            rc::gen::arbitrary<std::uint64_t>(),
            rc::gen::inRange(0, 8)),
        [](const std::tuple<std::int64_t, std::uint64_t, int>& drawn) {
            const auto& [high, low, shape] = drawn;
            const __int128 wide = (static_cast<__int128>(high) << 64) | low;
            constexpr __int128 kMax = ~(static_cast<__int128>(1) << 127);
            switch (shape) {
                case 0:
                    return Decimal();
                case 1:
                    return Decimal::from_units(kMax);
                case 2:
                    return Decimal::from_units(-kMax - 1);
                case 3:
                    return Decimal::from_units(high);
                case 4:
                    return Decimal(high % 1'000'000);
                case 5:
                    return Decimal::from_units(high % 100);
                default:
                    return Decimal::from_units(wide);
            }
        });
}

// From 0 to below `whole_max`, with up to six decimals.
inline rc::Gen<Decimal> gen_amount(std::int64_t whole_max) {
    return rc::gen::map(
        rc::gen::inRange<std::int64_t>(0, whole_max * 1'000'000), [](std::int64_t millionths) {
            constexpr __int128 kMillionth = 1'000'000'000'000;
            return Decimal::from_units(millionths * kMillionth);
        });
}

// Above zero; not shrunk below a millionth.
inline rc::Gen<Decimal> gen_positive(std::int64_t whole_max) {
    return rc::gen::suchThat(
        gen_amount(whole_max), [](Decimal value) { return value.is_positive(); });
}

inline std::optional<Decimal> draw_optional(const rc::Gen<Decimal>& gen) {
    return *rc::gen::arbitrary<bool>() ? std::optional(*gen) : std::nullopt;
}

// "AAA", "AAB", …: ascending with the number.
inline Symbol test_symbol(std::size_t number) {
    const std::string text{
        'A', static_cast<char>('A' + number / 26 % 26), static_cast<char>('A' + number % 26)};
    return *Symbol::parse(text);
}

inline Timestamp draw_time() {
    return {*rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000)};
}

// A side of a book, best first, out of whatever positive numbers come.
inline std::vector<DepthLevel> draw_levels(const rc::Gen<Decimal>& gen, Side side) {
    std::vector<DepthLevel> levels;
    const auto count = *rc::gen::inRange<std::size_t>(0, kDepthLevelsMax + 1);
    while (levels.size() < count) {
        levels.push_back({*gen, *gen});
    }
    std::erase_if(levels, [](const DepthLevel& level) {
        return !level.price.is_positive() || !level.qty.is_positive();
    });
    const auto is_before = [side](const DepthLevel& a, const DepthLevel& b) {
        return side == Side::buy ? a.price > b.price : a.price < b.price;
    };
    std::sort(levels.begin(), levels.end(), is_before);
    const auto same = [](const DepthLevel& a, const DepthLevel& b) { return a.price == b.price; };
    levels.erase(std::unique(levels.begin(), levels.end(), same), levels.end());
    return levels;
}

inline MarketFacts draw_market(const Symbol& symbol, const rc::Gen<Decimal>& gen) {
    MarketFacts facts;
    facts.symbol = symbol;
    facts.best_bid = draw_optional(gen);
    facts.best_ask = draw_optional(gen);
    facts.exchange_at = draw_time();
    facts.received_at = draw_time();
    facts.status_halted = *rc::gen::arbitrary<bool>();
    facts.vol_1m = *gen;
    facts.vol_samples = *rc::gen::inRange<std::int64_t>(0, 100);
    facts.spread_median_5m_bps = *gen;
    facts.spread_samples = *rc::gen::inRange<std::int64_t>(0, 1000);
    facts.is_hydrated = *rc::gen::arbitrary<bool>();
    facts.is_high_vol = *rc::gen::arbitrary<bool>();
    facts.bids = draw_levels(gen, Side::buy);
    facts.asks = draw_levels(gen, Side::sell);
    MarketRules& rules = facts.rules;
    rules.symbol = symbol;
    rules.base = *Asset::parse("AAA");
    rules.quote = *Asset::parse("USDT");
    for (Decimal* value : {
             &rules.tick_size,
             &rules.price_min,
             &rules.price_max,
             &rules.step_size,
             &rules.qty_min,
             &rules.qty_max,
             &rules.market_qty_max,
             &rules.notional_min,
             &rules.notional_max,
             &rules.percent_up,
             &rules.percent_down,
         }) {
        *value = *gen;
    }
    rules.open_orders_max = *rc::gen::inRange<std::int64_t>(0, 300);
    rules.orders_per_10s_max = *rc::gen::inRange<std::int64_t>(0, 300);
    rules.orders_per_day_max = *rc::gen::inRange<std::int64_t>(0, 300'000);
    return facts;
}

inline MarketSet draw_markets(std::size_t count, const rc::Gen<Decimal>& gen) {
    MarketSet set;
    for (std::size_t i = 0; i < count; ++i) {
        set.markets.push_back(draw_market(test_symbol(i), gen));
    }
    return set;
}

inline SymbolFacts draw_symbol_facts(const Symbol& symbol, const rc::Gen<Decimal>& gen) {
    SymbolFacts facts;
    facts.symbol = symbol;
    facts.position = *gen;
    facts.avg_price = *gen;
    facts.open_buy_quote = *gen;
    facts.open_buy_notional = *gen;
    facts.open_sell_qty = *gen;
    facts.open_orders = *rc::gen::inRange<std::int64_t>(0, 60);
    facts.best_own_bid = draw_optional(gen);
    facts.best_own_ask = draw_optional(gen);
    facts.in_universe = *rc::gen::arbitrary<bool>();
    facts.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5));
    return facts;
}

inline StrategyFacts draw_strategy(std::size_t number, const rc::Gen<Decimal>& gen) {
    StrategyFacts facts;
    facts.strategy_id = StrategyId::trusted("s" + std::to_string(number));
    facts.is_active = *rc::gen::arbitrary<bool>();
    facts.is_external = *rc::gen::arbitrary<bool>();
    facts.is_disabled = *rc::gen::arbitrary<bool>();
    facts.aggressive_executions = *rc::gen::inRange<std::int64_t>(0, 30);
    facts.max_staleness_sec = draw_optional(gen);
    facts.max_spread_bps = draw_optional(gen);
    facts.max_vol_1m = draw_optional(gen);
    return facts;
}

inline void draw_lists(StateFacts& facts, std::size_t count, const rc::Gen<Decimal>& gen) {
    for (std::size_t i = 0; i < count; ++i) {
        facts.symbols.push_back(draw_symbol_facts(test_symbol(i), gen));
        facts.strategies.push_back(draw_strategy(i, gen));
        RecentIntent recent;
        recent.symbol = test_symbol(i);
        recent.side = *rc::gen::element(Side::buy, Side::sell);
        recent.qty = *gen;
        recent.limit_price = draw_optional(gen);
        recent.decision_id = DecisionId::trusted("d" + std::to_string(i));
        recent.at = facts.now - Duration::of_seconds(static_cast<std::int64_t>(count - i));
        facts.recent.push_back(recent);
        OpenOrderFacts order;
        order.order_client_id = OrderClientId::trusted("h" + std::to_string(i));
        order.symbol = test_symbol(i);
        order.side = *rc::gen::element(Side::buy, Side::sell);
        order.remaining_qty = *gen;
        order.price = *gen;
        order.is_uncertain = *rc::gen::arbitrary<bool>();
        order.is_reduce = *rc::gen::arbitrary<bool>();
        facts.open_orders.push_back(order);
    }
}

// `count` of each list, at most 10.
inline StateFacts draw_state(std::size_t count, const rc::Gen<Decimal>& gen) {
    StateFacts facts;
    facts.now = draw_time();
    facts.state_version = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    facts.tenant_id = TenantId::trusted("t1");
    facts.account_id = AccountId::trusted("a1");
    facts.mode = *rc::gen::element(TradeMode::paper, TradeMode::shadow, TradeMode::live);
    facts.quote = *Asset::parse("USDT");
    facts.trading_enabled = *rc::gen::arbitrary<bool>();
    facts.kill_switch_active = *rc::gen::arbitrary<bool>();
    facts.permissions_verified = *rc::gen::arbitrary<bool>();
    facts.entries_halted = *rc::gen::arbitrary<bool>();
    facts.entries_halted_reason = facts.entries_halted ? "recovering" : "";
    facts.uncertain_orders = *rc::gen::inRange<std::int64_t>(0, 2);
    facts.risk_mode = static_cast<RiskMode>(*rc::gen::inRange(0, 5));
    facts.equity = draw_optional(gen);
    for (Decimal* value : {
             &facts.peak,
             &facts.cash_free,
             &facts.net_deposits,
             &facts.realized_today,
             &facts.fees_today,
             &facts.ops_reserve,
             &facts.fees_mean_30d,
             &facts.accrual_mean_30d,
             &facts.other_costs_per_day,
             &facts.rolling_surplus_30d,
         }) {
        *value = *gen;
    }
    facts.orders_last_10s = *rc::gen::inRange<std::int64_t>(0, 100);
    facts.orders_today = *rc::gen::inRange<std::int64_t>(0, 1000);
    for (const LimitSpec& spec : limit_specs()) {
        facts.limits.*spec.member = *gen;
    }
    draw_lists(facts, count, gen);
    return facts;
}

}  // namespace interlock
