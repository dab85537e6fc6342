// The maker engine: levels, rails, stops, refusals, modes, and a small market to live in.
#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "testing/account_builders.h"
#include "trader/rules/strategies/inventory_rails/rails_memory.h"
#include "trader/rules/test_planner_world.h"

namespace interlock {
namespace {

std::vector<Decimal> prices_of(const Plan& plan, Side side) {
    std::vector<Decimal> prices;
    for (const Intent& intent : plan.intents) {
        if (intent.side == side) {
            prices.push_back(*intent.limit_price);
        }
    }
    return prices;
}

Decimal total_qty(const Plan& plan, Side side) {
    Decimal total;
    for (const Intent& intent : plan.intents) {
        if (intent.side == side) {
            total = add(total, intent.qty).value();
        }
    }
    return total;
}

std::vector<Decimal> decs(std::initializer_list<std::string_view> texts) {
    std::vector<Decimal> values;
    for (const std::string_view text : texts) {
        values.push_back(dec(text));
    }
    return values;
}

class InventoryRailsTest : public ::testing::Test {
protected:
    InventoryRailsTest() {
        world.hold("0.03");
        world.cash("20000");
        world.quote("50000", "50010");  // Mid 50005.
        open("");
    }
    // A of 0.03 in three levels of 0.01.
    void open(std::string_view more) {
        rails = opened_strategy(
            "inventory_rails", R"({"amount": "0.03", "num_bids_ask": 3)" + std::string(more) + "}");
        world.cost_qty = rails->cost_qty().value();
    }
    Plan run() {
        const Plan plan = world.step(*rails).plan;
        world.carry_out(plan);
        world.state().now = world.state().now + Duration::of_seconds(10);
        return plan;
    }
    const OwnOrder& nearest(Side side) {
        return *std::ranges::max_element(world.own(), {}, [&](const OwnOrder& order) {
            const auto units = order.price.units();
            return order.side != side ? std::numeric_limits<__int128>::min()
                                      : (side == Side::buy ? units : -units);
        });
    }
    Json supervision() { return world.step(*rails).assessment.supervision; }
    std::string told(std::string_view key) { return supervision().find(key)->as_string(); }
    std::int64_t own(Side side) { return std::ranges::count(world.own(), side, &OwnOrder::side); }

    PlannerWorld world;
    std::shared_ptr<const Strategy> rails;
};

TEST_F(InventoryRailsTest, QuotesBothSidesAStepFromTheFirstMid) {
    const Plan plan = run();
    // F = 50005, d = 1 %.
    EXPECT_EQ(prices_of(plan, Side::buy), decs({"49504.95", "49009.9", "48514.85"}));
    // The lots cost 50000: 50000 × 1.012 = 50600 is above 50005 × 1.01.
    EXPECT_EQ(prices_of(plan, Side::sell), decs({"50600", "51106", "51612"}));
    for (const Intent& intent : plan.intents) {
        EXPECT_EQ(intent.qty, dec("0.01"));
        EXPECT_TRUE(intent.post_only);
    }
}

TEST_F(InventoryRailsTest, AnUnchangedWorldNeedsNoPlan) {
    run();
    const Plan again = run();
    EXPECT_TRUE(again.intents.empty() && again.cancels.empty());
}

TEST_F(InventoryRailsTest, TheLastOwnFillIsTheReference) {
    world.hold("0.01");
    run();
    world.fill(nearest(Side::buy).order_client_id);  // At 49504.95.
    EXPECT_EQ(told("reference"), "49504.95");
    // The two bids left stand for the first two levels below it; the third is missing.
    const Plan plan = run();
    EXPECT_TRUE(plan.cancels.empty());
    EXPECT_EQ(prices_of(plan, Side::buy), decs({"48029.7"}));
    // Below the cost of the oldest lots nothing is sold, although the step would be 49999.99…
    EXPECT_EQ(nearest(Side::sell).price, dec("50600"));
}

TEST_F(InventoryRailsTest, WiderBandsWidenTheStep) {
    TimeframeSignals signals;
    signals.timeframe = Timeframe::h1;
    signals.bollinger_bandwidth = dec("0.06");
    signals.bandwidth_quantile = dec("0.02");
    world.set_signals(signals);
    EXPECT_EQ(prices_of(run(), Side::buy).front(), dec("48504.85"));  // 3 %.
    EXPECT_EQ(told("widening"), "3");
}

TEST_F(InventoryRailsTest, AsksForTheQuantileAndTheCostItIsConfiguredFor) {
    open(R"(, "timeframe": "2h", "BBANDS_TIGHT_QUANTILE": "0.35")");
    EXPECT_EQ(rails->bandwidth_wish()->timeframe, Timeframe::h2);
    EXPECT_EQ(rails->bandwidth_wish()->quantile, dec("0.35"));
    EXPECT_EQ(rails->timeframes(), std::vector{Timeframe::h2});
    EXPECT_EQ(rails->cost_qty(), dec("0.01"));
}

TEST_F(InventoryRailsTest, BeginsWithItsBudgetOfWhatIsThere) {
    world.hold("0.02");
    EXPECT_EQ(told("inventory"), "0.02");
    world.memory() = Json();
    world.hold("5");
    EXPECT_EQ(told("inventory"), "0.03");
    world.memory() = Json();
    world.hold("0");
    EXPECT_EQ(told("inventory"), "0");
    EXPECT_EQ(total_qty(run(), Side::sell), Decimal());
}

TEST_F(InventoryRailsTest, SellsNoMoreThanItsInventoryWhateverElseIsHeld) {
    world.hold("5");
    EXPECT_EQ(total_qty(run(), Side::sell), dec("0.03"));
    while (own(Side::sell) > 0) {
        world.fill(nearest(Side::sell).order_client_id);
    }
    run();
    EXPECT_EQ(own(Side::sell), 0);
    EXPECT_EQ(told("inventory"), "0");
    run();
    EXPECT_EQ(own(Side::sell), 0);
    EXPECT_EQ(own(Side::buy), 3);
}

TEST_F(InventoryRailsTest, BuysNoMoreThanTwiceItsBudget) {
    for (int round = 0; round < 10; ++round) {
        run();
        while (own(Side::buy) > 0) {
            world.fill(nearest(Side::buy).order_client_id);
        }
    }
    EXPECT_EQ(told("inventory"), "0.06");
    EXPECT_EQ(world.held().position, dec("0.06"));
    run();
    EXPECT_EQ(own(Side::buy), 0);
    EXPECT_EQ(own(Side::sell), 3);
}

TEST_F(InventoryRailsTest, WhatOthersBringOrTakeIsNotItsInventory) {
    run();
    world.held().position = dec("0.9");  // A deposit.
    EXPECT_EQ(told("inventory"), "0.03");
    world.held().position = dec("0.01");  // Taken away: it is gone for the engine as well.
    EXPECT_EQ(told("inventory"), "0.01");
}

TEST_F(InventoryRailsTest, ALevelIsCutToTheRailNearestFirst) {
    world.hold("0.025");
    const Plan plan = run();
    std::vector<Decimal> sells;
    for (const Intent& intent : plan.intents) {
        if (intent.side == Side::sell) {
            sells.push_back(intent.qty);
        }
    }
    EXPECT_EQ(sells, decs({"0.01", "0.01", "0.005"}));
}

// An order may stay although its level became a little smaller; the next one is cut for it.
TEST_F(InventoryRailsTest, OrdersThatStandCountForTheRailsAsTheyAre) {
    run();
    world.fill(nearest(Side::buy).order_client_id);  // 0.04 now, and two bids of 0.01.
    world.fill(nearest(Side::sell).order_client_id, dec("0.0095"));
    EXPECT_EQ(told("inventory"), "0.0305");
    run();  // What lies beyond the last level is taken back.
    std::vector<Decimal> bids;
    const Plan plan = run();
    for (const Intent& intent : plan.intents) {
        if (intent.side == Side::buy) {
            bids.push_back(intent.qty);
        }
    }
    EXPECT_EQ(bids, decs({"0.01", "0.0095"}));
    EXPECT_EQ(own(Side::buy), 3);
}

TEST_F(InventoryRailsTest, ALevelIsCutToFundsNearestFirst) {
    world.cash("700");
    const Plan plan = run();
    EXPECT_EQ(prices_of(plan, Side::buy).size(), 2u);
    EXPECT_EQ(plan.intents.size(), 5u);
    Decimal value;
    for (const Intent& intent : plan.intents) {
        if (intent.side == Side::buy) {
            value = add(value, multiply_round_up(intent.qty, *intent.limit_price).value()).value();
        }
    }
    EXPECT_LE(value, Decimal(700));
    EXPECT_GT(value, Decimal(690));
}

TEST_F(InventoryRailsTest, ALevelBelowTheLeastNotionalIsSkipped) {
    world.market().rules.notional_min = Decimal(501);  // A level is worth about 500.
    const Plan plan = run();
    EXPECT_TRUE(prices_of(plan, Side::buy).empty());
    EXPECT_EQ(prices_of(plan, Side::sell).size(), 3u);
}

TEST_F(InventoryRailsTest, AStopBoundsASideOrTurnsItOff) {
    open(R"(, "stop_buy": 49100, "stop_sell": true)");
    const Plan plan = run();
    EXPECT_EQ(prices_of(plan, Side::buy), decs({"49009.9", "48514.85"}));
    EXPECT_TRUE(prices_of(plan, Side::sell).empty());
    world.own().clear();
    open(R"(, "stop_buy": false, "stop_sell": "51106")");
    world.memory() = Json();
    const Plan other = run();
    EXPECT_EQ(prices_of(other, Side::buy).size(), 3u);
    EXPECT_EQ(prices_of(other, Side::sell), decs({"51106", "51612"}));  // Touching is allowed.
}

TEST_F(InventoryRailsTest, AStopTakesBackOrdersBeyondIt) {
    run();
    open(R"(, "stop_buy": true)");
    EXPECT_EQ(run().cancels.size(), 3u);
    EXPECT_EQ(own(Side::buy), 0);
    EXPECT_EQ(own(Side::sell), 3);
}

TEST_F(InventoryRailsTest, AnOrderATenthOfAStepOffStaysAndAFurtherOneGoes) {
    run();
    // The bid follows the touch below 49504.95; a tenth of a step is about 49.5.
    world.quote("49460", "49470");
    EXPECT_TRUE(run().cancels.empty());
    world.quote("49450", "49460");
    EXPECT_EQ(run().cancels.size(), 3u);
    EXPECT_EQ(prices_of(run(), Side::buy).front(), Decimal(49'450));
}

TEST_F(InventoryRailsTest, ARefusalIsAnsweredATickFurtherAwayThreeTimesThenTheSideWaits) {
    const std::array<std::string_view, 5> kFirst{
        "49504.95", "49504.94", "49504.93", "49504.92", ""};
    for (const std::string_view price : kFirst) {
        const Timestamp planned_at = world.state().now;
        const Plan plan = run();
        EXPECT_EQ(prices_of(plan, Side::buy).size(), price.empty() ? 0u : 3u);
        if (!price.empty()) {
            EXPECT_EQ(prices_of(plan, Side::buy).front(), dec(price));
        }
        EXPECT_EQ(own(Side::sell), 3);
        while (own(Side::buy) > 0) {  // The venue refuses them all; they are one refusal.
            world.remove(nearest(Side::buy).order_client_id);
            note_refused(
                tally_for(world.book().tallies, StrategyId::trusted("s1")), Side::buy, planned_at);
        }
    }
    world.state().now = world.state().now + kRefusalGapMax;
    EXPECT_EQ(prices_of(run(), Side::buy).front(), dec("49504.95"));
}

TEST_F(InventoryRailsTest, RiskModesScaleBidsAndLeaveAsks) {
    world.state().risk_mode = RiskMode::reduced;
    const Plan reduced = run();
    EXPECT_EQ(total_qty(reduced, Side::buy), dec("0.0225"));
    EXPECT_EQ(total_qty(reduced, Side::sell), dec("0.03"));
    world.state().risk_mode = RiskMode::reduce_only;
    EXPECT_EQ(run().cancels.size(), 3u);
    EXPECT_EQ(own(Side::buy), 0);
    EXPECT_EQ(own(Side::sell), 3);
    world.state().risk_mode = RiskMode::halted;
    run();
    EXPECT_TRUE(world.own().empty());
}

TEST_F(InventoryRailsTest, DefensiveHalvesTheLevelsAndWidensTheStep) {
    world.state().risk_mode = RiskMode::defensive;
    const Plan plan = run();
    EXPECT_EQ(prices_of(plan, Side::buy), decs({"49254.92"}));  // 1.5 %.
    EXPECT_EQ(total_qty(plan, Side::buy), dec("0.0025"));
    EXPECT_EQ(prices_of(plan, Side::sell).size(), 1u);
}

TEST_F(InventoryRailsTest, AScaledBidIsLiftedToTheLeastNotionalWithinItsSize) {
    world.state().risk_mode = RiskMode::defensive;
    world.market().rules.notional_min = Decimal(200);
    EXPECT_EQ(total_qty(run(), Side::buy), dec("0.00407"));
}

TEST_F(InventoryRailsTest, AFeeThatEatsTheThresholdEndsQuoting) {
    run();
    world.state().limits.maker_fee_bps = Decimal(50);  // Twice that is the whole percent.
    const StrategyStep step = world.step(*rails);
    EXPECT_EQ(step.plan.cancels.size(), 6u);
    EXPECT_EQ(step.assessment.current_intent, "wait");
}

TEST_F(InventoryRailsTest, AThresholdNotAboveBothFeesIsRefused) {
    const auto open_with = [](std::string_view config) {
        return find_strategy_type("inventory_rails")->open(parse_json(config).value());
    };
    EXPECT_FALSE(open_with(R"({"pnl_perc": "0.2", "fee_rate": "0.001"})").has_value());
    EXPECT_TRUE(open_with(R"({"pnl_perc": "0.21", "fee_rate": "0.001"})").has_value());
    EXPECT_FALSE(open_with(R"({"BBANDS_TIGHT_QUANTILE": "0"})").has_value());
    EXPECT_FALSE(open_with(R"({"BBANDS_TIGHT_QUANTILE": "1"})").has_value());
    EXPECT_FALSE(open_with(R"({"stop_buy": 0})").has_value());
    EXPECT_FALSE(open_with(R"({"stop_sell": "off"})").has_value());
    EXPECT_TRUE(open_with(R"({"stop_sell": null, "stop_buy": "1.5"})").has_value());
}

TEST_F(InventoryRailsTest, WithoutAnAmountNothingIsQuoted) {
    const auto none = opened_strategy("inventory_rails");
    const StrategyStep step = world.step(*none);
    EXPECT_TRUE(step.plan.intents.empty());
    EXPECT_TRUE(step.memory.members().empty());
    EXPECT_EQ(step.assessment.current_intent, "wait");
}

TEST_F(InventoryRailsTest, BooksThatForgotItsTradesMakeItBeginAnew) {
    run();
    world.fill(nearest(Side::buy).order_client_id);
    EXPECT_EQ(told("inventory"), "0.04");
    world.book().tallies.clear();
    EXPECT_EQ(told("inventory"), "0.03");
    EXPECT_EQ(told("reference"), "50005");
}

TEST(RailsMemory, IsReadBackAndUnreadableOnesBeginAnew) {
    const RailsMemory memory{dec("0.5"), dec("-1"), dec("50005"), true};
    EXPECT_EQ(read_rails_memory(encode(memory)), memory);
    EXPECT_EQ(read_rails_memory(parse_json(R"({"start": "1"})").value()), RailsMemory{});
    EXPECT_EQ(read_rails_memory(Json()), RailsMemory{});
    EXPECT_EQ(
        read_rails_memory(encode(RailsMemory{dec("-1"), {}, dec("5"), false})), RailsMemory{});
}

// A market that moves by itself, fills what it reaches in whole or in part, refuses what would take
// and is slow to cancel.
class SmallMarket {
public:
    SmallMarket(PlannerWorld& world, const Strategy& strategy)
        : world_(world), strategy_(strategy) {
        world.cost_qty = strategy.cost_qty().value();
    }

    void live(Decimal amount, int ticks) {
        const Decimal start = std::min(amount, world_.held().position);
        for (int tick = 0; tick < ticks; ++tick) {
            move();
            meet();
            check(amount, start);
            const Plan plan = world_.step(strategy_).plan;
            for (const Intent& intent : plan.intents) {
                RC_ASSERT(intent.order_type == OrderType::limit);
                RC_ASSERT(intent.post_only);
                RC_ASSERT(intent.time_in_force == TimeInForce::gtc);
            }
            check_levels(plan);
            if (*rc::gen::inRange(0, 4) == 0) {
                move();  // Between the plan and the venue.
            }
            arrive(plan);
            check(amount, start);
            world_.state().now = world_.state().now + Duration::of_seconds(10);
        }
    }
    std::int64_t fills() const { return fills_; }
    std::int64_t refusals() const { return refusals_; }

private:
    void move() {
        mid_ += *rc::gen::inRange(-900, 900);
        mid_ = std::clamp<std::int64_t>(mid_, 30'000, 70'000);
        world_.quote(std::to_string(mid_ - 5), std::to_string(mid_ + 5));
    }
    bool is_reached(const OwnOrder& order) const {
        return order.side == Side::buy ? order.price >= Decimal(mid_ + 5)
                                       : order.price <= Decimal(mid_ - 5);
    }
    void meet() {
        const std::vector<OwnOrder> orders = world_.own();
        for (const OwnOrder& order : orders) {
            if (!is_reached(order)) {
                continue;
            }
            ++fills_;
            const bool is_whole = *rc::gen::inRange(0, 3) > 0;
            const Decimal half = Decimal::from_units(order.remaining_qty.units() / 2);
            world_.fill(order.order_client_id, is_whole ? std::nullopt : std::optional(half));
        }
        // A cancel that was slow is through now.
        for (const OrderClientId& id : std::exchange(cancelling_, {})) {
            if (std::ranges::count(world_.own(), id, &OwnOrder::order_client_id) > 0) {
                world_.remove(id);
            }
        }
    }
    void arrive(const Plan& plan) {
        Plan taken;
        for (const OrderClientId& id : plan.cancels) {
            if (*rc::gen::inRange(0, 3) > 0) {
                taken.cancels.push_back(id);
                continue;
            }
            cancelling_.push_back(id);
            for (OwnOrder& order : world_.own()) {
                order.cancel_requested |= order.order_client_id == id;
            }
        }
        for (const Intent& intent : plan.intents) {
            const bool takes = intent.side == Side::buy ? *intent.limit_price >= Decimal(mid_ + 5)
                                                        : *intent.limit_price <= Decimal(mid_ - 5);
            if (!takes) {
                taken.intents.push_back(intent);
                continue;
            }
            ++refusals_;
            note_refused(
                tally_for(world_.book().tallies, intent.strategy_id),
                intent.side,
                world_.state().now);
        }
        world_.carry_out(taken);
    }
    // Now, and whatever of the open orders fills next.
    void check(Decimal amount, Decimal start) {
        const StrategyTally* tally = find_tally(world_.book().tallies, StrategyId::trusted("s1"));
        const Decimal net = tally == nullptr ? Decimal() : tally->net_qty;
        Decimal most = add(start, net).value();
        Decimal least = most;
        for (const OwnOrder& order : world_.own()) {
            if (order.side == Side::buy) {
                most = add(most, order.remaining_qty).value();
            } else {
                least = subtract(least, order.remaining_qty).value();
            }
        }
        RC_ASSERT(!least.is_negative());
        RC_ASSERT(most <= add(amount, amount).value());
    }
    static void check_levels(const Plan& plan) {
        for (const Side side : {Side::buy, Side::sell}) {
            std::vector<Decimal> prices = prices_of(plan, side);
            std::sort(prices.begin(), prices.end());
            RC_ASSERT(std::adjacent_find(prices.begin(), prices.end()) == prices.end());
        }
    }

    PlannerWorld& world_;
    const Strategy& strategy_;
    std::int64_t mid_ = 50'000;
    std::vector<OrderClientId> cancelling_;
    std::int64_t fills_ = 0;
    std::int64_t refusals_ = 0;
};

TEST(InventoryRails, RailsAreNeverCrossedWhateverTheMarketDoes) {
    std::int64_t fills = 0;
    std::int64_t refusals = 0;
    EXPECT_TRUE(rc::check([&] {
        PlannerWorld world;
        world.hold("0.0" + std::to_string(*rc::gen::inRange(0, 99)));
        world.cash(std::to_string(*rc::gen::inRange(0, 20'000)));
        world.base_fee = *rc::gen::element(Decimal(), dec("0.001"));
        const std::string amount = "0.0" + std::to_string(*rc::gen::inRange(1, 9)) + "7";
        Json config = Json::object({
            {"amount", amount},
            {"num_bids_ask", *rc::gen::inRange(1, 8)},
            {"pnl_perc", "0." + std::to_string(*rc::gen::inRange(3, 10))},
        });
        const auto strategy = find_strategy_type("inventory_rails")->open(config).value();
        SmallMarket market(world, *strategy);
        market.live(dec(amount), 40);
        fills += market.fills();
        refusals += market.refusals();
    }));
    // It was a market to live in.
    EXPECT_GT(fills, 100);
    EXPECT_GT(refusals, 10);
}

// It quotes nothing then, and says why instead of "Quotes 0 bids and 0 asks."
TEST_F(InventoryRailsTest, SaysThatOneLevelIsBelowWhatTheVenueTakes) {
    const MarketFacts& market = *world.markets().find(world.symbol());
    world.market().rules.notional_min = dec("10");
    EXPECT_EQ(rails->why_too_small(market), std::nullopt);
    for (const auto& [amount, is_enough] : std::vector<std::pair<std::string, bool>>{
             {"0.0007", true}, {"0.0004", false}, {"0", false}}) {
        rails = opened_strategy(
            "inventory_rails", R"({"num_bids_ask": 3, "amount": ")" + amount + R"("})");
        world.cost_qty = rails->cost_qty().value();
        EXPECT_EQ(rails->why_too_small(market).has_value(), !is_enough) << amount;
        EXPECT_EQ(run().intents.empty(), !is_enough) << amount;
    }
    EXPECT_NE(rails->why_too_small(market)->find("no order below 10"), std::string::npos);
}

}  // namespace
}  // namespace interlock
