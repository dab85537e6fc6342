#include "relay/service/relay_egress.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <future>

#include "testing/fake_clock.h"
#include "testing/scripted_platform.h"

namespace interlock {
namespace {

const BotKey kBot{"discord", "b1"};
const BotKey kOther{"discord", "b2"};
const TenantId kAcme = TenantId::trusted("acme");
const TenantId kBravo = TenantId::trusted("bravo");

RelayEgress::Place place(const BotKey& bot, std::string chat_id) {
    return {.bot = bot, .tenant_id = kAcme, .instance_id = "i1", .chat_id = std::move(chat_id)};
}

TEST(RelayEgress, RunsTheJobsOfAChatInTheirOrder) {
    RelayEgress egress({.threads = 4});
    std::vector<int> seen;  // Only jobs of one chat write it, so they must not overlap.
    std::promise<void> last;
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(egress.submit(place(kBot, "c1"), [&seen, &last, i] {
            seen.push_back(i);
            if (i == 199) {
                last.set_value();
            }
        }));
    }
    last.get_future().wait();
    egress.stop();
    ASSERT_EQ(seen.size(), 200u);
    EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST(RelayEgress, RefusesBeyondTheBoundOfABotAndOnlyThere) {
    RelayEgress egress({.threads = 0, .running_per_bot_max = 1, .waiting_per_bot_max = 3});
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(egress.submit(place(kBot, "c" + std::to_string(i)), [] {}));
    }
    EXPECT_FALSE(egress.submit(place(kBot, "c9"), [] {}));
    EXPECT_TRUE(egress.submit(place(kOther, "c9"), [] {}));
    EXPECT_TRUE(egress.run_one());
    EXPECT_TRUE(egress.run_one());
    EXPECT_TRUE(egress.submit(place(kBot, "c9"), [] {}));
}

// Whose jobs run, in their order, when somebody has many and others come later.
std::string order_of(RelayEgress& egress, const std::vector<RelayEgress::Place>& places) {
    std::string order;
    for (const RelayEgress::Place& each : places) {
        EXPECT_TRUE(egress.submit(each, [&order, each] {
            order += each.tenant_id.text().substr(0, 1) + each.instance_id + " ";
        }));
    }
    while (egress.run_one()) {
    }
    return order;
}

TEST(RelayEgress, TenantsOfABotTakeTurnsHoweverMuchOneHas) {
    RelayEgress egress({.threads = 0});
    std::vector<RelayEgress::Place> places;
    for (int i = 0; i < 500; ++i) {
        places.push_back({kBot, kAcme, "1", "a" + std::to_string(i)});
    }
    for (int i = 0; i < 3; ++i) {
        places.push_back({kBot, kBravo, "9", "b" + std::to_string(i)});
    }
    EXPECT_TRUE(order_of(egress, places).starts_with("a1 b9 a1 b9 a1 b9 a1 a1 "));
}

TEST(RelayEgress, InstancesOfATenantTakeTurnsToo) {
    RelayEgress egress({.threads = 0});
    std::vector<RelayEgress::Place> places;
    for (int i = 0; i < 100; ++i) {
        places.push_back({kBot, kAcme, "1", "a" + std::to_string(i)});
    }
    places.push_back({kBot, kAcme, "2", "x"});
    places.push_back({kBot, kBravo, "9", "y"});
    EXPECT_TRUE(order_of(egress, places).starts_with("a1 b9 a2 a1 a1 "));
}

TEST(RelayEgress, LeavesThreadsToOthersWhenATenantsChatsHang) {
    RelayEgress egress(
        {.threads = 4,
         .running_per_bot_max = 4,
         .running_per_tenant_max = 3,
         .running_per_instance_max = 2});
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(egress.submit(
            {kBot, kAcme, "1", "a" + std::to_string(i)}, [released] { released.wait(); }));
    }
    std::promise<void> own;
    std::promise<void> other;
    ASSERT_TRUE(egress.submit({kBot, kAcme, "2", "x"}, [&own] { own.set_value(); }));
    ASSERT_TRUE(egress.submit({kBot, kBravo, "9", "y"}, [&other] { other.set_value(); }));
    own.get_future().wait();  // Both came through although twenty hang or wait.
    other.get_future().wait();
    release.set_value();
    egress.stop();
    EXPECT_EQ(egress.waiting(), 0u);
}

TEST(RelayEgress, LeavesThreadsToOthersWhenABotHangs) {
    RelayEgress egress({.threads = 3, .running_per_bot_max = 2});
    std::promise<void> release;
    const std::shared_future<void> released = release.get_future().share();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(
            egress.submit(place(kBot, "c" + std::to_string(i)), [released] { released.wait(); }));
    }
    std::promise<void> done;
    ASSERT_TRUE(egress.submit(place(kOther, "c1"), [&done] { done.set_value(); }));
    done.get_future().wait();  // It came through although five jobs of the other bot wait.
    release.set_value();
    egress.stop();
    EXPECT_EQ(egress.waiting(), 0u);
}

TEST(RelayEgress, RunsWhatWaitsWhenItStopsAndTakesNoMore) {
    RelayEgress egress({.threads = 0});
    bool was_stopping = false;
    ASSERT_TRUE(egress.submit(place(kBot, "c1"), [&] { was_stopping = egress.is_stopping(); }));
    egress.stop();
    EXPECT_TRUE(was_stopping);
    EXPECT_FALSE(egress.submit(place(kBot, "c1"), [] {}));
    EXPECT_FALSE(egress.pause(Duration::of_seconds(1)));
}

TEST(RelayEgress, EndsAPauseWhenItStops) {
    RelayEgress egress({.threads = 1});
    std::promise<void> begun;
    std::promise<bool> paused;
    ASSERT_TRUE(egress.submit(place(kBot, "c1"), [&] {
        begun.set_value();
        paused.set_value(egress.pause(Duration::of_hours(1)));
    }));
    begun.get_future().wait();
    egress.stop();
    EXPECT_FALSE(paused.get_future().get());
}

TEST(EgressGate, LetsNothingBeginOnceItIsClosed) {
    EgressGate gate;
    ASSERT_TRUE(gate.begin());
    gate.end(false);
    const EgressGate::Closed closed = gate.close();
    EXPECT_FALSE(closed.was_calling);
    EXPECT_FALSE(closed.may_have_sent);
    EXPECT_FALSE(gate.begin());
}

TEST(EgressGate, TellsWhetherACallWasUnderWayOrHadSent) {
    EgressGate calling;
    ASSERT_TRUE(calling.begin());
    EXPECT_TRUE(calling.close().was_calling);
    EgressGate done;
    ASSERT_TRUE(done.begin());
    done.end(true);
    EXPECT_FALSE(done.close().was_calling);
    EXPECT_TRUE(done.close().may_have_sent);
}

class RunOrderTest : public testing::Test {
protected:
    EgressReport run(const std::vector<std::string>& texts) {
        order_.platform = &platform_;
        order_.not_after = clock_.now() + Duration::of_seconds(20);
        for (const std::string& text : texts) {
            PlatformCall call;
            call.action = SendAction{
                .chat_id = "c1", .content = text, .reply_to = {}, .metadata = Json::object()};
            if (!capability_.empty()) {
                call.capability = SecretString(capability_);
            }
            order_.calls.push_back(std::move(call));
        }
        return run_order(order_, clock_, [this](Duration span) {
            clock_.advance(span);
            return true;
        });
    }

    FakeClock clock_;
    ScriptedPlatform platform_{kBot};
    EgressOrder order_;
    std::string capability_;
};

TEST_F(RunOrderTest, TriesAgainWhatWasCertainlyNotSent) {
    int calls = 0;
    platform_.on_call = [&](const PlatformCall&) {
        PlatformReply reply = ScriptedPlatform::not_sent("rate_limited");
        reply.retry_after = Duration::of_seconds(2);
        return ++calls < 3 ? reply : ScriptedPlatform::sent("m1");
    };
    EXPECT_EQ(run({"a"}).outcome, CallOutcome::sent);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(clock_.monotonic(), Duration::of_seconds(4));
}

TEST_F(RunOrderTest, GivesUpAfterItsTries) {
    platform_.on_call = [](const PlatformCall&) {
        PlatformReply reply = ScriptedPlatform::not_sent("rate_limited");
        reply.retry_after = Duration::of_milliseconds(1);
        return reply;
    };
    EXPECT_EQ(run({"a"}).outcome, CallOutcome::not_sent);
    EXPECT_EQ(platform_.calls().size(), static_cast<std::size_t>(kEgressTriesMax));
}

TEST_F(RunOrderTest, DoesNotWaitBeyondItsTime) {
    platform_.on_call = [](const PlatformCall&) {
        PlatformReply reply = ScriptedPlatform::not_sent("rate_limited");
        reply.retry_after = Duration::of_seconds(21);
        return reply;
    };
    EXPECT_EQ(run({"a"}).last.code, "rate_limited");
    EXPECT_EQ(platform_.calls().size(), 1u);
    EXPECT_EQ(clock_.monotonic(), Duration{});
}

TEST_F(RunOrderTest, NeverTriesAgainWhatMayHaveBeenSent) {  // I4
    platform_.on_call = [](const PlatformCall&) {
        PlatformReply reply = ScriptedPlatform::unknown();
        reply.retry_after = Duration::of_seconds(1);
        return reply;
    };
    EXPECT_EQ(run({"a", "b"}).outcome, CallOutcome::unknown);
    EXPECT_EQ(platform_.calls().size(), 1u);
}

TEST_F(RunOrderTest, APartThatIsThereMakesTheWholeUnknown) {
    platform_.on_call = [this](const PlatformCall&) {
        return platform_.calls().size() == 2 ? ScriptedPlatform::not_sent("forbidden")
                                             : ScriptedPlatform::sent("m1");
    };
    const EgressReport report = run({"a", "b", "c"});
    EXPECT_EQ(report.outcome, CallOutcome::unknown);
    EXPECT_EQ(report.message_ids, std::vector<std::string>{"m1"});
    EXPECT_EQ(platform_.contents(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(RunOrderTest, BeginsNothingAfterItsTime) {
    platform_.on_call = [this](const PlatformCall&) {
        clock_.advance(Duration::of_seconds(21));
        return ScriptedPlatform::sent("m1");
    };
    EXPECT_EQ(run({"a", "b"}).outcome, CallOutcome::unknown);
    EXPECT_EQ(platform_.calls().size(), 1u);
}

TEST_F(RunOrderTest, LeavesADeadCapabilityAsideForASend) {
    capability_ = "tok";
    order_.falls_back = true;
    platform_.on_call = [](const PlatformCall& call) {
        return call.capability.empty() ? ScriptedPlatform::sent("m1")
                                       : ScriptedPlatform::not_sent("not_found");
    };
    EXPECT_EQ(run({"a", "b"}).outcome, CallOutcome::sent);
    const auto calls = platform_.calls();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].capability, "tok");
    EXPECT_EQ(calls[1].capability, "");
    EXPECT_EQ(calls[2].content, "b");
}

TEST(RunOrder, SaysSentOnlyWhenEveryPieceWasAndNotSentOnlyWhenNoneCould) {
    EXPECT_TRUE(rc::check([](const std::vector<unsigned char>& script) {
        FakeClock clock;
        ScriptedPlatform platform(kBot);
        EgressOrder order;
        order.platform = &platform;
        order.not_after = clock.now() + Duration::of_seconds(20);
        order.calls.resize(1 + script.size() % 5);
        for (PlatformCall& call : order.calls) {
            call.action = SendAction{};
        }
        std::size_t at = 0;
        std::size_t sent = 0;
        std::size_t unknown = 0;
        platform.on_call = [&](const PlatformCall&) {
            const int what = at < script.size() ? script[at++] % 4 : 0;
            sent += what == 0 ? 1 : 0;
            unknown += what == 1 ? 1 : 0;
            PlatformReply reply = what == 0   ? ScriptedPlatform::sent("m")
                                  : what == 1 ? ScriptedPlatform::unknown()
                                              : ScriptedPlatform::not_sent("no");
            if (what == 2) {
                reply.retry_after = Duration::of_seconds(3);
            }
            return reply;
        };
        const EgressReport report = run_order(order, clock, [&](Duration span) {
            clock.advance(span);
            return true;
        });
        RC_ASSERT((report.outcome == CallOutcome::sent) == (sent == order.calls.size()));
        RC_ASSERT((report.outcome == CallOutcome::not_sent) == ((sent == 0) && (unknown == 0)));
        RC_ASSERT(report.message_ids.size() == sent);
        RC_ASSERT(unknown <= 1u);
    }));
}

}  // namespace
}  // namespace interlock
