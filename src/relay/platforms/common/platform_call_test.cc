#include "relay/platforms/common/platform_call.h"

#include <gtest/gtest.h>

#include <thread>

#include "testing/fake_clock.h"

namespace interlock {
namespace {

class PacedTest : public ::testing::Test {
protected:
    PlatformReply run(Duration patience, const std::function<PlatformReply()>& attempt) {
        return run_paced(
            {.clock = clock_,
             .wait = wait_,
             .pace = pace_,
             .chat_id = "a",
             .not_after = clock_.now() + patience},
            attempt);
    }

    FakeClock clock_;
    bool is_stopped_ = false;
    PlatformWait wait_ = [this](Duration span) {
        clock_.advance(span);
        return !is_stopped_;
    };
    CallPace pace_{{.interval = {}, .burst = 1}, {.interval = Duration::of_seconds(1), .burst = 1}};
};

TEST_F(PacedTest, WaitsForItsTurn) {
    run(Duration::of_seconds(5), [] { return sent_reply("1"); });
    const Timestamp before = clock_.now();
    EXPECT_EQ(run(Duration::of_seconds(5), [] { return sent_reply("2"); }).message_id, "2");
    EXPECT_EQ(clock_.now() - before, Duration::of_seconds(1));
}

TEST_F(PacedTest, GivesUpAfterSoManyLimits) {
    int tries = 0;
    const PlatformReply reply = run(Duration::of_hours(1), [&] {
        ++tries;
        return limited_reply(Duration::of_seconds(1));
    });
    EXPECT_EQ(tries, kLimitedTriesMax);
    EXPECT_EQ(reply.code, "rate_limited");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
}

TEST_F(PacedTest, DoesNotRepeatWhatMayHaveBeenSent) {
    int tries = 0;
    const PlatformReply reply = run(Duration::of_hours(1), [&] {
        ++tries;
        return unknown_reply("No answer came.");
    });
    EXPECT_EQ(tries, 1);
    EXPECT_EQ(reply.outcome, CallOutcome::unknown);
}

TEST_F(PacedTest, EndsWhenThePlatformIsStopped) {
    is_stopped_ = true;
    int tries = 0;
    const PlatformReply reply = run(Duration::of_hours(1), [&] {
        ++tries;
        return limited_reply(Duration::of_seconds(1));
    });
    EXPECT_EQ(tries, 1);
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "unavailable");
}

TEST(PlatformReply, ALimitIsBoundedAndNeverZero) {
    EXPECT_EQ(limited_reply(Duration::of_days(400)).retry_after, kRateLimitMax);
    EXPECT_EQ(limited_reply(Duration{}).retry_after, Duration::of_milliseconds(1));
}

TEST(Quotable, MasksSecretsBeforeItCuts) {
    EXPECT_EQ(quotable("token abc:1 and abc:1\nend", "abc:1"), "token *** and *** end");
    const std::string secret = "0123456789abcdef";
    const std::string cut = quotable(std::string(195, 'x') + secret, secret);
    EXPECT_EQ(cut, std::string(195, 'x') + "***");
    EXPECT_EQ(quotable("\xff broken", {}), "");
}

TEST(StoppableWait, EndsAWaitThatHasBegun) {
    StoppableWait wait;
    bool was_long = true;
    std::thread waiting([&] { was_long = wait.wait(Duration::of_hours(1)); });
    wait.stop();
    waiting.join();
    EXPECT_FALSE(was_long);
    EXPECT_FALSE(wait.wait(Duration::of_hours(1)));
    EXPECT_TRUE(StoppableWait().wait(Duration::of_milliseconds(1)));
}

}  // namespace
}  // namespace interlock
