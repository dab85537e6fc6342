// Properties of the outbound side over any course of events: one answer each, nothing sent twice
// across restarts, no pieces of two messages mixed in one chat.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <future>
#include <latch>

#include "base/log.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

PlatformReply reply_for(int what, const std::string& message_id) {
    switch (what % 5) {
        case 0:
        case 1:
            return ScriptedPlatform::sent(message_id);
        case 2:
            return ScriptedPlatform::unknown();
        case 3:
            return ScriptedPlatform::not_sent("forbidden");
        default:
            break;
    }
    PlatformReply reply = ScriptedPlatform::not_sent("rate_limited");
    reply.retry_after = Duration::of_seconds(2);
    return reply;
}

TEST(RelayOutboundProperty, EveryRequestIsAnsweredExactlyOnceAndInTime) {
    EXPECT_TRUE(rc::check([] {
        OutboundDesk desk;
        const auto script = *rc::gen::container<std::vector<int>>(
            *rc::gen::inRange<std::size_t>(1, 40), rc::gen::inRange(0, 1000));
        std::size_t at = 0;
        const auto next = [&] { return script[at++ % script.size()]; };
        desk.discord.on_call = [&](const PlatformCall&) {
            desk.clock.advance(Duration::of_seconds(next() % 30));
            if (next() % 2 == 0) {
                desk.step();  // The lane looks while the platform is being waited for.
            }
            return reply_for(next(), desk.discord.next_message_id());
        };
        std::vector<OutboundDesk::AnswerPtr> all;
        for (std::size_t i = 0; i < script.size(); ++i) {
            SendAction action =
                OutboundDesk::send_action("c1", "text " + std::to_string(next() % 3));
            if (next() % 3 == 0) {
                action.metadata.set("idempotency_key", std::to_string(next() % 3));
            }
            all.push_back(desk.begin(action));
            if (next() % 3 == 0) {
                desk.step();
            }
            if (next() % 4 == 0) {
                desk.process->egress.run_one();
            }
            if (next() % 5 == 0) {
                desk.clock.advance(Duration::of_seconds(1));
            }
        }
        desk.run();
        desk.clock.advance(Duration::of_seconds(30));
        desk.run();
        for (const OutboundDesk::AnswerPtr& answer : all) {
            RC_ASSERT(answer->results.size() == 1u);
        }
        RC_ASSERT(desk.process->outbound.pending() == 0u);
        for (const OutboundRow& row : desk.log({{}, {}, {}, kOutboundPageMax})) {
            RC_ASSERT(row.state != "pending");
        }
    }));
}

TEST(RelayOutboundProperty, ARestartInAnyStateNeverSendsTwice) {  // I2, I4
    EXPECT_TRUE(rc::check([] {
        OutboundDesk desk;
        const auto script = *rc::gen::container<std::vector<int>>(
            *rc::gen::inRange<std::size_t>(1, 40), rc::gen::inRange(0, 1000));
        bool crashes = false;
        std::size_t at = 0;
        const auto next = [&] { return script[at++ % script.size()]; };
        desk.discord.on_call = [&](const PlatformCall&) {
            crashes = next() % 4 == 0;
            return next() % 3 == 0 ? ScriptedPlatform::unknown()
                                   : ScriptedPlatform::sent(desk.discord.next_message_id());
        };
        for (std::size_t i = 0; i < script.size(); ++i) {
            // The same key and text again and again, as a client does that knows no better.
            const std::string name = std::to_string(next() % 4);
            SendAction action = OutboundDesk::send_action("c1", "text " + name);
            action.metadata.set("idempotency_key", name);
            desk.begin(action);
            if (next() % 2 == 0) {
                desk.step();
            }
            if (next() % 2 == 0) {
                desk.process->egress.run_one();
            }
            if (crashes || next() % 5 == 0) {
                crashes = false;
                desk.restart();
            }
        }
        desk.restart();
        desk.run();
        std::map<std::string, int> sent;
        for (const std::string& text : desk.discord.contents()) {
            RC_ASSERT(++sent[text] == 1);
        }
        for (const OutboundRow& row : desk.log({{}, {}, {}, kOutboundPageMax})) {
            RC_ASSERT(row.state != "pending");
        }
    }));
}

TEST(RelayOutboundProperty, PiecesOfTwoMessagesNeverMixInOneChat) {
    OutboundDesk desk({.threads = 6, .running_per_bot_max = 6});
    desk.discord.described.max_message_length = 40;
    desk.add_chat("c7", "G1", "acme", {"i1"});
    constexpr int kSends = 30;
    std::latch left(2 * kSends);
    for (int i = 0; i < kSends; ++i) {
        for (const std::string chat : {"c1", "c7"}) {
            const std::string word = std::string(1, static_cast<char>('A' + i));
            OutboundRequest request = desk.request(
                OutboundDesk::send_action(chat, std::string(150, word.front())),
                std::make_shared<OutboundDesk::Answer>());
            request.reply = [&left](const OutboundResult&) { left.count_down(); };
            desk.begin(std::move(request));
        }
    }
    while (!left.try_wait()) {
        desk.process->lane.run_round(std::chrono::milliseconds(5));
    }
    desk.process->egress.stop();
    EXPECT_FALSE(desk.discord.has_overlapped());
    for (const std::string chat : {"c1", "c7"}) {
        std::string order;
        for (const auto& seen : desk.discord.calls()) {
            if (seen.chat_id == chat) {
                order += seen.content.front();
            }
        }
        std::string expected;
        for (int i = 0; i < kSends; ++i) {
            expected += std::string(order.size() / kSends, static_cast<char>('A' + i));
        }
        EXPECT_EQ(order, expected);  // In the order asked for, each one whole.
    }
}

}  // namespace
}  // namespace interlock
