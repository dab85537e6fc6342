// The gates where one unit of the last digit, one order more or the second of two equal things
// decides. Each case is one that a small change of a gate got past the other tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "loop/rules/gates/gates.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/sample_world.h"

namespace interlock {
namespace {

using Told = std::vector<std::string>;

Told told_by(const SampleWorld& world, std::string_view gate = "") {
    Told told;
    for (const Breach& breach : run_gates(world.input()).breaches) {
        if (to_text(breach).starts_with(gate)) {
            told.push_back(to_text(breach));
        }
    }
    return told;
}

bool says(const SampleWorld& world, std::string_view reason) {
    const Told told = told_by(world);
    return std::find(told.begin(), told.end(), reason) != told.end();
}

Decimal enormous() {
    return sample_decimal("100000000000000000000");  // Twice this leaves the range.
}

// A factor whose products end behind the last digit.
constexpr Decimal kJustOverOne = Decimal::from_units(1'000'000'000'000'000'001);
constexpr Decimal kJustUnderOne = Decimal::from_units(999'999'999'999'999'999);
constexpr Decimal kLeast = Decimal::from_units(1);

// Touch and mid end in .5 and .25, so that such products are not exact.
SampleWorld uneven_world() {
    SampleWorld world = sample_world();
    world.market.markets[0].best_bid = sample_decimal("50000.5");
    world.market.markets[0].best_ask = sample_decimal("50010.5");
    world.market.markets[0].rules.tick_size = {};
    return world;
}
const char* const kUnevenMid = "50005.5";

SampleWorld market_order(Side side) {
    SampleWorld world = sample_world();
    Intent& intent = world.plan.intents[0];
    intent.side = side;
    intent.order_type = OrderType::market;
    intent.time_in_force = TimeInForce::ioc;
    intent.limit_price.reset();
    return world;
}

TEST(GateRounding, CollarsRoundAgainstTheOrder) {
    SampleWorld world = uneven_world();
    Intent& intent = world.plan.intents[0];
    world.state.limits.price_collar = kLeast;
    intent.limit_price = *multiply_round_up(sample_decimal(kUnevenMid), kJustOverOne);
    EXPECT_TRUE(says(world, "market_sanity:price_collar:BTCUSDT"));
    intent.side = Side::sell;
    intent.limit_price = *multiply_round_down(sample_decimal(kUnevenMid), kJustUnderOne);
    EXPECT_TRUE(says(world, "market_sanity:price_collar:BTCUSDT"));

    world = uneven_world();
    world.state.limits.touch_collar_bps = Decimal::from_units(10'000);  // One unit as a fraction.
    world.plan.intents[0].limit_price = *multiply_round_up(sample_decimal("50010.5"), kJustOverOne);
    EXPECT_TRUE(says(world, "market_sanity:touch_collar:BTCUSDT"));
    world.plan.intents[0].side = Side::sell;
    world.plan.intents[0].limit_price =
        *multiply_round_down(sample_decimal("50000.5"), kJustUnderOne);
    EXPECT_TRUE(says(world, "market_sanity:touch_collar:BTCUSDT"));
}

TEST(GateRounding, ACollarSaysOnWhichSideItIs) {
    for (const Side side : {Side::buy, Side::sell}) {
        SampleWorld world = sample_world();
        world.plan.intents[0].side = side;
        world.plan.intents[0].limit_price = Decimal(side == Side::buy ? 60'000 : 40'000);
        const GateReport report = run_gates(world.input());
        const auto found =
            std::find_if(report.breaches.begin(), report.breaches.end(), [](const Breach& breach) {
                return breach.code == "price_collar";
            });
        ASSERT_NE(found, report.breaches.end());
        EXPECT_NE(
            found->detail.find(side == Side::buy ? "may be at most" : "must be at least"),
            std::string::npos);
    }
}

TEST(GateRounding, TheVenuesBandsAndValuesRoundAgainstTheOrder) {
    SampleWorld world = uneven_world();
    MarketRules& rules = world.market.markets[0].rules;
    Intent& intent = world.plan.intents[0];
    rules.percent_up = kJustOverOne;
    intent.limit_price = *multiply_round_up(sample_decimal(kUnevenMid), kJustOverOne);
    EXPECT_TRUE(says(world, "market_sanity:percent_price:BTCUSDT"));
    rules.percent_up = Decimal(5);
    rules.percent_down = kJustUnderOne;
    intent.limit_price = *multiply_round_down(sample_decimal(kUnevenMid), kJustUnderOne);
    EXPECT_TRUE(says(world, "market_sanity:percent_price:BTCUSDT"));

    world = uneven_world();
    Intent& small = world.plan.intents[0];
    small.qty = Decimal::from_units(7);
    small.limit_price = sample_decimal("49999.5");
    world.market.markets[0].rules.notional_min = *multiply_round_up(small.qty, *small.limit_price);
    EXPECT_TRUE(says(world, "market_sanity:notional_min:BTCUSDT"));
    world.market.markets[0].rules.notional_min = {};
    world.market.markets[0].rules.notional_max =
        *multiply_round_down(small.qty, *small.limit_price);
    EXPECT_TRUE(says(world, "market_sanity:notional_max:BTCUSDT"));
}

TEST(GateRounding, AMarketOrderIsValuedAtTheWorseOfEstimateAndMid) {
    SampleWorld world = market_order(Side::buy);
    world.market.markets[0].rules.notional_max =
        *multiply_round_up(world.plan.intents[0].qty, Decimal(50'005));
    EXPECT_TRUE(says(world, "market_sanity:notional_max:BTCUSDT"));
    // A limit order at its own price, though the mid is lower.
    world = sample_world();
    world.plan.intents = {sample_sell(0)};
    world.market.markets[0].rules.notional_min =
        *multiply_round_down(world.plan.intents[0].qty, Decimal(50'020));
    EXPECT_FALSE(says(world, "market_sanity:notional_min:BTCUSDT"));
    // The estimate of this one is in range, its value at the mid is not.
    world = market_order(Side::sell);
    world.plan.intents[0].qty = Decimal(3'405'000'000'000'000);
    EXPECT_TRUE(says(world, "market_sanity:arithmetic_overflow:BTCUSDT"));
}

TEST(GateRounding, TheTighterOfTheVenuesQuantitiesCounts) {
    const auto breaks = [](std::string_view all, std::string_view market) {
        SampleWorld world = market_order(Side::buy);
        world.market.markets[0].rules.qty_max = sample_decimal(all);
        world.market.markets[0].rules.market_qty_max = sample_decimal(market);
        return says(world, "market_sanity:qty_max:BTCUSDT");
    };
    EXPECT_TRUE(breaks("0.001", "0"));
    EXPECT_TRUE(breaks("0", "0.001"));
    EXPECT_TRUE(breaks("0.001", "50"));
    EXPECT_TRUE(breaks("50", "0.001"));
    EXPECT_FALSE(breaks("0", "0"));
}

TEST(GateRounding, ASpikeBeginsWhereTheUsualSpreadRoundsDownTo) {
    SampleWorld world = sample_world();
    const Decimal spread = *spread_bps_of(world.market.markets[0]);
    world.state.limits.spread_spike_floor_bps = {};
    world.state.limits.spread_spike_multiple = kJustOverOne;
    bool met = false;
    for (std::int64_t less = 0; less < 5; ++less) {
        const Decimal usual = Decimal::from_units(spread.units() - less);
        if (*multiply_round_up(kJustOverOne, usual) == spread &&
            *multiply_round_down(kJustOverOne, usual) < spread) {
            world.market.markets[0].spread_median_5m_bps = usual;
            EXPECT_TRUE(says(world, "market_sanity:spread_spike:BTCUSDT"));
            met = true;
        }
    }
    EXPECT_TRUE(met);
    world = sample_world();
    world.market.markets[0].best_bid = kLeast;
    world.market.markets[0].best_ask = enormous();
    EXPECT_TRUE(says(world, "market_sanity:price_unknown:BTCUSDT"));
}

TEST(GateRounding, AReducedSizeAndARunwayRoundAgainstThePlan) {
    SampleWorld world = sample_world();
    world.state.risk_mode = RiskMode::defensive;
    // A quarter of it is 500 but for a fraction that no decimal holds.
    world.state.limits.max_notional_per_trade = *subtract(Decimal(2000), kLeast);
    EXPECT_TRUE(says(world, "risk_limits:notional_per_trade:BTCUSDT"));

    world = sample_world();
    const Decimal fee = *multiply_round_up(Decimal(500), sample_decimal("0.001"));
    const Decimal cost = *add(*divide_round_up(fee, Decimal(30)), Decimal(2));
    world.state.limits.hard_min_runway_days = kJustOverOne;
    world.state.ops_reserve = *multiply_round_down(cost, kJustOverOne);
    EXPECT_EQ(told_by(world), Told{"runway_budget:runway:-"});
    world.state.ops_reserve = *multiply_round_up(cost, kJustOverOne);
    EXPECT_TRUE(told_by(world).empty());
}

TEST(GateRounding, OnlyEntriesAreHeldToTheSizeOfAnEntry) {
    SampleWorld world = sample_world();
    world.state.limits.max_notional_per_trade = Decimal(600);
    Intent sell = sample_sell(0);
    sell.qty = sample_decimal("0.02");
    world.plan.intents.push_back(sell);
    EXPECT_TRUE(told_by(world, "risk_limits").empty());
    // What has no estimate has no size either.
    world = sample_world();
    world.state.limits.max_notional_per_trade = {};
    world.plan.intents[0].qty = {};
    EXPECT_EQ(told_by(world, "risk_limits"), Told{"risk_limits:malformed_intent:BTCUSDT"});
    world.market.markets.clear();
    EXPECT_TRUE(says(world, "market_sanity:malformed_intent:BTCUSDT"));
    // Without a peak nothing is said about a fall from it.
    world = sample_world();
    world.state.peak = {};
    world.state.equity = Decimal(-1);
    EXPECT_EQ(told_by(world, "risk_limits"), Told{"risk_limits:peak_unknown:-"});
}

// A buy that rests below the mid and a sell that takes: only the sell is worse than the mid.
SampleWorld buy_and_sell() {
    SampleWorld world = sample_world();
    Intent sell = market_order(Side::sell).plan.intents[0];
    sell.intent_id = IntentId::trusted("i1");
    sell.qty = sample_decimal("0.02");
    world.plan.intents.push_back(sell);
    return world;
}

TEST(GateRounding, WhatASellLosesAgainstTheMidCounts) {
    SampleWorld world = buy_and_sell();
    world.state.limits.max_drawdown = sample_decimal("0.0005");
    EXPECT_TRUE(says(world, "risk_limits:drawdown:-"));
    world.state.limits.max_drawdown = sample_decimal("0.001");
    EXPECT_FALSE(says(world, "risk_limits:drawdown:-"));
}

TEST(GateRounding, LossesAndAdverseMovesRoundAgainstThePlan) {
    SampleWorld world = buy_and_sell();
    world.market.markets[0].best_bid = sample_decimal("50000.5");
    Intent& sell = world.plan.intents[1];
    sell.qty = Decimal::from_units(7);
    world.state.symbols[0].avg_price = Decimal(60'000);
    const FillAssumptions assumed{
        world.state.limits.slippage_bps,
        world.state.limits.taker_fee_bps,
        world.state.limits.maker_fee_bps};
    const MarketFacts& market = world.market.markets[0];
    const FillEstimate bought = *estimate_fill(world.plan.intents[0], market, assumed);
    const FillEstimate sold = *estimate_fill(sell, market, assumed);
    const Decimal fees = *add(bought.fee, sold.fee);
    const Decimal gain = *subtract(sold.price, Decimal(60'000));
    const Decimal lost = *multiply_round_down(sell.qty, gain);
    ASSERT_NE(lost, *multiply_round_up(sell.qty, gain));
    world.state.limits.daily_loss_limit = *subtract(fees, lost);
    EXPECT_TRUE(says(world, "risk_limits:daily_loss:-"));

    const Decimal worse = *subtract(*mid_of(market), sold.price);
    const Decimal adverse = *multiply_round_up(sell.qty, worse);
    ASSERT_NE(adverse, *multiply_round_down(sell.qty, worse));
    world.state.limits.max_drawdown = Decimal(1);
    world.state.peak = *add(fees, adverse);
    world.state.equity = world.state.peak;
    EXPECT_TRUE(says(world, "risk_limits:drawdown:-"));
}

TEST(GateRounding, InventoryThatLeavesTheRangeIsNone) {
    SampleWorld world = sample_world();
    world.plan.intents = {sample_sell(0)};
    world.state.symbols[0].position = Decimal::from_units(std::numeric_limits<__int128>::min());
    world.state.symbols[0].open_sell_qty =
        Decimal::from_units(std::numeric_limits<__int128>::max());
    EXPECT_TRUE(says(world, "exposure_leverage:short:BTCUSDT"));
    // Less than the range holds would wrap round to a fortune.
    world.state.symbols[0].open_sell_qty = enormous();
    EXPECT_TRUE(says(world, "exposure_leverage:short:BTCUSDT"));
    // Of a symbol nobody knows anything about nothing can be sold.
    world.state.symbols.clear();
    EXPECT_TRUE(says(world, "exposure_leverage:short:BTCUSDT"));
}

TEST(GateRounding, SumsOfAPlanThatLeaveTheRangeAreABreach) {
    SampleWorld world = sample_world();
    world.plan.intents[0].qty = Decimal(2'000'000'000'000'000);
    world.plan.intents.push_back(world.plan.intents[0]);
    for (const std::string_view gate : {"risk_limits", "runway_budget", "exposure_leverage"}) {
        EXPECT_TRUE(says(world, std::string(gate) + ":arithmetic_overflow:-"));
    }
    // Round the whole range and back: still a breach, and nothing else is said of the sum.
    world = sample_world(4);
    world.plan.intents.resize(1);
    for (SymbolFacts& facts : world.state.symbols) {
        facts.open_buy_notional = enormous();
    }
    EXPECT_EQ(
        told_by(world, "exposure_leverage"),
        (Told{
            "exposure_leverage:symbol_exposure:BTCUSDT",
            "exposure_leverage:arithmetic_overflow:-"}));
    world = sample_world(4);
    for (Intent& intent : world.plan.intents) {
        intent.qty = Decimal(2'000'000'000'000'000);
    }
    EXPECT_FALSE(says(world, "exposure_leverage:insufficient_funds:BTFUSDT"));
}

TEST(GateRounding, APriceOfALaterSymbolIsNotTaken) {
    SampleWorld world = sample_world(3);
    world.plan.intents.resize(1);
    world.state.symbols[1].position = Decimal(1);
    world.market.markets.erase(world.market.markets.begin() + 1);
    EXPECT_EQ(told_by(world, "exposure_leverage"), Told{"exposure_leverage:price_unknown:BTDUSDT"});
}

TEST(GateRounding, AMarketOrderNeverRestsAndAPostOnlyOneNeverTakes) {
    SampleWorld world = buy_and_sell();
    Intent& buy = world.plan.intents[0];
    buy.order_type = OrderType::market;
    buy.limit_price.reset();  // And says GTC, which means nothing for it.
    Intent& sell = world.plan.intents[1];
    sell = sample_sell(0);
    sell.intent_id = IntentId::trusted("i1");
    EXPECT_FALSE(says(world, "policy_guardrails:self_cross:BTCUSDT"));

    Intent post = sample_buy(0);
    post.post_only = true;
    post.limit_price = Decimal(51'000);
    const FillAssumptions assumed{Decimal(25), Decimal(20), Decimal(10)};
    EXPECT_EQ(estimate_fill(post, world.market.markets[0], assumed)->price, Decimal(51'000));
    post.limit_price.reset();
    EXPECT_EQ(
        estimate_fill(post, world.market.markets[0], assumed).error(), errors::invalid_request);
}

TEST(GateRounding, ADuplicateNamesTheNewestDecisionOfEachOrder) {
    SampleWorld world = sample_world();
    Intent second = world.plan.intents[0];
    second.intent_id = IntentId::trusted("i1");
    second.limit_price = Decimal(49'999);
    world.plan.intents.push_back(second);
    const auto recent = [&](const Intent& intent, std::string_view decision) {
        RecentIntent one;
        one.symbol = intent.symbol;
        one.side = intent.side;
        one.qty = intent.qty;
        one.limit_price = intent.limit_price;
        one.decision_id = DecisionId::trusted(std::string(decision));
        one.at = world.state.now;
        return one;
    };
    world.state.recent = {
        recent(world.plan.intents[0], "dec_old"),
        recent(world.plan.intents[0], "dec_new"),
        recent(second, "dec_other")};
    EXPECT_EQ(
        told_by(world),
        (Told{
            "policy_guardrails:duplicate_of=dec_new:BTCUSDT",
            "policy_guardrails:duplicate_of=dec_other:BTCUSDT"}));
}

TEST(GateRounding, AVenueThatTakesOneOrderHasALimit) {
    SampleWorld world = sample_world();
    world.market.markets[0].rules.orders_per_10s_max = 1;
    EXPECT_TRUE(says(world, "policy_guardrails:order_rate:BTCUSDT"));
}

TEST(GateRounding, AnEdgeIsWarnedOfOnceAndItsCostsMayLeaveTheRange) {
    SampleWorld world = sample_world();
    world.plan.intents[0].expected_edge_bps = Decimal();
    world.plan.intents.push_back(world.plan.intents[0]);
    world.plan.intents[1].limit_price = Decimal(49'999);
    EXPECT_EQ(run_gates(world.input()).warnings, Told{"thin_edge:BTCUSDT"});
    world = market_order(Side::buy);
    world.state.limits.taker_fee_bps = enormous();
    EXPECT_TRUE(says(world, "policy_guardrails:arithmetic_overflow:BTCUSDT"));
    EXPECT_TRUE(run_gates(world.input()).warnings.empty());
    // Costs that left the range are compared with nothing, however bad the edge is.
    world.state.limits.enforce_edge = Decimal(1);
    world.plan.intents[0].expected_edge_bps = sample_decimal("-160000000000000000000");
    EXPECT_FALSE(says(world, "policy_guardrails:thin_edge:BTCUSDT"));
}

// What a plan sells counts down what it may still sell; below the range that would wrap round.
TEST(GateRounding, ASellBeyondTheRangeLeavesNothingToSell) {
    SampleWorld world = sample_world();
    world.state.symbols[0].position = {};
    world.state.symbols[0].open_sell_qty =
        Decimal::from_units(std::numeric_limits<__int128>::max());
    world.plan.intents = {sample_sell(0), sample_sell(0)};
    world.plan.intents[0].qty = enormous();
    const PlanScratch scratch = apply_plan(
        {.state = world.state,
         .market = world.market,
         .plan = world.plan,
         .assumptions = assumptions_of(world.state.limits)});
    EXPECT_TRUE(scratch.intents[0].is_entry);
    EXPECT_TRUE(scratch.intents[1].is_entry);
    EXPECT_EQ(scratch.symbols[0].sellable, *subtract(Decimal(), world.plan.intents[1].qty));
}

TEST(GateRounding, APriceThatSlipsIsRoundedAgainstThePlan) {
    MarketFacts market = sample_world().market.markets[0];
    market.best_bid = Decimal::from_units(30'001);
    market.best_ask = Decimal::from_units(30'003);
    const FillAssumptions assumed{
        .slippage_bps = Decimal(1), .taker_fee_bps = {}, .maker_fee_bps = {}};
    const auto price = [&](Side side) {
        return estimate_fill(market_order(side).plan.intents[0], market, assumed)->price;
    };
    EXPECT_EQ(price(Side::buy), Decimal::from_units(30'007));   // 30006.0003
    EXPECT_EQ(price(Side::sell), Decimal::from_units(29'997));  // 29997.9999
}

}  // namespace
}  // namespace interlock
