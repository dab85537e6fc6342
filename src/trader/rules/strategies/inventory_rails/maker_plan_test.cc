// The builder of maker orders: nothing else can come out of it.
#include "trader/rules/strategies/inventory_rails/maker_plan.h"

#include <gtest/gtest.h>

#include <concepts>

#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

// There is no door for an order of another kind: no intent, no quote with a style, no plan made
// elsewhere can be put in, and the plan inside cannot be reached to be changed.
template <class T>
concept TakesAnIntent = requires(T plan, Intent intent) { plan.add(intent); };
template <class T>
concept TakesAStyle = requires(T plan, Decimal d, OrderStyle style) {
    requires requires { plan.bid(d, d, style); } || requires { plan.ask(d, d, style); };
};
template <class T>
concept ShowsItsPlan =
    requires(T plan) { requires requires { plan.plan(); } || requires { plan.plan_; }; };
static_assert(!TakesAnIntent<MakerPlan&>);
static_assert(!TakesAStyle<MakerPlan&>);
static_assert(!ShowsItsPlan<MakerPlan&>);
static_assert(!std::constructible_from<MakerPlan, Plan>);
static_assert(!std::constructible_from<MakerPlan, MarketDesk&, Plan>);
static_assert(!std::copy_constructible<MakerPlan>);

class MakerPlanTest : public ::testing::Test {
protected:
    MakerPlanTest() { world.hold("1"); }
    PlannerWorld world;  // 50000 / 50010.
    StrategyInput input = world.input();
    MarketDesk desk = MarketDesk::open(input, Decimal()).value();
    MakerPlan plan{desk};
};

TEST_F(MakerPlanTest, MakesPostOnlyLimitOrders) {
    EXPECT_TRUE(plan.bid(Decimal(49'000), world.dec("0.01")));
    EXPECT_TRUE(plan.ask(Decimal(51'000), world.dec("0.01")));
    const Plan taken = std::move(plan).take("why");
    ASSERT_EQ(taken.intents.size(), 2u);
    EXPECT_EQ(taken.reason, "why");
    for (const Intent& intent : taken.intents) {
        EXPECT_EQ(intent.order_type, OrderType::limit);
        EXPECT_TRUE(intent.post_only);
        EXPECT_EQ(intent.time_in_force, TimeInForce::gtc);
    }
    EXPECT_EQ(taken.intents[0].side, Side::buy);
    EXPECT_EQ(taken.intents[1].side, Side::sell);
}

TEST_F(MakerPlanTest, RefusesAPriceThatWouldTake) {
    EXPECT_FALSE(plan.bid(Decimal(50'010), world.dec("0.01")));
    EXPECT_FALSE(plan.ask(Decimal(50'000), world.dec("0.01")));
    EXPECT_TRUE(std::move(plan).take("").intents.empty());
}

TEST_F(MakerPlanTest, RefusesWhatFundsDoNotReach) {
    EXPECT_FALSE(plan.bid(Decimal(49'000), Decimal(1)));  // There is 9000 in cash.
    EXPECT_FALSE(plan.ask(Decimal(51'000), world.dec("1.1")));
}

}  // namespace
}  // namespace interlock
