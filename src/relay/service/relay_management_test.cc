#include "relay/service/relay_management.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "relay/wire/relay_errors.h"
#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;

const BotKey kBot{"discord", "100"};

// A guild routed to acme, an instance of its own, and a user who owns it and sees everything.
struct Desk : World {
    Desk() : Desk(Setup{}) {}
    explicit Desk(Setup setup) : World(setup), one(add_instance("inst-1")) {
        bot = &add_bot("discord", "100");
        bot->views["u1"] = true;
        CHECK(route(kBot, "g1").has_value());
        CHECK(World::bind("discord", "u1", "inst-1").has_value());
    }

    Result<Json> link(const std::string& platform = "discord") {
        return ask(
            [&](RelayReply reply) { management().link(one, {platform, {}}, std::move(reply)); });
    }
    LinkAttempt attempt(const std::string& code, const std::string& user = "u9") const {
        return {kBot, user, "Nine", code, true};
    }
    Result<Json> release(const RelayCaller& caller, const std::string& channel) {
        return ask([&](RelayReply reply) {
            management().release_scope(caller, {"discord", "g1", channel}, std::move(reply));
        });
    }
    Result<Json> set_policy(const RelevancePolicy& policy) {
        return ask(
            [&](RelayReply reply) { management().set_relevance(one, policy, std::move(reply)); });
    }
    Result<Json> set_principal(const PrincipalPolicy& policy) {
        return ask(
            [&](RelayReply reply) { management().set_principal(one, policy, std::move(reply)); });
    }

    RelayCaller one;
    FakeChatBot* bot = nullptr;
};

TEST(RelayLink, BindsWhoeverRedeemsTheCodeAndNamesTheInstance) {
    Desk desk;
    const auto minted = desk.link();
    ASSERT_EQ(World::code_of(minted), "ok");
    const LinkOutcome outcome = desk.redeem(desk.attempt(World::text_of(minted, "code")));
    EXPECT_TRUE(outcome.is_bound);
    EXPECT_NE(outcome.sentence.find("inst-1"), std::string::npos);
    ASSERT_EQ(desk.state().bindings_of(kBot, "u9").size(), 1u);
    EXPECT_EQ(desk.state().bindings_of(kBot, "u9")[0].instance_id, "inst-1");
    EXPECT_EQ(desk.count_in_chain("RELAY_BOUND"), 2);
}

TEST(RelayLink, ACodeIsReadAsPeopleTypeIt) {
    Desk desk;
    std::string code = World::text_of(desk.link(), "code");
    EXPECT_EQ(code.size(), 14u);
    std::erase(code, '-');
    for (char& c : code) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    EXPECT_TRUE(desk.redeem(desk.attempt(" " + code.substr(0, 6) + " " + code.substr(6))).is_bound);
}

TEST(RelayLink, ACodeWorksOnce) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    EXPECT_TRUE(desk.redeem(desk.attempt(code, "u8")).is_bound);
    EXPECT_FALSE(desk.redeem(desk.attempt(code, "u9")).is_bound);
}

TEST(RelayLink, TwoInOneBatchCannotBothHaveTheCode) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    int bound = 0;
    for (const std::string user : {"u7", "u8"}) {
        CHECK(desk.lane().submit([&, user](RelayTurn& turn) {
            bound += desk.management().redeem_link(turn, desk.attempt(code, user)).is_bound ? 1 : 0;
        }));
    }
    desk.settle();
    EXPECT_EQ(bound, 1);
}

TEST(RelayLink, ACodeEndsAfterTenMinutes) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    desk.clock.advance(kLinkCodeLife);
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
}

// ADR 0023: somebody may have used it on the server that was lost.
TEST(RelayLink, ACodeThatCameBackWithABackupIsVoid) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    desk.clock.advance(Duration::of_seconds(1));
    desk.state().codes_void_before = desk.clock.now();
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem(desk.attempt(World::text_of(desk.link(), "code"))).is_bound);
}

TEST(RelayLink, ACodeIsOfOnePlatform) {
    Desk desk;
    const std::string code = World::text_of(desk.link("telegram"), "code");
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem({{"telegram", "7"}, "u9", "", code, true}).is_bound);
}

TEST(RelayLink, ACodeIsOfTheBotsTheInstanceWasProvisionedFor) {
    Desk desk;
    ProvisionRequest request;
    request.gateway_id = "gw-inst-1";
    request.instance_id = "inst-1";
    request.platform = "discord";
    request.bot_id = "200";
    ASSERT_TRUE(desk.provision(desk.tenant_token(), request).has_value());
    const std::string code = World::text_of(desk.link(), "code");
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem({{"discord", "200"}, "u9", "", code, true}).is_bound);
}

TEST(RelayLink, ACodeShownInAChannelIsVoid) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    LinkAttempt open = desk.attempt(code);
    open.is_dm = false;
    EXPECT_FALSE(desk.redeem(open).is_bound);
    EXPECT_FALSE(desk.redeem(desk.attempt(code, "thief")).is_bound);
}

TEST(RelayLink, EveryRefusalReadsTheSame) {
    Desk desk;
    const std::string used = World::text_of(desk.link(), "code");
    desk.redeem(desk.attempt(used, "u8"));
    std::set<std::string> sentences;
    sentences.insert(desk.redeem(desk.attempt("AAAA-BBBB-CCCC")).sentence);
    sentences.insert(desk.redeem(desk.attempt(used)).sentence);
    sentences.insert(desk.redeem(desk.attempt("")).sentence);
    for (std::size_t i = 0; i < kLinkTriesPerUserMax; ++i) {
        sentences.insert(desk.redeem(desk.attempt("AAAA")).sentence);
    }
    EXPECT_EQ(sentences.size(), 1u);
}

TEST(RelayLink, AUserHasFewTries) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    for (std::size_t i = 0; i < kLinkTriesPerUserMax; ++i) {
        desk.redeem(desk.attempt("wrong"));
    }
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem(desk.attempt(code, "somebody else")).is_bound);
    desk.clock.advance(kLinkWindow);
    const std::string later = World::text_of(desk.link(), "code");
    EXPECT_TRUE(desk.redeem(desk.attempt(later)).is_bound);
}

TEST(RelayLink, ARestartForgivesNoWrongCode) {  // relay-management.md#4-bounds
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    for (std::size_t i = 0; i < kLinkTriesPerUserMax; ++i) {
        desk.redeem(desk.attempt("wrong"));
        ASSERT_TRUE(desk.restart().has_value());
    }
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem(desk.attempt(code, "somebody else")).is_bound);
    desk.clock.advance(kLinkWindow);
    ASSERT_TRUE(desk.restart().has_value());
    const std::string later = World::text_of(desk.link(), "code");
    EXPECT_TRUE(desk.redeem(desk.attempt(later)).is_bound);
}

TEST(RelayLink, ARestartForgivesNoMissOfABot) {  // relay-management.md#4-bounds
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    for (std::size_t i = 0; i < kLinkMissesPerBotMax; ++i) {
        desk.redeem(desk.attempt("wrong", "guesser " + std::to_string(i)));
    }
    ASSERT_TRUE(desk.restart().has_value());
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
}

TEST(RelayLink, ARestartMintsNoMoreCodesThanALifeWithoutOne) {
    Desk desk;
    for (std::size_t i = 0; i < kLinkCodesPerWindowMax; ++i) {
        ASSERT_EQ(World::code_of(desk.link()), "ok");
    }
    ASSERT_TRUE(desk.restart().has_value());
    EXPECT_EQ(World::code_of(desk.link()), "rate_limited");
}

TEST(RelayLink, ABotTakesOnlySoManyWrongCodes) {
    Desk desk;
    const std::string code = World::text_of(desk.link(), "code");
    for (std::size_t i = 0; i < kLinkMissesPerBotMax; ++i) {
        desk.redeem(desk.attempt("wrong", "guesser " + std::to_string(i)));
    }
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem({{"discord", "101"}, "u9", "", code, true}).is_bound);
}

TEST(RelayLink, AnInstanceAsksForSoManyCodesAtATime) {
    Desk desk;
    for (std::size_t i = 0; i < kLinkCodesPerWindowMax; ++i) {
        ASSERT_EQ(World::code_of(desk.link()), "ok");
    }
    const auto refused = desk.link();
    EXPECT_EQ(World::code_of(refused), "rate_limited");
    EXPECT_GT(refused.error().retry_after_seconds, 0);
    desk.clock.advance(kLinkWindow);
    EXPECT_EQ(World::code_of(desk.link()), "ok");
}

TEST(RelayLink, StoresNoCode) {
    Desk desk;
    std::string code = World::text_of(desk.link(), "code");
    ASSERT_FALSE(code.empty());
    const std::string text = desk.stored_text();
    EXPECT_NE(text.find("link_code"), std::string::npos);
    EXPECT_EQ(text.find(code), std::string::npos);
    std::erase(code, '-');
    EXPECT_EQ(text.find(code), std::string::npos);
}

TEST(RelayLink, AUserLinksToSoManyInstancesAndKeepsHisCodeBeyond) {
    Desk desk;
    for (std::size_t i = 0; i < kUserBindingsMax; ++i) {
        desk.add_instance("many-" + std::to_string(i));
        ASSERT_TRUE(desk.bind("discord", "u9", "many-" + std::to_string(i)).has_value());
    }
    EXPECT_EQ(World::code_of(desk.bind("discord", "u9", "inst-1")), "relay_limit_reached");
    const std::string code = World::text_of(desk.link(), "code");
    EXPECT_FALSE(desk.redeem(desk.attempt(code)).is_bound);
    EXPECT_TRUE(desk.redeem(desk.attempt(code, "u10")).is_bound);
}

TEST(RelayLink, BoundsTheLinksOfATenant) {
    Desk desk({.quotas = {.bindings_max = 2}});
    EXPECT_EQ(World::code_of(desk.bind("discord", "u2", "inst-1")), "ok");
    EXPECT_EQ(World::code_of(desk.bind("discord", "u3", "inst-1")), "relay_limit_reached");
    EXPECT_EQ(World::code_of(desk.bind("discord", "u2", "inst-1")), "ok");
}

TEST(RelayScope, AnOwnerWhoSeesTheChannelClaimsIt) {
    Desk desk;
    ASSERT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "ok");
    const ScopeRow* const scope = desk.state().scope_of("discord", "g1", "c1");
    ASSERT_NE(scope, nullptr);
    EXPECT_EQ(scope->instance_id, "inst-1");
    ASSERT_EQ(desk.bot->questions.size(), 1u);
    EXPECT_EQ(desk.bot->questions[0].user_id, "u1");
    EXPECT_EQ(desk.count_in_chain("RELAY_SCOPE_CLAIMED"), 1);
}

// relay-connector.md#8-the-egress-guard
TEST(RelayScope, AClaimedChannelIsKnownBeforeAnybodySpokeThere) {
    Desk desk;
    desk.claim(desk.one, "g1", "c1");
    const auto chat =
        desk.state().chats.find(row_key({kBot.platform, kBot.bot_id, "c1"}), Timestamp{});
    ASSERT_TRUE(chat);
    ASSERT_NE(*chat, nullptr);
    EXPECT_EQ((*chat)->tenant_id, desk.one.tenant_id);
    EXPECT_EQ((*chat)->guild_id, "g1");
    EXPECT_TRUE((*chat)->delivered_to.empty());
}

TEST(RelayScope, ClaimingAgainChangesNothing) {
    Desk desk;
    desk.claim(desk.one, "g1", "c1");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "ok");
    EXPECT_EQ(desk.count_in_chain("RELAY_SCOPE_CLAIMED"), 1);
}

TEST(RelayScope, RefusesAGuildOfAnotherTenantUnasked) {
    Desk desk;
    desk.route(kBot, "g2", "globex");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g2", "c1")), "guild_not_routed");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g3", "c1")), "guild_not_routed");
    EXPECT_TRUE(desk.bot->questions.empty());
}

TEST(RelayScope, RefusesAChannelThatNoOwnerSees) {
    Desk desk;
    desk.bot->views["u1"] = false;
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "owner_cannot_view");
    EXPECT_EQ(desk.state().scope_of("discord", "g1", "c1"), nullptr);
}

TEST(RelayScope, RefusesAnInstanceThatNobodyOwns) {
    Desk desk;
    const RelayCaller two = desk.add_instance("inst-2");
    EXPECT_EQ(World::code_of(desk.claim(two, "g1", "c1")), "owner_cannot_view");
}

TEST(RelayScope, DoesNotClaimWhatThePlatformDoesNotTell) {
    Desk desk;
    desk.bot->views.clear();
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "unavailable");
    desk.bots.clear();
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "unavailable");
    EXPECT_EQ(desk.state().scope_of("discord", "g1", "c1"), nullptr);
}

TEST(RelayScope, TellsToComeBackWhenAllWorkersAreBusy) {
    Desk desk;
    desk.are_workers_busy = true;
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "unavailable");
}

TEST(RelayScope, AChannelHasOneOwnerWhoIsNotNamed) {
    Desk desk;
    const RelayCaller two = desk.add_instance("inst-2");
    desk.bind("discord", "u1", "inst-2");
    desk.claim(desk.one, "g1", "c1");
    const auto refused = desk.claim(two, "g1", "c1");
    ASSERT_EQ(World::code_of(refused), "channel_claimed");
    EXPECT_EQ(refused.error().http_status(), 409);
    EXPECT_EQ(refused.error().message.find("inst-1"), std::string::npos);
    EXPECT_EQ(World::code_of(desk.release(two, "c1")), "not_found");
    EXPECT_EQ(World::code_of(desk.release(desk.one, "c1")), "ok");
    EXPECT_EQ(World::code_of(desk.claim(two, "g1", "c1")), "ok");
}

TEST(RelayScope, OfTwoThatAskAtOnceOneHasIt) {
    Desk desk;
    const RelayCaller two = desk.add_instance("inst-2");
    desk.bind("discord", "u1", "inst-2");
    desk.is_holding_blocking = true;
    std::vector<std::string> codes;
    for (const RelayCaller& caller : {desk.one, two}) {
        desk.management().claim_scope(caller, {"discord", "g1", "c1"}, [&](Result<Json> answer) {
            codes.push_back(World::code_of(answer));
        });
    }
    desk.settle();
    ASSERT_EQ(desk.blocking.size(), 2u);
    for (const auto& job : desk.blocking) {
        job();
    }
    desk.settle();
    EXPECT_EQ(codes, (std::vector<std::string>{"ok", "channel_claimed"}));
}

TEST(RelayScope, WhatWasSeenDoesNotCountOnceTheOwnerIsGone) {
    Desk desk;
    desk.is_holding_blocking = true;
    std::string code;
    desk.management().claim_scope(desk.one, {"discord", "g1", "c1"}, [&](Result<Json> answer) {
        code = World::code_of(answer);
    });
    desk.settle();
    ASSERT_EQ(desk.blocking.size(), 1u);
    desk.ask([&](RelayReply reply) {
        desk.management().unbind("operator:test", {"discord", {}, "u1", "", "inst-1"}, reply);
    });
    desk.blocking[0]();
    desk.settle();
    EXPECT_EQ(code, "owner_cannot_view");
}

TEST(RelayScope, BoundsTheChannelsOfATenantAndGivesBackWhatIsReleased) {
    Desk desk({.quotas = {.scopes_max = 2}});
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c1")), "ok");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c2")), "ok");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c3")), "relay_limit_reached");
    desk.release(desk.one, "c1");
    EXPECT_EQ(World::code_of(desk.claim(desk.one, "g1", "c3")), "ok");
}

TEST(RelayScope, AnOperatorClaimsForAnInstanceWithinItsTenant) {
    Desk desk;
    desk.bot->views.clear();
    desk.add_instance("foreign", "globex");
    const auto claim = [&](const std::string& instance) {
        return World::code_of(desk.ask([&](RelayReply reply) {
            desk.management().claim_scope_for(
                "operator:test", {instance, {"discord", "g1", "c1"}}, reply);
        }));
    };
    EXPECT_EQ(claim("foreign"), "guild_not_routed");
    EXPECT_EQ(claim("nobody"), "not_found");
    EXPECT_EQ(claim("inst-1"), "ok");
    EXPECT_EQ(desk.count_in_chain("RELAY_SCOPE_CLAIMED"), 1);
}

TEST(RelayPolicy, IsReplacedWholePerPlatform) {
    Desk desk;
    desk.set_policy(
        {.platform = "discord",
         .require_address = true,
         .free_response_scopes = {"c1"},
         .allow_other_bots = true});
    desk.set_policy({.platform = "telegram", .require_address = true, .free_response_scopes = {}});
    desk.set_policy({.platform = "discord", .require_address = false, .free_response_scopes = {}});
    const InstanceRow* const row = desk.state().instances.get("inst-1");
    EXPECT_EQ(
        RelayState::relevance_of(*row, "discord"),
        (RelevancePolicy{.platform = "discord", .free_response_scopes = {}}));
    EXPECT_TRUE(RelayState::relevance_of(*row, "telegram").require_address);
}

TEST(RelayPolicy, SaidAgainAtEachBootIsRecordedOnce) {
    Desk desk;
    const RelevancePolicy policy{
        .platform = "discord", .require_address = true, .free_response_scopes = {}};
    desk.set_policy(policy);
    desk.set_policy(policy);
    EXPECT_EQ(desk.count_in_chain("RELAY_POLICY_SET"), 1);
    ASSERT_TRUE(desk.restart().has_value());
    EXPECT_EQ(RelayState::relevance_of(*desk.state().instances.get("inst-1"), "discord"), policy);
}

TEST(RelayPolicy, BoundsThePlatformsOfAnInstance) {
    Desk desk;
    for (std::size_t i = 0; i < kInstancePlatformsMax; ++i) {
        const std::string platform = "p" + std::to_string(i);
        ASSERT_TRUE(
            desk.set_policy({.platform = platform, .free_response_scopes = {}}).has_value());
        ASSERT_TRUE(desk.set_principal({.platform = platform, .allow = {}}).has_value());
    }
    EXPECT_EQ(
        World::code_of(desk.set_policy({.platform = "more", .free_response_scopes = {}})),
        "relay_limit_reached");
    EXPECT_EQ(
        World::code_of(desk.set_principal({.platform = "more", .allow = {}})),
        "relay_limit_reached");
}

TEST(RelayPolicy, AudienceIsSetPerPlatformAndForAllOthers) {
    Desk desk;
    desk.set_principal({.platform = "", .audience = PrincipalAudience::any, .allow = {}});
    desk.set_principal(
        {.platform = "discord", .audience = PrincipalAudience::allow_list, .allow = {"u5"}});
    const InstanceRow* const row = desk.state().instances.get("inst-1");
    EXPECT_EQ(RelayState::principal_of(*row, "discord").audience, PrincipalAudience::allow_list);
    EXPECT_EQ(RelayState::principal_of(*row, "telegram").audience, PrincipalAudience::any);
    EXPECT_EQ(desk.count_in_chain("RELAY_PRINCIPAL_SET"), 2);
}

TEST(RelayPolicy, ADirectMessageDefaultNeedsALinkedUser) {
    Desk desk;
    const auto set = [&](const std::string& user) {
        return World::code_of(desk.ask([&](RelayReply reply) {
            desk.management().set_dm_default(desk.one, {"discord", {}, user}, reply);
        }));
    };
    EXPECT_EQ(set("stranger"), "user_not_linked");
    EXPECT_EQ(set("u1"), "ok");
    EXPECT_EQ(set("u1"), "ok");
    EXPECT_EQ(
        desk.state().dm_defaults.get(row_key({"discord", "100", "u1"}))->instance_id, "inst-1");
    EXPECT_EQ(desk.count_in_chain("RELAY_DM_DEFAULT_SET"), 1);
}

TEST(RelayPolicy, UnlinkingTakesTheDirectMessageDefaultAlong) {
    Desk desk;
    desk.ask([&](RelayReply reply) {
        desk.management().set_dm_default(desk.one, {"discord", {}, "u1"}, reply);
    });
    desk.ask([&](RelayReply reply) {
        desk.management().unbind("operator:test", {"discord", {}, "u1", "", "inst-1"}, reply);
    });
    EXPECT_EQ(desk.state().dm_defaults.get(row_key({"discord", "100", "u1"})), nullptr);
    EXPECT_TRUE(desk.state().bindings_of(kBot, "u1").empty());
}

TEST(RelayRoutes, AreUnique) {
    Desk desk;
    EXPECT_EQ(World::code_of(desk.route(kBot, "g1", "acme")), "ok");
    EXPECT_EQ(World::code_of(desk.route(kBot, "g1", "globex")), "conflict");
    EXPECT_EQ(World::code_of(desk.route({"discord", "200"}, "g1", "globex")), "ok");
    EXPECT_EQ(World::code_of(desk.route(kBot, "g9", "nobody")), "not_found");
    EXPECT_EQ(World::code_of(desk.route(kBot, "", "acme")), "invalid_request");
    EXPECT_EQ(desk.count_in_chain("RELAY_ROUTE_SET"), 1);
}

TEST(RelayRoutes, ARemovedRouteCanGoToAnotherTenant) {
    Desk desk;
    const auto remove = [&] {
        return World::code_of(desk.ask([&](RelayReply reply) {
            desk.management().remove_route("operator:test", {kBot, "g1", {}}, reply);
        }));
    };
    EXPECT_EQ(remove(), "ok");
    EXPECT_EQ(remove(), "not_found");
    EXPECT_EQ(World::code_of(desk.route(kBot, "g1", "globex")), "ok");
    EXPECT_EQ(desk.state().route_of(kBot, "g1").text(), "globex");
}

TEST(RelayRoutes, AreBoundedAndListedPerTenant) {
    Desk desk({.quotas = {.routes_max = 2}});
    EXPECT_EQ(World::code_of(desk.route(kBot, "g2")), "ok");
    EXPECT_EQ(World::code_of(desk.route(kBot, "g3")), "relay_limit_reached");
    EXPECT_EQ(World::code_of(desk.route(kBot, "g3", "globex")), "ok");
    const auto listed = desk.ask(
        [&](RelayReply reply) { desk.management().list_routes(TenantId::trusted("acme"), reply); });
    EXPECT_EQ(listed->find("routes")->items().size(), 2u);
    const auto all = desk.ask([&](RelayReply reply) { desk.management().list_routes({}, reply); });
    EXPECT_EQ(all->find("routes")->items().size(), 3u);
}

TEST(RelayHoldings, CountTheSameAfterARestart) {
    Desk desk;
    desk.claim(desk.one, "g1", "c1");
    desk.tenant_token();
    const TenantId acme = TenantId::trusted("acme");
    const auto counts = [&] {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < kHoldingKinds; ++i) {
            all.push_back(desk.holdings().count(static_cast<Holding>(i), acme));
        }
        return all;
    };
    const auto before = counts();
    EXPECT_EQ(before, (std::vector<std::size_t>{1, 1, 1, 1, 1}));
    ASSERT_TRUE(desk.restart().has_value());
    EXPECT_EQ(counts(), before);
}

// Whatever was asked in whatever order, no channel has two owners, the counts are those of the
// rows, and a restart finds the same.
TEST(RelayHoldings, AgreeWithTheRowsWhateverIsAsked) {
    EXPECT_TRUE(rc::check([] {
        Desk desk;
        std::vector<RelayCaller> callers = {desk.one, desk.add_instance("inst-2")};
        desk.bind("discord", "u1", "inst-2");
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 24));
        for (const int step : steps) {
            const RelayCaller& caller = callers[static_cast<std::size_t>(step % 2)];
            const std::string channel = "c" + std::to_string(step / 2 % 3);
            if (step / 6 < 2) {
                desk.claim(caller, "g1", channel);
            } else if (step / 6 == 2) {
                desk.release(caller, channel);
            } else {
                desk.ask([&](RelayReply reply) {
                    desk.management().unbind(
                        "operator:test", {"discord", {}, "u1", "", caller.instance_id}, reply);
                });
                desk.bind("discord", "u1", caller.instance_id);
            }
        }
        std::size_t rows = 0;
        desk.state().scopes.for_each([&](const std::string&, const ScopeRow&) { ++rows; });
        const std::size_t held =
            desk.holdings().scopes_of("inst-1").size() + desk.holdings().scopes_of("inst-2").size();
        RC_ASSERT(rows == held);
        RC_ASSERT(rows == desk.holdings().count(Holding::scope, desk.one.tenant_id));
        RC_ASSERT(desk.restart().has_value());
        RC_ASSERT(rows == desk.holdings().count(Holding::scope, desk.one.tenant_id));
        RC_ASSERT(desk.holdings().count(Holding::binding, desk.one.tenant_id) == 2u);
    }));
}

TEST(RelayAttempts, CountAWindowFromItsFirstAttempt) {
    MemoryRelayStore store;
    RelayState state(store);
    RelayAttempts attempts(
        state, {.name = "guess", .count_max = 2, .window = Duration::of_seconds(10)});
    RelayAttempts others(
        state, {.name = "other", .count_max = 2, .window = Duration::of_seconds(10)});
    RelayTurn first(Timestamp{1'000'000});
    EXPECT_TRUE(attempts.take(first, "a"));
    RelayTurn second(Timestamp{10'000'000});
    EXPECT_TRUE(attempts.take(second, "a"));
    EXPECT_FALSE(attempts.take(second, "a"));
    EXPECT_TRUE(attempts.is_spent("a", second.now()));
    EXPECT_FALSE(attempts.is_spent("b", second.now()));
    EXPECT_FALSE(others.is_spent("a", second.now()));
    RelayTurn third(Timestamp{11'000'000});
    EXPECT_TRUE(attempts.take(third, "a"));
    EXPECT_FALSE(attempts.is_spent("a", third.now()));
    // A refused attempt writes nothing.
    EXPECT_EQ(first.rows().rows.size(), 1u);
    EXPECT_EQ(second.rows().rows.size(), 1u);
    EXPECT_EQ(first.rows().rows[0].expires_at, Timestamp{11'000'000});
}

}  // namespace
}  // namespace interlock
