#include "market/rules/matching/tick_scale.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/errors.h"

namespace interlock {
namespace {

Decimal decimal(std::string_view text) {
    return Decimal::parse(text).value();
}

TickScale scale(std::string_view tick_size, std::string_view lot_step) {
    return TickScale::make(decimal(tick_size), decimal(lot_step)).value();
}

TEST(TickScale, CountsTicksAndLots) {
    const TickScale btc = scale("0.01", "0.00001");
    EXPECT_EQ(btc.to_ticks(decimal("97123.45")).value(), Ticks{9'712'345});
    EXPECT_EQ(btc.to_lots(decimal("0.00123")).value(), Lots{123});
}

TEST(TickScale, RefusesWhatIsNoMultiple) {
    const TickScale btc = scale("0.01", "0.00001");
    EXPECT_TRUE(btc.to_ticks(decimal("97123.456")).error() == errors::out_of_range);
    EXPECT_TRUE(btc.to_lots(decimal("0.000001")).error() == errors::out_of_range);
}

TEST(TickScale, RefusesWhatIsNotPositive) {
    const TickScale btc = scale("0.01", "0.00001");
    EXPECT_TRUE(btc.to_ticks(decimal("0")).error() == errors::out_of_range);
    EXPECT_TRUE(btc.to_lots(decimal("-1")).error() == errors::out_of_range);
}

TEST(TickScale, RefusesMoreThanABookCanHold) {
    const TickScale fine = scale("0.000000000000000001", "0.000000000000000001");
    EXPECT_TRUE(fine.to_ticks(decimal("2")).error() == errors::out_of_range);
    EXPECT_TRUE(fine.to_lots(decimal("1")).error() == errors::out_of_range);
    EXPECT_TRUE(fine.to_ticks(decimal("1")).has_value());
}

TEST(TickScale, RefusesStepsThatAreNotPositive) {
    EXPECT_FALSE(TickScale::make(decimal("0"), decimal("1")).has_value());
    EXPECT_FALSE(TickScale::make(decimal("1"), decimal("-1")).has_value());
}

TEST(TickScale, RefusesAPriceThatNoDecimalHolds) {
    const TickScale coarse = scale("100000000000000000000", "1");
    EXPECT_TRUE(coarse.to_price(kBookTicksMax).error() == errors::out_of_range);
}

TEST(TickScale, GoesThereAndBack) {
    EXPECT_TRUE(rc::check([] {
        const auto step = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
        const auto count = *rc::gen::inRange<std::int64_t>(1, kBookLotsMax.count);
        const Decimal unit = Decimal::from_units(step);
        const TickScale any = TickScale::make(unit, unit).value();
        RC_ASSERT(any.to_ticks(any.to_price({count}).value()).value() == Ticks{count});
        RC_ASSERT(any.to_lots(any.to_quantity({count}).value()).value() == Lots{count});
    }));
}

}  // namespace
}  // namespace interlock
