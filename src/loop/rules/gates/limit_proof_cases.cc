#include "loop/rules/gates/limit_proof_cases.h"

#include <algorithm>
#include <array>

#include "account/rules/account.h"
#include "account/rules/cost_model.h"
#include "account/rules/risk_scaling.h"
#include "base/check.h"
#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

using World = SampleWorld;
namespace codes = breach_codes;

constexpr std::string_view kPlenty = "1e17";
constexpr Decimal kFunds(10'000'000'000'000);
constexpr Decimal kHalf = Decimal::from_units(500'000'000'000'000'000);

// Sums of the small numbers used here; one that overflows would be a mistake of ours.
Decimal sum(Decimal a, Decimal b) {
    const auto result = add(a, b);
    CHECK(result.has_value());
    return *result;
}

Decimal product(Decimal a, Decimal b) {
    const auto result = multiply_round_up(a, b);
    CHECK(result.has_value());
    return *result;
}

Decimal opposite(Decimal a) {
    const auto result = negate(a);
    CHECK(result.has_value());
    return *result;
}

Intent& order(World& world) {
    return world.plan.intents.front();
}

MarketFacts& market(World& world) {
    return world.market.markets.front();
}

SymbolFacts& position(World& world) {
    return world.state.symbols.front();
}

void make_market_order(World& world) {
    order(world).order_type = OrderType::market;
    order(world).limit_price.reset();
    order(world).time_in_force = TimeInForce::ioc;
}

FillEstimate estimate(const World& world) {
    const auto fill = estimate_fill(
        world.plan.intents.front(),
        world.market.markets.front(),
        assumptions_of(world.state.limits));
    CHECK(fill.has_value());
    return *fill;
}

// Moves the ask so that the spread is at least `bps`; the order stays at the bid.
void widen_spread(World& world, Decimal bps) {
    const auto ask =
        divide_round_up(sum(Decimal(20'000), bps), sum(Decimal(20'000), opposite(bps)));
    CHECK(ask.has_value());
    market(world).best_ask = *ask;
}

std::int64_t whole_part(Decimal value) {
    return static_cast<std::int64_t>(value.units() / Decimal(1).units());
}

Duration seconds(Decimal value) {
    constexpr __int128 kUnitsPerMicrosecond = 1'000'000'000'000;
    return {static_cast<std::int64_t>(value.units() / kUnitsPerMicrosecond)};
}

// The tier of these facts, as the account would apply it.
void derive_tier(World& world) {
    StateFacts& state = world.state;
    TierInput input{};
    input.now = state.now;
    input.limits = state.limits;
    input.equity = state.equity;
    input.peak = state.peak;
    input.net_deposits = state.net_deposits;
    input.realized_today = state.realized_today;
    input.rolling_surplus_30d = state.rolling_surplus_30d;
    const auto runway = runway_days(state.ops_reserve, state.other_costs_per_day);
    CHECK(runway.has_value());
    input.runway_days = *runway;
    input.opened_at = state.now - Duration::of_days(100);
    state.risk_mode = mode_of(step_tier(TierState{}, input).raw);
}

void derive_accrual(World& world) {
    const auto accrual = reserve_accrual(Decimal(3'000), world.state.limits.reserve_accrual_rate);
    CHECK(accrual.has_value());
    const auto mean = mean_per_day(*accrual);
    CHECK(mean.has_value());
    world.state.accrual_mean_30d = *mean;
}

void derive_executions(World& world) {
    Account account;
    account.limits = world.state.limits;
    StrategyRecord strategy;
    // The world keeps the moment of the one execution as a recent intent.
    const std::int64_t at = world.state.recent.front().at.microseconds;
    strategy.aggressive.push_back({.slot = at / kAggressiveSlot.microseconds, .count = 1});
    world.state.strategies.front().aggressive_executions =
        aggressive_in_window(account, strategy, world.state.now);
}

// A reserve that lasts the seven days of the hard minimum at half the daily cost given.
void fund_half(World& world, Decimal cost_per_day) {
    world.state.limits.hard_min_runway_days = Decimal(7);
    world.state.ops_reserve = product(product(cost_per_day, kHalf), Decimal(7));
}

void remember(World& world, Decimal seconds_ago) {
    RecentIntent recent;
    recent.symbol = order(world).symbol;
    recent.side = order(world).side;
    recent.qty = order(world).qty;
    recent.limit_price = order(world).limit_price;
    recent.decision_id = DecisionId::trusted("dec_before");
    recent.at = world.state.now - seconds(seconds_ago);
    world.state.recent.push_back(std::move(recent));
}

constexpr std::array<LimitProofCase, 33> kCases{{
    {"principal_baseline",
     codes::kEntriesStopped,
     "-1000000",
     "1",
     [](World& world, Decimal value) {
         const Decimal missing = std::min(product(value, kHalf), Decimal(1));
         world.state.equity = sum(value, opposite(missing));
         world.state.peak = *world.state.equity;
     },
     derive_tier},
    {"daily_loss_limit",
     codes::kDailyLoss,
     kPlenty,
     "",
     [](World& world, Decimal value) { world.state.realized_today = opposite(value); }},
    {"max_drawdown",
     codes::kDrawdown,
     "2",
     "",
     [](World& world, Decimal value) {
         // Half the fee above the line: the plan itself must cross it.
         world.state.limits.maker_fee_bps = Decimal(10);
         const Decimal kept = sum(Decimal(1), opposite(value));
         world.state.equity = sum(product(kFunds, kept), product(estimate(world).fee, kHalf));
     }},
    {"max_notional_per_trade",
     codes::kNotionalPerTrade,
     kPlenty,
     "",
     [](World& world, Decimal value) { order(world).qty = sum(value, Decimal(1)); }},
    {"max_symbol_exposure",
     codes::kSymbolExposure,
     kPlenty,
     "",
     [](World& world, Decimal value) { position(world).open_buy_notional = value; }},
    {"max_portfolio_exposure",
     codes::kPortfolioExposure,
     kPlenty,
     "",
     [](World& world, Decimal value) { position(world).open_buy_notional = value; }},
    {"max_leverage",
     codes::kLeverage,
     "1000000",
     "",
     [](World& world, Decimal value) { position(world).open_buy_quote = product(value, kFunds); }},
    {"max_order_qty",
     codes::kOrderQty,
     kPlenty,
     "1",
     [](World& world, Decimal value) { order(world).qty = sum(value, Decimal(1)); }},
    {"hard_min_runway_days",
     codes::kRunway,
     "-1000000",
     "",
     [](World& world, Decimal value) {
         world.state.other_costs_per_day = Decimal(1);
         world.state.ops_reserve = sum(value, opposite(kHalf));
     }},
    {"soft_min_runway_days",
     codes::kNotionalPerTrade,
     "-1000000",
     "30",
     [](World& world, Decimal value) {
         world.state.other_costs_per_day = Decimal(1);
         world.state.ops_reserve = product(value, kHalf);
         world.state.limits.max_notional_per_trade = Decimal(200);
     },
     derive_tier},
    {"target_surplus",
     codes::kNotionalPerTrade,
     "0",
     "1",
     [](World& world, Decimal) { world.state.limits.max_notional_per_trade = Decimal(120); },
     derive_tier},
    {"max_deficit",
     codes::kSurplus,
     kPlenty,
     "",
     [](World& world, Decimal value) {
         world.state.rolling_surplus_30d = sum(opposite(value), Decimal(-1));
     }},
    {"reserve_accrual_rate",
     codes::kRunway,
     "0",
     "0.1",
     [](World& world, Decimal value) { fund_half(world, product(Decimal(100), value)); },
     derive_accrual},
    {"infra_cost_per_day", codes::kRunway, "0", "1", fund_half},
    {"data_cost_per_day", codes::kRunway, "0", "1", fund_half},
    {"ops_cost_per_day", codes::kRunway, "0", "1", fund_half},
    {"max_staleness_sec",
     codes::kStaleMarketData,
     "1000000",
     "",
     [](World& world, Decimal value) {
         market(world).received_at = world.state.now - seconds(value) - Duration::of_seconds(1);
     }},
    {"max_spread_bps",
     codes::kSpread,
     "1000000",
     "",
     [](World& world, Decimal value) { widen_spread(world, sum(value, Decimal(1))); }},
    {"max_vol_1m",
     codes::kVolatility,
     "1000",
     "",
     [](World& world, Decimal value) { market(world).vol_1m = sum(value, Decimal(1)); }},
    {"spread_spike_multiple",
     codes::kSpreadSpike,
     "1000000",
     "",
     [](World& world, Decimal value) {
         world.state.limits.spread_spike_floor_bps = {};
         market(world).spread_median_5m_bps = Decimal(1);
         widen_spread(world, sum(value, Decimal(1)));
     }},
    {"spread_spike_floor_bps",
     codes::kSpreadSpike,
     "1000000",
     "",
     [](World& world, Decimal value) {
         market(world).spread_median_5m_bps = {};
         widen_spread(world, sum(value, Decimal(1)));
     }},
    {"min_vol_samples",
     codes::kWarmingUp,
     "0",
     "20",
     [](World& world, Decimal) {
         market(world).is_hydrated = false;
         market(world).vol_samples = 0;
     }},
    {"price_collar",
     codes::kPriceCollar,
     "1000",
     "",
     [](World& world, Decimal value) { order(world).limit_price = sum(value, Decimal(2)); }},
    {"touch_collar_bps",
     codes::kTouchCollar,
     "10000000",
     "",
     [](World& world, Decimal value) {
         const Decimal reach = product(value, Decimal::from_units(100'000'000'000'000));
         order(world).limit_price = sum(reach, Decimal(2));
     }},
    {"max_open_orders_per_symbol",
     codes::kOpenOrders,
     "1000000",
     "",
     [](World& world, Decimal value) { position(world).open_orders = whole_part(value); }},
    {"order_rate_share",
     codes::kOrderRate,
     "1000",
     "",
     [](World& world, Decimal value) {
         market(world).rules.orders_per_10s_max = 100;
         world.state.orders_last_10s = whole_part(product(value, Decimal(100)));
     },
     nullptr,
     [](const MarketRules& rules) {
         return rules.orders_per_10s_max > 0 || rules.orders_per_day_max > 0;
     }},
    {"duplicate_window_sec", codes::kDuplicateOf, "-1", "", remember},
    {"repeated_execution_max",
     codes::kRepeatedExecution,
     "1000000",
     "",
     [](World& world, Decimal value) {
         world.state.strategies.front().aggressive_executions = whole_part(value) + 1;
     }},
    {"repeated_execution_window_sec",
     codes::kRepeatedExecution,
     "0",
     "60",
     [](World& world, Decimal value) {
         world.state.limits.repeated_execution_max = {};
         remember(world, Decimal(whole_part(value)));
     },
     derive_executions},
    {"slippage_bps",
     codes::kNotionalPerTrade,
     "0",
     "25",
     [](World& world, Decimal) {
         make_market_order(world);
         world.state.limits.max_notional_per_trade =
             sum(estimate(world).notional, Decimal::from_units(-1));
     }},
    {"taker_fee_bps",
     codes::kInsufficientFunds,
     "0",
     "20",
     [](World& world, Decimal) {
         make_market_order(world);
         const FillEstimate fill = estimate(world);
         world.state.cash_free = sum(fill.notional, product(fill.fee, kHalf));
     }},
    {"maker_fee_bps",
     codes::kInsufficientFunds,
     "0",
     "10",
     [](World& world, Decimal) {
         const FillEstimate fill = estimate(world);
         world.state.cash_free = sum(fill.notional, product(fill.fee, kHalf));
     }},
    {"enforce_edge",
     codes::kThinEdge,
     "0",
     "1",
     [](World& world, Decimal) { order(world).expected_edge_bps = Decimal(-1); }},
}};

void loosen_all(RiskLimits& limits) {
    for (const LimitProofCase& proof : kCases) {
        const LimitSpec* spec = find_limit_spec(proof.name);
        CHECK(spec != nullptr);
        limits.*spec->member = sample_decimal(proof.loose);
    }
}

}  // namespace

std::span<const LimitProofCase> limit_proof_cases() {
    return kCases;
}

SampleWorld wide_open_world() {
    SampleWorld world = sample_world();
    StateFacts& state = world.state;
    loosen_all(state.limits);
    state.equity = kFunds;
    state.peak = kFunds;
    state.cash_free = kFunds;
    state.net_deposits = kFunds;
    state.ops_reserve = kFunds;
    state.fees_mean_30d = {};
    state.accrual_mean_30d = {};
    state.rolling_surplus_30d = {};
    SymbolFacts held;
    held.symbol = sample_symbol();
    held.in_universe = true;
    state.symbols.front() = held;

    MarketFacts& facts = world.market.markets.front();
    facts.best_bid = Decimal(1);
    facts.best_ask = sample_decimal("1.0002");
    MarketRules rules;
    rules.symbol = facts.symbol;
    rules.base = facts.rules.base;
    rules.quote = facts.rules.quote;
    rules.open_orders_max = 0;
    facts.rules = rules;

    Intent& intent = world.plan.intents.front();
    intent.qty = Decimal(100);
    intent.limit_price = Decimal(1);
    return world;
}

}  // namespace interlock
