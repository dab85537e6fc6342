// Indicators against published worked examples, and what must hold for any candles.
#include "market/rules/indicators.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "testing/account_builders.h"

namespace interlock {
namespace {

Candle candle(Decimal high, Decimal low, Decimal close) {
    return {{}, close, high, low, close};
}

std::vector<Candle> from_closes(const std::vector<Decimal>& closes) {
    std::vector<Candle> candles;
    for (const Decimal close : closes) {
        candles.push_back(candle(close, close, close));
    }
    return candles;
}

std::vector<Candle> from_closes(std::initializer_list<std::string_view> closes) {
    std::vector<Decimal> values;
    for (const std::string_view close : closes) {
        values.push_back(dec(close));
    }
    return from_closes(values);
}

// Published tables round to two decimals.
void expect_cents(const std::optional<Decimal>& value, std::string_view published) {
    ASSERT_TRUE(value.has_value());
    const __int128 apart = value->units() - dec(published).units();
    EXPECT_LE(apart < 0 ? -apart : apart, dec("0.0051").units())
        << to_text(*value) << " is not " << published;
}

// Figures of the worked example in StockCharts' ChartSchool, "Average True Range" (QQQ, 2010).
struct AtrRow {
    std::string_view high;
    std::string_view low;
    std::string_view close;
    std::string_view atr;
};
constexpr std::array<AtrRow, 30> kAtrRows{{
    {"48.70", "47.79", "48.16", ""},     {"48.72", "48.14", "48.61", ""},
    {"48.90", "48.39", "48.75", ""},     {"48.87", "48.37", "48.63", ""},
    {"48.82", "48.24", "48.74", ""},     {"49.05", "48.64", "49.03", ""},
    {"49.20", "48.94", "49.07", ""},     {"49.35", "48.86", "49.32", ""},
    {"49.92", "49.50", "49.91", ""},     {"50.19", "49.87", "50.13", ""},
    {"50.12", "49.20", "49.53", ""},     {"49.66", "48.90", "49.50", ""},
    {"49.88", "49.43", "49.75", ""},     {"50.19", "49.73", "50.03", "0.55"},
    {"50.36", "49.26", "50.31", "0.59"}, {"50.57", "50.09", "50.52", "0.59"},
    {"50.65", "50.30", "50.41", "0.57"}, {"50.43", "49.21", "49.34", "0.62"},
    {"49.63", "48.98", "49.37", "0.62"}, {"50.33", "49.61", "50.23", "0.64"},
    {"50.29", "49.20", "49.24", "0.67"}, {"50.17", "49.43", "49.93", "0.69"},
    {"49.32", "48.08", "48.43", "0.77"}, {"48.50", "47.64", "48.18", "0.78"},
    {"48.32", "41.55", "46.57", "1.21"}, {"46.80", "44.28", "45.41", "1.30"},
    {"47.80", "47.31", "47.77", "1.38"}, {"48.39", "47.20", "47.72", "1.37"},
    {"48.66", "47.90", "48.62", "1.34"}, {"48.79", "47.73", "47.85", "1.32"},
}};

TEST(Indicators, AtrIsThatOfThePublishedTable) {
    std::vector<Candle> candles;
    for (const AtrRow& row : kAtrRows) {
        candles.push_back(candle(dec(row.high), dec(row.low), dec(row.close)));
        const auto atr = wilder_atr(candles, 14);
        EXPECT_EQ(atr.has_value(), !row.atr.empty());
        if (atr) {
            expect_cents(atr, row.atr);
        }
    }
}

// Figures of the worked example in StockCharts' ChartSchool, "Moving Averages" (ten days).
TEST(Indicators, ExponentialMeanIsThatOfThePublishedTable) {
    const std::vector<Candle> candles = from_closes(
        {"22.27", "22.19", "22.08", "22.17", "22.18", "22.13", "22.23", "22.43", "22.24", "22.29",
         "22.15", "22.39", "22.38", "22.61", "23.36", "24.05", "23.75", "23.83", "23.95", "23.63",
         "23.82", "23.87", "23.65", "23.19", "23.10", "23.33", "22.68", "23.10", "22.40", "22.17"});
    constexpr std::array<std::string_view, 21> kPublished{
        "22.22", "22.21", "22.24", "22.27", "22.33", "22.52", "22.80",
        "22.97", "23.13", "23.28", "23.34", "23.43", "23.51", "23.53",
        "23.47", "23.40", "23.39", "23.26", "23.23", "23.08", "22.92"};
    EXPECT_FALSE(exponential_mean(Candles(candles).first(9), 10).has_value());
    for (std::size_t i = 0; i < kPublished.size(); ++i) {
        expect_cents(exponential_mean(Candles(candles).first(10 + i), 10), kPublished[i]);
    }
}

// Figures of the worked example in StockCharts' ChartSchool, "Bollinger Bands" (20, 2).
TEST(Indicators, BollingerBandsAreThoseOfThePublishedTable) {
    const std::vector<Candle> candles = from_closes(
        {"86.16", "89.09", "88.78", "90.32", "89.07", "91.15", "89.44", "89.18", "86.93",
         "87.68", "86.96", "89.43", "89.32", "88.72", "87.45", "87.26", "89.50", "87.90",
         "89.13", "90.70", "92.90", "92.98", "91.80", "92.66", "92.68", "92.30"});
    struct Row {
        std::string_view mid;
        std::string_view upper;
        std::string_view lower;
    };
    constexpr std::array<Row, 7> kPublished{{
        {"88.71", "91.29", "86.12"},
        {"89.05", "91.95", "86.14"},
        {"89.24", "92.61", "85.87"},
        {"89.39", "92.93", "85.85"},
        {"89.51", "93.31", "85.70"},
        {"89.69", "93.73", "85.65"},
        {"89.75", "93.90", "85.59"},
    }};
    EXPECT_FALSE(bollinger_bands(Candles(candles).first(19), 20, 2).has_value());
    for (std::size_t i = 0; i < kPublished.size(); ++i) {
        const auto bands = bollinger_bands(Candles(candles).first(20 + i), 20, 2);
        ASSERT_TRUE(bands.has_value());
        expect_cents(bands->mid, kPublished[i].mid);
        expect_cents(bands->upper, kPublished[i].upper);
        expect_cents(bands->lower, kPublished[i].lower);
    }
}

TEST(Indicators, BandwidthIsTheSpreadOfTheBandsOverTheirMean) {
    // Ten closes of 90 and ten of 110: mean 100, population deviation 10, bands 80 and 120.
    std::vector<Decimal> closes(10, Decimal(90));
    closes.insert(closes.end(), 10, Decimal(110));
    const std::vector<Candle> candles = from_closes(closes);
    const auto bands = bollinger_bands(candles, kBollingerPeriod, kBollingerDeviations);
    EXPECT_EQ(bandwidth_of(bands.value()), dec("0.4"));
    EXPECT_EQ(signals_from(candles, Timeframe::h1).bollinger_bandwidth, dec("0.4"));
    EXPECT_FALSE(bandwidth_of(Bollinger{}).has_value());
}

TEST(Indicators, BandwidthsAreThoseOfTheLatestWindowsInOrder) {
    std::vector<Candle> candles;
    for (std::int64_t i = 0; i < 200; ++i) {
        const Decimal price(100 + i * i % 37);
        candles.push_back({Timestamp{i}, price, price, price, price});
    }
    std::vector<Decimal> expected;
    for (std::size_t last = 200; last > 200 - kBandwidths; --last) {
        expected.push_back(
            signals_from(Candles(candles).first(last), Timeframe::h1).bollinger_bandwidth.value());
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted_bandwidths(candles), expected);
    EXPECT_EQ(sorted_bandwidths(Candles(candles).first(25)).size(), 6u);
    EXPECT_TRUE(sorted_bandwidths(Candles(candles).first(19)).empty());
}

TEST(Indicators, AQuantileLiesBetweenItsNeighbours) {
    std::vector<Decimal> values;
    for (std::int64_t i = 0; i <= 20; ++i) {
        values.push_back(Decimal(i * 10));
    }
    EXPECT_EQ(quantile_of(values, dec("0.2")), dec("40"));   // Place 4 of 0 to 20.
    EXPECT_EQ(quantile_of(values, dec("0.21")), dec("42"));  // Place 4.2.
    EXPECT_EQ(quantile_of(values, dec("0.999")), dec("199.8"));
    EXPECT_EQ(quantile_of(values, dec("1")), dec("200"));
    EXPECT_EQ(quantile_of(values, dec("0")), dec("0"));
    EXPECT_FALSE(quantile_of(values, dec("1.1")).has_value());
    EXPECT_FALSE(quantile_of(values, dec("-0.1")).has_value());
}

TEST(Indicators, AQuantileNeedsTwentyValues) {
    const std::vector<Decimal> values(kBandwidthsMin, Decimal(7));
    EXPECT_EQ(quantile_of(values, dec("0.5")), Decimal(7));
    EXPECT_FALSE(quantile_of(std::span(values).first(kBandwidthsMin - 1), dec("0.5")).has_value());
}

TEST(Indicators, EfficiencyIsNetMoveOverPath) {
    // Net 1, path 1 + 1 + 1.
    EXPECT_EQ(
        kaufman_efficiency(from_closes({"10", "11", "10", "11"}), 4).value(),
        dec("0.333333333333333333"));
    EXPECT_EQ(kaufman_efficiency(from_closes({"10", "11", "12"}), 3).value(), Decimal(1));
    EXPECT_EQ(kaufman_efficiency(from_closes({"10", "10", "10"}), 3).value(), Decimal());
}

TEST(Indicators, PullbackIsTheDeepestMoveAgainstTheTrend) {
    EXPECT_EQ(deepest_pullback(from_closes({"100", "120", "90", "130"}), 4).value(), dec("0.25"));
    EXPECT_EQ(deepest_pullback(from_closes({"130", "80", "100", "90"}), 4).value(), dec("0.25"));
    EXPECT_EQ(deepest_pullback(from_closes({"100", "80", "100"}), 3).value(), dec("0.25"));
    EXPECT_EQ(deepest_pullback(from_closes({"100", "110", "120"}), 3).value(), Decimal());
}

// Returns alternate between ±ln(1.1) = ±0.0953101798: the sample deviation of four is that ×
// √(4/3).
TEST(Indicators, VolatilityIsTheSampleDeviationOfLogReturns) {
    const auto candles = from_closes({"100", "110", "100", "110", "100"});
    const ReturnDeviation deviation = return_deviation(candles, Timeframe::d1);
    EXPECT_EQ(deviation.samples, 4);
    EXPECT_EQ(deviation.per_candle, dec("0.110054716"));
}

TEST(Indicators, ARegimeNeedsFiveSamples) {
    const Decimal wild(2);
    EXPECT_EQ(
        regime_of({.samples = 4, .per_candle = {}, .per_year = wild}), VolatilityRegime::normal);
    EXPECT_EQ(
        regime_of({.samples = 5, .per_candle = {}, .per_year = wild}), VolatilityRegime::high);
}

TEST(Indicators, TouchingAThresholdCounts) {
    const auto regime = [](std::string_view per_year) {
        return regime_of({.samples = 20, .per_candle = {}, .per_year = dec(per_year)});
    };
    EXPECT_EQ(regime("0.299999999"), VolatilityRegime::low);
    EXPECT_EQ(regime("0.3"), VolatilityRegime::normal);
    EXPECT_EQ(regime("0.999999999"), VolatilityRegime::normal);
    EXPECT_EQ(regime("1"), VolatilityRegime::high);
}

std::vector<Candle> draw_candles(std::size_t count) {
    std::vector<Candle> candles;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t low = *rc::gen::inRange<std::int64_t>(1'000, 2'000'000);
        const std::int64_t width = *rc::gen::inRange<std::int64_t>(0, 50'000);
        const std::int64_t up = *rc::gen::inRange<std::int64_t>(0, width + 1);
        candles.push_back(candle(
            Decimal::from_units(static_cast<__int128>(low + width) * 1'000'000'000'000'000),
            Decimal::from_units(static_cast<__int128>(low) * 1'000'000'000'000'000),
            Decimal::from_units(static_cast<__int128>(low + up) * 1'000'000'000'000'000)));
    }
    return candles;
}

std::vector<Candle> scaled(const std::vector<Candle>& candles, __int128 factor) {
    std::vector<Candle> larger = candles;
    for (Candle& at : larger) {
        for (Decimal* price : {&at.open, &at.high, &at.low, &at.close}) {
            *price = Decimal::from_units(price->units() * factor);
        }
    }
    return larger;
}

TEST(Indicators, StayWithinTheirBounds) {
    EXPECT_TRUE(rc::check([] {
        const auto candles = draw_candles(*rc::gen::inRange<std::size_t>(0, 60));
        const TimeframeSignals signals = signals_from(candles, Timeframe::m5);
        const auto lowest = std::ranges::min_element(candles, {}, &Candle::low);
        const auto highest = std::ranges::max_element(candles, {}, &Candle::high);
        RC_ASSERT(signals.atr.has_value() == (candles.size() >= 14));
        RC_ASSERT(signals.ema_slow.has_value() == (candles.size() >= 26));
        if (signals.atr) {
            RC_ASSERT(!signals.atr->is_negative());
            RC_ASSERT(*signals.atr <= subtract(highest->high, lowest->low).value());
        }
        if (signals.ema_slow) {
            RC_ASSERT(*signals.ema_slow >= lowest->close);
            RC_ASSERT(*signals.ema_slow <= highest->high);
        }
        if (signals.efficiency) {
            RC_ASSERT(!signals.efficiency->is_negative());
            RC_ASSERT(*signals.efficiency <= Decimal(1));
            RC_ASSERT(!signals.pullback_pct->is_negative());
            RC_ASSERT(*signals.bollinger_lower <= *signals.bollinger_mid);
            RC_ASSERT(*signals.bollinger_mid <= *signals.bollinger_upper);
        }
    }));
}

TEST(Indicators, RatiosDoNotKnowTheScaleOfPrices) {
    EXPECT_TRUE(rc::check([] {
        const auto candles = draw_candles(40);
        const auto small = signals_from(candles, Timeframe::h1);
        const auto large = signals_from(scaled(candles, 1024), Timeframe::h1);
        const auto near = [](const std::optional<Decimal>& a, const std::optional<Decimal>& b) {
            const __int128 apart = a.value().units() - b.value().units();
            return (apart < 0 ? -apart : apart) <= 1'000'000'000;  // The quantum.
        };
        RC_ASSERT(near(small.atr_pct, large.atr_pct));
        RC_ASSERT(near(small.trend_strength, large.trend_strength));
        RC_ASSERT(near(small.efficiency, large.efficiency));
        RC_ASSERT(near(small.pullback_pct, large.pullback_pct));
        RC_ASSERT(near(small.volatility, large.volatility));
        RC_ASSERT(small.regime == large.regime);
    }));
}

TEST(Indicators, AMarketThatStandsStillHasNoRangeAndNoTrend) {
    EXPECT_TRUE(rc::check([] {
        const Decimal price = Decimal::from_units(
            static_cast<__int128>(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000)) *
            1'000'000'000);
        const auto signals = signals_from(from_closes(std::vector(40, price)), Timeframe::h1);
        RC_ASSERT(signals.ema_fast == price);
        RC_ASSERT(signals.ema_slow == price);
        RC_ASSERT(signals.bollinger_upper == price);
        RC_ASSERT(signals.atr == Decimal());
        RC_ASSERT(signals.volatility == Decimal());
        RC_ASSERT(signals.trend_strength == Decimal());
        RC_ASSERT(signals.regime == VolatilityRegime::low);
    }));
}

TEST(Indicators, ResultsAreWholeMultiplesOfTheQuantum) {
    EXPECT_TRUE(rc::check([] {
        const auto signals = signals_from(draw_candles(40), Timeframe::h1);
        for (const auto& value :
             {signals.atr,
              signals.atr_pct,
              signals.ema_fast,
              signals.ema_slow,
              signals.trend_strength,
              signals.efficiency,
              signals.pullback_pct,
              signals.bollinger_mid,
              signals.bollinger_upper,
              signals.volatility}) {
            RC_ASSERT(value.value().units() % 1'000'000'000 == 0);
        }
    }));
}

TEST(Indicators, APriceThatIsNoneGivesNoSignals) {
    std::vector<Candle> candles = from_closes(std::vector(40, Decimal(100)));
    candles[20].low = Decimal();
    EXPECT_FALSE(signals_from(candles, Timeframe::h1).atr.has_value());
    candles[20].low = Decimal(100);
    candles[20].high = Decimal(1'000'000'000'000'001);
    EXPECT_FALSE(signals_from(candles, Timeframe::h1).ema_fast.has_value());
}

}  // namespace
}  // namespace interlock
