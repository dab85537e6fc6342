#include "chat_platform_suite.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "relay/rules/message_split.h"

namespace interlock {
namespace {

constexpr std::string_view kDescriptorKeys[] = {
    "contract_version",
    "platform",
    "label",
    "max_message_length",
    "supports_draft_streaming",
    "supports_edit",
    "supports_threads",
    "markdown_dialect",
    "len_unit"};

// A credential that comes with a call; like those of the platform it must not come back.
constexpr std::string_view kCapability = "capability-canary-5b1f0c77";

SendAction message(std::string chat_id, std::string text) {
    return {
        .chat_id = std::move(chat_id), .content = std::move(text), .reply_to = {}, .metadata = {}};
}

// One action of every kind, on a message of ours.
std::vector<RelayAction> one_of_each(const std::string& chat_id, const std::string& message_id) {
    return {
        message(chat_id, "hello"),
        EditAction{
            .chat_id = chat_id, .message_id = message_id, .content = "changed", .metadata = {}},
        TypingAction{.chat_id = chat_id, .is_clear = false, .metadata = {}},
        GetChatInfoAction{.chat_id = chat_id},
        SendMediaAction{
            .chat_id = chat_id,
            .media_kind = "image",
            .source_url = "https://example.org/a.png",
            .content = "a picture",
            .reply_to = {},
            .filename = "a.png",
            .metadata = {}},
        PromptAction{
            .chat_id = chat_id,
            .content = "Go on?",
            .prompt_kind = "confirm",
            .prompt_id = "p1",
            .options = {{.id = "yes", .label = "Yes", .style = {}}},
            .reply_to = {},
            .timeout_seconds = {},
            .metadata = {}},
        ReactAction{
            .chat_id = chat_id,
            .message_id = message_id,
            .emoji = "\U0001F44D",
            .remove = false,
            .metadata = {}},
        ThreadCreateAction{.chat_id = chat_id, .thread_name = "a thread", .metadata = {}},
        ThreadRenameAction{
            .chat_id = chat_id,
            .thread_id = "77",
            .thread_name = "another name",
            .only_if_connector_created = false,
            .only_if_current_name = {},
            .metadata = {}}};
}

}  // namespace

PlatformCall ChatPlatformSuite::call_of(RelayAction action, Duration patience) {
    PlatformCall call;
    call.action = std::move(action);
    call.nonce = "n" + std::to_string(++calls_);
    call.not_after = harness_->now() + patience;
    return call;
}

PlatformReply ChatPlatformSuite::send(const std::string& text, Duration patience) {
    return platform().call(call_of(message(harness_->chat_id(1), text), patience));
}

void ChatPlatformSuite::expect_no_secrets(const std::string& text) {
    EXPECT_EQ(text.find(kCapability), std::string::npos) << "the capability is in: " << text;
    for (const std::string& secret : harness_->secrets()) {
        EXPECT_EQ(text.find(secret), std::string::npos) << "a secret is in: " << text;
    }
}

void ChatPlatformSuite::expect_no_secrets(const PlatformReply& reply) {
    expect_no_secrets(reply.error);
    expect_no_secrets(reply.code + reply.message_id + reply.thread_id);
    expect_no_secrets(platform().health().detail);
}

TEST_P(ChatPlatformSuite, TheDescriptorHasItsNineFieldsAndALength) {
    const CapabilityDescriptor descriptor = platform().descriptor();
    const Json json = encode(descriptor);
    for (const std::string_view key : kDescriptorKeys) {
        EXPECT_NE(json.find(key), nullptr) << key;
    }
    EXPECT_GT(descriptor.max_message_length, 0);
    EXPECT_EQ(descriptor.platform, platform().bot().platform);
    EXPECT_FALSE(descriptor.label.empty());
    EXPECT_FALSE(descriptor.markdown_dialect.empty());
    EXPECT_TRUE(std::ranges::count(descriptor.supported_ops, "send") == 1);
    EXPECT_EQ(descriptor.supports_edit, std::ranges::count(descriptor.supported_ops, "edit") == 1);
    EXPECT_EQ(decode_descriptor(json).value(), descriptor);
    expect_no_secrets(to_text(json));
}

TEST_P(ChatPlatformSuite, TheBotIsNamed) {
    EXPECT_FALSE(platform().bot().platform.empty());
    EXPECT_FALSE(platform().bot().bot_id.empty());
    EXPECT_FALSE(platform().identity().bot_id.empty());
    expect_no_secrets(platform().bot().bot_id + platform().identity().bot_id);
}

TEST_P(ChatPlatformSuite, AMessageThatWasTakenIsSentAndHasAnId) {
    const PlatformReply first = send("one");
    const PlatformReply second = send("two");
    EXPECT_EQ(first.outcome, CallOutcome::sent) << first.error;
    EXPECT_EQ(second.outcome, CallOutcome::sent) << second.error;
    EXPECT_TRUE(first.error.empty());
    EXPECT_FALSE(first.message_id.empty());
    EXPECT_NE(first.message_id, second.message_id);
    EXPECT_EQ(harness().accepted(), (std::vector<std::string>{"one", "two"}));
}

TEST_P(ChatPlatformSuite, ARefusedMessageIsNotSentAndTryingAgainIsNoUse) {
    harness().set_far_side(FarSide::refuses);
    const PlatformReply reply = send("hello");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_FALSE(reply.error.empty());
    EXPECT_FALSE(reply.code.empty());
    EXPECT_FALSE(reply.retry_after.has_value());
    EXPECT_EQ(harness().attempts(), 1u);
}

TEST_P(ChatPlatformSuite, WhatNeverLeftIsNotSentAndMayBeTriedAgain) {
    harness().set_far_side(FarSide::unreachable);
    const PlatformReply reply = send("hello");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_FALSE(reply.error.empty());
    EXPECT_TRUE(reply.retry_after.has_value());
    harness().set_far_side(FarSide::accepts);
    EXPECT_EQ(send("hello").outcome, CallOutcome::sent);
    EXPECT_EQ(harness().accepted(), (std::vector<std::string>{"hello"}));
}

// I4: nobody knows whether people saw it, so it is not sent a second time.
TEST_P(ChatPlatformSuite, ACutAfterSendingIsUnknown) {
    harness().set_far_side(FarSide::cuts);
    const PlatformReply reply = send("hello");
    EXPECT_EQ(reply.outcome, CallOutcome::unknown);
    EXPECT_FALSE(reply.error.empty());
    EXPECT_FALSE(reply.retry_after.has_value());
    EXPECT_EQ(harness().attempts(), harness().deduplicates() ? 2u : 1u);
}

TEST_P(ChatPlatformSuite, AnErrorOfThePlatformItselfIsUnknown) {
    harness().set_far_side(FarSide::fails);
    const PlatformReply reply = send("hello");
    EXPECT_EQ(reply.outcome, CallOutcome::unknown);
    EXPECT_FALSE(reply.error.empty());
    EXPECT_LE(harness().attempts(), harness().deduplicates() ? 2u : 1u);
}

TEST_P(ChatPlatformSuite, ARateLimitIsWaitedFor) {
    const Timestamp before = harness().now();
    harness().set_far_side(FarSide::limits_once);
    const PlatformReply reply = send("hello", {harness().limit_span().microseconds * 10});
    EXPECT_EQ(reply.outcome, CallOutcome::sent) << reply.error;
    EXPECT_GE(harness().now() - before, harness().limit_span());
    EXPECT_EQ(harness().attempts(), 2u);
    EXPECT_EQ(harness().accepted().size(), 1u);
}

TEST_P(ChatPlatformSuite, ARateLimitIsNotWaitedForPastTheDeadline) {
    const Timestamp before = harness().now();
    harness().set_far_side(FarSide::limits_once);
    const Duration patience{harness().limit_span().microseconds / 2};
    const PlatformReply reply = send("hello", patience);
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "rate_limited");
    ASSERT_TRUE(reply.retry_after.has_value());
    EXPECT_GT(*reply.retry_after, Duration::of_seconds(0));
    EXPECT_LE(reply.retry_after->microseconds, harness().limit_span().microseconds * 3 / 2);
    EXPECT_LE(harness().now() - before, patience);
    EXPECT_EQ(harness().attempts(), 1u);
}

TEST_P(ChatPlatformSuite, NoTryBeginsAfterTheDeadline) {
    const PlatformReply reply = send("hello", Duration::of_milliseconds(-1));
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_FALSE(reply.code.empty());
    EXPECT_EQ(harness().attempts(), 0u);
}

TEST_P(ChatPlatformSuite, NoSecretIsInAnyReply) {
    for (const FarSide behaviour :
         {FarSide::accepts,
          FarSide::refuses,
          FarSide::limits_once,
          FarSide::fails,
          FarSide::unreachable,
          FarSide::cuts}) {
        harness().set_far_side(behaviour);
        for (const RelayAction& action : one_of_each(harness().chat_id(1), "1")) {
            expect_no_secrets(platform().call(call_of(action)));
            PlatformCall capable = call_of(action);
            capable.capability_kind = "discord.interaction_token";
            capable.capability = SecretString(std::string(kCapability));
            expect_no_secrets(platform().call(capable));
        }
    }
}

TEST_P(ChatPlatformSuite, AMessageAsLongAsAllowedPasses) {
    const std::size_t limit = platform().length_limit();
    EXPECT_GE(limit, kSplitLimitMin);
    // An emoji counts as one, two or four, as the unit has it; what is left is filled with "a".
    std::string text = "\U0001F600";
    text.append(limit - length_in(text, platform().length_unit()), 'a');
    ASSERT_EQ(length_in(text, platform().length_unit()), limit);
    const PlatformReply reply = send(text);
    EXPECT_EQ(reply.outcome, CallOutcome::sent) << reply.error;
    EXPECT_EQ(harness().accepted(), (std::vector<std::string>{text}));
}

TEST_P(ChatPlatformSuite, AMessageBeyondTheLengthIsNotSent) {
    const PlatformReply reply = send(std::string(platform().length_limit() + 1, 'a'));
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "too_long");
    EXPECT_FALSE(reply.retry_after.has_value());
    EXPECT_TRUE(harness().accepted().empty());
}

TEST_P(ChatPlatformSuite, WhatTheDescriptorNamesIsSupportedAndNothingElse) {
    const auto ops = platform().descriptor().supported_ops;
    const PlatformReply sent = send("hello");
    ASSERT_EQ(sent.outcome, CallOutcome::sent);
    for (const RelayAction& action : one_of_each(harness().chat_id(1), sent.message_id)) {
        const std::string op(op_of(action));
        const PlatformReply reply = platform().call(call_of(action));
        const bool is_named = std::ranges::count(ops, op) == 1;
        EXPECT_EQ(reply.code == "unsupported", !is_named) << op << ": " << reply.error;
        if (!is_named) {
            EXPECT_EQ(reply.outcome, CallOutcome::not_sent) << op;
        }
    }
}

TEST_P(ChatPlatformSuite, AnOpOfANewerClientIsUnsupported) {
    const PlatformReply reply = platform().call(call_of(UnknownAction{.op = "teleport"}));
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "unsupported");
    EXPECT_EQ(harness().attempts(), 0u);
}

TEST_P(ChatPlatformSuite, CallsToSeveralChatsAtOnceAllArrive) {
    constexpr int kChats = 4;
    constexpr int kEach = 5;
    std::vector<PlatformCall> calls;
    for (int i = 0; i < kChats * kEach; ++i) {
        const std::string chat_id = harness().chat_id(1 + i % kChats);
        calls.push_back(call_of(message(chat_id, "text"), Duration::of_minutes(10)));
    }
    std::vector<PlatformReply> replies(calls.size());
    std::vector<std::thread> threads;
    for (int chat = 0; chat < kChats; ++chat) {
        threads.emplace_back([&, chat] {
            for (std::size_t i = static_cast<std::size_t>(chat); i < calls.size(); i += kChats) {
                replies[i] = platform().call(calls[i]);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    // Some platforms number the messages of each chat by themselves.
    std::set<std::pair<std::size_t, std::string>> ids;
    for (std::size_t i = 0; i < replies.size(); ++i) {
        EXPECT_EQ(replies[i].outcome, CallOutcome::sent) << replies[i].error;
        ids.emplace(i % kChats, replies[i].message_id);
    }
    EXPECT_EQ(ids.size(), replies.size());
    EXPECT_EQ(harness().accepted().size(), replies.size());
}

TEST_P(ChatPlatformSuite, ArrivalsComeInOrderWithIdsOfTheirOwn) {
    platform().start(inbox(), "");
    harness().write(inbox(), "first");
    harness().write(inbox(), "second");
    ASSERT_TRUE(inbox().wait_for(2));
    platform().stop();
    const auto seen = inbox().seen();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].event.text, "first");
    EXPECT_EQ(seen[1].event.text, "second");
    EXPECT_NE(seen[0].event_id, seen[1].event_id);
    for (const SuiteInbox::Seen& one : seen) {
        EXPECT_EQ(one.bot, platform().bot());
        EXPECT_FALSE(one.event_id.empty());
        EXPECT_FALSE(one.event.message_id.empty());
        EXPECT_FALSE(one.event.source.chat_id.empty());
        EXPECT_FALSE(one.event.source.user_id.empty());
        EXPECT_EQ(one.event.source.platform, platform().bot().platform);
        expect_no_secrets(one.everything);
    }
}

// What is not stored here must still be stored over there.
TEST_P(ChatPlatformSuite, WhatWasNotStoredComesAgainUnderTheSameId) {
    platform().start(inbox(), "");
    inbox().refuse_next(1);
    harness().write(inbox(), "hello");
    ASSERT_TRUE(inbox().wait_for(1));
    harness().send_again(inbox());
    ASSERT_TRUE(inbox().wait_for(2));
    harness().write(inbox(), "and more");
    ASSERT_TRUE(inbox().wait_for(3));
    platform().stop();
    const auto seen = inbox().seen();
    ASSERT_EQ(seen.size(), 3u);  // What was stored does not come again.
    EXPECT_FALSE(seen[0].is_stored);
    EXPECT_EQ(seen[0].event.text, "hello");
    EXPECT_EQ(seen[1].event.text, "hello");
    EXPECT_EQ(seen[1].event_id, seen[0].event_id);
    EXPECT_EQ(seen[2].event.text, "and more");
}

TEST_P(ChatPlatformSuite, APlatformThatWasNeverStartedIsNotConnectedAndCanBeStopped) {
    EXPECT_FALSE(platform().health().is_connected);
    platform().stop();
    EXPECT_FALSE(platform().health().is_connected);
}

TEST_P(ChatPlatformSuite, StopEndsItsThreadsAndMayBeCalledAgain) {
    platform().start(inbox(), "");
    harness().write(inbox(), "hello");
    ASSERT_TRUE(inbox().wait_for(1));
    platform().stop();
    EXPECT_FALSE(platform().health().is_connected);
    platform().stop();
    EXPECT_EQ(inbox().seen().size(), 1u);
}

TEST_P(ChatPlatformSuite, AWebhookFromElsewhereIsRefused) {
    platform().start(inbox(), "");
    const WebhookAnswer empty = platform().receive(WebhookRequest{});
    EXPECT_GE(empty.status, 400);
    EXPECT_LT(empty.status, 500);
    EXPECT_TRUE(empty.arrivals.empty());
    EXPECT_FALSE(empty.refusal.empty());
    if (const auto forged = harness().forged_webhook("hello")) {
        const WebhookAnswer answer = platform().receive(*forged);
        EXPECT_TRUE(answer.status == 401 || answer.status == 403) << answer.status;
        EXPECT_TRUE(answer.arrivals.empty());
        EXPECT_FALSE(answer.refusal.empty());
        expect_no_secrets(answer.body + answer.refusal);
    }
}

TEST_P(ChatPlatformSuite, AGenuineWebhookArrives) {
    platform().start(inbox(), "");
    const auto request = harness().webhook("hello");
    if (!request) {
        // This platform has no webhook: then it must say no even to what looks like one.
        EXPECT_GE(platform().receive(WebhookRequest{}).status, 400);
        return;
    }
    const WebhookAnswer answer = platform().receive(*request);
    EXPECT_GE(answer.status, 200);
    EXPECT_LT(answer.status, 300);
    EXPECT_TRUE(answer.refusal.empty());
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_EQ(answer.arrivals[0].bot, platform().bot());
    EXPECT_FALSE(answer.arrivals[0].event.event_id.empty());
    expect_no_secrets(answer.body);
    expect_no_secrets(to_text(encode(answer.arrivals[0].event.event)));
}

}  // namespace interlock
