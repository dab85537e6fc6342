#include "trader/rules/supervisor/market_narrative.h"

#include <gtest/gtest.h>

#include "trader/rules/supervisor/test_supervisor_facts.h"

namespace interlock {
namespace {

class Narrative : public ::testing::Test {
protected:
    MarketRegime regime() { return narrate(world.facts).regime; }
    void wild_on(Timeframe timeframe) {
        Shape wild = kRangeShape;
        wild.volatility = VolatilityRegime::high;
        world.market_at(timeframe, wild);
    }

    SupervisorWorld world;
};

TEST_F(Narrative, TellsRangeRiseAndFall) {
    EXPECT_EQ(regime(), MarketRegime::range);
    world.market(kRiseShape);
    EXPECT_EQ(regime(), MarketRegime::trend_up);
    world.market(kFallShape);
    EXPECT_EQ(regime(), MarketRegime::trend_down);
}

TEST_F(Narrative, IsUnclearWithoutTheShorterTimeframes) {
    world.facts.signals.list.erase(world.facts.signals.list.begin());
    EXPECT_EQ(regime(), MarketRegime::unclear);
    EXPECT_EQ(narrate(world.facts).evidence, Decimal());
}

TEST_F(Narrative, DoesWithoutTheHour) {
    world.facts.signals.list.pop_back();
    EXPECT_EQ(regime(), MarketRegime::range);
}

TEST_F(Narrative, TakesOldSignalsForMissing) {
    for (TimeframeSignals& signals : world.facts.signals.list) {
        if (signals.timeframe == Timeframe::m1) {
            signals.closed_at = world.facts.now - Duration::of_minutes(3);
        }
    }
    EXPECT_EQ(regime(), MarketRegime::range);
    world.facts.signals.list.front().closed_at.microseconds -= 1;
    EXPECT_EQ(regime(), MarketRegime::unclear);
}

TEST_F(Narrative, NeedsTwoWildTimeframesToBeVolatileAndOneToStaySo) {
    wild_on(Timeframe::m1);
    EXPECT_EQ(regime(), MarketRegime::range);
    wild_on(Timeframe::m5);
    EXPECT_EQ(regime(), MarketRegime::range);
    wild_on(Timeframe::h1);
    EXPECT_EQ(regime(), MarketRegime::wild);
    world.facts.memory.regime = MarketRegime::wild;
    world.market(kRangeShape);
    wild_on(Timeframe::m15);
    EXPECT_EQ(regime(), MarketRegime::wild);
    world.market(kRangeShape);
    EXPECT_EQ(regime(), MarketRegime::range);
}

TEST_F(Narrative, StaysInATrendThatHasWeakened) {
    const Shape weak{"0.8", "0.3", "0.001"};  // Persistence 0.35.
    world.market(weak);
    EXPECT_EQ(regime(), MarketRegime::range);
    world.facts.memory.regime = MarketRegime::trend_up;
    EXPECT_EQ(regime(), MarketRegime::trend_up);
    world.facts.memory.regime = MarketRegime::trend_down;
    EXPECT_EQ(regime(), MarketRegime::range);
}

TEST_F(Narrative, DoubtsATrendAgainstTheHour) {
    const Shape modest{"1.2", "0.55", "0.001"};
    world.market(modest);
    const Decimal alone = narrate(world.facts).evidence;
    world.market_at(Timeframe::h1, kFallShape);
    const MarketNarrative doubted = narrate(world.facts);
    EXPECT_EQ(doubted.regime, MarketRegime::trend_up);
    EXPECT_EQ(to_text(subtract(alone, doubted.evidence).value()), "0.15");
}

TEST_F(Narrative, SaysInSentencesWhatTheNumbersSay) {
    world.market(kRiseShape);
    const MarketNarrative told_of = narrate(world.facts);
    ASSERT_EQ(told_of.sentences.size(), 5U);
    EXPECT_EQ(told_of.sentences[0], "1m: up with persistence 0.9, deepest pullback 0.001.");
    EXPECT_EQ(told_of.sentences[4], "Up: the minute is persistent and 5m and 15m confirm it.");
    EXPECT_EQ(*encode(told_of).find("regime"), Json("trend_up"));
}

}  // namespace
}  // namespace interlock
