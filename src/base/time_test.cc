// Tests of timestamps: fixed dates, round trips over the whole range, and what the parser refuses.
#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kLastSecond = 253'402'300'799;  // 9999-12-31T23:59:59Z

TEST(Time, PrintsKnownMoments) {
    EXPECT_EQ(to_text(Timestamp{0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_text(Timestamp{951'782'400 * kSecond}), "2000-02-29T00:00:00.000Z");
    EXPECT_EQ(to_text(Timestamp{1'234'567'890 * kSecond}), "2009-02-13T23:31:30.000Z");
    EXPECT_EQ(to_text(Timestamp{kLastSecond * kSecond}), "9999-12-31T23:59:59.000Z");
    EXPECT_EQ(to_text(Timestamp{4'107'542'400 * kSecond}), "2100-03-01T00:00:00.000Z");
}

TEST(Time, CutsBelowTheMillisecond) {
    EXPECT_EQ(to_text(Timestamp{1'999}), "1970-01-01T00:00:00.001Z");
    EXPECT_EQ(to_text(Timestamp{999'999}), "1970-01-01T00:00:00.999Z");
    EXPECT_EQ(to_text(Timestamp{-1}), "1969-12-31T23:59:59.999Z");
}

TEST(Time, PrintsTheNearestBoundForWhatHasNoText) {
    constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(to_text(Timestamp{kMax}), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(to_text(Timestamp{kMin}), "0000-01-01T00:00:00.000Z");
}

TEST(Time, WhatIsPrintedParsesToTheSameMillisecond) {
    EXPECT_TRUE(rc::check([] {
        const auto milliseconds = *rc::gen::inRange<std::int64_t>(0, (kLastSecond + 1) * 1000);
        const Timestamp at{milliseconds * 1000};
        RC_ASSERT(parse_timestamp(to_text(at)).value() == at);
    }));
}

TEST(Time, EveryDayOfFourCenturiesFollowsTheOneBefore) {
    int year = 1970;
    int month = 1;
    int day = 1;
    const auto length = [&] {
        const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        return month == 2 ? (leap ? 29 : 28)
                          : (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31);
    };
    for (std::int64_t days = 0; days < 146'097; ++days) {
        char expected[32];
        std::snprintf(expected, sizeof expected, "%04d-%02d-%02dT", year, month, day);
        ASSERT_EQ(to_text(Timestamp{days * 86'400 * kSecond}).substr(0, 11), expected);
        if (++day > length()) {
            day = 1;
            if (++month > 12) {
                month = 1;
                ++year;
            }
        }
    }
}

TEST(Time, OffsetsAreTakenIntoUtc) {
    const auto utc = parse_timestamp("2026-11-15T07:37:48.123Z");
    ASSERT_TRUE(utc.has_value());
    EXPECT_EQ(parse_timestamp("2026-11-15T08:37:48.123+01:00"), *utc);
    EXPECT_EQ(parse_timestamp("2026-11-14T08:07:48.123-23:30"), *utc);
    EXPECT_EQ(parse_timestamp("2026-11-15T13:22:48.123+05:45"), *utc);
    EXPECT_EQ(parse_timestamp("2026-11-15T07:37:48.123-00:00"), *utc);
    EXPECT_EQ(parse_timestamp("2026-11-15t07:37:48.123z"), *utc);
}

TEST(Time, DecimalsAreReadToTheMicrosecondAndCutBelow) {
    EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00Z"), Timestamp{0});
    EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.5Z"), Timestamp{500'000});
    EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.000001Z"), Timestamp{1});
    EXPECT_EQ(parse_timestamp("1970-01-01T00:00:00.123456999Z"), Timestamp{123'456});
}

TEST(Time, LeapDaysExistInLeapYearsOnly) {
    EXPECT_TRUE(parse_timestamp("2000-02-29T00:00:00Z").has_value());
    EXPECT_TRUE(parse_timestamp("2024-02-29T00:00:00Z").has_value());
    EXPECT_FALSE(parse_timestamp("2023-02-29T00:00:00Z").has_value());
    EXPECT_FALSE(parse_timestamp("2100-02-29T00:00:00Z").has_value());
}

TEST(Time, RefusesWhatIsNotRfc3339) {
    for (const char* text :
         {"",
          "2026-11-15",
          "2026-11-15T07:37:48",
          "2026-11-15 07:37:48Z",
          "2026-11-15T07:37Z",
          "2026-13-15T07:37:48Z",
          "2026-00-15T07:37:48Z",
          "2026-11-31T07:37:48Z",
          "2026-11-00T07:37:48Z",
          "2026-11-15T24:00:00Z",
          "2026-11-15T23:60:00Z",
          "2026-12-31T23:59:60Z",
          "2026-11-15T07:37:48.Z",
          "2026-11-15T07:37:48.1234567890Z",
          "2026-11-15T07:37:48+0100",
          "2026-11-15T07:37:48+24:00",
          "2026-11-15T07:37:48+01:60",
          "2026-11-15T07:37:48ZZ",
          "2026-11-15T07:37:48Z ",
          " 2026-11-15T07:37:48Z",
          "+026-11-15T07:37:48Z",
          "2026-1-15T07:37:48Z",
          "2026-11-15T07:37:48,5Z",
          "2026-11-15T-7:37:48Z"}) {
        const auto at = parse_timestamp(text);
        ASSERT_FALSE(at.has_value()) << text;
        EXPECT_EQ(at.error(), errors::invalid_request) << text;
    }
}

TEST(Time, TheRangeIsJudgedInUtc) {
    EXPECT_EQ(parse_timestamp("1969-12-31T23:30:00-01:00"), Timestamp{1800 * kSecond});
    for (const char* text :
         {"1970-01-01T00:00:00+00:01",
          "1969-12-31T23:59:59.999999Z",
          "0000-01-01T00:00:00Z",
          "9999-12-31T23:59:59-00:01"}) {
        const auto at = parse_timestamp(text);
        ASSERT_FALSE(at.has_value()) << text;
        EXPECT_EQ(at.error(), errors::out_of_range) << text;
    }
}

TEST(Time, ADayStartsAtMidnightUtc) {
    EXPECT_EQ(
        utc_day_start(*parse_timestamp("2024-02-29T23:59:59.999999Z")),
        *parse_timestamp("2024-02-29T00:00:00Z"));
    EXPECT_EQ(
        utc_day_start(*parse_timestamp("2024-02-29T00:00:00Z")),
        *parse_timestamp("2024-02-29T00:00:00Z"));
    EXPECT_EQ(utc_day_start(Timestamp{-1}), Timestamp{-86'400 * kSecond});
}

TEST(Time, ADayStartIsNeverAfterTheMomentNorADayBefore) {
    EXPECT_TRUE(rc::check([](std::int64_t microseconds) {
        const Timestamp at{microseconds};
        const Timestamp start = utc_day_start(at);
        RC_ASSERT(start <= at);
        RC_ASSERT(at - start < Duration::of_days(1));
    }));
    constexpr Timestamp kFirst{std::numeric_limits<std::int64_t>::min()};
    EXPECT_EQ(utc_day_start(kFirst), kFirst);
}

}  // namespace
}  // namespace interlock
