// Candles from prices: spans, gaps, bounds, and signals that are renewed when a candle closes.
#include "market/rules/candle_book.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "market/rules/indicators.h"
#include "market/rules/market_noise.h"
#include "market/rules/synthetic_market.h"

namespace interlock {
namespace {

constexpr Timestamp kNoon{1'794'744'000'000'000};  // 2026-11-15T12:00:00Z.

Timestamp after(std::int64_t seconds) {
    return kNoon + Duration::of_seconds(seconds);
}

TEST(CandleBook, AMinuteIsItsFirstHighestLowestAndLastPrice) {
    CandleBook book;
    for (const std::int64_t price : {10, 12, 9, 11}) {
        book.note_price(after(price), Decimal(price));
    }
    EXPECT_TRUE(book.closed(Timeframe::m1).empty());
    book.note_price(after(60), Decimal(13));
    ASSERT_EQ(book.closed(Timeframe::m1).size(), 1u);
    const Candle expected{kNoon, Decimal(10), Decimal(12), Decimal(9), Decimal(11)};
    EXPECT_EQ(book.closed(Timeframe::m1).front(), expected);
}

TEST(CandleBook, LongerCandlesAreTheirMinutesTogether) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& moves) {
        CandleBook book;
        std::map<Timestamp, Candle> expected;  // Five minutes each, the slow way.
        Timestamp at = kNoon;
        for (const std::uint8_t move : moves) {
            at = at + Duration::of_seconds(move % 50);
            const Decimal price(100 + move);
            book.note_price(at, price);
            const Timestamp start = span_start(Timeframe::m5, at);
            auto [found, is_new] =
                expected.try_emplace(start, Candle{start, price, price, price, price});
            found->second.high = std::max(found->second.high, price);
            found->second.low = std::min(found->second.low, price);
            found->second.close = price;
        }
        const auto closed = book.closed(Timeframe::m5);
        RC_ASSERT(closed.size() == (expected.empty() ? 0 : expected.size() - 1));
        auto next = expected.begin();
        for (const Candle& candle : closed) {
            RC_ASSERT(candle == (next++)->second);
        }
    }));
}

TEST(CandleBook, AGapInventsNothing) {
    CandleBook book;
    book.note_price(after(0), Decimal(10));
    book.note_price(after(600), Decimal(20));
    book.note_price(after(660), Decimal(21));
    const auto closed = book.closed(Timeframe::m1);
    ASSERT_EQ(closed.size(), 2u);
    EXPECT_EQ(closed[1].opened_at, after(600));
    EXPECT_EQ(closed[1].open, Decimal(20));
}

TEST(CandleBook, CandlesFromBeforeALongSilenceAreDropped) {
    CandleBook book;
    book.note_price(after(0), Decimal(10));
    book.note_price(after(60), Decimal(10));
    const auto silence = static_cast<std::int64_t>(kCandlesKept) * 60;
    book.note_price(after(60 + silence + 60), Decimal(10));
    EXPECT_TRUE(book.closed(Timeframe::m1).empty());
    EXPECT_FALSE(book.closed(Timeframe::m5).empty());
}

TEST(CandleBook, KeepsNoMoreThanItsBound) {
    CandleBook book;
    const auto minutes = static_cast<std::int64_t>(3 * kCandlesKept);
    for (std::int64_t minute = 0; minute <= minutes; ++minute) {
        book.note_price(after(minute * 60), Decimal(minute + 1));
    }
    const auto closed = book.closed(Timeframe::m1);
    EXPECT_EQ(closed.size(), kCandlesKept);
    EXPECT_EQ(closed.back().close, Decimal(minutes));
}

TEST(CandleBook, DropsWhatIsNoPriceOrComesTooLate) {
    CandleBook book;
    book.note_price(after(120), Decimal(10));
    book.note_price(after(121), Decimal(0));
    book.note_price(after(59), Decimal(99));
    book.note_price(after(180), Decimal(10));
    ASSERT_EQ(book.closed(Timeframe::m1).size(), 1u);
    EXPECT_EQ(book.closed(Timeframe::m1).front().high, Decimal(10));
    EXPECT_EQ(book.closed(Timeframe::m1).front().low, Decimal(10));
}

TEST(CandleBook, SignalsAreThoseOfTheClosedCandles) {
    EXPECT_TRUE(rc::check([](std::uint16_t seed) {
        CandleBook book;
        for (std::int64_t i = 0; i < 200; ++i) {
            const auto bits = mix_bits(seed, static_cast<std::uint64_t>(i), 1);
            book.note_price(after(i * 20), Decimal(uniform(bits, 100, 200)));
            // Asked in between, so that an answer of before would show.
            RC_ASSERT(
                book.signals(Timeframe::m1) ==
                signals_from(book.closed(Timeframe::m1), Timeframe::m1));
        }
        RC_ASSERT(book.signals(Timeframe::m1).atr.has_value());
    }));
}

TEST(CandleBook, AQuantileIsThatOfTheClosedCandles) {
    CandleBook book;
    bool was_known = false;
    const BandwidthWish wish{.timeframe = Timeframe::m1, .quantile = Decimal::from_units(1)};
    for (std::int64_t minute = 0; minute < 300; ++minute) {
        book.note_price(after(minute * 60), Decimal(100 + minute * minute % 61));
        // Asked in between, so that an answer of before would show.
        const auto told = book.bandwidth_quantile(wish);
        EXPECT_EQ(told, quantile_of(sorted_bandwidths(book.closed(Timeframe::m1)), wish.quantile));
        was_known |= told.has_value();
    }
    EXPECT_TRUE(was_known);
    EXPECT_FALSE(book.bandwidth_quantile({Timeframe::d1, wish.quantile}).has_value());
}

TEST(CandleBook, KeepsEnoughForEveryBandwidth) {
    EXPECT_GE(kCandlesKept, kBandwidths + static_cast<std::size_t>(kBollingerPeriod) - 1);
    EXPECT_GE(static_cast<std::size_t>(kHydratedCandles), kCandlesKept);
}

TEST(CandleBook, TellsOnlyWhatIsAskedForAscendingAndOnce) {
    const CandleBook book;
    constexpr std::array<Timeframe, 3> kAsked{Timeframe::h1, Timeframe::m1, Timeframe::h1};
    const MarketSignals signals = book.signals(kAsked);
    ASSERT_EQ(signals.list.size(), 2u);
    EXPECT_EQ(signals.list[0].timeframe, Timeframe::m1);
    EXPECT_EQ(signals.list[1].timeframe, Timeframe::h1);
}

TEST(CandleBook, LoadedHistoryTakesThePlaceOfWhatWasBuilt) {
    CandleBook book;
    book.note_price(after(1790), Decimal(50));
    book.note_price(after(1800), Decimal(5));
    const Candle before{after(-3600), Decimal(1), Decimal(2), Decimal(1), Decimal(2)};
    const Candle part{kNoon, Decimal(3), Decimal(9), Decimal(3), Decimal(4)};
    book.load(Timeframe::h1, {.closed = {before}, .open = part});
    book.note_price(after(3600), Decimal(6));
    const auto closed = book.closed(Timeframe::h1);
    ASSERT_EQ(closed.size(), 2u);
    EXPECT_EQ(closed[0], before);
    const Candle expected{kNoon, Decimal(3), Decimal(9), Decimal(3), Decimal(5)};
    EXPECT_EQ(closed[1], expected);
    EXPECT_EQ(book.closed(Timeframe::m30).front().open, Decimal(50));  // Left alone.
}

TEST(CandleBook, HistoryThatDoesNotFitIsDropped) {
    CandleBook book;
    const Candle first{after(0), Decimal(1), Decimal(1), Decimal(1), Decimal(1)};
    const Candle aslant{after(30), Decimal(1), Decimal(1), Decimal(1), Decimal(1)};
    book.load(Timeframe::m1, {.closed = {first, first, aslant}, .open = first});
    EXPECT_EQ(book.closed(Timeframe::m1).size(), 1u);
    book.note_price(after(60), Decimal(2));
    EXPECT_EQ(book.closed(Timeframe::m1).size(), 1u);
}

TEST(CandleBook, HydrationFillsEveryTimeframe) {
    const SyntheticMarket market;
    CandleBook book;
    for (const Timeframe timeframe : kTimeframes) {
        hydrate(book, timeframe, {market, 0, step_of(after(1234))});
        const TimeframeSignals& signals = book.signals(timeframe);
        EXPECT_GE(signals.candles, kHydratedCandles - 2) << to_word(timeframe);
        EXPECT_TRUE(signals.trend_strength.has_value()) << to_word(timeframe);
        EXPECT_EQ(signals.closed_at, span_start(timeframe, after(1234))) << to_word(timeframe);
    }
}

TEST(CandleBook, AMidNeedsATwoSidedOpenMarket) {
    EXPECT_EQ(mid_price({.bid = {10}, .ask = {11}}, Decimal(2)), Decimal(21));
    EXPECT_FALSE(mid_price({.bid = {10}, .ask = {11}, .halted = true}, Decimal(2)).has_value());
    EXPECT_FALSE(mid_price({.bid = {0}, .ask = {11}}, Decimal(2)).has_value());
    EXPECT_FALSE(mid_price({.bid = {11}, .ask = {11}}, Decimal(2)).has_value());
}

}  // namespace
}  // namespace interlock
