// Where a gate's arithmetic ends: numbers outside the range of exact decimals, the last digit of a
// product, facts that cannot be, and own orders that a plan would meet. Each case is one that a
// small change of a gate got past the tables of conformance/contracts/gates.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "loop/rules/gates/gates.h"
#include "loop/rules/gates/sample_world.h"

namespace interlock {
namespace {

using Reasons = std::vector<std::string>;

Reasons reasons_of(const SampleWorld& world) {
    Reasons reasons;
    for (const Breach& breach : run_gates(world.input()).breaches) {
        reasons.push_back(to_text(breach));
    }
    return reasons;
}

// Those of one gate, in order.
Reasons reasons_of(const SampleWorld& world, std::string_view gate) {
    Reasons reasons = reasons_of(world);
    std::erase_if(reasons, [&](const std::string& reason) { return !reason.starts_with(gate); });
    return reasons;
}

bool has(const SampleWorld& world, std::string_view reason) {
    const Reasons reasons = reasons_of(world);
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

Decimal huge() {
    return Decimal(100'000'000'000'000'000);  // Times any price it leaves the range.
}

Decimal vast() {
    return sample_decimal("100000000000000000000");  // Twice this leaves the range.
}

constexpr Decimal kUnit = Decimal::from_units(1);

TEST(GateEdges, FactsThatCannotBeAreRefusedOneByOne) {
    for (Decimal SymbolFacts::* member :
         {&SymbolFacts::position,
          &SymbolFacts::open_buy_notional,
          &SymbolFacts::open_buy_quote,
          &SymbolFacts::open_sell_qty}) {
        SampleWorld world = sample_world();
        // Whatever else is wrong with the symbol is not judged on such facts.
        world.state.limits.max_symbol_exposure = Decimal(1);
        world.state.symbols[0].*member = Decimal(-1);
        EXPECT_EQ(
            reasons_of(world, "exposure_leverage"),
            Reasons{"exposure_leverage:facts_invalid:BTCUSDT"});
    }
}

TEST(GateEdges, APositionWithoutAPriceIsNotJudged) {
    SampleWorld world = sample_world(2);
    world.state.symbols[1].position = Decimal(1);
    world.plan.intents.resize(1);
    world.market.markets.pop_back();
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"), Reasons{"exposure_leverage:price_unknown:BTDUSDT"});
    // Nothing is held of it: then nobody asks for its price.
    world.state.symbols[1].position = {};
    EXPECT_TRUE(reasons_of(world).empty());
}

TEST(GateEdges, APriceIsThatOfItsOwnSymbol) {
    SampleWorld world = sample_world(3);
    world.plan.intents.resize(1);
    world.state.symbols[2].position = Decimal(1);
    // The middle one is not held and not in the facts; the walk must not stop at it.
    world.state.symbols.erase(world.state.symbols.begin() + 1);
    world.market.markets[2].best_bid = Decimal(10);
    world.market.markets[2].best_ask = Decimal(12);
    EXPECT_TRUE(reasons_of(world).empty());
    world.market.markets.erase(world.market.markets.begin() + 2);
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"), Reasons{"exposure_leverage:price_unknown:BTEUSDT"});
}

// What a list held before is none of its business any more.
TEST(GateEdges, AHeldSymbolBehindTheLastMarketHasNoPrice) {
    SampleWorld world = sample_world(4);
    world.plan.intents.resize(1);
    world.state.symbols[3].position = Decimal(1);
    world.state.symbols.erase(world.state.symbols.begin() + 1, world.state.symbols.begin() + 3);
    world.market.markets.resize(2);
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"), Reasons{"exposure_leverage:price_unknown:BTFUSDT"});
}

TEST(GateEdges, ExposureThatLeavesTheRangeIsABreachAndNothingElseIsSaid) {
    SampleWorld world = sample_world();
    world.state.symbols[0].position = huge();
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"),
        (Reasons{
            "exposure_leverage:arithmetic_overflow:BTCUSDT",
            "exposure_leverage:arithmetic_overflow:-"}));
}

TEST(GateEdges, LeverageThatLeavesTheRangeIsABreach) {
    SampleWorld world = sample_world();
    world.state.limits.max_leverage = Decimal(10);
    world.state.equity = vast();
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"), Reasons{"exposure_leverage:arithmetic_overflow:-"});
}

TEST(GateEdges, CostsThatLeaveTheRangeTogetherAreABreachOfTheSecond) {
    SampleWorld world = sample_world(2);
    for (Intent& intent : world.plan.intents) {
        intent.qty = Decimal(2'000'000'000'000'000);  // 1e20 at 50,000; the range ends at 1.7e20.
    }
    EXPECT_TRUE(has(world, "exposure_leverage:arithmetic_overflow:BTDUSDT"));
    EXPECT_FALSE(has(world, "exposure_leverage:arithmetic_overflow:BTCUSDT"));
    // The last word on funds is said where the sum ends.
    EXPECT_FALSE(has(world, "exposure_leverage:insufficient_funds:BTDUSDT"));
}

TEST(GateEdges, MoreOpenOrdersThanANumberHoldsAreABreach) {
    SampleWorld world = sample_world();
    world.state.symbols[0].open_orders = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"),
        Reasons{"exposure_leverage:arithmetic_overflow:BTCUSDT"});
}

TEST(GateEdges, ASymbolWithoutFactsHasNoOpenOrders) {
    SampleWorld world = sample_world();
    world.state.symbols.clear();
    world.state.limits.max_open_orders_per_symbol = Decimal(1);
    EXPECT_TRUE(reasons_of(world, "exposure_leverage").empty());
    // A venue that allows one order has a limit, and it counts.
    world.state.limits.max_open_orders_per_symbol = Decimal(50);
    world.plan.intents.push_back(world.plan.intents[0]);
    world.plan.intents[1].limit_price = Decimal(49'999);
    world.market.markets[0].rules.open_orders_max = 1;
    EXPECT_EQ(
        reasons_of(world, "exposure_leverage"), Reasons{"exposure_leverage:open_orders:BTCUSDT"});
}

TEST(GateEdges, SellsAddNothingToExposureFundsOrTheirSymbol) {
    SampleWorld world = sample_world(2);
    world.state.symbols[0].position = sample_decimal("0.02");
    world.plan.intents[0] = sample_sell(0);
    const Decimal held = *multiply_round_up(sample_decimal("0.02"), Decimal(50'005));
    const Decimal bought = *multiply_round_up(world.plan.intents[1].qty, Decimal(50'000));
    // Exactly what is held and bought, and one unit of room.
    world.state.limits.max_portfolio_exposure = *add(*add(held, bought), kUnit);
    world.state.limits.max_symbol_exposure = *add(bought, kUnit);
    world.state.cash_free = *add(bought, *multiply_round_up(bought, sample_decimal("0.001")));
    EXPECT_TRUE(reasons_of(world, "exposure_leverage").empty())
        << reasons_of(world, "exposure_leverage").front();
}

TEST(GateEdges, TheLastDigitOfAProductIsRoundedToTheStrictSide) {
    SampleWorld world = sample_world();
    world.market.markets[0].best_ask = Decimal(50'011);  // The mid ends in .5.
    const Decimal mid = sample_decimal("50005.5");
    world.state.symbols[0].position = Decimal::from_units(7);
    const Decimal bought = *multiply_round_up(world.plan.intents[0].qty, Decimal(50'000));
    const Decimal held = *multiply_round_up(Decimal::from_units(7), mid);
    world.state.limits.max_symbol_exposure = *add(bought, held);
    EXPECT_TRUE(has(world, "exposure_leverage:symbol_exposure:BTCUSDT"));

    world.state.limits.max_leverage = Decimal::from_units(1'000'000'000'000'000'001);
    world.state.equity = sample_decimal("10000.5");
    const Decimal allowed =
        *multiply_round_up(world.state.limits.max_leverage, *world.state.equity);
    const Decimal fee = *multiply_round_up(bought, sample_decimal("0.001"));
    world.state.symbols[0].open_buy_quote = *subtract(allowed, *add(*add(bought, fee), held));
    EXPECT_TRUE(has(world, "exposure_leverage:leverage:-"));

    world.state.peak = sample_decimal("10000.5");
    world.state.limits.max_drawdown = Decimal::from_units(100'000'000'000'000'001);
    const Decimal fall =
        *multiply_round_up(world.state.limits.max_drawdown, sample_decimal("10000.5"));
    world.state.equity = *add(*subtract(world.state.peak, *subtract(fall, kUnit)), fee);
    EXPECT_TRUE(has(world, "risk_limits:drawdown:-"));
}

TEST(GateEdges, RiskNumbersThatLeaveTheRangeAreBreaches) {
    SampleWorld world = sample_world();
    world.state.limits.max_drawdown = Decimal(2);
    world.state.peak = vast();
    EXPECT_EQ(reasons_of(world, "risk_limits"), Reasons{"risk_limits:arithmetic_overflow:-"});

    // The size of an entry under a mode that reduces it.
    world = sample_world();
    world.state.limits.max_notional_per_trade =
        Decimal::from_units(std::numeric_limits<__int128>::max());
    EXPECT_TRUE(reasons_of(world, "risk_limits").empty());

    world = sample_world();
    world.state.peak = {};
    EXPECT_EQ(reasons_of(world, "risk_limits"), Reasons{"risk_limits:peak_unknown:-"});
}

TEST(GateEdges, RunwayNumbersThatLeaveTheRangeAreBreaches) {
    SampleWorld world = sample_world();
    world.state.fees_mean_30d = vast();
    world.state.accrual_mean_30d = world.state.fees_mean_30d;
    EXPECT_EQ(reasons_of(world, "runway_budget"), Reasons{"runway_budget:arithmetic_overflow:-"});

    world = sample_world();
    world.state.fees_mean_30d = huge();
    world.state.limits.hard_min_runway_days = Decimal(36'500);
    EXPECT_EQ(reasons_of(world, "runway_budget"), Reasons{"runway_budget:arithmetic_overflow:-"});

    world = sample_world();
    world.state.rolling_surplus_30d = Decimal::from_units(std::numeric_limits<__int128>::min());
    EXPECT_EQ(reasons_of(world, "runway_budget"), Reasons{"runway_budget:arithmetic_overflow:-"});
}

TEST(GateEdges, TheSameReasonIsSaidOncePerSymbolAndOtherReasonsAreNotLost) {
    SampleWorld world = sample_world(2);
    world.plan.intents.push_back(world.plan.intents[0]);
    world.plan.intents[2].limit_price = Decimal(49'999);
    for (SymbolFacts& facts : world.state.symbols) {
        facts.in_universe = false;
    }
    EXPECT_EQ(
        reasons_of(world),
        (Reasons{
            "policy_guardrails:not_in_universe:BTCUSDT",
            "policy_guardrails:not_in_universe:BTDUSDT"}));
}

TEST(GateEdges, APlanMeetsItsOwnOrders) {
    const auto order = [](Side side, std::string_view price, TimeInForce tif) {
        Intent intent = side == Side::buy ? sample_buy(0) : sample_sell(0);
        intent.qty = sample_decimal("0.001");
        intent.limit_price = sample_decimal(price);
        intent.time_in_force = tif;
        return intent;
    };
    const auto crosses = [&](std::vector<Intent> intents) {
        SampleWorld world = sample_world();
        for (std::size_t i = 0; i < intents.size(); ++i) {
            intents[i].intent_id = IntentId::trusted("i" + std::to_string(i));
        }
        world.plan.intents = std::move(intents);
        return has(world, "policy_guardrails:self_cross:BTCUSDT");
    };
    constexpr TimeInForce kRests = TimeInForce::gtc;
    constexpr TimeInForce kGoes = TimeInForce::ioc;
    // A buy that rests, met by a sell at or below its price.
    EXPECT_TRUE(crosses({order(Side::buy, "50000", kRests), order(Side::sell, "50000", kRests)}));
    EXPECT_FALSE(crosses({order(Side::buy, "50000", kRests), order(Side::sell, "50001", kRests)}));
    EXPECT_FALSE(crosses({order(Side::buy, "50000", kGoes), order(Side::sell, "50000", kRests)}));
    // The best of several counts, in whichever order they come.
    EXPECT_TRUE(crosses(
        {order(Side::buy, "50000", kRests),
         order(Side::buy, "49990", kRests),
         order(Side::sell, "50000", kRests)}));
    EXPECT_TRUE(crosses(
        {order(Side::buy, "49990", kRests),
         order(Side::buy, "50000", kRests),
         order(Side::sell, "49995", kRests)}));
    // The same with sells first.
    EXPECT_TRUE(crosses({order(Side::sell, "50020", kRests), order(Side::buy, "50020", kRests)}));
    EXPECT_FALSE(crosses({order(Side::sell, "50020", kRests), order(Side::buy, "50019", kRests)}));
    EXPECT_FALSE(crosses({order(Side::sell, "50020", kGoes), order(Side::buy, "50020", kRests)}));
    EXPECT_TRUE(crosses(
        {order(Side::sell, "50020", kRests),
         order(Side::sell, "50030", kRests),
         order(Side::buy, "50020", kRests)}));
    EXPECT_TRUE(crosses(
        {order(Side::sell, "50030", kRests),
         order(Side::sell, "50020", kRests),
         order(Side::buy, "50025", kRests)}));
}

TEST(GateEdges, EachIntentIsHeldToItsOwnStrategyAndMarket) {
    SampleWorld world = sample_world(2);
    StrategyFacts careful;
    careful.strategy_id = StrategyId::trusted("zcareful");
    careful.is_active = true;
    careful.is_external = true;
    careful.max_spread_bps = Decimal(1);  // The sample's spread is two.
    world.state.strategies.push_back(careful);
    world.plan.intents.push_back(world.plan.intents[0]);
    world.plan.intents[2].limit_price = Decimal(49'999);
    EXPECT_TRUE(reasons_of(world).empty());
    world.plan.intents[2].strategy_id = careful.strategy_id;
    EXPECT_EQ(reasons_of(world), Reasons{"market_sanity:spread:BTCUSDT"});
    // A neighbour of the same strategy on another market is asked as well.
    world = sample_world(2);
    world.market.markets[1].status_halted = true;
    EXPECT_EQ(reasons_of(world), Reasons{"market_sanity:market_halted:BTDUSDT"});
    // And one of another strategy on the same market.
    world = sample_world();
    world.state.strategies.push_back(careful);
    world.plan.intents.push_back(world.plan.intents[0]);
    world.plan.intents[1].limit_price = Decimal(49'999);
    world.plan.intents[1].strategy_id = careful.strategy_id;
    EXPECT_EQ(reasons_of(world), Reasons{"market_sanity:spread:BTCUSDT"});
}

TEST(GateEdges, AnEstimateIsRoundedUpAndWantsPricesAndAssumptionsThatCanBe) {
    const SampleWorld world = sample_world();
    const MarketFacts& market = world.market.markets[0];
    Intent intent = sample_buy(0);
    intent.qty = Decimal::from_units(7);
    intent.limit_price = sample_decimal("49999.5");
    const FillAssumptions assumed{Decimal(25), Decimal(20), Decimal(10)};
    const auto fill = estimate_fill(intent, market, assumed);
    ASSERT_TRUE(fill);
    EXPECT_EQ(fill->notional, *multiply_round_up(intent.qty, *intent.limit_price));
    EXPECT_NE(fill->notional, *multiply_round_down(intent.qty, *intent.limit_price));
    EXPECT_EQ(fill->fee, *multiply_round_up(fill->notional, sample_decimal("0.001")));
    EXPECT_NE(fill->fee, *multiply_round_down(fill->notional, sample_decimal("0.001")));
    for (std::optional<Decimal> MarketFacts::* side :
         {&MarketFacts::best_bid, &MarketFacts::best_ask}) {
        for (const std::optional<Decimal>& price : {std::optional<Decimal>(), {Decimal()}}) {
            MarketFacts bad = market;
            bad.*side = price;
            EXPECT_FALSE(estimate_fill(intent, bad, assumed));
        }
    }
    for (Decimal FillAssumptions::* member :
         {&FillAssumptions::slippage_bps,
          &FillAssumptions::taker_fee_bps,
          &FillAssumptions::maker_fee_bps}) {
        FillAssumptions bad = assumed;
        bad.*member = Decimal(-1);
        EXPECT_FALSE(estimate_fill(intent, market, bad));
    }
    intent.qty = {};
    EXPECT_EQ(estimate_fill(intent, market, assumed).error(), errors::invalid_request);
}

TEST(GateEdges, AVenuesFilterOfZeroIsOff) {
    for (Decimal MarketRules::* member :
         {&MarketRules::price_min,
          &MarketRules::price_max,
          &MarketRules::percent_up,
          &MarketRules::percent_down,
          &MarketRules::qty_min,
          &MarketRules::qty_max,
          &MarketRules::market_qty_max,
          &MarketRules::notional_min,
          &MarketRules::notional_max}) {
        for (const OrderType type : {OrderType::limit, OrderType::market}) {
            SampleWorld world = sample_world();
            world.market.markets[0].rules.*member = {};
            world.plan.intents[0].order_type = type;
            if (type == OrderType::market) {
                world.plan.intents[0].limit_price.reset();
                world.plan.intents[0].time_in_force = TimeInForce::ioc;
            }
            EXPECT_TRUE(reasons_of(world).empty()) << reasons_of(world).front();
        }
    }
    SampleWorld world = sample_world();
    world.market.markets[0].rules.price_max = Decimal(49'999);
    EXPECT_TRUE(has(world, "market_sanity:price_range:BTCUSDT"));
    world.market.markets[0].rules.price_max = Decimal(50'000);
    EXPECT_TRUE(reasons_of(world).empty());
}

TEST(GateEdges, FiltersAndCollarsThatLeaveTheRangeAreBreaches) {
    SampleWorld world = sample_world();
    world.market.markets[0].rules.percent_up = huge();
    EXPECT_EQ(reasons_of(world), Reasons{"market_sanity:arithmetic_overflow:BTCUSDT"});
    world = sample_world();
    world.state.limits.price_collar = huge();
    EXPECT_EQ(reasons_of(world), Reasons{"market_sanity:arithmetic_overflow:BTCUSDT"});
    world = sample_world();
    world.state.limits.spread_spike_multiple = huge();
    world.market.markets[0].spread_median_5m_bps = Decimal(100'000);
    EXPECT_TRUE(has(world, "market_sanity:arithmetic_overflow:BTCUSDT"));
    world = sample_world();
    world.state.limits.order_rate_share = huge();
    world.market.markets[0].rules.orders_per_day_max = 1'000'000'000;
    EXPECT_EQ(reasons_of(world), Reasons{"policy_guardrails:arithmetic_overflow:BTCUSDT"});
}

}  // namespace
}  // namespace interlock
