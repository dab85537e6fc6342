// The life of a turn, told with probes: idempotency, batches, effects, crashes (I1, I2, I4).
#include "host/service/probe_service.h"

#include <gtest/gtest.h>

#include "testing/plane_world.h"

namespace interlock {
namespace {

std::string field(const Result<Answer>& answer, std::string_view key) {
    const Json json = *parse_json(answer->body);
    const Json* value = json.find(key);
    return value == nullptr ? "absent" : to_text(*value);
}

TEST(ProbeService, SameKeyAndRequestGivesTheStoredAnswerByteForByte) {
    PlaneWorld world;
    const auto first = world.probe("k1");
    world.clock.advance(Duration::of_minutes(59));
    const auto again = world.probe("k1");
    EXPECT_EQ((*first)->body, (*again)->body);
    EXPECT_EQ(world.events(), std::vector<std::string>{"PROBE_ACCEPTED"});
}

TEST(ProbeService, SameKeyWithAnotherRequestIsAConflict) {
    PlaneWorld world;
    world.probe("k1");
    const auto other = world.probe("k1", false, false, "another note");
    ASSERT_FALSE(*other);
    EXPECT_EQ(other->error(), errors::idempotency_key_conflict);
}

TEST(ProbeService, StoredAnswerSurvivesARestart) {
    PlaneWorld world;
    const auto first = world.probe("k1");
    world.rebuild();
    EXPECT_EQ((*world.probe("k1"))->body, (*first)->body);
}

// Within one batch the second of two equal requests gets the answer of the first.
TEST(ProbeService, RepeatedKeyInsideABatchDecidesOnce) {
    PlaneWorld world;
    world.engine->hold();
    world.probe("k1");
    const auto first = world.last_answer;
    world.probe("k1");
    const auto second = world.last_answer;
    world.probe("k2");
    const auto third = world.last_answer;
    EXPECT_FALSE(*first);
    world.engine->release();
    EXPECT_EQ((**first)->body, (**second)->body);
    EXPECT_EQ(field(**third, "probe_no"), "2");
    EXPECT_EQ(world.store.commits, 1);
}

TEST(ProbeService, NobodyHearsOfSuccessWhenTheCommitFails) {
    PlaneWorld world;
    world.store.broken = true;
    const auto answer = world.probe("k1", true);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error(), errors::commit_unknown);
    EXPECT_TRUE(world.waiting_effects.empty());
}

// A ledger that cannot be written stops trading, and the file says so.
TEST(ProbeService, FailedCommitLatchesEverything) {
    PlaneWorld world;
    world.store.broken = true;
    world.probe("k1");
    EXPECT_TRUE(world.plane->latch.is_raised_global());
    EXPECT_TRUE(world.flag.raised);
}

TEST(ProbeService, EffectLeavesOnlyAfterTheCommit) {
    PlaneWorld world;
    world.engine->hold();
    world.probe("k1", true);
    EXPECT_TRUE(world.waiting_effects.empty());
    world.engine->release();
    EXPECT_EQ(world.waiting_effects.size(), 1u);
    world.run_effects();
    EXPECT_EQ(world.sink.performed.size(), 1u);
    EXPECT_EQ(world.events(), (std::vector<std::string>{"PROBE_ACCEPTED", "EFFECT_DONE"}));
}

TEST(ProbeService, WaitingCallerIsAnsweredWhenTheSinkHas) {
    PlaneWorld world;
    EXPECT_FALSE(world.probe("k1", true, true));
    const auto waiting = world.last_answer;
    const auto repeated = world.probe("k1", true, true);
    ASSERT_FALSE(*repeated);
    EXPECT_EQ(repeated->error(), errors::in_progress);
    world.run_effects();
    ASSERT_TRUE(*waiting);
    EXPECT_EQ(field(**waiting, "effect_status"), "\"done\"");
    EXPECT_EQ((*world.probe("k1", true, true))->body, (**waiting)->body);
    EXPECT_EQ(world.sink.performed.size(), 1u);
}

// I4: an effect that may have run is unknown after a crash, is asked about, never sent again.
TEST(ProbeService, EffectInterruptedByACrashIsSettledNotResent) {
    PlaneWorld world;
    world.probe("k1", true, true);
    ASSERT_EQ(world.waiting_effects.size(), 1u);
    world.plane->outbox.run_one(world.waiting_effects.front());  // Sent; the outcome is lost.
    world.rebuild();
    ASSERT_EQ(world.recovery.unsettled.size(), 1u);
    EXPECT_TRUE(world.recovery.resend.empty());
    EXPECT_EQ(world.plane->runner.unknown_effects(TenantId::trusted("demo")), 1);
    world.submit(world.plane->runner.outcome_turn(
        world.plane->outbox.settle(world.recovery.unsettled.front())));
    EXPECT_EQ(world.sink.performed.size(), 1u);
    EXPECT_EQ(world.plane->runner.unknown_effects(TenantId::trusted("demo")), 0);
    EXPECT_EQ(field(*world.probe("k1", true, true), "effect_status"), "\"done\"");
}

TEST(ProbeService, EffectThatNeverLeftIsSettledAsNeverArrived) {
    PlaneWorld world;
    world.probe("k1", true, true);
    world.rebuild();
    ASSERT_EQ(world.recovery.unsettled.size(), 1u);
    world.submit(world.plane->runner.outcome_turn(
        world.plane->outbox.settle(world.recovery.unsettled.front())));
    EXPECT_TRUE(world.sink.performed.empty());
    EXPECT_EQ(field(*world.probe("k1", true, true), "effect_status"), "\"never_arrived\"");
}

TEST(ProbeService, LostAnswerOfTheSinkIsUnknownUntilSettled) {
    PlaneWorld world;
    world.sink.lose_answer = true;
    world.sink.silent = true;
    world.probe("k1", true);
    const OutboxItem effect = world.waiting_effects.front();
    world.run_effects();
    EXPECT_EQ(world.plane->runner.unknown_effects(TenantId::trusted("demo")), 1);
    EXPECT_EQ(world.plane->outbox.settle(effect).fate, EffectFate::unknown);
    world.sink.silent = false;
    EXPECT_EQ(world.plane->outbox.settle(effect).fate, EffectFate::done);
}

// An order effect is void when it was not sent within two seconds of its commit.
TEST(ProbeService, StaleEffectIsNotSent) {
    PlaneWorld world;
    world.probe("k1", true);
    world.clock.advance(Duration::of_seconds(2));
    world.clock.advance(Duration{1});
    world.run_effects();
    EXPECT_TRUE(world.sink.performed.empty());
    EXPECT_EQ(world.events().back(), "EFFECT_REFUSED");
}

TEST(ProbeService, EffectsAreRefusedWithoutASink) {
    PlaneWorld world({.two_person_rule = false, .has_sink = false});
    const auto answer = world.probe("k1", true);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error(), errors::no_effect_sink);
}

TEST(ProbeService, WaiterIsToldInProgressAfterTheWaitingLife) {
    PlaneWorld world;
    world.probe("k1", true, true);
    const auto waiting = world.last_answer;
    world.clock.advance(TurnRunner::kWaitingLife);
    world.plane->runner.release_overdue_waiters();
    ASSERT_TRUE(*waiting);
    EXPECT_EQ((*waiting)->error(), errors::in_progress);
}

// Both reports of one effect may wait in the same batch; the second must find it settled.
TEST(ProbeService, ALateReportInTheSameBatchDoesNotReopenASettledEffect) {
    PlaneWorld world;
    world.probe("k1", true);
    const OutboxItem effect = world.waiting_effects.front();
    world.engine->hold();
    world.submit(world.plane->runner.outcome_turn(world.plane->outbox.run_one(effect)));
    EffectOutcome late;
    late.effect = effect;
    world.submit(world.plane->runner.outcome_turn(late));
    world.engine->release();
    EXPECT_EQ(world.plane->runner.unknown_effects(system_tenant()), 0);
    EXPECT_EQ(world.events(), (std::vector<std::string>{"PROBE_ACCEPTED", "EFFECT_DONE"}));
}

// An outcome may take longer than answers are kept; the answer is then kept from its own time on.
TEST(ProbeService, AnswerStillToComeIsNotPurgedBeforeItsOutcome) {
    PlaneWorld world;
    world.sink.lose_answer = true;
    world.probe("k1", true, true);
    const OutboxItem effect = world.waiting_effects.front();
    world.run_effects();
    world.clock.advance(Duration::of_days(8));
    world.plane->ledger.duty();
    world.submit(world.plane->runner.outcome_turn(world.plane->outbox.settle(effect)));
    world.plane->ledger.duty();
    EXPECT_EQ(world.plane->runner.effects_in_flight(), 0);
    EXPECT_EQ(field(*world.probe("k1", true, true), "effect_status"), "\"done\"");
}

// The store may fail for a moment; the outcome it could not take is brought again.
TEST(ProbeService, OutcomeThatCouldNotBeRecordedIsRecordedLater) {
    PlaneWorld world;
    world.probe("k1", true);
    world.store.broken = true;
    world.run_effects();
    world.store.broken = false;
    world.plane->runner.fire_timers(10);
    EXPECT_EQ(
        world.plane->runner.effects_in_flight(), 1);  // Not at once: the store needs a moment.
    world.clock.advance(TurnRunner::kRetryAfter);
    world.plane->runner.fire_timers(10);
    EXPECT_EQ(world.plane->runner.effects_in_flight(), 0);
    EXPECT_EQ(world.events(), (std::vector<std::string>{"PROBE_ACCEPTED", "EFFECT_DONE"}));
}

}  // namespace
}  // namespace interlock
