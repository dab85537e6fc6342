// The formulas of docs/strategies/inventory_rails.md#prices, by hand and as properties.
#include "trader/rules/strategies/inventory_rails/rails_prices.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "loop/rules/gates/sample_world.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

TimeframeSignals bands(std::string_view bandwidth, std::string_view quantile) {
    TimeframeSignals signals;
    signals.bollinger_bandwidth = dec(bandwidth);
    signals.bandwidth_quantile = dec(quantile);
    return signals;
}

Decimal widening(std::string_view bandwidth, std::string_view quantile) {
    const TimeframeSignals signals = bands(bandwidth, quantile);
    return widening_of(&signals).value();
}

LadderFacts calm() {
    return {
        .reference = Decimal(100),
        .step = dec("0.01"),
        .best_bid = dec("99.9"),
        .best_ask = dec("100.1"),
        .ask_floor = std::nullopt,
        .tick_size = dec("0.01"),
        .levels = 3,
    };
}

std::vector<Decimal> prices(std::initializer_list<std::string_view> texts) {
    std::vector<Decimal> values;
    for (const std::string_view text : texts) {
        values.push_back(dec(text));
    }
    return values;
}

TEST(RailsWidening, IsTheBandwidthOverItsQuantileBetweenOneAndFour) {
    EXPECT_EQ(widening("0.05", "0.02"), dec("2.5"));
    EXPECT_EQ(widening("0.5", "0.02"), Decimal(4));
    EXPECT_EQ(widening("0.08", "0.02"), Decimal(4));
}

TEST(RailsWidening, IsOneWhileTheBandsAreTight) {
    EXPECT_EQ(widening("0.02", "0.02"), Decimal(1));  // Touching is tight.
    EXPECT_EQ(widening("0.01", "0.02"), Decimal(1));
    EXPECT_GT(widening("0.020000001", "0.02"), Decimal(1));
}

TEST(RailsWidening, IsOneForAQuantileOfZeroOrWithoutCandles) {
    EXPECT_EQ(widening("0.02", "0"), Decimal(1));
    EXPECT_EQ(widening_of(nullptr).value(), Decimal(1));
    TimeframeSignals half = bands("0.05", "0.02");
    half.bandwidth_quantile.reset();
    EXPECT_EQ(widening_of(&half).value(), Decimal(1));
}

TEST(RailsStep, GrowsWithTheGainAndTheWidening) {
    RailsConfig config;
    EXPECT_EQ(rails_step_of(config, Decimal(1), RiskMode::normal).value(), dec("0.01"));
    EXPECT_EQ(rails_step_of(config, dec("2.5"), RiskMode::normal).value(), dec("0.025"));
    config.volatility = dec("0.5");
    EXPECT_EQ(rails_step_of(config, Decimal(3), RiskMode::normal).value(), dec("0.02"));
    config.volatility = Decimal();
    EXPECT_EQ(rails_step_of(config, Decimal(4), RiskMode::normal).value(), dec("0.01"));
}

TEST(RailsStep, IsHalfAsLongAgainWhileDefensive) {
    const RailsConfig config;
    EXPECT_EQ(rails_step_of(config, Decimal(1), RiskMode::defensive).value(), dec("0.015"));
}

TEST(RailsLadder, LiesAStepFromTheReference) {
    EXPECT_EQ(bid_ladder(calm()).value(), prices({"99", "98.01", "97.02"}));
    EXPECT_EQ(ask_ladder(calm()).value(), prices({"101", "102.01", "103.02"}));
}

TEST(RailsLadder, NeverGoesThroughTheTouch) {
    LadderFacts facts = calm();
    facts.best_bid = Decimal(90);  // The market fell away from the last fill.
    facts.best_ask = dec("90.02");
    EXPECT_EQ(bid_ladder(facts).value(), prices({"90", "89.1", "88.2"}));
    EXPECT_EQ(ask_ladder(facts).value().front(), Decimal(101));
    facts.best_bid = Decimal(110);  // It rose.
    facts.best_ask = dec("110.02");
    EXPECT_EQ(bid_ladder(facts).value().front(), Decimal(99));
    EXPECT_EQ(ask_ladder(facts).value(), prices({"110.02", "111.13", "112.23"}));
}

TEST(RailsLadder, AsksStayAboveWhatTheOldestLotsCost) {
    // 105 × (1 + 0.01 + 2 × 0.001)
    const Decimal floor = ask_floor_of(Decimal(105), dec("0.01"), dec("0.001")).value();
    EXPECT_EQ(floor, dec("106.26"));
    LadderFacts facts = calm();
    facts.ask_floor = floor;
    EXPECT_EQ(ask_ladder(facts).value(), prices({"106.26", "107.33", "108.39"}));
    facts.ask_floor = Decimal(50);
    EXPECT_EQ(ask_ladder(facts).value().front(), Decimal(101));
}

TEST(RailsLadder, GoesATickFurtherForEachRefusal) {
    LadderFacts facts = calm();
    facts.ticks_off = 2;
    EXPECT_EQ(bid_ladder(facts).value(), prices({"98.98", "97.99", "97"}));
    EXPECT_EQ(ask_ladder(facts).value(), prices({"101.02", "102.03", "103.04"}));
}

TEST(RailsLadder, LevelsOnOneTickMoveApart) {
    LadderFacts facts = calm();
    facts.tick_size = Decimal(5);
    facts.best_bid = Decimal(95);
    facts.best_ask = Decimal(105);
    EXPECT_EQ(bid_ladder(facts).value(), prices({"95", "90", "85"}));
    EXPECT_EQ(ask_ladder(facts).value(), prices({"105", "110", "115"}));
}

TEST(RailsLadder, BidsEndWhereTheyWouldReachZero) {
    LadderFacts facts = calm();
    facts.step = dec("0.45");
    facts.levels = 20;
    EXPECT_EQ(bid_ladder(facts).value().size(), 3u);  // 55, 30.25, 5.5.
    facts.step = Decimal(2);
    EXPECT_TRUE(bid_ladder(facts).value().empty());
    EXPECT_EQ(ask_ladder(facts).value().size(), 20u);
}

TEST(RailsLadder, APriceNoDecimalHoldsIsAnError) {
    LadderFacts facts = calm();
    facts.reference = Decimal::from_units(static_cast<__int128>(1) << 126);
    facts.step = Decimal(3);
    EXPECT_FALSE(ask_ladder(facts).has_value());
}

// Whatever the market, step and tick: on the tick, on the own side of the touch, never collapsed,
// and no further in than the formulas say.
TEST(RailsLadder, LevelsNeverCollapseAndNeverCross) {
    const auto thousandths = [](int low, int high) {
        return Decimal::from_units(
            static_cast<__int128>(*rc::gen::inRange(low, high)) * 1'000'000'000'000'000);
    };
    EXPECT_TRUE(rc::check([&] {
        LadderFacts facts;
        facts.tick_size = *rc::gen::element(dec("0.001"), dec("0.5"), Decimal(3), Decimal());
        facts.best_bid = thousandths(1, 200'000);
        facts.best_ask = add(facts.best_bid, thousandths(1, 5000)).value();
        facts.reference = thousandths(1, 200'000);
        facts.step = thousandths(1, 6000);
        facts.levels = *rc::gen::inRange(1, 21);
        facts.ticks_off = *rc::gen::inRange(0, 4);
        if (*rc::gen::arbitrary<bool>()) {
            facts.ask_floor = thousandths(1, 200'000);
        }
        const std::vector<Decimal> bids = bid_ladder(facts).value();
        const std::vector<Decimal> asks = ask_ladder(facts).value();
        RC_ASSERT(asks.size() == static_cast<std::size_t>(facts.levels));
        for (std::size_t i = 0; i < bids.size(); ++i) {
            RC_ASSERT(bids[i].is_positive());
            RC_ASSERT(bids[i] <= facts.best_bid);
            RC_ASSERT(
                (facts.tick_size.is_zero() || bids[i].units() % facts.tick_size.units() == 0));
            RC_ASSERT((i == 0 || bids[i] < bids[i - 1]));
        }
        for (std::size_t i = 0; i < asks.size(); ++i) {
            RC_ASSERT(asks[i] >= facts.best_ask);
            RC_ASSERT((!facts.ask_floor || asks[i] >= *facts.ask_floor));
            RC_ASSERT(
                (facts.tick_size.is_zero() || asks[i].units() % facts.tick_size.units() == 0));
            RC_ASSERT((i == 0 || asks[i] > asks[i - 1]));
        }
    }));
}

}  // namespace
}  // namespace interlock
