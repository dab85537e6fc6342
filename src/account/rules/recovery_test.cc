#include "account/rules/recovery.h"

#include <gtest/gtest.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

RecoveryCause a_cause(std::string reason = "overfill:o1") {
    return {noon(), {std::move(reason)}, dec("100")};
}

RecoveryCycle a_cycle(const RecoveryState& state, bool is_clean) {
    return {
        .at = *state.next_cycle_at,
        .is_clean = is_clean,
        .is_doubted = !is_clean,
        .reasons = {},
        .exposure = dec("100"),
        .duplicate_seen = false,
        .cancels_failed = false};
}

RecoveryState recovering() {
    return enter_recovery({}, a_cause()).state;
}

RecoveryStep run(RecoveryState state, const std::vector<bool>& cycles) {
    RecoveryStep step;
    for (const bool is_clean : cycles) {
        step = step_recovery(state, a_cycle(state, is_clean));
        state = step.state;
    }
    return step;
}

TEST(Recovery, EnteringTurnsEntriesOffAndCancelsThem) {
    const RecoveryStep step = enter_recovery({}, a_cause());
    EXPECT_TRUE(step.entered);
    EXPECT_TRUE(step.cancel_entries);
    EXPECT_EQ(step.state.phase, RecoveryPhase::recovering);
    EXPECT_EQ(step.state.reasons, std::vector<std::string>{"overfill:o1"});
}

TEST(Recovery, CyclesComeAfterOneTwoFourEightAndEightSeconds) {
    RecoveryState state = recovering();
    Timestamp last = noon();
    for (const std::int64_t pause : {1, 2, 4, 8, 8}) {
        ASSERT_TRUE(state.next_cycle_at);
        EXPECT_EQ(*state.next_cycle_at - last, Duration::of_seconds(pause));
        last = *state.next_cycle_at;
        state = step_recovery(state, a_cycle(state, false)).state;
    }
}

TEST(Recovery, TwoCleanCyclesResolveIt) {
    const RecoveryStep step = run(recovering(), {false, true, true});
    EXPECT_TRUE(step.resolved);
    EXPECT_EQ(step.state, RecoveryState{});
}

TEST(Recovery, OneCleanCycleDoesNot) {
    EXPECT_EQ(run(recovering(), {true}).state.phase, RecoveryPhase::recovering);
}

TEST(Recovery, CleanCyclesMustFollowEachOther) {
    EXPECT_FALSE(run(recovering(), {true, false, true}).resolved);
}

TEST(Recovery, FiveCyclesWithoutAgreementEscalate) {
    EXPECT_FALSE(run(recovering(), {false, false, false, false}).escalated);
    const RecoveryStep step = run(recovering(), {false, false, false, false, false});
    EXPECT_TRUE(step.escalated);
    EXPECT_EQ(step.state.phase, RecoveryPhase::escalated);
    EXPECT_TRUE(step.kill_reason.empty());
}

TEST(Recovery, ACleanFifthCycleEarnsItsConfirmation) {
    EXPECT_FALSE(run(recovering(), {false, false, false, false, true}).escalated);
    EXPECT_TRUE(run(recovering(), {false, false, false, false, true, true}).resolved);
    EXPECT_TRUE(run(recovering(), {false, false, false, false, true, false}).escalated);
}

TEST(Recovery, AMinuteWithoutAgreementEscalates) {
    RecoveryState state = recovering();
    RecoveryCycle cycle = a_cycle(state, true);
    cycle.at = noon() + Duration::of_seconds(60);
    EXPECT_TRUE(step_recovery(state, cycle).escalated);
}

struct KillCase {
    std::string_view name;
    void (*change)(RecoveryCycle&);
    std::string_view kill_reason;
};
// Kill switch if exposure grows, an order is duplicated, or cancels fail.
TEST(Recovery, EscalationAsksForTheKillSwitchWhenItMust) {
    for (const KillCase& c : {
             KillCase{"nothing", [](RecoveryCycle&) {}, ""},
             KillCase{
                 "exposure",
                 [](RecoveryCycle& r) { r.exposure = dec("100.01"); },
                 "recovery_exposure_grew"},
             KillCase{
                 "duplicate",
                 [](RecoveryCycle& r) { r.duplicate_seen = true; },
                 "recovery_duplicate_order"},
             KillCase{
                 "cancels",
                 [](RecoveryCycle& r) { r.cancels_failed = true; },
                 "recovery_cancels_failed"},
         }) {
        RecoveryState state = recovering();
        RecoveryStep step;
        for (int i = 0; i < 5; ++i) {
            RecoveryCycle cycle = a_cycle(state, false);
            c.change(cycle);
            step = step_recovery(state, cycle);
            state = step.state;
            EXPECT_EQ(step.kill_reason, i < 4 ? "" : c.kill_reason) << c.name;
        }
    }
}

TEST(Recovery, AnEscalatedAccountStillKillsWhenExposureGrowsLater) {
    RecoveryState state = run(recovering(), {false, false, false, false, false}).state;
    RecoveryCycle cycle = a_cycle(state, false);
    cycle.exposure = dec("101");
    const RecoveryStep step = step_recovery(state, cycle);
    EXPECT_EQ(step.kill_reason, "recovery_exposure_grew");
    // Asked for once.
    EXPECT_TRUE(step_recovery(step.state, cycle).kill_reason.empty());
}

TEST(Recovery, CancelsThatWentThroughInTheEndDoNotKill) {
    RecoveryState state = recovering();
    RecoveryCycle cycle = a_cycle(state, false);
    cycle.cancels_failed = true;
    state = step_recovery(state, cycle).state;
    EXPECT_TRUE(run(state, {false, false, false, false}).kill_reason.empty());
}

TEST(Recovery, CleanCyclesDoNotLiftAnEscalation) {
    const RecoveryState state = run(recovering(), {false, false, false, false, false}).state;
    EXPECT_EQ(run(state, {true, true, true}).state.phase, RecoveryPhase::escalated);
}

TEST(Recovery, AHumanLetsAnEscalatedAccountTryAgain) {
    const RecoveryState state = run(recovering(), {false, false, false, false, false}).state;
    const RecoveryStep step = resume_recovery(state, a_cause("resumed"));
    EXPECT_EQ(step.state.phase, RecoveryPhase::recovering);
    EXPECT_EQ(step.state.cycles, 0);
    EXPECT_TRUE(run(step.state, {true, true}).resolved);
}

TEST(Recovery, ResumingWhatIsNotEscalatedChangesNothing) {
    EXPECT_EQ(resume_recovery(recovering(), a_cause()).state, recovering());
}

TEST(Recovery, ASecondCauseStartsTheCleanCountAgain) {
    RecoveryState state = run(recovering(), {true}).state;
    const RecoveryStep step = enter_recovery(state, a_cause("missing_at_exchange:o2"));
    EXPECT_FALSE(step.entered);
    EXPECT_EQ(step.state.clean_cycles, 0);
    EXPECT_EQ(step.state.cycles, 1);
    EXPECT_EQ(step.state.reasons.size(), 2u);
}

TEST(Recovery, ReasonsAreDistinctAndBounded) {
    RecoveryState state = recovering();
    for (int i = 0; i < 100; ++i) {
        state = enter_recovery(state, a_cause("r" + std::to_string(i % 50))).state;
    }
    EXPECT_EQ(state.reasons.size(), kRecoveryReasonsMax);
}

TEST(Recovery, StartUpBeginsInRecovery) {
    const RecoveryStep step = begin_at_startup({}, a_cause("startup"));
    EXPECT_EQ(step.state.phase, RecoveryPhase::recovering);
    EXPECT_TRUE(step.entered);
}

// Orders that a stop left remain at the exchange (bot.md#2-states); a start of the server is no
// reason to go.
TEST(Recovery, AStartLooksAndCancelsNothing) {
    EXPECT_FALSE(begin_at_startup({}, a_cause("startup")).cancel_entries);
    // Neither does a venue that is silent, nor one with more trades than it tells at once.
    RecoveryState state = begin_at_startup({}, a_cause("startup")).state;
    RecoveryCycle cycle = a_cycle(state, false);
    cycle.is_doubted = false;
    cycle.reasons = {"venue_unreachable"};
    const RecoveryStep step = step_recovery(state, cycle);
    EXPECT_FALSE(step.cancel_entries);
    // Nor does the next start, when this one did not come to its end.
    EXPECT_FALSE(begin_at_startup(step.state, a_cause("startup")).cancel_entries);
}

// Who plans waits for it: until it is over, or something was found.
TEST(Recovery, OnlyAStartThatFoundNothingIsOnlyLooking) {
    EXPECT_FALSE(is_only_looking({}));
    EXPECT_FALSE(is_only_looking(recovering()));
    const RecoveryState state = begin_at_startup({}, a_cause("startup")).state;
    EXPECT_TRUE(is_only_looking(state));
    EXPECT_FALSE(is_only_looking(enter_recovery(state, a_cause()).state));
    EXPECT_FALSE(is_only_looking(step_recovery(state, a_cycle(state, false)).state));
    EXPECT_FALSE(is_only_looking(run(state, {true, true}).state));
    RecoveryState silent = state;
    for (int i = 0; i < kRecoveryCyclesMax; ++i) {
        RecoveryCycle cycle = a_cycle(silent, false);
        cycle.is_doubted = false;
        EXPECT_TRUE(is_only_looking(silent));
        silent = step_recovery(silent, cycle).state;
    }
    EXPECT_EQ(silent.phase, RecoveryPhase::escalated);
    EXPECT_FALSE(is_only_looking(silent));
}

TEST(Recovery, WhatAStartFindsOrFoundBeforeCancelsAsEver) {
    const RecoveryState state = begin_at_startup({}, a_cause("startup")).state;
    RecoveryStep step = step_recovery(state, a_cycle(state, false));
    EXPECT_TRUE(step.cancel_entries);
    RecoveryCycle silent = a_cycle(step.state, false);
    silent.is_doubted = false;
    EXPECT_TRUE(step_recovery(step.state, silent).cancel_entries);
    EXPECT_TRUE(enter_recovery(state, a_cause()).cancel_entries);
    EXPECT_TRUE(begin_at_startup(recovering(), a_cause("startup")).cancel_entries);
}

TEST(Recovery, StartUpKeepsAnEscalation) {
    const RecoveryState state = run(recovering(), {false, false, false, false, false}).state;
    const RecoveryStep step = begin_at_startup(state, a_cause("startup"));
    EXPECT_EQ(step.state.phase, RecoveryPhase::escalated);
    EXPECT_FALSE(step.entered);
}

TEST(Recovery, StartUpRemembersWhatWasSeenBefore) {
    RecoveryState state = recovering();
    RecoveryCycle cycle = a_cycle(state, false);
    cycle.duplicate_seen = true;
    state = step_recovery(state, cycle).state;
    const RecoveryStep step = begin_at_startup(state, a_cause("startup"));
    EXPECT_TRUE(step.state.duplicate_seen);
    EXPECT_EQ(step.state.cycles, 0);
    EXPECT_EQ(step.state.reasons, (std::vector<std::string>{"startup", "overfill:o1"}));
}

TEST(Recovery, CyclesInNormalChangeNothing) {
    RecoveryCycle cycle;
    cycle.at = noon();
    EXPECT_EQ(step_recovery({}, cycle).state, RecoveryState{});
}

TEST(Recovery, StoredFormReadsBack) {
    const RecoveryState state = run(recovering(), {false, true}).state;
    EXPECT_EQ(*decode_recovery_state(encode(state)), state);
    EXPECT_EQ(*decode_recovery_state(encode(RecoveryState{})), RecoveryState{});
}

}  // namespace
}  // namespace interlock
