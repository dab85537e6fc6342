// Every threshold of control-decision.md#degraded-execution below, at and above; the bounds of the
// window; and the way back to good.
#include "trader/rules/execution_quality.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

namespace interlock {
namespace {

using Words = std::vector<std::string>;

constexpr Timestamp kNow{1'776'370'500'000'000};

QualityFacts calm() {
    QualityFacts facts;
    facts.now = kNow;
    facts.market_age_sec = Decimal(1);
    return facts;
}

struct Orders {
    int acked = 0;
    int rejected = 0;
    int post_only_rejected = 0;
    int timed_out = 0;
};

void note(ExecutionWindow& window, OrderFate fate, int count) {
    for (int i = 0; i < count; ++i) {
        window.note({kNow, fate, Duration::of_milliseconds(10), std::nullopt});
    }
}

Words reasons_of(const Orders& orders) {
    ExecutionWindow window;
    note(window, OrderFate::acked, orders.acked);
    note(window, OrderFate::rejected, orders.rejected);
    note(window, OrderFate::post_only_rejected, orders.post_only_rejected);
    note(window, OrderFate::timed_out, orders.timed_out);
    return judge_quality(window, calm()).reasons;
}

Words reasons_of_latencies(int fast, std::vector<Duration> slow) {
    ExecutionWindow window;
    note(window, OrderFate::acked, fast);
    for (const Duration latency : slow) {
        window.note({kNow, OrderFate::acked, latency, std::nullopt});
    }
    return judge_quality(window, calm()).reasons;
}

Words reasons_of_slippages(const std::vector<std::string>& bps) {
    ExecutionWindow window;
    for (const std::string& one : bps) {
        window.note({kNow, OrderFate::acked, {}, Decimal::parse(one).value()});
    }
    return judge_quality(window, calm()).reasons;
}

QualityVerdict with(const QualityFacts& facts) {
    return judge_quality({}, facts);
}

TEST(ExecutionQuality, IsGoodWhenNothingHappened) {
    EXPECT_EQ(with(calm()).quality, ExecutionQuality::good);
    EXPECT_EQ(with(calm()).reasons, Words{});
}

TEST(ExecutionQuality, OneUnknownOrderDegrades) {
    QualityFacts facts = calm();
    facts.unknown_orders = 1;
    EXPECT_EQ(with(facts).quality, ExecutionQuality::degraded);
    EXPECT_EQ(with(facts).reasons, Words{"unknown_order"});
}

TEST(ExecutionQuality, RejectsDegradeFromThreeOnAndAboveAFifth) {
    EXPECT_EQ(reasons_of({.acked = 0, .rejected = 2}), Words{});
    EXPECT_EQ(reasons_of({.acked = 0, .rejected = 3}), Words{"reject_rate"});
    EXPECT_EQ(reasons_of({.acked = 11, .rejected = 3}), Words{"reject_rate"});
    EXPECT_EQ(reasons_of({.acked = 12, .rejected = 3}), Words{});
    EXPECT_EQ(reasons_of({.acked = 13, .rejected = 3}), Words{});
}

TEST(ExecutionQuality, PostOnlyRejectsAreNeitherRejectsNorOrders) {
    EXPECT_EQ(reasons_of({.acked = 0, .post_only_rejected = 40}), Words{});
    EXPECT_EQ(reasons_of({.rejected = 2, .post_only_rejected = 40}), Words{});
    EXPECT_EQ(
        reasons_of({.acked = 11, .rejected = 3, .post_only_rejected = 30}), Words{"reject_rate"});
    EXPECT_EQ(reasons_of({.acked = 12, .rejected = 3, .post_only_rejected = 30}), Words{});
}

TEST(ExecutionQuality, TimeoutsDegradeFromFiveOrdersOnAndAboveATenth) {
    EXPECT_EQ(reasons_of({.acked = 0, .timed_out = 4}), Words{});
    EXPECT_EQ(reasons_of({.acked = 4, .timed_out = 1}), Words{"timeout_rate"});
    EXPECT_EQ(reasons_of({.acked = 8, .timed_out = 1}), Words{"timeout_rate"});
    EXPECT_EQ(reasons_of({.acked = 9, .timed_out = 1}), Words{});
    EXPECT_EQ(reasons_of({.acked = 10, .timed_out = 1}), Words{});
}

TEST(ExecutionQuality, AckLatencyDegradesAboveTwoSecondsAtThe95thPercentile) {
    const Duration at = Duration::of_milliseconds(2000);
    const Duration above{at.microseconds + 1};
    EXPECT_EQ(reasons_of_latencies(0, {at}), Words{});
    EXPECT_EQ(reasons_of_latencies(0, {above}), Words{"slow_acks"});
    EXPECT_EQ(reasons_of_latencies(19, {above}), Words{});
    EXPECT_EQ(reasons_of_latencies(18, {above}), Words{"slow_acks"});
    EXPECT_EQ(reasons_of_latencies(38, {above, above}), Words{});
    EXPECT_EQ(reasons_of_latencies(37, {above, above}), Words{"slow_acks"});
}

TEST(ExecutionQuality, OnlyAcksHaveAnAckLatency) {
    ExecutionWindow window;
    note(window, OrderFate::acked, 5);
    window.note({kNow, OrderFate::rejected, Duration::of_seconds(9), std::nullopt});
    EXPECT_EQ(judge_quality(window, calm()).reasons, Words{});
}

TEST(ExecutionQuality, SlippageDegradesAbove25BpsOnAverageFromFiveFillsOn) {
    EXPECT_EQ(reasons_of_slippages({"25", "25", "25", "25", "25"}), Words{});
    EXPECT_EQ(reasons_of_slippages({"25", "25", "25", "25", "25.000001"}), Words{"slippage"});
    EXPECT_EQ(reasons_of_slippages({"20", "20", "20", "20", "44.9"}), Words{});
    EXPECT_EQ(reasons_of_slippages({"99", "99", "99", "99"}), Words{});
}

TEST(ExecutionQuality, AGoodFillDoesNotMakeUpForABadOne) {
    EXPECT_EQ(reasons_of_slippages({"-500", "32", "32", "32", "32"}), Words{"slippage"});
    EXPECT_EQ(reasons_of_slippages({"-500", "31", "31", "31", "32"}), Words{});
}

TEST(ExecutionQuality, ASlippageBeyondEveryDecimalDegrades) {
    const std::string huge = "170000000000000000000";
    EXPECT_EQ(reasons_of_slippages({huge, huge, huge, huge, huge}), Words{"slippage"});
}

TEST(ExecutionQuality, MarketDataDegradesAboveThirtySecondsOrWhenThereIsNone) {
    QualityFacts facts = calm();
    facts.market_age_sec = Decimal(30);
    EXPECT_EQ(with(facts).reasons, Words{});
    facts.market_age_sec = Decimal::parse("30.001").value();
    EXPECT_EQ(with(facts).reasons, Words{"market_data_old"});
    facts.market_age_sec.reset();
    EXPECT_EQ(with(facts).reasons, Words{"market_data_old"});
}

TEST(ExecutionQuality, ClockSkewDegradesAboveOneSecondEitherWay) {
    QualityFacts facts = calm();
    for (const std::int64_t skew : {1000, -1000, 999, -999}) {
        facts.clock_skew_ms = skew;
        EXPECT_EQ(with(facts).reasons, Words{}) << skew;
    }
    for (const std::int64_t skew :
         {std::int64_t{1001}, std::int64_t{-1001}, std::numeric_limits<std::int64_t>::min()}) {
        facts.clock_skew_ms = skew;
        EXPECT_EQ(with(facts).reasons, Words{"clock_skew"}) << skew;
    }
}

TEST(ExecutionQuality, AnUnconfirmedCancelDegrades) {
    QualityFacts facts = calm();
    facts.cancel_unconfirmed = true;
    EXPECT_EQ(with(facts).quality, ExecutionQuality::degraded);
    EXPECT_EQ(with(facts).reasons, Words{"cancel_unconfirmed"});
}

TEST(ExecutionQuality, AVenueSilentForSixtySecondsStalls) {
    QualityFacts facts = calm();
    facts.last_venue_success = kNow - Duration::of_seconds(60) + Duration{1};
    EXPECT_EQ(with(facts).quality, ExecutionQuality::good);
    facts.last_venue_success = kNow - Duration::of_seconds(60);
    EXPECT_EQ(with(facts).quality, ExecutionQuality::stalled);
    EXPECT_EQ(with(facts).reasons, Words{"venue_silent"});
    facts.last_venue_success.reset();
    EXPECT_EQ(with(facts).quality, ExecutionQuality::good);
}

TEST(ExecutionQuality, AnOpenBreakerStallsAndTheWorstWins) {
    QualityFacts facts = calm();
    facts.breaker_open = true;
    facts.unknown_orders = 2;
    facts.cancel_unconfirmed = true;
    EXPECT_EQ(with(facts).quality, ExecutionQuality::stalled);
    EXPECT_EQ(with(facts).reasons, (Words{"breaker_open", "cancel_unconfirmed", "unknown_order"}));
}

TEST(ExecutionQuality, ReasonsAreAscending) {
    ExecutionWindow window;
    note(window, OrderFate::rejected, 3);
    note(window, OrderFate::timed_out, 3);
    for (int i = 0; i < 6; ++i) {
        window.note({kNow, OrderFate::acked, Duration::of_seconds(3), Decimal(90)});
    }
    QualityFacts facts;
    facts.now = kNow;
    facts.unknown_orders = 1;
    facts.clock_skew_ms = 5000;
    facts.cancel_unconfirmed = true;
    facts.breaker_open = true;
    facts.last_venue_success = kNow - Duration::of_hours(1);
    const QualityVerdict verdict = judge_quality(window, facts);
    EXPECT_EQ(verdict.reasons.size(), 10U);
    EXPECT_TRUE(std::is_sorted(verdict.reasons.begin(), verdict.reasons.end()));
}

TEST(ExecutionWindow, HoldsTheLastFiveMinutesInclusive) {
    ExecutionWindow window;
    const Timestamp edge = kNow - kQualityWindow;
    window.note({edge - Duration{1}, OrderFate::rejected, {}, std::nullopt});
    window.note({edge, OrderFate::rejected, {}, std::nullopt});
    window.drop_old(kNow);
    ASSERT_EQ(window.samples().size(), 1U);
    EXPECT_EQ(window.samples().front().at, edge);
}

TEST(ExecutionWindow, OldOrdersDoNotCountEvenBeforeTheyAreDropped) {
    ExecutionWindow window;
    for (int i = 0; i < 3; ++i) {
        window.note({kNow - kQualityWindow - Duration{1}, OrderFate::rejected, {}, std::nullopt});
    }
    EXPECT_EQ(judge_quality(window, calm()).quality, ExecutionQuality::good);
}

TEST(ExecutionWindow, HoldsTheLastFiftyOrders) {
    ExecutionWindow window;
    note(window, OrderFate::rejected, 3);
    note(window, OrderFate::acked, static_cast<int>(kQualityOrdersMax));
    ASSERT_EQ(window.samples().size(), kQualityOrdersMax);
    EXPECT_EQ(window.samples().front().fate, OrderFate::acked);
}

TEST(ExecutionWindow, StaysOrderedWhenNewsComesLate) {
    EXPECT_TRUE(rc::check([] {
        ExecutionWindow window;
        const auto seconds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 900));
        for (const int second : seconds) {
            window.note({kNow + Duration::of_seconds(second), OrderFate::acked, {}, std::nullopt});
        }
        RC_ASSERT(window.samples().size() == std::min(seconds.size(), kQualityOrdersMax));
        window.drop_old(kNow + Duration::of_seconds(900));
        Timestamp last = kNow + Duration::of_seconds(600);
        for (const OrderSample& sample : window.samples()) {
            RC_ASSERT(sample.at >= last);
            last = sample.at;
        }
    }));
}

const QualityVerdict kGood{};
const QualityVerdict kDegraded{ExecutionQuality::degraded, {"unknown_order"}};
const QualityVerdict kStalled{ExecutionQuality::stalled, {"venue_silent"}};

QualityState run(const std::vector<QualityVerdict>& verdicts) {
    QualityState state;
    for (const QualityVerdict& verdict : verdicts) {
        state = step_quality(std::move(state), verdict);
    }
    return state;
}

TEST(QualityStep, GetsWorseAtOnce) {
    EXPECT_EQ(run({kDegraded}).quality, ExecutionQuality::degraded);
    EXPECT_EQ(run({kDegraded, kStalled}).quality, ExecutionQuality::stalled);
    EXPECT_EQ(run({kDegraded, kStalled}).reasons, Words{"venue_silent"});
}

TEST(QualityStep, IsGoodAgainAfterThreeCleanEvaluationsInARow) {
    EXPECT_EQ(run({kDegraded, kGood, kGood}).quality, ExecutionQuality::degraded);
    EXPECT_EQ(run({kDegraded, kGood, kGood}).reasons, Words{"unknown_order"});
    EXPECT_EQ(run({kDegraded, kGood, kGood, kGood}), QualityState{});
    EXPECT_EQ(run({kStalled, kGood, kGood, kGood}), QualityState{});
}

TEST(QualityStep, StartsCountingAnewAfterEachRelapse) {
    EXPECT_EQ(
        run({kDegraded, kGood, kGood, kDegraded, kGood, kGood}).quality,
        ExecutionQuality::degraded);
}

TEST(QualityStep, StalledThatIsOnlyDegradedStaysStalledWithBothReasons) {
    const QualityState state = run({kStalled, kGood, kGood, kDegraded});
    EXPECT_EQ(state.quality, ExecutionQuality::stalled);
    EXPECT_EQ(state.reasons, (Words{"unknown_order", "venue_silent"}));
    EXPECT_EQ(state.clean_evaluations, 0);
}

TEST(QualityStep, IsNeverBetterThanTheWorstOfTheLastThreeVerdicts) {
    EXPECT_TRUE(rc::check([] {
        const auto picks = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
        std::vector<QualityVerdict> verdicts;
        for (const int pick : picks) {
            verdicts.push_back(pick == 0 ? kGood : pick == 1 ? kDegraded : kStalled);
        }
        ExecutionQuality worst = ExecutionQuality::good;
        for (std::size_t i = verdicts.size() - std::min<std::size_t>(3, verdicts.size());
             i < verdicts.size();
             ++i) {
            worst = std::max(worst, verdicts[i].quality);
        }
        RC_ASSERT(run(verdicts).quality >= worst);
    }));
}

TEST(QualityStep, HasItsPlaceOnTheRiskLadder) {
    EXPECT_EQ(risk_mode_of(ExecutionQuality::good), RiskMode::normal);
    EXPECT_EQ(risk_mode_of(ExecutionQuality::degraded), RiskMode::reduced);
    EXPECT_EQ(risk_mode_of(ExecutionQuality::stalled), RiskMode::halted);
}

TEST(ExecutionQuality, OfAConcernIsTheStrictestAndNothingTradesWhereItOnlyInforms) {
    Concern concern;
    concern.risk_mode = RiskMode::defensive;
    concern.quality = ExecutionQuality::degraded;
    EXPECT_EQ(risk_mode_of(concern), RiskMode::defensive);
    concern.quality = ExecutionQuality::stalled;
    EXPECT_EQ(risk_mode_of(concern), RiskMode::halted);
    concern.quality = ExecutionQuality::good;
    concern.status = ConcernStatus::paused;
    EXPECT_EQ(risk_mode_of(concern), RiskMode::defensive);
    concern.status = ConcernStatus::informational;
    EXPECT_EQ(risk_mode_of(concern), RiskMode::halted);
}

TEST(ExecutionQuality, PeopleAreToldWhyOrdersAreSmallerWhileItIsDegraded) {
    Concern concern;
    concern.symbol = Symbol::parse("ABCUSDT").value();
    EXPECT_EQ(why_smaller(concern), std::nullopt);
    concern.quality = ExecutionQuality::degraded;
    concern.quality_reasons = {"reject_rate", "slippage"};
    EXPECT_EQ(
        why_smaller(concern),
        "Execution on ABCUSDT is degraded (reject_rate, slippage): orders there are smaller until "
        "it is good again.");
    concern.quality = ExecutionQuality::stalled;  // That is a block, and has a sentence as such.
    EXPECT_EQ(why_smaller(concern), std::nullopt);
}

}  // namespace
}  // namespace interlock
