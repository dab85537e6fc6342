#include "bots/rules/bot_step.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr Timestamp kNoon{1'767'268'800'000'000};

BotFacts bot(BotState state, bool keys = true) {
    return {.state = state, .keys_loaded = keys};
}

// The transitions of bot.md#2-states, every one of them.
TEST(BotStep, FollowsTheDocumentsTransitions) {
    struct Transition {
        BotState from;
        BotCall call;
        BotState to;
    };
    for (const Transition& one :
         {Transition{BotState::uninitialized, BotCall::initialize, BotState::ready},
          Transition{BotState::ready, BotCall::start, BotState::running},
          Transition{BotState::running, BotCall::stop, BotState::stopped},
          Transition{BotState::stopped, BotCall::restart, BotState::running},
          Transition{BotState::running, BotCall::restart, BotState::running}}) {
        const auto work = decide_call(one.call, bot(one.from));
        ASSERT_TRUE(work) << to_word(one.from);
        EXPECT_EQ(state_after(*work, one.from), one.to) << to_word(one.from);
    }
}

TEST(BotStep, InitializingTwiceAnswersWithTheCurrentState) {
    for (const BotState state : {BotState::ready, BotState::running, BotState::stopped}) {
        const auto work = decide_call(BotCall::initialize, bot(state));
        ASSERT_TRUE(work);
        EXPECT_EQ(*work, BotWork::already);
        EXPECT_EQ(state_after(*work, state), state);
    }
}

TEST(BotStep, StartNeedsReadyAndNamesTheMissingStep) {
    for (const BotState state : {BotState::uninitialized, BotState::running, BotState::stopped}) {
        const auto work = decide_call(BotCall::start, bot(state));
        ASSERT_FALSE(work) << to_word(state);
        EXPECT_EQ(work.error(), errors::wrong_bot_state);
    }
    const auto early = decide_call(BotCall::start, bot(BotState::uninitialized));
    EXPECT_NE(early.error().message.find("/initialize_bot"), std::string::npos);
    const auto late = decide_call(BotCall::start, bot(BotState::stopped));
    EXPECT_NE(late.error().message.find("/restart"), std::string::npos);
}

TEST(BotStep, StopNeedsRunning) {
    for (const BotState state : {BotState::uninitialized, BotState::ready, BotState::stopped}) {
        EXPECT_FALSE(decide_call(BotCall::stop, bot(state))) << to_word(state);
    }
}

TEST(BotStep, RestartIsAllowedInAnyStateOnceKeysAreLoaded) {
    for (const BotState state :
         {BotState::uninitialized, BotState::ready, BotState::running, BotState::stopped}) {
        EXPECT_EQ(decide_call(BotCall::restart, bot(state)).value(), BotWork::rebuild_and_launch);
        EXPECT_EQ(decide_call(BotCall::restart, bot(state, false)).error(), errors::keys_missing);
    }
}

TEST(BotStep, NothingIsBuiltOrLaunchedWithoutKeys) {
    const auto build = decide_call(BotCall::initialize, bot(BotState::uninitialized, false));
    EXPECT_EQ(build.error(), errors::keys_missing);
    EXPECT_EQ(
        decide_call(BotCall::start, bot(BotState::ready, false)).error(), errors::keys_missing);
}

TEST(BotStep, StoppingNeedsNoKeys) {
    EXPECT_EQ(decide_call(BotCall::stop, bot(BotState::running, false)).value(), BotWork::halt);
}

TEST(BotStall, ATimeoutStopsPlacingAndDoublesTheWaitUpToThirtySeconds) {
    Stall stall;
    for (const std::int64_t seconds : {1, 2, 4, 8, 16, 30, 30, 30}) {
        const StallStep step = step_stall(stall, PulseOutcome::timed_out, kNoon);
        EXPECT_EQ(step.began, stall == Stall{});
        EXPECT_FALSE(step.may_place);
        EXPECT_EQ(*step.stall.next_try_at, kNoon + Duration::of_seconds(seconds));
        stall = step.stall;
    }
}

TEST(BotStall, TwoGoodPulsesAndAFullReadLetItTradeOn) {
    const Stall stalled = step_stall({}, PulseOutcome::timed_out, kNoon).stall;
    const StallStep first = step_stall(stalled, PulseOutcome::good, kNoon);
    EXPECT_TRUE(first.stall.is_stalled);
    EXPECT_FALSE(first.may_place);
    EXPECT_FALSE(first.hydrate);
    const StallStep second = step_stall(first.stall, PulseOutcome::good, kNoon);
    EXPECT_TRUE(second.hydrate);
    EXPECT_TRUE(second.may_place);
    EXPECT_EQ(second.stall, Stall{});
}

TEST(BotStall, ATimeoutInBetweenStartsTheCountAgain) {
    Stall stall = step_stall({}, PulseOutcome::timed_out, kNoon).stall;
    stall = step_stall(stall, PulseOutcome::good, kNoon).stall;
    stall = step_stall(stall, PulseOutcome::timed_out, kNoon).stall;
    EXPECT_FALSE(step_stall(stall, PulseOutcome::good, kNoon).may_place);
}

TEST(BotStall, AGoodPulseOfAHealthyBotPlaces) {
    const StallStep step = step_stall({}, PulseOutcome::good, kNoon);
    EXPECT_TRUE(step.may_place);
    EXPECT_FALSE(step.hydrate);
}

}  // namespace
}  // namespace interlock
