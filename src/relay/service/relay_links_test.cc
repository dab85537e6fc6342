// Links are to one bot, also those of before the bot was kept; and chats that the platform moves.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "relay/service/relay_management.h"
#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;
const BotKey kBot{"discord", "100"};

class LinkDesk : public World {
public:
    LinkDesk() : one(add_instance("inst-1")) {
        add_bot("discord", "100");
        CHECK(route(kBot, "g1").has_value());
        CHECK(bind("discord", "u1", "inst-1").has_value());
    }
    std::string minted_code() {
        return text_of(
            ask([&](RelayReply reply) {
                management().link(one, {"discord", {}}, std::move(reply));
            }),
            "code");
    }
    static LinkAttempt attempt(const std::string& code, const std::string& bot_id) {
        return {{"discord", bot_id}, "u9", "Nine", code, true};
    }

    RelayCaller one;
};

TEST(RelayLink, CountsAtTheBotThatItWasRedeemedAt) {
    LinkDesk desk;
    desk.add_bot("discord", "200");
    EXPECT_TRUE(desk.redeem(LinkDesk::attempt(desk.minted_code(), "200")).is_bound);
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u9").empty());
    EXPECT_EQ(desk.state().bindings_of({"discord", "200"}, "u9").size(), 1u);
}

TEST(RelayLink, ACodeForOneBotIsNoneForAnother) {
    LinkDesk desk;
    desk.add_bot("discord", "200");
    const auto minted = desk.ask([&](RelayReply reply) {
        desk.management().link_for(
            "operator:test", {"inst-1", {.platform = "discord", .bot_id = "200"}}, reply);
    });
    ASSERT_EQ(World::code_of(minted), "ok");
    const std::string code = World::text_of(minted, "code");
    EXPECT_FALSE(desk.redeem(LinkDesk::attempt(code, "100")).is_bound);
    EXPECT_TRUE(desk.redeem(LinkDesk::attempt(code, "200")).is_bound);
}

TEST(RelayLink, AnOperatorMintsCodesForPlatformsThatThereAre) {
    LinkDesk desk;
    const auto mint = [&](const std::string& instance, const std::string& platform) {
        return World::code_of(desk.ask([&](RelayReply reply) {
            desk.management().link_for("operator:test", {instance, {platform, {}}}, reply);
        }));
    };
    EXPECT_EQ(mint("inst-1", "discord"), "ok");
    EXPECT_EQ(mint("inst-1", "telegram"), "invalid_request");
    EXPECT_EQ(mint("nobody", "discord"), "not_found");
    EXPECT_EQ(desk.count_in_chain("RELAY_LINK_MINTED"), 1);
}

TEST(RelayBind, NeedsTheBotWhereItCouldBeSeveral) {
    LinkDesk desk;
    EXPECT_EQ(World::code_of(desk.bind("telegram", "u2", "inst-1")), "invalid_request");
    desk.add_bot("discord", "200");
    EXPECT_EQ(World::code_of(desk.bind("discord", "u2", "inst-1")), "invalid_request");
    const auto bound = desk.ask([&](RelayReply reply) {
        desk.management().bind("operator:test", {"discord", "200", "u2", "", "inst-1"}, reply);
    });
    EXPECT_EQ(World::text_of(bound, "botId"), "200");
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u2").empty());
    EXPECT_EQ(desk.state().bindings_of({"discord", "200"}, "u2").size(), 1u);
}

TEST(RelayBind, UnbindingWithoutABotIsOfAllOfThePlatform) {
    LinkDesk desk;
    desk.add_bot("discord", "200");
    desk.ask([&](RelayReply reply) {
        desk.management().bind("operator:test", {"discord", "200", "u1", "", "inst-1"}, reply);
    });
    const auto unbind = [&](const std::string& bot) {
        return World::code_of(desk.ask([&](RelayReply reply) {
            desk.management().unbind("operator:test", {"discord", bot, "u1", "", "inst-1"}, reply);
        }));
    };
    EXPECT_EQ(unbind("300"), "not_found");
    EXPECT_EQ(unbind(""), "ok");
    EXPECT_TRUE(desk.state().bindings_of_instance("inst-1").empty());
    EXPECT_EQ(desk.holdings().count(Holding::binding, desk.one.tenant_id), 0u);
}

// Rows of before the bot was kept.
void make_older(MemoryRelayContents& contents) {
    const auto put = [&contents](
                         const std::string& kind, const std::string& key, const std::string& json) {
        contents.rows[{kind, key}] = {.key = key, .json = json, .expires_at = std::nullopt};
    };
    contents.rows.erase({"binding", row_key({"discord", "100", "u1", "inst-1"})});
    put("binding",
        row_key({"discord", "u1", "inst-1"}),
        R"({"platform":"discord","user_id":"u1","instance_id":"inst-1","tenant_id":"acme",)"
        R"("made_by":"link","made_at":5})");
    put("dm_default",
        row_key({"discord", "u1"}),
        R"({"platform":"discord","user_id":"u1","instance_id":"inst-1"})");
}

TEST(RelayAdoption, AnOlderLinkIsToTheOnlyBotThatItCanHaveMeant) {
    LinkDesk desk;
    ASSERT_TRUE(desk.restart(make_older).has_value());
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u1").empty());
    desk.change([&](RelayTurn& turn) { desk.management().adopt_links(turn); });
    const auto check = [&desk] {
        ASSERT_EQ(desk.state().bindings_of(kBot, "u1").size(), 1u);
        EXPECT_EQ(desk.state().bindings_of(kBot, "u1")[0].made_by, "link");
        EXPECT_EQ(desk.state().bindings_of_instance("inst-1").size(), 1u);
        EXPECT_EQ(desk.state().dm_defaults.held(), 1u);
        EXPECT_EQ(desk.state().dm_choice_of(kBot, "u1"), "inst-1");
        EXPECT_EQ(desk.holdings().count(Holding::binding, desk.one.tenant_id), 1u);
    };
    check();
    ASSERT_TRUE(desk.restart().has_value());
    desk.change([&](RelayTurn& turn) { desk.management().adopt_links(turn); });
    check();
}

TEST(RelayAdoption, OneThatCouldMeanSeveralReachesNobodyAndIsStillShown) {
    LinkDesk desk;
    desk.add_bot("discord", "200");
    ASSERT_TRUE(desk.restart(make_older).has_value());
    desk.change([&](RelayTurn& turn) { desk.management().adopt_links(turn); });
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u1").empty());
    EXPECT_TRUE(desk.state().bindings_of({"discord", "200"}, "u1").empty());
    const auto shown =
        desk.ask([&](RelayReply reply) { desk.management().show_instance("inst-1", reply); });
    ASSERT_EQ(shown->find("users")->items().size(), 1u);
    EXPECT_EQ(shown->find("users")->items()[0].find("botId")->as_string(), "");
    desk.ask([&](RelayReply reply) {
        desk.management().unbind("operator:test", {"discord", {}, "u1", "", "inst-1"}, reply);
    });
    EXPECT_TRUE(desk.state().bindings_of_instance("inst-1").empty());
    EXPECT_EQ(desk.state().dm_defaults.held(), 0u);
}

TEST(RelayAdoption, WhereTheInstanceWasProvisionedTheLinkIsToThoseBots) {
    LinkDesk desk;
    desk.add_bot("discord", "200");
    ASSERT_TRUE(desk.restart(make_older).has_value());
    desk.change([&](RelayTurn& turn) {
        InstanceRow row = *desk.state().instances.get("inst-1");
        row.identities = {{"discord", "200"}, {"telegram", "7"}};
        desk.state().instances.put(turn, "inst-1", row);
    });
    desk.change([&](RelayTurn& turn) { desk.management().adopt_links(turn); });
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u1").empty());
    EXPECT_EQ(desk.state().bindings_of({"discord", "200"}, "u1").size(), 1u);
}

// Telegram gives a group that becomes a supergroup another id.
TEST(RelayMove, RoutesClaimsAndTheRecordOfTheChatFollow) {
    LinkDesk desk;
    const BotKey bot{"telegram", "7"};
    ASSERT_EQ(World::code_of(desk.route(bot, "-5")), "ok");
    desk.ask([&](RelayReply reply) {
        desk.management().claim_scope_for(
            "operator:test", {"inst-1", {"telegram", "-5", "-5"}}, reply);
    });
    desk.change([&](RelayTurn& turn) {
        ChatRow chat;
        chat.platform = "telegram";
        chat.bot_id = "7";
        chat.chat_id = "-5";
        chat.tenant_id = desk.one.tenant_id;
        chat.delivered_to = {"inst-1"};
        desk.state().chats.put(turn, row_key({"telegram", "7", "-5"}), chat);
        desk.management().move_chat(turn, bot, {"-5", "-1005"});
    });
    EXPECT_TRUE(desk.state().route_of(bot, "-5").empty());
    EXPECT_EQ(desk.state().route_of(bot, "-1005"), desk.one.tenant_id);
    EXPECT_EQ(desk.state().scope_of("telegram", "-5", "-5"), nullptr);
    ASSERT_NE(desk.state().scope_of("telegram", "-1005", "-1005"), nullptr);
    const auto chat =
        desk.state().chats.find(row_key({"telegram", "7", "-1005"}), desk.clock.now());
    ASSERT_NE(*chat, nullptr);
    EXPECT_EQ((*chat)->delivered_to, std::vector<std::string>{"inst-1"});
    EXPECT_EQ(desk.count_in_chain("RELAY_CHAT_MOVED"), 1);
    EXPECT_EQ(desk.holdings().count(Holding::route, desk.one.tenant_id), 2u);
    EXPECT_EQ(desk.holdings().count(Holding::scope, desk.one.tenant_id), 1u);
}

TEST(RelayMove, NothingFollowsIntoAChatOfAnotherTenant) {
    LinkDesk desk;
    const BotKey bot{"telegram", "7"};
    desk.route(bot, "-5");
    desk.route(bot, "-1005", "globex");
    desk.change([&](RelayTurn& turn) { desk.management().move_chat(turn, bot, {"-5", "-1005"}); });
    EXPECT_EQ(desk.state().route_of(bot, "-5"), desk.one.tenant_id);
    EXPECT_EQ(desk.state().route_of(bot, "-1005").text(), "globex");
}

}  // namespace
}  // namespace interlock
