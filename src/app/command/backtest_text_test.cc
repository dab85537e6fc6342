#include "app/command/backtest_text.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

TEST(BacktestText, NumbersHaveFixedPlacesAndThousandsApart) {
    EXPECT_EQ(fixed_text(dec("1234567.891"), 2), "1,234,567.89");
    EXPECT_EQ(fixed_text(dec("999.995"), 2), "1,000.00");
    EXPECT_EQ(fixed_text(dec("-0.5"), 0), "-1");
    EXPECT_EQ(fixed_text(dec("-0.004"), 2), "0.00");
    EXPECT_EQ(fixed_text(dec("0.05"), 2), "0.05");
    EXPECT_EQ(fixed_text(dec("100"), 0), "100");
}

TEST(BacktestText, FractionsArePercent) {
    EXPECT_EQ(percent_text(dec("0.031415")), "3.14 %");
    EXPECT_EQ(percent_text(dec("0.031415"), true), "+3.14 %");
    EXPECT_EQ(percent_text(dec("-0.5"), true), "-50.00 %");
}

TEST(BacktestText, SpansAreToldInTheirTwoLargestUnits) {
    EXPECT_EQ(span_text(Duration::of_seconds(42)), "42 s");
    EXPECT_EQ(span_text(Duration::of_seconds(125)), "2 min 5 s");
    EXPECT_EQ(span_text(Duration::of_minutes(150)), "2 h 30 min");
    EXPECT_EQ(span_text(Duration::of_hours(49)), "2 d 1 h");
    EXPECT_EQ(span_text(Duration::of_days(3)), "3 d");
}

}  // namespace
}  // namespace interlock
