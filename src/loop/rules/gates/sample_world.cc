#include "loop/rules/gates/sample_world.h"

#include <array>

#include "base/check.h"

namespace interlock {
namespace {

// Ascending, as facts keep them.
constexpr std::array<std::string_view, kSampleSymbolsMax> kBases{
    "BTC", "BTD", "BTE", "BTF", "BTG", "BTH", "BTI", "BTJ", "BTK"};
constexpr Timestamp kSampleNow{1'794'744'000'000'000};  // 2026-11-15T12:00:00Z.

Asset asset(std::string_view text) {
    const auto parsed = Asset::parse(text);
    CHECK(parsed.has_value());
    return *parsed;
}

MarketFacts sample_market(std::int64_t number) {
    MarketFacts market;
    market.symbol = sample_symbol(number);
    market.best_bid = Decimal(50'000);
    market.best_ask = Decimal(50'010);
    market.exchange_at = kSampleNow - Duration::of_milliseconds(300);
    market.received_at = kSampleNow - Duration::of_milliseconds(200);
    market.vol_1m = sample_decimal("0.001");
    market.vol_samples = 60;
    market.spread_median_5m_bps = Decimal(2);
    market.spread_samples = 300;
    market.is_hydrated = true;
    for (std::int64_t away = 0; away < static_cast<std::int64_t>(kDepthLevelsMax); ++away) {
        const Decimal quantity(away + 1);  // Thicker away from the touch; 55 in all.
        market.bids.push_back({Decimal(50'000 - 10 * away), quantity});
        market.asks.push_back({Decimal(50'010 + 10 * away), quantity});
    }
    market.rules.symbol = market.symbol;
    market.rules.base = asset(kBases[static_cast<std::size_t>(number)]);
    market.rules.quote = asset("USDT");
    market.rules.tick_size = sample_decimal("0.01");
    market.rules.price_min = sample_decimal("0.01");
    market.rules.price_max = Decimal(1'000'000);
    market.rules.step_size = sample_decimal("0.00001");
    market.rules.qty_min = sample_decimal("0.00001");
    market.rules.qty_max = Decimal(100);
    market.rules.market_qty_max = Decimal(50);
    market.rules.notional_min = Decimal(5);
    market.rules.notional_max = Decimal(5'000'000);
    market.rules.percent_up = Decimal(5);
    market.rules.percent_down = sample_decimal("0.2");
    market.rules.orders_per_10s_max = 100;
    market.rules.orders_per_day_max = 200'000;
    return market;
}

SymbolFacts sample_position(std::int64_t number) {
    SymbolFacts facts;
    facts.symbol = sample_symbol(number);
    facts.position = number == 0 ? sample_decimal("0.02") : Decimal();
    facts.avg_price = number == 0 ? Decimal(50'000) : Decimal();
    facts.in_universe = true;
    return facts;
}

StateFacts sample_state() {
    StateFacts state;
    state.now = kSampleNow;
    state.state_version = 1;
    state.tenant_id = TenantId::trusted("sample");
    state.account_id = AccountId::trusted("paper");
    state.quote = asset("USDT");
    state.trading_enabled = true;
    state.kill_switch_active = false;
    state.permissions_verified = true;
    state.equity = Decimal(10'000);
    state.peak = Decimal(10'000);
    state.cash_free = Decimal(9'000);
    state.net_deposits = Decimal(10'000);
    state.ops_reserve = Decimal(500);
    state.fees_mean_30d = Decimal(1);
    state.accrual_mean_30d = Decimal(1);
    state.rolling_surplus_30d = Decimal(200);
    const auto limits = default_limits(state.net_deposits);
    CHECK(limits.has_value());
    state.limits = *limits;
    StrategyFacts strategy;
    strategy.strategy_id = StrategyId::trusted("ext");
    strategy.is_active = true;
    strategy.is_external = true;
    state.strategies.push_back(std::move(strategy));
    return state;
}

}  // namespace

GateInput SampleWorld::input() const {
    return {
        .state = state,
        .market = market,
        .plan = plan,
        .decision_id = decision_id,
        .tick_id = tick_id,
        .has_idempotency_key = true,
        .wanted_mode = state.mode,
        .from_outside = from_outside,
    };
}

SampleWorld sample_world() {
    return sample_world(1);
}

SampleWorld sample_world(std::int64_t symbols) {
    CHECK(symbols >= 1 && symbols <= kSampleSymbolsMax);
    SampleWorld world;
    world.state = sample_state();
    for (std::int64_t number = 0; number < symbols; ++number) {
        world.state.symbols.push_back(sample_position(number));
        world.market.markets.push_back(sample_market(number));
        world.plan.intents.push_back(sample_buy(number));
        world.plan.intents.back().intent_id = IntentId::trusted("i" + std::to_string(number));
    }
    world.plan.reason = "sample";
    world.decision_id = DecisionId::trusted("dec_sample");
    world.tick_id = TickId::trusted("tick_sample");
    return world;
}

Symbol sample_symbol(std::int64_t number) {
    CHECK(number >= 0 && number < kSampleSymbolsMax);
    const auto symbol =
        Symbol::parse(std::string(kBases[static_cast<std::size_t>(number)]) + "USDT");
    CHECK(symbol.has_value());
    return *symbol;
}

Intent sample_buy(std::int64_t symbol_number) {
    Intent intent;
    intent.intent_id = IntentId::trusted("i0");
    intent.symbol = sample_symbol(symbol_number);
    intent.qty = sample_decimal("0.01");
    intent.limit_price = Decimal(50'000);
    intent.strategy_id = StrategyId::trusted("ext");
    intent.expected_edge_bps = Decimal(100);
    return intent;
}

Intent sample_sell(std::int64_t symbol_number) {
    Intent intent = sample_buy(symbol_number);
    intent.side = Side::sell;
    intent.limit_price = Decimal(50'020);
    return intent;
}

Decimal sample_decimal(std::string_view text) {
    const auto value = Decimal::parse(text);
    CHECK(value.has_value());
    return *value;
}

}  // namespace interlock
