// What gateways ask of chats: who may, in which order, how often, and what they are told.
#include "relay/service/relay_outbound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/outbound_desk.h"

namespace interlock {
namespace {

using Texts = std::vector<std::string>;

class RelayOutboundTest : public testing::Test {
protected:
    OutboundResult send(const std::string& chat_id, const std::string& text) {
        return desk_.ask(OutboundDesk::send_action(chat_id, text));
    }
    static SendAction keyed(const std::string& key, const std::string& text) {
        SendAction action = OutboundDesk::send_action("c1", text);
        action.metadata.set("idempotency_key", key);
        return action;
    }
    void bind_capability(const std::string& token, const std::string& instance = "i1") {
        desk_.change([&](RelayTurn& turn) {
            CapabilityBinding binding;
            binding.tenant_id = OutboundDesk::caller(instance).tenant_id;
            binding.instance_id = instance;
            binding.bot = {"discord", "b1"};
            binding.session_keys = {"session"};
            binding.kind = "discord.interaction_token";
            binding.value = SecretString(token);
            binding.chat_id = "c1";
            binding.expires_at = turn.now() + Duration::of_minutes(15);
            ASSERT_TRUE(desk_.process->vault.bind(turn, binding));
        });
    }
    static FollowUpAction follow_up(const std::string& text) {
        return {"session", "discord.interaction_token", text, Json::object()};
    }
    void expect_declined(const OutboundResult& result) {
        EXPECT_FALSE(result.success);
        EXPECT_EQ(result.code, "egress_declined");
        EXPECT_TRUE(desk_.discord.calls().empty());
    }

    OutboundDesk desk_;
};

TEST_F(RelayOutboundTest, SendsToAChatThatTheInstanceHeardFrom) {
    const OutboundResult result = send("c1", "hello");
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.message_id, "m1");
    EXPECT_EQ(desk_.discord.contents(), Texts{"hello"});
    EXPECT_EQ(desk_.process->outbound.pending(), 0u);
}

TEST_F(RelayOutboundTest, IsOnTheRecordBeforeItLeavesAndAfterwardsToo) {  // I1
    Texts before;
    desk_.discord.on_call = [&](const PlatformCall&) {
        before = desk_.events();
        EXPECT_EQ(desk_.log().front().state, "pending");
        return ScriptedPlatform::sent("m1");
    };
    send("c1", "a secret text");
    EXPECT_EQ(before, Texts{"RELAY_OUTBOUND_ASKED"});
    EXPECT_EQ(desk_.events(), (Texts{"RELAY_OUTBOUND_ASKED", "RELAY_OUTBOUND_SENT"}));
    const OutboundRow row = desk_.log().front();
    EXPECT_EQ(row.state, "sent");
    EXPECT_EQ(row.action, "");  // Its text is gone at once.
    for (const AuditRecord& record : desk_.records()) {
        EXPECT_EQ(to_text(record.draft.detail).find("secret"), std::string::npos);
    }
}

// relay-connector.md#8-the-egress-guard
TEST_F(RelayOutboundTest, DeclinesChatsThatAreNotTheInstances) {
    desk_.add_chat("c3", "G1", "acme", {"i2"});
    expect_declined(send("c3", "x"));
    expect_declined(send("c2", "x"));       // Another tenant's.
    expect_declined(send("nowhere", "x"));  // Nobody's.
    EXPECT_EQ(desk_.process->outbound.counters().declined, 3u);
    EXPECT_TRUE(desk_.events().empty());
}

// relay-connector.md#8-the-egress-guard
TEST_F(RelayOutboundTest, BelievesNothingThatTheMetadataSays) {
    SendAction action = OutboundDesk::send_action("c2", "x");
    action.metadata = Json::object({{"guild_id", "G1"}, {"scope_id", "G1"}, {"user_id", "ann"}});
    expect_declined(desk_.ask(action));
}

TEST_F(RelayOutboundTest, ARouteThatWasTakenAwayEndsIt) {
    desk_.route("G1", "rival");
    expect_declined(send("c1", "x"));
}

TEST_F(RelayOutboundTest, WhatWasDeliveredUnderAnotherTenantCountsNoMore) {
    desk_.add_chat("c5", "G1", "rival", {"i1"});
    expect_declined(send("c5", "x"));
}

TEST_F(RelayOutboundTest, DeclinesAnIdentityThatSaidNoHello) {
    const auto answer = std::make_shared<OutboundDesk::Answer>();
    OutboundRequest request = desk_.request(OutboundDesk::send_action("c1", "x"), answer);
    request.frame.platform = "discord";
    request.frame.bot_id = "b9";
    desk_.begin(std::move(request));
    desk_.run();
    expect_declined(answer->value());
}

TEST_F(RelayOutboundTest, FindsTheBotByItsOwnRecordWhenTheFrameNamesNone) {
    const auto answer = std::make_shared<OutboundDesk::Answer>();
    OutboundRequest request = desk_.request(OutboundDesk::send_action("c1", "x"), answer);
    std::ranges::reverse(request.identities);
    desk_.begin(std::move(request));
    desk_.run();
    EXPECT_TRUE(answer->value().success);
    EXPECT_TRUE(desk_.telegram.calls().empty());
}

TEST_F(RelayOutboundTest, ADirectMessageBelongsToTheInstancesOfItsUser) {
    ChatRow dm;
    dm.platform = "discord";
    dm.bot_id = "b1";
    dm.chat_id = "dm1";
    dm.is_dm = true;
    dm.dm_user = "ann";
    desk_.put_chat(dm);
    expect_declined(send("dm1", "x"));
    desk_.change([&](RelayTurn& turn) {
        desk_.process->state.bind(
            turn,
            {"discord", "b2", "ann", "i1", TenantId::trusted("acme"), "Ann", "link", turn.now()});
    });
    expect_declined(send("dm1", "x"));  // He linked it at another bot.
    desk_.change([&](RelayTurn& turn) {
        desk_.process->state.bind(
            turn,
            {"discord", "b1", "ann", "i1", TenantId::trusted("acme"), "Ann", "link", turn.now()});
    });
    EXPECT_TRUE(send("dm1", "x").success);
}

TEST_F(RelayOutboundTest, AClaimedChannelIsADestinationBeforeAnythingWasSaidThere) {
    SendAction action = OutboundDesk::send_action("quiet", "x");
    action.metadata.set("scope_id", "G1");
    expect_declined(desk_.ask(action));
    desk_.change([&](RelayTurn& turn) {
        desk_.process->state.scopes.put(
            turn,
            row_key({"discord", "G1", "quiet"}),
            {"discord", "G1", "quiet", "i1", TenantId::trusted("acme"), turn.now()});
    });
    EXPECT_TRUE(desk_.ask(action).success);
    EXPECT_EQ(desk_.ask(action, "i2").code, "egress_declined");
}

TEST_F(RelayOutboundTest, SplitsALongTextAndAnswersWithItsFirstPiece) {
    desk_.discord.described.max_message_length = 40;
    SendAction action = OutboundDesk::send_action("c1", std::string(100, 'x'));
    action.reply_to = "m0";
    const OutboundResult result = desk_.ask(action);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.message_id, "m1");
    const auto calls = desk_.discord.calls();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].reply_to, "m0");
    EXPECT_EQ(calls[1].reply_to, "");
    EXPECT_NE(calls[0].nonce, calls[1].nonce);
    EXPECT_EQ(desk_.log().front().message_ids, (Texts{"m1", "m2", "m3"}));
}

TEST_F(RelayOutboundTest, AFailureInTheMiddleIsAmbiguous) {  // I4
    desk_.discord.described.max_message_length = 40;
    desk_.discord.on_call = [&](const PlatformCall&) {
        return desk_.discord.calls().size() == 2 ? ScriptedPlatform::not_sent("forbidden")
                                                 : ScriptedPlatform::sent("m1");
    };
    const OutboundResult result = send("c1", std::string(100, 'x'));
    EXPECT_FALSE(result.success);
    EXPECT_TRUE(result.ambiguous);
    EXPECT_EQ(desk_.log().front().state, "unknown");
    EXPECT_EQ(desk_.log().front().message_ids, Texts{"m1"});
}

TEST_F(RelayOutboundTest, EditsOnlyWhatTheInstanceSent) {  // relay-connector.md#8-the-egress-guard
    ASSERT_EQ(send("c1", "hello").message_id, "m1");
    desk_.add_chat("c1", "G1", "acme", {"i1", "i2"});
    const EditAction edit{"c1", "m1", "hello again", Json::object()};
    EXPECT_EQ(desk_.ask(edit, "i2").code, "egress_declined");
    EXPECT_TRUE(desk_.ask(edit).success);
    EXPECT_EQ(desk_.ask(EditAction{"c1", "m77", "x", Json::object()}).code, "egress_declined");
    desk_.restart();
    EXPECT_TRUE(desk_.ask(edit).success);
    desk_.clock.advance(kSentLife);
    EXPECT_EQ(desk_.ask(edit).code, "egress_declined");
}

// The gateway of August 2026 and later puts 👀 on a person's message and takes it away when it is
// done; its contract as of August ("react") says the bot's own reaction.
TEST_F(RelayOutboundTest, TakesAwayOnlyTheReactionsThatTheInstancePut) {
    desk_.add_chat("c1", "G1", "acme", {"i1", "i2"});
    const auto react = [](const std::string& emoji, bool remove) {
        return ReactAction{"c1", "theirs", emoji, remove, Json::object()};
    };
    EXPECT_EQ(desk_.ask(react("👀", true)).code, "egress_declined");
    ASSERT_TRUE(desk_.ask(react("👀", false)).success);
    EXPECT_EQ(desk_.ask(react("👀", true), "i2").code, "egress_declined");
    EXPECT_EQ(desk_.ask(react("✅", true)).code, "egress_declined");
    desk_.restart();
    EXPECT_TRUE(desk_.ask(react("👀", true)).success);
    EXPECT_EQ(desk_.ask(react("👀", true)).code, "egress_declined");
}

TEST_F(RelayOutboundTest, AReactionThatMayBeThereCanBeTakenAway) {
    const ReactAction put{"c1", "theirs", "👀", false, Json::object()};
    ReactAction take = put;
    take.remove = true;
    desk_.discord.on_call = [](const PlatformCall&) {
        return ScriptedPlatform::not_sent("forbidden");
    };
    EXPECT_FALSE(desk_.ask(put).success);
    EXPECT_EQ(desk_.ask(take).code, "egress_declined");
    desk_.discord.on_call = [](const PlatformCall&) {
        PlatformReply reply;
        reply.outcome = CallOutcome::unknown;
        return reply;
    };
    EXPECT_TRUE(desk_.ask(put).ambiguous);
    desk_.discord.on_call = nullptr;
    EXPECT_TRUE(desk_.ask(take).success);
}

TEST_F(RelayOutboundTest, RefusesAnEditThatDoesNotFit) {
    ASSERT_TRUE(send("c1", "hello").success);
    const auto result = desk_.ask(EditAction{"c1", "m1", std::string(5000, 'x'), Json::object()});
    EXPECT_EQ(result.code, "too_long");
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
}

TEST_F(RelayOutboundTest, ARefusalOfThePlatformIsNotSentAndKeepsItsText) {
    desk_.discord.on_call = [](const PlatformCall&) {
        return ScriptedPlatform::not_sent("forbidden");
    };
    const OutboundResult result = send("c1", "hello");
    EXPECT_FALSE(result.success);
    EXPECT_FALSE(result.ambiguous);
    EXPECT_EQ(result.code, "forbidden");
    EXPECT_EQ(desk_.log().front().state, "not_sent");
    EXPECT_NE(desk_.log().front().action, "");
    EXPECT_EQ(desk_.events().back(), "RELAY_OUTBOUND_NOT_SENT");
}

// relay-connector.md#sending
TEST_F(RelayOutboundTest, AnswersWithinItsTimeAndRecordsTheLaterOutcome) {
    OutboundDesk::AnswerPtr answer;
    desk_.discord.on_call = [&](const PlatformCall&) {
        desk_.clock.advance(Duration::of_seconds(24));
        desk_.step();
        EXPECT_TRUE(answer->is_there());
        EXPECT_TRUE(answer->value().ambiguous);
        return ScriptedPlatform::sent("m1");
    };
    answer = desk_.begin(OutboundDesk::send_action("c1", "slow"));
    desk_.run();
    EXPECT_EQ(answer->results.size(), 1u);
    EXPECT_FALSE(answer->value().success);
    EXPECT_EQ(desk_.log().front().state, "sent");
    EXPECT_EQ(desk_.process->outbound.counters().late, 1u);
}

TEST_F(RelayOutboundTest, BeginsNothingAfterItHasAnsweredFailure) {  // relay-connector.md#sending
    desk_.discord.on_call = [&](const PlatformCall&) {
        desk_.clock.advance(Duration::of_seconds(24));
        desk_.step();
        return ScriptedPlatform::sent("m1");
    };
    const auto first = desk_.begin(OutboundDesk::send_action("c1", "slow"));
    const auto second = desk_.begin(OutboundDesk::send_action("c1", "behind it"));
    desk_.run();
    EXPECT_EQ(desk_.discord.contents(), Texts{"slow"});
    EXPECT_EQ(second->value().code, "timed_out");
    EXPECT_FALSE(second->value().ambiguous);  // Certainly not sent: it never began.
    EXPECT_EQ(desk_.log().size(), 2u);
    EXPECT_EQ(desk_.log({.instance_id = {}, .state = "not_sent", .after = {}}).size(), 1u);
}

TEST_F(RelayOutboundTest, RefusesWhatWaitedTooLongToBegin) {
    const auto answer = std::make_shared<OutboundDesk::Answer>();
    OutboundRequest request = desk_.request(OutboundDesk::send_action("c1", "x"), answer);
    request.received_at = desk_.clock.now() - Duration::of_seconds(21);
    desk_.begin(std::move(request));
    desk_.run();
    EXPECT_EQ(answer->value().code, "timed_out");
    EXPECT_TRUE(desk_.discord.calls().empty());
}

TEST_F(RelayOutboundTest, AWorkerThatNeverComesBackLeavesItUnknown) {
    const auto answer = desk_.begin(OutboundDesk::send_action("c1", "x"));
    desk_.step();  // Recorded and handed over; nobody runs the egress.
    desk_.clock.advance(Duration::of_seconds(24));
    desk_.step();
    EXPECT_EQ(answer->value().code, "timed_out");
    desk_.clock.advance(kOutboundGivenUpAfter);
    desk_.step();
    EXPECT_EQ(desk_.log().front().state, "unknown");
    EXPECT_EQ(desk_.process->outbound.pending(), 0u);
}

TEST_F(RelayOutboundTest, TheSameKeyGetsTheSameAnswerAndOneMessage) {  // I2
    const OutboundResult first = desk_.ask(keyed("k", "hello"));
    const OutboundResult again = desk_.ask(keyed("k", "hello"));
    EXPECT_EQ(encode(first), encode(again));
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
    desk_.restart();
    EXPECT_EQ(encode(desk_.ask(keyed("k", "hello"))), encode(first));
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
}

TEST_F(RelayOutboundTest, AKeyUsedForSomethingElseIsAConflict) {
    ASSERT_TRUE(desk_.ask(keyed("k", "hello")).success);
    EXPECT_EQ(desk_.ask(keyed("k", "other")).code, "idempotency_key_conflict");
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
}

TEST_F(RelayOutboundTest, AKeyBelongsToItsInstance) {
    desk_.add_chat("c1", "G1", "acme", {"i1", "i2"});
    ASSERT_TRUE(desk_.ask(keyed("k", "hello")).success);
    EXPECT_TRUE(desk_.ask(keyed("k", "other"), "i2").success);
}

TEST_F(RelayOutboundTest, AKeyIsForgottenAfterADay) {
    ASSERT_TRUE(desk_.ask(keyed("k", "hello")).success);
    desk_.clock.advance(kIdempotencyLife);
    ASSERT_TRUE(desk_.ask(keyed("k", "other")).success);
    EXPECT_EQ(desk_.discord.calls().size(), 2u);
}

TEST_F(RelayOutboundTest, RefusesKeysBeyondTheirLength) {
    EXPECT_TRUE(desk_.ask(keyed(std::string(128, 'k'), "x")).success);
    EXPECT_EQ(desk_.ask(keyed(std::string(129, 'k'), "x")).code, "invalid_request");
}

TEST_F(RelayOutboundTest, WhoAsksWithTheSameKeyMeanwhileWaitsForTheSameAnswer) {
    std::vector<OutboundDesk::AnswerPtr> answers;
    for (std::size_t i = 0; i < kOutboundWaitersMax; ++i) {
        answers.push_back(desk_.begin(keyed("k", "hello")));
    }
    const auto beyond = desk_.begin(keyed("k", "hello"));
    desk_.run();
    for (const auto& answer : answers) {
        EXPECT_EQ(answer->value().message_id, "m1");
    }
    EXPECT_EQ(beyond->value().code, "overloaded");
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
}

TEST_F(RelayOutboundTest, RefusesAnInstanceThatHasTooMuchPending) {
    std::vector<OutboundDesk::AnswerPtr> answers;
    for (std::size_t i = 0; i < kOutboundPerInstanceMax; ++i) {
        answers.push_back(desk_.begin(OutboundDesk::send_action("c1", "x")));
    }
    const auto beyond = desk_.begin(OutboundDesk::send_action("c1", "x"));
    const auto other = desk_.begin(OutboundDesk::send_action("c2", "x"), "x1");
    desk_.step();
    EXPECT_EQ(beyond->value().code, "overloaded");
    desk_.run();
    EXPECT_TRUE(other->value().success);
    EXPECT_TRUE(answers.back()->value().success);
    EXPECT_TRUE(send("c1", "x").success);
}

// A tenant with many instances fills his part of a bot; the others go on as if nothing were.
TEST_F(RelayOutboundTest, ATenantWithTooMuchPendingIsRefusedAndNobodyElse) {
    std::size_t asked = 0;
    for (int i = 0; asked < kOutboundPerTenantMax; ++i) {
        const std::string instance = "i" + std::to_string(100 + i);
        desk_.add_chat("many" + std::to_string(i), "G1", "acme", {instance});
        for (std::size_t k = 0; k < kOutboundPerInstanceMax && asked < kOutboundPerTenantMax; ++k) {
            desk_.begin(OutboundDesk::send_action("many" + std::to_string(i), "x"), instance);
            ++asked;
        }
        while (desk_.process->lane.waiting() > 0) {
            desk_.step();
        }
    }
    ASSERT_EQ(desk_.process->outbound.pending(), kOutboundPerTenantMax);
    const auto beyond = desk_.begin(OutboundDesk::send_action("c1", "x"));
    const auto other = desk_.begin(OutboundDesk::send_action("c2", "x"), "x1");
    desk_.step();
    EXPECT_EQ(beyond->value().code, "overloaded");
    desk_.run();
    EXPECT_TRUE(other->value().success);
}

TEST_F(RelayOutboundTest, FollowsUpWithTheVaultsCapability) {  // relay-connector.md#capabilities
    bind_capability("tok");
    const OutboundResult result = desk_.ask(follow_up("done"));
    EXPECT_TRUE(result.success);
    const auto calls = desk_.discord.calls();
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].capability, "tok");
    EXPECT_TRUE(calls[0].edits_original);
    EXPECT_TRUE(desk_.ask(follow_up("more")).success);
    EXPECT_FALSE(desk_.discord.calls()[1].edits_original);
    EXPECT_TRUE(desk_.ask(EditAction{"c1", "m1", "better", Json::object()}).success);
}

// relay-connector.md#capabilities
TEST_F(RelayOutboundTest, AbsentExpiredAndForeignCapabilitiesAreTheSameNo) {
    const OutboundResult absent = desk_.ask(follow_up("x"));
    bind_capability("tok");
    const OutboundResult foreign = desk_.ask(follow_up("x"), "x1");
    const OutboundResult sibling = desk_.ask(follow_up("x"), "i2");
    desk_.clock.advance(Duration::of_minutes(15));
    const OutboundResult expired = desk_.ask(follow_up("x"));
    EXPECT_FALSE(absent.success);
    EXPECT_EQ(encode(absent), encode(foreign));
    EXPECT_EQ(encode(absent), encode(sibling));
    EXPECT_EQ(encode(absent), encode(expired));
    EXPECT_TRUE(desk_.discord.calls().empty());
}

// relay-connector.md#capabilities
TEST_F(RelayOutboundTest, TheFirstSendAnswersADeferredInteraction) {
    bind_capability("tok");
    ASSERT_TRUE(send("c1", "here it is").success);
    ASSERT_TRUE(send("c1", "and more").success);
    const auto calls = desk_.discord.calls();
    EXPECT_EQ(calls[0].capability, "tok");
    EXPECT_TRUE(calls[0].edits_original);
    EXPECT_EQ(calls[1].capability, "");
}

// Two commands that are open at once are answered in their order, each once, by two sends.
TEST_F(RelayOutboundTest, TwoSendsAnswerTwoOpenCommandsInTheirOrder) {
    bind_capability("first");
    desk_.clock.advance(Duration::of_seconds(1));
    bind_capability("second");
    ASSERT_TRUE(send("c1", "of the first").success);
    ASSERT_TRUE(send("c1", "of the second").success);
    ASSERT_TRUE(send("c1", "and more").success);
    const auto calls = desk_.discord.calls();
    EXPECT_EQ(desk_.discord.contents(), (Texts{"of the first", "of the second", "and more"}));
    EXPECT_EQ(calls[0].capability, "first");
    EXPECT_EQ(calls[1].capability, "second");
    EXPECT_TRUE(calls[0].edits_original && calls[1].edits_original);
    EXPECT_EQ(calls[2].capability, "");
}

// relay-connector.md#capabilities
TEST_F(RelayOutboundTest, AQuestionOrAFileAnswersADeferredInteractionToo) {
    bind_capability("tok");
    PromptAction prompt;
    prompt.chat_id = "c1";
    prompt.content = "Which?";
    prompt.prompt_kind = "choice";
    prompt.prompt_id = "p1";
    prompt.options = {{"a", "A", ""}};
    ASSERT_TRUE(desk_.ask(prompt).success);
    bind_capability("tok2");
    SendMediaAction media;
    media.chat_id = "c1";
    media.media_kind = "image";
    media.source_url = "https://files.example/a.png";
    ASSERT_TRUE(desk_.ask(media).success);
    const auto calls = desk_.discord.calls();
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].capability, "tok");
    EXPECT_TRUE(calls[0].edits_original);
    EXPECT_EQ(calls[1].capability, "tok2");
    EXPECT_TRUE(calls[1].edits_original);
}

TEST_F(RelayOutboundTest, ADeadInteractionDoesNotKeepASendFromLeaving) {
    bind_capability("tok");
    desk_.discord.on_call = [](const PlatformCall& call) {
        return call.capability.empty() ? ScriptedPlatform::sent("m1")
                                       : ScriptedPlatform::not_sent("not_found");
    };
    EXPECT_TRUE(send("c1", "here it is").success);
}

TEST_F(RelayOutboundTest, ASecretIsInNoAnswerRowOrRecord) {
    bind_capability("canary-token");
    ASSERT_TRUE(desk_.ask(follow_up("done")).success);
    for (const AuditRecord& record : desk_.records()) {
        EXPECT_EQ(to_text(encode(record)).find("canary"), std::string::npos);
    }
    const auto contents = desk_.store->take_contents();
    for (const auto& [key, row] : contents.rows) {
        EXPECT_EQ(row.json.find("canary"), std::string::npos);
    }
}

TEST_F(RelayOutboundTest, TypingAndChatInfoLeaveNoRecord) {
    EXPECT_TRUE(desk_.ask(TypingAction{"c1", false, Json::object()}).success);
    desk_.discord.on_call = [](const PlatformCall&) {
        PlatformReply reply = ScriptedPlatform::sent("");
        reply.chat_info = ChatInfo{"general", "channel"};
        return reply;
    };
    const OutboundResult told = desk_.ask(GetChatInfoAction{"c1"});
    EXPECT_TRUE(told.success);
    EXPECT_EQ(told.chat_info->name, "general");
    desk_.discord.on_call = [](const PlatformCall&) {
        return ScriptedPlatform::not_sent("unsupported");
    };
    const OutboundResult known = desk_.ask(GetChatInfoAction{"c1"});
    EXPECT_TRUE(known.success);
    EXPECT_EQ(known.chat_info->name, "room c1");
    EXPECT_EQ(known.chat_info->type, "group");
    EXPECT_EQ(desk_.ask(GetChatInfoAction{"c2"}).code, "egress_declined");
    EXPECT_TRUE(desk_.events().empty());
    EXPECT_TRUE(desk_.log().empty());
}

TEST_F(RelayOutboundTest, AnUnknownOpIsRefusedAndNotGuessedAt) {
    EXPECT_EQ(desk_.ask(UnknownAction{"task_card"}).code, "unsupported");
}

TEST_F(RelayOutboundTest, ARestartMakesWhatWasPendingUnknownAndSendsNothing) {  // I4
    desk_.begin(keyed("k", "hello"));
    desk_.step();
    ASSERT_EQ(desk_.log().front().state, "pending");
    desk_.restart();
    desk_.run();
    EXPECT_EQ(desk_.log().front().state, "unknown");
    EXPECT_EQ(desk_.events().back(), "RELAY_OUTBOUND_UNKNOWN");
    const OutboundResult again = desk_.ask(keyed("k", "hello"));
    EXPECT_TRUE(again.ambiguous);
    EXPECT_TRUE(desk_.discord.calls().empty());
    desk_.restart();
    EXPECT_EQ(desk_.events().size(), 2u);  // It is settled once.
}

TEST_F(RelayOutboundTest, ALostLaneAnswersEverybodyOnceAndSendsNothing) {
    const auto waiting = desk_.begin(OutboundDesk::send_action("c1", "one"));
    desk_.step();
    desk_.store->fail_next_commit();
    const auto asked = desk_.begin(OutboundDesk::send_action("c1", "two"));
    const auto refused = desk_.begin(OutboundDesk::send_action("c2", "three"));
    desk_.run();
    EXPECT_EQ(waiting->value().code, "unavailable");
    EXPECT_EQ(asked->value().code, "unavailable");
    EXPECT_EQ(refused->value().code, "unavailable");
    EXPECT_TRUE(desk_.discord.calls().empty());
}

TEST_F(RelayOutboundTest, AnOutcomeThatCannotBeStoredIsAmbiguous) {
    const auto answer = desk_.begin(OutboundDesk::send_action("c1", "one"));
    desk_.discord.on_call = [&](const PlatformCall&) {
        desk_.store->fail_next_commit();
        return ScriptedPlatform::sent("m1");
    };
    desk_.run();
    EXPECT_FALSE(answer->value().success);
    EXPECT_TRUE(answer->value().ambiguous);
}

TEST_F(RelayOutboundTest, StoppingSendsNothingThatHasNotBegun) {
    const auto answer = desk_.begin(OutboundDesk::send_action("c1", "one"));
    desk_.step();
    desk_.process->egress.stop();
    desk_.run();
    EXPECT_EQ(answer->value().code, "timed_out");
    EXPECT_EQ(desk_.log().front().state, "not_sent");
    EXPECT_EQ(send("c1", "later").code, "overloaded");
    EXPECT_TRUE(desk_.discord.calls().empty());
}

}  // namespace
}  // namespace interlock
