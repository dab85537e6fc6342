// The grid trader: its step, its shape, sliding, recentring, risk modes and waiting.
#include "trader/rules/strategies/grid_trader/grid_trader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/account_builders.h"
#include "trader/rules/strategies/grid_trader/grid_memory.h"
#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

std::int64_t count_side(const Plan& plan, Side side) {
    return std::count_if(plan.intents.begin(), plan.intents.end(), [&](const Intent& intent) {
        return intent.side == side;
    });
}

const OwnOrder& nearest(const std::vector<OwnOrder>& orders, Side side) {
    const OwnOrder* best = nullptr;
    for (const OwnOrder& order : orders) {
        if (order.side == side &&
            (best == nullptr || (side == Side::buy) == (order.price > best->price))) {
            best = &order;
        }
    }
    return *best;
}

TimeframeSignals with_atr(std::string_view atr_pct) {
    TimeframeSignals signals;
    signals.timeframe = Timeframe::h1;
    signals.atr_pct = dec(atr_pct);
    return signals;
}

class GridTraderTest : public ::testing::Test {
protected:
    GridTraderTest() { world.hold("0.1"); }
    // A step, carried out; a second one when the first only cancels.
    Plan run() {
        const Plan plan = world.step(*grid).plan;
        world.carry_out(plan);
        return plan;
    }
    PlannerWorld world;
    std::shared_ptr<const Strategy> grid = opened_strategy("grid_trader");
};

TEST(GridStep, IsTheAtrTimesItsMultiplierBetweenTheBounds) {
    const GridConfig config;
    EXPECT_EQ(grid_step_of(config, {.atr_pct = dec("0.03")}).value(), dec("0.015"));
    EXPECT_EQ(grid_step_of(config, {.atr_pct = dec("0.5")}).value(), dec("0.03"));
    EXPECT_EQ(grid_step_of(config, {}).value(), dec("0.012"));
}

TEST(GridStep, NeverFallsBelowWhatFeesEat) {
    GridConfig config;
    EXPECT_EQ(grid_step_of(config, {.atr_pct = dec("0.001")}).value(), dec("0.0055"));
    config.fee_rate = Decimal();
    EXPECT_EQ(grid_step_of(config, {.atr_pct = dec("0.001")}).value(), dec("0.005"));
}

TEST(GridStep, WidensWhileDefensiveAndWithACarefulPosture) {
    const GridConfig config;
    EXPECT_EQ(
        grid_step_of(config, {.atr_pct = {}, .risk_mode = RiskMode::defensive}).value(),
        dec("0.018"));
    EXPECT_EQ(
        grid_step_of(config, {.atr_pct = {}, .posture = RiskPosture::conservative}).value(),
        dec("0.015"));
    EXPECT_EQ(
        grid_step_of(config, {.atr_pct = {}, .posture = RiskPosture::aggressive}).value(),
        dec("0.0096"));
}

TEST(GridStep, AMultiplierOfZeroKeepsTheConfiguredStep) {
    GridConfig config;
    config.volatility_multiplier = Decimal();
    EXPECT_EQ(grid_step_of(config, {.atr_pct = dec("0.08")}).value(), dec("0.012"));
}

TEST_F(GridTraderTest, QuotesBothSidesOnLinesOneStepApart) {
    const Plan plan = run();
    EXPECT_EQ(count_side(plan, Side::buy), 6);
    EXPECT_EQ(count_side(plan, Side::sell), 6);
    // Around a mid of 50005 with a step of 1.2 %: 600.06 apart.
    EXPECT_EQ(nearest(world.own(), Side::buy).price, dec("49404.94"));
    EXPECT_EQ(nearest(world.own(), Side::sell).price, dec("50605.06"));
    EXPECT_TRUE(std::ranges::all_of(plan.intents, &Intent::post_only));
}

TEST_F(GridTraderTest, AnUnchangedWorldNeedsNoPlan) {
    run();
    const Plan again = run();
    EXPECT_TRUE(again.intents.empty() && again.cancels.empty());
}

TEST_F(GridTraderTest, TakesItsStepFromTheAtrOfItsTimeframe) {
    world.set_signals(with_atr("0.04"));
    run();
    EXPECT_EQ(nearest(world.own(), Side::sell).price, dec("51005.1"));
}

TEST_F(GridTraderTest, AFilledBuyIsAnsweredWithASellOneStepAbove) {
    run();
    world.fill(nearest(world.own(), Side::buy).order_client_id);
    world.quote("49500", "49510");  // Back above the line: only the fill tells.
    run();                          // The outermost sell leaves first.
    run();
    EXPECT_EQ(nearest(world.own(), Side::sell).price, dec("50005"));
    EXPECT_EQ(nearest(world.own(), Side::buy).price, dec("48804.88"));
}

TEST_F(GridTraderTest, SlidesByWholeLinesSoThatStandingOrdersStay) {
    run();
    const std::vector<OwnOrder> before = world.own();
    world.fill(nearest(world.own(), Side::buy).order_client_id);
    world.quote("49300", "49310");
    const Plan plan = world.step(*grid).plan;
    // Only the outermost sell leaves, because six a side are wanted.
    ASSERT_EQ(plan.cancels.size(), 1u);
    const auto& top = *std::ranges::max_element(before, {}, &OwnOrder::price);
    EXPECT_EQ(plan.cancels.front(), top.order_client_id);
    EXPECT_EQ(read_grid_memory(world.memory()).slides, 1);
    EXPECT_EQ(read_grid_memory(world.memory()).recentres, 0);
}

TEST_F(GridTraderTest, ACancelBySomeoneElseIsNoFill) {
    run();
    world.remove(nearest(world.own(), Side::buy).order_client_id);
    const Plan plan = run();
    EXPECT_EQ(plan.intents.size(), 1u);
    EXPECT_EQ(read_grid_memory(world.memory()).line, 0);
}

TEST_F(GridTraderTest, RecentresOnceThePriceDriftedFar) {
    run();
    world.quote("53100", "53110");  // 6.2 %.
    const Plan cancels = run();
    EXPECT_FALSE(cancels.cancels.empty());
    EXPECT_TRUE(cancels.intents.empty());
    EXPECT_EQ(read_grid_memory(world.memory()).recentres, 1);
    EXPECT_EQ(read_grid_memory(world.memory()).anchor, dec("53105"));
}

TEST_F(GridTraderTest, AWobblingAtrDoesNotMoveTheGrid) {
    world.set_signals(with_atr("0.03"));
    run();
    world.set_signals(with_atr("0.033"));
    EXPECT_TRUE(run().cancels.empty());
    world.set_signals(with_atr("0.04"));
    EXPECT_FALSE(run().cancels.empty());
}

TEST_F(GridTraderTest, SeedsEachSideWithWhatFundsAllow) {
    grid = opened_strategy("grid_trader", R"({"max_inventory_share":"1"})");
    world.cash("250");
    world.hold("0.005");  // 250 quote: two full levels and one for the rest.
    const Plan plan = run();
    EXPECT_EQ(count_side(plan, Side::buy), 2);
    EXPECT_EQ(count_side(plan, Side::sell), 3);
}

TEST_F(GridTraderTest, StopsBuyingAtItsShareOfInventory) {
    world.hold("0.2");  // 10001 of 10401 in all.
    world.cash("400");
    EXPECT_EQ(count_side(run(), Side::buy), 0);
}

TEST_F(GridTraderTest, HaltedTakesEverythingBackAndPlansNothing) {
    run();
    world.state().risk_mode = RiskMode::halted;
    const Plan plan = run();
    EXPECT_EQ(plan.cancels.size(), 12u);
    EXPECT_TRUE(plan.intents.empty());
}

TEST_F(GridTraderTest, ReduceOnlyCancelsBuysAndKeepsSells) {
    run();
    world.state().risk_mode = RiskMode::reduce_only;
    EXPECT_EQ(run().cancels.size(), 6u);
    EXPECT_TRUE(run().intents.empty());
    EXPECT_EQ(world.own().size(), 6u);
}

TEST_F(GridTraderTest, DefensiveHalvesLevelsAndScalesBuys) {
    world.state().risk_mode = RiskMode::defensive;
    const Plan plan = run();
    EXPECT_EQ(count_side(plan, Side::buy), 3);
    EXPECT_EQ(count_side(plan, Side::sell), 3);
    const Intent& buy = *std::ranges::find(plan.intents, Side::buy, &Intent::side);
    // A quarter of 100, at 50005 × (1 − 0.018), down to the step.
    EXPECT_EQ(buy.qty, dec("0.0005"));
}

TEST_F(GridTraderTest, LiftsAScaledLevelToTheVenuesLeast) {
    world.market().rules.notional_min = Decimal(80);
    world.state().risk_mode = RiskMode::reduced;  // 75.
    const Plan plan = run();
    const Intent& buy = *std::ranges::find(plan.intents, Side::buy, &Intent::side);
    EXPECT_GE(multiply_round_down(buy.qty, *buy.limit_price).value(), Decimal(80));
}

TEST_F(GridTraderTest, DropsALevelThatLimitsDoNotLetItLift) {
    world.market().rules.notional_min = Decimal(80);
    world.state().limits.max_notional_per_trade = Decimal(80);
    EXPECT_EQ(count_side(run(), Side::buy), 0);
}

TEST_F(GridTraderTest, WaitsOnTheSideOfAnUncertainOrder) {
    world.place("odd", Side::sell, dec("50605.06"), dec("0.00197"));
    world.own().front().is_uncertain = true;
    const Plan plan = world.step(*grid).plan;
    EXPECT_EQ(count_side(plan, Side::sell), 0);
    EXPECT_EQ(count_side(plan, Side::buy), 6);
    EXPECT_TRUE(plan.cancels.empty());
}

TEST_F(GridTraderTest, PlansNoBuyWhileAnyOrderOfTheAccountIsUncertain) {
    world.state().uncertain_orders = 1;
    EXPECT_EQ(count_side(run(), Side::buy), 0);
}

TEST_F(GridTraderTest, TakesBackOrdersThatAreTooBoldForTheMode) {
    run();
    world.state().risk_mode = RiskMode::reduced;
    EXPECT_EQ(run().cancels.size(), 6u);
}

TEST_F(GridTraderTest, PacesItselfByTheVenuesOrderLimits) {
    world.state().orders_last_10s = 77;  // Of 80.
    const Plan first = run();
    EXPECT_EQ(first.intents.size(), 3u);
    world.state().orders_last_10s = 0;
    EXPECT_EQ(run().intents.size(), 9u);
}

TEST_F(GridTraderTest, KeepsWithinTheOrdersAMarketTakes) {
    world.market().rules.open_orders_max = 5;
    EXPECT_EQ(run().intents.size(), 4u);
}

TEST_F(GridTraderTest, AHaltedMarketIsNoFailure) {
    world.market().status_halted = true;
    const StrategyStep step = world.step(*grid);
    EXPECT_TRUE(step.plan.intents.empty() && step.plan.cancels.empty());
    EXPECT_EQ(step.assessment.current_intent, "wait");
}

TEST_F(GridTraderTest, AMissingMarketIsAnError) {
    const MarketSet none;
    const StrategyInput seen = world.input();
    const StrategyInput blind{
        .strategy_id = seen.strategy_id,
        .symbol = seen.symbol,
        .state = seen.state,
        .market = none,
        .signals = seen.signals,
        .own_orders = seen.own_orders,
        .memory = seen.memory,
    };
    EXPECT_FALSE(grid->step(blind).has_value());
}

TEST_F(GridTraderTest, AMemoryItCannotReadMeansALayoutAnew) {
    world.memory() = parse_json(R"({"anchor":"x","step":"-1"})").value();
    EXPECT_EQ(run().intents.size(), 12u);
}

TEST_F(GridTraderTest, ATickWiderThanAStepStillKeepsLinesApart) {
    world.market().rules.tick_size = Decimal(1000);
    run();
    const Plan again = run();
    EXPECT_TRUE(again.intents.empty() && again.cancels.empty());
    EXPECT_EQ(nearest(world.own(), Side::buy).price, dec("48000"));
}

TEST_F(GridTraderTest, TellsTheSupervisorWhatItSees) {
    world.set_signals(with_atr("0.03"));
    const Json facts = world.step(*grid).assessment.supervision;
    EXPECT_EQ(facts.find("grid_step_pct")->as_string(), "0.015");
    EXPECT_TRUE(facts.find("capacity_available")->as_bool());
    EXPECT_FALSE(facts.find("rebalance_needed")->as_bool());
    // 5000.5 of 14000.5 is base: 35.71 %.
    EXPECT_EQ(facts.find("inventory_pressure")->as_string(), "-0.2858");
}

TEST_F(GridTraderTest, OneEmptySideAsksForARebalance) {
    world.hold("0");
    const StrategyAssessment assessment = world.step(*grid).assessment;
    EXPECT_TRUE(assessment.supervision.find("rebalance_needed")->as_bool());
    EXPECT_FALSE(assessment.warnings.empty());
}

TEST(GridConfig, RefusesBoundsTheWrongWayRound) {
    const auto opened = find_strategy_type("grid_trader")
                            ->open(parse_json(R"({"grid_step_min_pct":"0.05"})").value());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().problems.front().path, "grid_step_max_pct");
}

}  // namespace
}  // namespace interlock
