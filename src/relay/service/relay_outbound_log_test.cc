// The delivery log, sending again by hand, notices, prompts and threads of the outbound side.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

using Texts = std::vector<std::string>;

class RelayOutboundLogTest : public testing::Test {
protected:
    void refuse_all() {
        desk_.discord.on_call = [](const PlatformCall&) {
            return ScriptedPlatform::not_sent("forbidden");
        };
    }
    OutboundResult send(const std::string& text, const std::string& instance = "i1") {
        return desk_.ask(OutboundDesk::send_action(instance == "i1" ? "c1" : "c2", text), instance);
    }
    Result<std::string> replay(const std::string& id) {
        Result<std::string> made = std::string();
        desk_.change([&](RelayTurn& turn) {
            made = desk_.process->outbound.replay(
                turn, {id, "operator:ann", [this](OutboundResult result) {
                           replayed_.push_back(std::move(result));
                       }});
        });
        desk_.run();
        return made;
    }

    OutboundDesk desk_;
    std::vector<OutboundResult> replayed_;
};

TEST_F(RelayOutboundLogTest, ListsTheNewestFirstAndByFilter) {
    send("one");
    desk_.clock.advance(Duration::of_seconds(1));
    send("two", "x1");
    desk_.clock.advance(Duration::of_seconds(1));
    refuse_all();
    send("three");
    const auto all = desk_.log();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].state, "not_sent");
    EXPECT_EQ(all[1].instance_id, "x1");
    EXPECT_EQ(desk_.log({.instance_id = "i1", .state = {}, .after = {}}).size(), 2u);
    EXPECT_EQ(desk_.log({.instance_id = "i1", .state = "sent", .after = {}}).size(), 1u);
}

TEST_F(RelayOutboundLogTest, GivesPagesThatGoOnWhereTheLastEnded) {
    for (int i = 0; i < 5; ++i) {
        send("text");
        desk_.clock.advance(Duration::of_seconds(1));
    }
    OutboundFilter filter;
    filter.count_max = 2;
    std::vector<Timestamp> times;
    do {
        const OutboundPage page = desk_.process->outbound.list(filter).value();
        for (const OutboundRow& row : page.rows) {
            times.push_back(row.asked_at);
        }
        filter.after = page.next;
    } while (!filter.after.empty());
    ASSERT_EQ(times.size(), 5u);
    EXPECT_TRUE(std::is_sorted(times.rbegin(), times.rend()));
}

TEST_F(RelayOutboundLogTest, SendsAgainWhatWasNotSentOnceAndWithANewRow) {
    refuse_all();
    send("hello");
    desk_.discord.on_call = {};
    const std::string first = desk_.log().front().outbound_id;
    desk_.clock.advance(Duration::of_seconds(1));
    const auto id = replay(first);
    ASSERT_TRUE(id);
    ASSERT_EQ(replayed_.size(), 1u);
    EXPECT_TRUE(replayed_[0].success);
    EXPECT_EQ(desk_.log().front().replay_of, first);
    EXPECT_EQ(desk_.discord.contents(), (Texts{"hello", "hello"}));
    EXPECT_EQ(replay(first).error().code(), errors::conflict.code);  // Its text went with it.
    EXPECT_EQ(replay(*id).error().code(), errors::conflict.code);    // That one was sent.
    EXPECT_EQ(desk_.records().back().draft.event, "RELAY_OUTBOUND_SENT");
    EXPECT_EQ(desk_.records()[2].draft.principal, "operator:ann");
}

TEST_F(RelayOutboundLogTest, SendsNothingAgainThatIsGoneOrNoLongerAllowed) {
    refuse_all();
    send("hello");
    desk_.discord.on_call = {};
    const std::string id = desk_.log().front().outbound_id;
    EXPECT_EQ(replay("out_nothing").error().code(), errors::not_found.code);
    desk_.route("G1", "rival");
    EXPECT_EQ(replay(id).error().code(), errors::forbidden.code);
    desk_.route("G1", "acme");
    desk_.clock.advance(kOutboundLife);
    EXPECT_EQ(replay(id).error().code(), errors::not_found.code);
    EXPECT_EQ(desk_.discord.calls().size(), 1u);
    EXPECT_TRUE(replayed_.empty());
}

TEST_F(RelayOutboundLogTest, KeepsNoTextBeyondItsBound) {
    refuse_all();
    desk_.discord.described.max_message_length = 40'000;
    send(std::string(kOutboundTextKeptMax, 'x'));
    EXPECT_EQ(desk_.log().front().action, "");
    EXPECT_EQ(replay(desk_.log().front().outbound_id).error().code(), errors::conflict.code);
}

TEST_F(RelayOutboundLogTest, ANoticeIsOnTheRecordAndNobodyCanEditIt) {
    desk_.process->outbound.notify({{"discord", "b1"}, "dm7", "", "You are linked to i1."});
    desk_.run();
    EXPECT_EQ(desk_.discord.contents(), Texts{"You are linked to i1."});
    EXPECT_EQ(desk_.log().front().state, "sent");
    const auto events = desk_.events("_system");
    EXPECT_EQ(
        events.size() - static_cast<std::size_t>(std::ranges::count(events, "ROWS_SEALED")), 2u);
    desk_.add_chat("dm7", "G1", "acme", {"i1"});
    EXPECT_EQ(desk_.ask(EditAction{"dm7", "m1", "x", Json::object()}).code, "egress_declined");
}

// What strangers make one bot say keeps no other bot from speaking.
TEST_F(RelayOutboundLogTest, NoticesWaitUnderTheirOwnBot) {
    for (std::size_t i = 0; i <= kOutboundPerInstanceMax; ++i) {
        desk_.process->outbound.notify({{"discord", "b1"}, "dm7", "", "not linked"});
    }
    desk_.process->outbound.notify({{"telegram", "b2"}, "dm8", "", "You are linked to i1."});
    while (desk_.process->lane.waiting() > 0) {
        desk_.step();
    }
    desk_.run();
    EXPECT_EQ(desk_.telegram.contents(), Texts{"You are linked to i1."});
    EXPECT_EQ(desk_.discord.calls().size(), kOutboundPerInstanceMax);
    EXPECT_EQ(desk_.process->outbound.counters().overloaded, 1u);
    desk_.process->outbound.notify({{"discord", "b1"}, "dm7", "", "there is room again"});
    desk_.run();
    EXPECT_EQ(desk_.discord.calls().size(), kOutboundPerInstanceMax + 1);
}

TEST_F(RelayOutboundLogTest, ANoticeToABotThatIsNotThereIsDropped) {
    desk_.process->outbound.notify({{"discord", "b9"}, "dm7", "", "hello"});
    desk_.run();
    EXPECT_TRUE(desk_.log().empty());
}

TEST_F(RelayOutboundLogTest, APromptWaitsForItsPressUnderItsMessage) {
    PromptAction prompt;
    prompt.chat_id = "c1";
    prompt.content = "Go?";
    prompt.prompt_id = "p1";
    prompt.options = {{"y", "Yes", ""}};
    prompt.metadata = Json::object();
    const OutboundResult result = desk_.ask(prompt);
    EXPECT_TRUE(result.success);
    EXPECT_EQ(desk_.ask(prompt).code, "prompt_open");
    desk_.change([&](RelayTurn& turn) {
        const RelayPrompts::Presser ann{{"discord", "b1"}, "c1", "ann", {"i1"}};
        auto& prompts = desk_.process->prompts;
        EXPECT_FALSE(prompts.press(turn, ann, {"p1", "y", "", "m99"}));
        EXPECT_TRUE(prompts.press(turn, ann, {"p1", "y", "", result.message_id}));
    });
}

TEST_F(RelayOutboundLogTest, APromptThatWasNotSentCanBeAskedAgain) {
    PromptAction prompt;
    prompt.chat_id = "c1";
    prompt.content = "Go?";
    prompt.prompt_id = "p1";
    prompt.options = {{"y", "Yes", ""}};
    prompt.metadata = Json::object();
    refuse_all();
    EXPECT_EQ(desk_.ask(prompt).code, "forbidden");
    desk_.discord.on_call = {};
    EXPECT_TRUE(desk_.ask(prompt).success);
    prompt.prompt_id = "p2";
    prompt.timeout_seconds = 0;
    EXPECT_EQ(desk_.ask(prompt).code, "invalid_request");
}

TEST_F(RelayOutboundLogTest, TheMakerOfAThreadMaySpeakInIt) {
    desk_.discord.on_call = [&](const PlatformCall& call) {
        PlatformReply reply = ScriptedPlatform::sent("");
        if (op_of(call.action) == "thread_create") {
            reply.thread_id = "t1";
        }
        return reply;
    };
    const OutboundResult made = desk_.ask(ThreadCreateAction{"c1", "plans", Json::object()});
    EXPECT_EQ(made.thread_id, "t1");
    SendAction inside = OutboundDesk::send_action("c1", "hello");
    inside.metadata.set("thread_id", "t1");
    EXPECT_TRUE(desk_.ask(inside).success);
    EXPECT_EQ(desk_.discord.calls().back().thread_id, "t1");
    EXPECT_TRUE(desk_.ask(OutboundDesk::send_action("t1", "hello")).success);
    ThreadRenameAction rename{"c1", "t1", "new plans", true, "", Json::object()};
    EXPECT_TRUE(desk_.ask(rename).success);
    desk_.add_chat("c1", "G1", "acme", {"i1", "i2"});
    EXPECT_EQ(desk_.ask(inside, "i2").code, "egress_declined");
}

// relay-connector.md#8-the-egress-guard
TEST_F(RelayOutboundLogTest, AThreadThatIsNotPartOfTheChatIsAnotherTarget) {
    SendAction action = OutboundDesk::send_action("c1", "hello");
    action.metadata.set("thread_id", "c2");
    EXPECT_EQ(desk_.ask(action).code, "egress_declined");
    action.metadata.set("thread_id", "elsewhere");
    EXPECT_EQ(desk_.ask(action).code, "egress_declined");
    action.metadata.set("thread_id", "c1");
    EXPECT_TRUE(desk_.ask(action).success);
    EXPECT_EQ(desk_.discord.calls().back().thread_id, "");
}

TEST_F(RelayOutboundLogTest, ATopicOfAForumIsPartOfItsChat) {
    ChatRow forum;
    forum.platform = "telegram";
    forum.bot_id = "b2";
    forum.chat_id = "-100";
    forum.chat_type = "forum";
    forum.tenant_id = TenantId::trusted("acme");
    forum.delivered_to = {"i1"};
    desk_.put_chat(forum);
    desk_.change([&](RelayTurn& turn) {
        desk_.process->state.routes.put(
            turn,
            row_key({"telegram", "b2", "-100"}),
            {"telegram", "b2", "-100", TenantId::trusted("acme"), turn.now()});
    });
    SendAction action = OutboundDesk::send_action("-100", "hello");
    action.metadata.set("thread_id", 7);
    EXPECT_TRUE(desk_.ask(action).success);
    EXPECT_EQ(desk_.telegram.calls().back().thread_id, "7");
}

TEST_F(RelayOutboundLogTest, RenamesOnlyThreadsOfOurOwnWhenAskedTo) {
    ChatRow thread;
    thread.platform = "discord";
    thread.bot_id = "b1";
    thread.chat_id = "t9";
    thread.parent_chat_id = "c1";
    thread.guild_id = "G1";
    thread.tenant_id = TenantId::trusted("acme");
    thread.delivered_to = {"i1"};
    desk_.put_chat(thread);
    ThreadRenameAction rename{"t9", "t9", "new", true, "", Json::object()};
    EXPECT_EQ(desk_.ask(rename).code, "not_connector_created");
    rename.only_if_connector_created = false;
    EXPECT_TRUE(desk_.ask(rename).success);
}

// relay-connector.md#8-the-egress-guard
TEST_F(RelayOutboundLogTest, AChannelThatIsNoThreadKeepsItsName) {
    const ThreadRenameAction rename{"c1", "c1", "mine now", false, "", Json::object()};
    EXPECT_EQ(desk_.ask(rename).code, "egress_declined");
    EXPECT_TRUE(desk_.discord.calls().empty());
}

}  // namespace
}  // namespace interlock
