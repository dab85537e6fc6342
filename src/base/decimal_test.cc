// Tests of decimals: text in both directions, and arithmetic against arbitrary-precision integers
// over the whole range, its edges included.
#include "base/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <boost/multiprecision/cpp_int.hpp>

#include "base/errors.h"

namespace interlock {
namespace {

using boost::multiprecision::cpp_int;

constexpr __int128 kMax = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
constexpr __int128 kMin = -kMax - 1;
const cpp_int kOne("1000000000000000000");

cpp_int big(__int128 value) {
    const auto bits = static_cast<unsigned __int128>(value);
    cpp_int out = static_cast<std::uint64_t>(bits >> 64);
    out = (out << 64) + static_cast<std::uint64_t>(bits);
    return value < 0 ? cpp_int(out - (cpp_int(1) << 128)) : out;
}

cpp_int floor_of(const cpp_int& numerator, const cpp_int& denominator) {
    cpp_int quotient;
    cpp_int remainder;
    divide_qr(numerator, denominator, quotient, remainder);
    const bool inexact_negative = remainder != 0 && (remainder < 0) != (denominator < 0);
    return inexact_negative ? cpp_int(quotient - 1) : quotient;
}

cpp_int ceiling_of(const cpp_int& numerator, const cpp_int& denominator) {
    return -floor_of(-numerator, denominator);
}

cpp_int half_even_of(const cpp_int& numerator, const cpp_int& denominator) {
    const cpp_int below = floor_of(numerator, denominator);
    const cpp_int twice_left = 2 * abs(cpp_int(numerator - below * denominator));
    const cpp_int size = abs(denominator);
    const bool up = twice_left > size || (twice_left == size && below % 2 != 0);
    return up ? cpp_int(below + 1) : below;
}

// True when the result is the exact value, or an error just where the exact value does not fit.
bool agrees(const Result<Decimal>& result, const cpp_int& exact) {
    const bool fits = exact >= big(kMin) && exact <= big(kMax);
    if (!result) {
        return !fits && result.error() == errors::out_of_range;
    }
    return fits && big(result->units()) == exact;
}

// Units spread over all magnitudes, both signs, often next to an edge or a round number.
Decimal any_decimal() {
    const auto high = *rc::gen::arbitrary<std::uint64_t>();
    const auto low = *rc::gen::arbitrary<std::uint64_t>();
    const auto shift = *rc::gen::inRange(0, 128);
    const auto kind = *rc::gen::inRange(0, 8);
    const auto bits = (static_cast<unsigned __int128>(high) << 64 | low) * 0x9E3779B97F4A7C15ull;
    auto units = static_cast<__int128>(bits >> 1 >> shift);
    const __int128 near = static_cast<__int128>(low % 5) - 2;
    if (kind == 0) {
        units = kMax - (near + 2);
    } else if (kind == 1) {
        return Decimal::from_units(kMin + (near + 2));
    } else if (kind == 2) {
        units = units / 1'000'000'000'000'000'000 * 1'000'000'000'000'000'000;
    } else if (kind == 3) {
        units = (static_cast<__int128>(1) << (shift % 126)) + near;
    } else if (kind == 4) {
        units = near * 500'000'000'000'000'000;
    }
    return Decimal::from_units(high % 2 == 0 ? units : -units);
}

Decimal decimal(std::string_view text) {
    const auto value = Decimal::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value.value_or(Decimal());
}

TEST(Decimal, PrintsCanonicalText) {
    const std::pair<const char*, const char*> kCases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.000", "0"},
        {"1", "1"},
        {"-1.50", "-1.5"},
        {"100", "100"},
        {"1e3", "1000"},
        {"1.5E+1", "15"},
        {"25e-1", "2.5"},
        {"-0.0e5", "0"},
        {"0.000000000000000001", "0.000000000000000001"},
        {"1e-18", "0.000000000000000001"},
        {"1.000000000000000000000", "1"},
        {"0e999999999999", "0"},
        {"10e-19", "0.000000000000000001"},
    };
    for (const auto& [text, expected] : kCases) {
        EXPECT_EQ(to_text(decimal(text)), expected) << text;
    }
}

TEST(Decimal, HoldsTheWholeRangeAndNotAUnitMore) {
    EXPECT_EQ(decimal("170141183460469231731.687303715884105727").units(), kMax);
    EXPECT_EQ(decimal("-170141183460469231731.687303715884105728").units(), kMin);
    EXPECT_EQ(to_text(Decimal::from_units(kMax)), "170141183460469231731.687303715884105727");
    EXPECT_EQ(to_text(Decimal::from_units(kMin)), "-170141183460469231731.687303715884105728");
    for (const char* text :
         {"170141183460469231731.687303715884105728",
          "-170141183460469231731.687303715884105729",
          "1e21",
          "-1e21",
          "999999999999999999999999999999999999999999",
          "1e99999999999999999999",
          "340282366920938463463.374607431768211456"}) {
        const auto value = Decimal::parse(text);
        ASSERT_FALSE(value.has_value()) << text;
        EXPECT_EQ(value.error(), errors::out_of_range) << text;
    }
}

TEST(Decimal, RefusesMoreThanEighteenDecimalsUnlessTheyAreZero) {
    EXPECT_EQ(decimal("0.1234567890123456780000").units(), 123456789012345678);
    for (const char* text :
         {"0.0000000000000000001",
          "1e-19",
          "1.0000000000000000001",
          "123456789e-27",
          "1e-99999999999999999999"}) {
        const auto value = Decimal::parse(text);
        ASSERT_FALSE(value.has_value()) << text;
        EXPECT_EQ(value.error(), errors::out_of_range) << text;
    }
}

TEST(Decimal, RefusesWhatIsNoJsonNumber) {
    for (const char* text :
         {"",
          "-",
          "+1",
          ".5",
          "1.",
          "01",
          "1e",
          "1,5",
          " 1",
          "1 ",
          "NaN",
          "Infinity",
          "0x10",
          "1_000",
          "--1"}) {
        const auto value = Decimal::parse(text);
        ASSERT_FALSE(value.has_value()) << text;
        EXPECT_EQ(value.error(), errors::invalid_request) << text;
    }
}

TEST(Decimal, RefusesTextsOverTheLengthBound) {
    const std::string longest = "1." + std::string(Decimal::kTextLengthMax - 2, '0');
    EXPECT_EQ(decimal(longest), Decimal(1));
    const auto longer = Decimal::parse(longest + "0");
    ASSERT_FALSE(longer.has_value());
    EXPECT_EQ(longer.error(), errors::invalid_request);
}

TEST(Decimal, TextRoundTripsForEveryValue) {
    EXPECT_TRUE(rc::check([] {
        const Decimal value = any_decimal();
        const std::string text = to_text(value);
        RC_ASSERT(text.size() <= 41u);
        RC_ASSERT(Decimal::parse(text).value() == value);
        RC_ASSERT(text.find('.') == std::string::npos || !text.ends_with('0'));
        RC_ASSERT(!text.ends_with('.'));
    }));
}

TEST(Decimal, TextIsTheExactValue) {
    EXPECT_TRUE(rc::check([] {
        const Decimal value = any_decimal();
        const cpp_int size = abs(big(value.units()));
        std::string fraction = cpp_int(size % kOne).str();
        fraction.insert(0, 18 - fraction.size(), '0');
        fraction.erase(fraction.find_last_not_of('0') + 1);
        const std::string expected = (value.is_negative() ? "-" : "") + cpp_int(size / kOne).str() +
                                     (fraction.empty() ? "" : "." + fraction);
        RC_ASSERT(to_text(value) == expected);
    }));
}

TEST(Decimal, SumsAgreeWithTheOracle) {
    EXPECT_TRUE(rc::check([] {
        const Decimal a = any_decimal();
        const Decimal b = any_decimal();
        RC_ASSERT(agrees(add(a, b), big(a.units()) + big(b.units())));
        RC_ASSERT(agrees(subtract(a, b), big(a.units()) - big(b.units())));
        RC_ASSERT(agrees(negate(a), -big(a.units())));
    }));
}

TEST(Decimal, ProductsAgreeWithTheOracle) {
    EXPECT_TRUE(rc::check([] {
        for (int i = 0; i < 20; ++i) {
            const Decimal a = any_decimal();
            const Decimal b = any_decimal();
            const cpp_int product = big(a.units()) * big(b.units());
            RC_ASSERT(agrees(multiply_round_down(a, b), floor_of(product, kOne)));
            RC_ASSERT(agrees(multiply_round_up(a, b), ceiling_of(product, kOne)));
            RC_ASSERT(agrees(multiply_half_even(a, b), half_even_of(product, kOne)));
        }
    }));
}

TEST(Decimal, QuotientsAgreeWithTheOracle) {
    EXPECT_TRUE(rc::check([] {
        for (int i = 0; i < 20; ++i) {
            const Decimal a = any_decimal();
            const Decimal b = any_decimal();
            if (b.is_zero()) {
                continue;
            }
            const cpp_int scaled = big(a.units()) * kOne;
            const cpp_int divisor = big(b.units());
            RC_ASSERT(agrees(divide_round_down(a, b), floor_of(scaled, divisor)));
            RC_ASSERT(agrees(divide_round_up(a, b), ceiling_of(scaled, divisor)));
            RC_ASSERT(agrees(divide_half_even(a, b), half_even_of(scaled, divisor)));
        }
    }));
}

TEST(Decimal, StepsAgreeWithTheOracle) {
    EXPECT_TRUE(rc::check([] {
        const Decimal a = any_decimal();
        const Decimal step = any_decimal();
        if (!step.is_positive()) {
            return;
        }
        const cpp_int size = big(step.units());
        RC_ASSERT(agrees(floor_to_step(a, step), floor_of(big(a.units()), size) * size));
        RC_ASSERT(agrees(ceil_to_step(a, step), ceiling_of(big(a.units()), size) * size));
    }));
}

TEST(Decimal, EveryPairOfEdgesAgreesWithTheOracle) {
    constexpr __int128 kWord = static_cast<__int128>(1) << 64;
    constexpr __int128 kUnit = 1'000'000'000'000'000'000;
    const __int128 kEdges[] = {
        0,
        1,
        -1,
        2,
        3,
        kUnit,
        -kUnit,
        kUnit - 1,
        kUnit + 1,
        kUnit / 2,
        kWord - 1,
        kWord,
        kWord + 1,
        -kWord,
        kWord * kUnit,
        kMax,
        kMax - 1,
        kMax / 2,
        kMin,
        kMin + 1,
        kMin / 2,
        (kWord << 62) - 1,
        (kWord << 62) + kWord - 1,
        kMax - kWord,
        kMax / kUnit,
        kMin / kUnit};
    for (const __int128 left : kEdges) {
        for (const __int128 right : kEdges) {
            const Decimal a = Decimal::from_units(left);
            const Decimal b = Decimal::from_units(right);
            const cpp_int product = big(left) * big(right);
            EXPECT_TRUE(agrees(multiply_round_down(a, b), floor_of(product, kOne)));
            EXPECT_TRUE(agrees(multiply_round_up(a, b), ceiling_of(product, kOne)));
            EXPECT_TRUE(agrees(multiply_half_even(a, b), half_even_of(product, kOne)));
            if (right != 0) {
                const cpp_int scaled = big(left) * kOne;
                EXPECT_TRUE(agrees(divide_round_down(a, b), floor_of(scaled, big(right))));
                EXPECT_TRUE(agrees(divide_round_up(a, b), ceiling_of(scaled, big(right))));
                EXPECT_TRUE(agrees(divide_half_even(a, b), half_even_of(scaled, big(right))));
            }
        }
    }
}

TEST(Decimal, RoundingDirectionsAreThoseOfTheNumberLine) {
    const Decimal third = *divide_round_down(Decimal(-1), Decimal(3));
    EXPECT_EQ(to_text(third), "-0.333333333333333334");
    EXPECT_EQ(to_text(*divide_round_up(Decimal(-1), Decimal(3))), "-0.333333333333333333");
    EXPECT_EQ(to_text(*divide_half_even(Decimal(2), Decimal(3))), "0.666666666666666667");
    const Decimal half_unit = decimal("0.5");
    EXPECT_EQ(multiply_half_even(Decimal::from_units(1), half_unit)->units(), 0);
    EXPECT_EQ(multiply_half_even(Decimal::from_units(3), half_unit)->units(), 2);
    EXPECT_EQ(multiply_half_even(Decimal::from_units(-3), half_unit)->units(), -2);
}

TEST(Decimal, DivisionByZeroIsAnError) {
    const auto quotient = divide_half_even(Decimal(1), Decimal());
    ASSERT_FALSE(quotient.has_value());
    EXPECT_EQ(quotient.error(), errors::out_of_range);
}

TEST(Decimal, StepsMustBePositive) {
    EXPECT_FALSE(floor_to_step(Decimal(1), Decimal()).has_value());
    EXPECT_FALSE(ceil_to_step(Decimal(1), Decimal(-1)).has_value());
}

TEST(Decimal, StepsCutTowardsTheirSide) {
    EXPECT_EQ(floor_to_step(decimal("1.2345"), decimal("0.01")), decimal("1.23"));
    EXPECT_EQ(ceil_to_step(decimal("1.2345"), decimal("0.01")), decimal("1.24"));
    EXPECT_EQ(floor_to_step(decimal("-1.2345"), decimal("0.01")), decimal("-1.24"));
    EXPECT_EQ(ceil_to_step(decimal("-1.2345"), decimal("0.01")), decimal("-1.23"));
    EXPECT_EQ(floor_to_step(decimal("1.23"), decimal("0.01")), decimal("1.23"));
    EXPECT_FALSE(floor_to_step(Decimal::from_units(kMin), Decimal(7)).has_value());
    EXPECT_FALSE(ceil_to_step(Decimal::from_units(kMax), Decimal(7)).has_value());
}

TEST(Decimal, OrderIsThatOfTheValues) {
    EXPECT_TRUE(rc::check([] {
        const Decimal a = any_decimal();
        const Decimal b = any_decimal();
        RC_ASSERT((a < b) == (big(a.units()) < big(b.units())));
        RC_ASSERT((a == b) == (big(a.units()) == big(b.units())));
    }));
}

}  // namespace
}  // namespace interlock
