// The stored form of signals: given back unchanged, and strict.
#include "market/wire/timeframe_signals.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

TimeframeSignals draw_signals(Timeframe timeframe) {
    const auto gen = gen_any_decimal();
    return {
        .timeframe = timeframe,
        .candles = *rc::gen::inRange<std::int64_t>(0, 1000),
        .closed_at = draw_time(),
        .close = draw_optional(gen),
        .atr = draw_optional(gen),
        .atr_pct = draw_optional(gen),
        .ema_fast = draw_optional(gen),
        .ema_slow = draw_optional(gen),
        .trend_strength = draw_optional(gen),
        .efficiency = draw_optional(gen),
        .pullback_pct = draw_optional(gen),
        .bollinger_mid = draw_optional(gen),
        .bollinger_upper = draw_optional(gen),
        .bollinger_lower = draw_optional(gen),
        .bollinger_bandwidth = draw_optional(gen),
        .bandwidth_quantile = draw_optional(gen),
        .volatility = draw_optional(gen),
        .regime = static_cast<VolatilityRegime>(*rc::gen::inRange(0, 3)),
    };
}

TEST(MarketSignals, AreReadBackAsTheyWereWritten) {
    EXPECT_TRUE(rc::check([] {
        MarketSignals signals;
        for (const Timeframe timeframe : kTimeframes) {
            if (*rc::gen::arbitrary<bool>()) {
                signals.list.push_back(draw_signals(timeframe));
            }
        }
        const Json stored = parse_json(to_text(encode(signals))).value();
        RC_ASSERT(decode_market_signals(stored).value() == signals);
    }));
}

TEST(MarketSignals, RefuseATimeframeTwice) {
    const Json one = encode(TimeframeSignals{});
    const Json twice = Json::object({{"timeframes", Json::array({one, one})}});
    EXPECT_FALSE(decode_market_signals(twice).has_value());
}

TEST(MarketSignals, RefuseAFieldNobodyKnows) {
    Json one = encode(TimeframeSignals{});
    one.set("rsi", "50");
    EXPECT_FALSE(decode_timeframe_signals(one).has_value());
}

TEST(MarketSignals, ARecordFromBeforeThereWereBandwidthsIsRead) {
    const TimeframeSignals before;
    const Json stored = encode(before);
    EXPECT_EQ(stored.find("bollinger_bandwidth"), nullptr);
    EXPECT_EQ(stored.find("bandwidth_quantile"), nullptr);
    EXPECT_EQ(decode_timeframe_signals(stored).value(), before);
}

TEST(MarketSignals, AQuantileIsNotedWithItsTimeframeOnly) {
    MarketSignals signals;
    for (const Timeframe timeframe : {Timeframe::m1, Timeframe::h1}) {
        signals.list.emplace_back().timeframe = timeframe;
    }
    note_quantile(signals, {.timeframe = Timeframe::h1, .quantile = {}}, Decimal(3));
    EXPECT_EQ(signals.find(Timeframe::h1)->bandwidth_quantile, Decimal(3));
    EXPECT_FALSE(signals.find(Timeframe::m1)->bandwidth_quantile.has_value());
    note_quantile(signals, {.timeframe = Timeframe::d1, .quantile = {}}, Decimal(3));
    EXPECT_EQ(signals.list.size(), 2u);
}

TEST(MarketSignals, AreFoundByTimeframe) {
    MarketSignals signals;
    TimeframeSignals hourly;
    hourly.timeframe = Timeframe::h1;
    hourly.candles = 7;
    signals.list.push_back(hourly);
    ASSERT_NE(signals.find(Timeframe::h1), nullptr);
    EXPECT_EQ(signals.find(Timeframe::h1)->candles, 7);
    EXPECT_EQ(signals.find(Timeframe::m1), nullptr);
}

}  // namespace
}  // namespace interlock
