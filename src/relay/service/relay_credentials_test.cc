#include "relay/service/relay_credentials.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <thread>

#include "base/errors.h"
#include "relay/wire/relay_errors.h"
#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;
using Kind = AuthVerdict::Kind;

ProvisionRequest request_of(const std::string& gateway, const std::string& instance = "") {
    ProvisionRequest request;
    request.gateway_id = gateway;
    request.instance_id = instance;
    request.platform = "discord";
    request.bot_id = "100";
    return request;
}

RelayCredentials::NewGateway gateway_of(
    const std::string& gateway, const std::string& tenant = "acme") {
    return {
        .tenant_id = TenantId::trusted(tenant),
        .gateway_id = gateway,
        .instance_id = {},
        .secret = {},
        .wake_url = {},
        .display_name = {}};
}

Result<Json> rotate(World& world, const std::string& gateway, Duration grace) {
    return world.ask([&](RelayReply reply) {
        world.credentials().rotate_secret(
            "operator:test", {{}, gateway, {}}, grace, std::move(reply));
    });
}

Result<Json> revoke(World& world, RelayCredentials::Named which) {
    return world.ask([&](RelayReply reply) {
        world.credentials().revoke("operator:test", std::move(which), std::move(reply));
    });
}

TEST(RelayCredentials, EnrolsOnceAndThenKnowsTheGateway) {
    World world;
    const std::string bearer = world.tenant_token();
    const std::string token = world.enrollment();
    const auto told = world.enroll(bearer, token);
    ASSERT_EQ(World::code_of(told), "ok");
    const AuthVerdict verdict = world.dial("gw-1", World::text_of(told, "secret"));
    EXPECT_EQ(verdict.kind, Kind::accepted);
    EXPECT_EQ(verdict.caller.tenant_id.text(), "acme");
    EXPECT_EQ(verdict.caller.instance_id, "gw-1");
    EXPECT_EQ(World::code_of(world.enroll(bearer, token, "gw-2")), "enrollment_refused");
}

TEST(RelayCredentials, RefusesAnEnrollmentTokenOfAnotherTenantWithTheSameWords) {
    World world;
    const std::string bearer = world.tenant_token("globex");
    const auto foreign = world.enroll(bearer, world.enrollment("acme"));
    const auto unknown = world.enroll(bearer, "ilr_nothing");
    ASSERT_EQ(World::code_of(foreign), "enrollment_refused");
    EXPECT_EQ(foreign.error().message, unknown.error().message);
}

// ADR 0023: it may have been used on the server that was lost.
TEST(RelayCredentials, RefusesAnEnrollmentTokenThatCameBackWithABackup) {
    World world;
    const std::string bearer = world.tenant_token();
    const std::string token = world.enrollment();
    world.clock.advance(Duration::of_seconds(1));
    world.state().codes_void_before = world.clock.now();
    EXPECT_EQ(World::code_of(world.enroll(bearer, token)), "enrollment_refused");
    EXPECT_EQ(World::code_of(world.enroll(bearer, world.enrollment())), "ok");
}

TEST(RelayCredentials, RefusesAnEnrollmentTokenAfterAnHour) {
    World world;
    const std::string bearer = world.tenant_token();
    const std::string token = world.enrollment();
    world.clock.advance(kEnrollmentLife);
    EXPECT_EQ(World::code_of(world.enroll(bearer, token)), "enrollment_refused");
}

TEST(RelayCredentials, KeepsAnEnrollmentTokenThatCouldNotBeUsed) {
    World world;
    world.add_gateway(gateway_of("gw-1", "globex"));
    const std::string bearer = world.tenant_token();
    const std::string token = world.enrollment();
    EXPECT_EQ(World::code_of(world.enroll(bearer, token, "gw-1")), "relay_name_taken");
    EXPECT_EQ(World::code_of(world.enroll(bearer, token, "gw-2")), "ok");
}

TEST(RelayCredentials, RefusesBearersOfNobody) {
    World world;
    for (const std::string bearer : {"", "ilr_guess", "a.b.c"}) {
        EXPECT_EQ(World::code_of(world.provision(bearer, request_of("g"))), "unauthenticated");
    }
    EXPECT_EQ(
        World::code_of(world.provision(std::string(kAcmeBearer), request_of("g"))),
        "unauthenticated");
}

TEST(RelayCredentials, RefusesARevokedTenantToken) {
    World world;
    const auto minted = world.ask([&](RelayReply reply) {
        world.credentials().mint_tenant_token("operator:test", TenantId::trusted("acme"), reply);
    });
    const auto revoked = world.ask([&](RelayReply reply) {
        world.credentials().revoke_tenant_token(
            "operator:test", World::text_of(minted, "tokenId"), reply);
    });
    EXPECT_EQ(World::code_of(revoked), "ok");
    EXPECT_EQ(
        World::code_of(world.provision(World::text_of(minted, "token"), request_of("g"))),
        "unauthenticated");
}

TEST(RelayCredentials, BoundsTenantTokens) {
    World world({.quotas = {.tenant_tokens_max = 2}});
    world.tenant_token();
    world.tenant_token();
    const auto third = world.ask([&](RelayReply reply) {
        world.credentials().mint_tenant_token("operator:test", TenantId::trusted("acme"), reply);
    });
    EXPECT_EQ(World::code_of(third), "relay_limit_reached");
    ASSERT_TRUE(world.restart().has_value());
    const auto after = world.ask([&](RelayReply reply) {
        world.credentials().mint_tenant_token("operator:test", TenantId::trusted("acme"), reply);
    });
    EXPECT_EQ(World::code_of(after), "relay_limit_reached");
}

TEST(RelayCredentials, TakesTheTokenOfAConfiguredIssuer) {
    World world({.has_issuer = true});
    const auto told = world.provision(std::string(kAcmeBearer), request_of("gw-1", "inst-1"));
    EXPECT_EQ(World::code_of(told), "ok");
    EXPECT_EQ(World::text_of(told, "tenant"), "acme");
    EXPECT_EQ(
        World::code_of(world.provision(std::string(kExpiredBearer), request_of("gw-2"))),
        "unauthenticated");
}

TEST(RelayCredentials, TellsAnIssuersCallerToComeBackWhileItsKeysAreAway) {
    World world({.has_issuer = true});
    world.key_set = fail(errors::unavailable, "away");
    ASSERT_TRUE(world.restart().has_value());
    const auto told = world.provision(std::string(kAcmeBearer), request_of("gw-1"));
    EXPECT_EQ(World::code_of(told), "unavailable");
}

TEST(RelayCredentials, ProvisioningAgainTellsTheSameSecret) {
    World world;
    const std::string bearer = world.tenant_token();
    const auto first = world.provision(bearer, request_of("gw-1"));
    ProvisionRequest second = request_of("gw-1");
    second.platform = "telegram";
    second.bot_id = "7";
    const auto again = world.provision(bearer, second);
    ASSERT_EQ(World::code_of(again), "ok");
    EXPECT_EQ(World::text_of(again, "secret"), World::text_of(first, "secret"));
    EXPECT_EQ(World::text_of(again, "deliveryKey"), World::text_of(first, "deliveryKey"));
    EXPECT_EQ(world.state().instances.get("gw-1")->identities.size(), 2u);
}

TEST(RelayCredentials, ProvisioningAgainWithoutNewsIsNotRecorded) {
    World world;
    const std::string bearer = world.tenant_token();
    world.provision(bearer, request_of("gw-1"));
    world.provision(bearer, request_of("gw-1"));
    EXPECT_EQ(world.count_in_chain("RELAY_GATEWAY_PROVISIONED"), 1);
}

TEST(RelayCredentials, TheFirstTenantOwnsAGatewayAndAnInstance) {
    World world;
    const std::string acme = world.tenant_token("acme");
    const std::string globex = world.tenant_token("globex");
    ASSERT_EQ(World::code_of(world.provision(acme, request_of("gw-1", "inst-1"))), "ok");
    EXPECT_EQ(
        World::code_of(world.provision(globex, request_of("gw-1", "inst-9"))), "relay_name_taken");
    EXPECT_EQ(
        World::code_of(world.provision(globex, request_of("gw-9", "inst-1"))), "relay_name_taken");
    EXPECT_EQ(World::code_of(world.provision(acme, request_of("gw-2", "inst-1"))), "ok");
    EXPECT_EQ(
        World::code_of(world.provision(acme, request_of("gw-1", "inst-2"))), "relay_name_taken");
}

TEST(RelayCredentials, ConfirmsOnlyRoutesOfTheTenant) {
    World world;
    const BotKey bot{"discord", "100"};
    world.route(bot, "g1", "acme");
    world.route(bot, "g2", "globex");
    ProvisionRequest request = request_of("gw-1");
    request.route_keys = {"g1", "g2", "g3"};
    const auto told = world.provision(world.tenant_token(), request);
    EXPECT_EQ(to_text(*told->find("routeKeys")), R"(["g1"])");
}

TEST(RelayCredentials, RefusesAWakeUrlThatCannotBeUsedWhenItIsGiven) {  // relay-connector.md#wake
    World world;
    const std::string bearer = world.tenant_token();
    ProvisionRequest request = request_of("gw-1");
    for (const std::string bad :
         {"file:///etc/passwd",
          "http://u:p@h/",
          "gopher://h",
          "x",
          "http://127.0.0.1:8420/",
          "http://169.254.169.254/",
          "http://localhost/",
          "http://h.example:25/"}) {
        request.wake_url = bad;
        EXPECT_EQ(World::code_of(world.provision(bearer, request)), "url_not_allowed") << bad;
        EXPECT_EQ(world.state().gateways.get("gw-1"), nullptr) << bad;
    }
    request.wake_url = "https://wake.example/x";
    EXPECT_EQ(World::code_of(world.provision(bearer, request)), "ok");
    EXPECT_EQ(world.state().gateways.get("gw-1")->wake_url, "https://wake.example/x");
    EXPECT_FALSE(world.state().gateways.get("gw-1")->is_wake_trusted);
}

TEST(RelayCredentials, LooksUpOnlyANewUrlOfAKnownTenant) {
    World world;
    ProvisionRequest request = request_of("gw-1");
    request.wake_url = "https://wake.example/x";
    EXPECT_EQ(World::code_of(world.provision("nobody", request)), "unauthenticated");
    EXPECT_TRUE(world.judged_urls.empty());
    const std::string bearer = world.tenant_token();
    world.provision(bearer, request);
    world.provision(bearer, request);  // A gateway boots with the URL that it had.
    EXPECT_EQ(world.judged_urls, std::vector<std::string>{"https://wake.example/x"});
}

TEST(RelayCredentials, ATenantCannotReplaceTheWakeUrlOfAnOperator) {
    World world;
    auto gateway = gateway_of("gw-1");
    gateway.wake_url = "http://10.0.0.7/wake";
    ASSERT_TRUE(world.add_gateway(std::move(gateway)).has_value());
    ProvisionRequest request = request_of("gw-1");
    request.wake_url = "http://10.0.0.8/";
    EXPECT_EQ(World::code_of(world.provision(world.tenant_token(), request)), "ok");
    EXPECT_EQ(world.state().gateways.get("gw-1")->wake_url, "http://10.0.0.7/wake");
    EXPECT_TRUE(world.state().gateways.get("gw-1")->is_wake_trusted);
}

TEST(RelayCredentials, CutsADisplayNameAtSixtyFourCharacters) {
    World world;
    ProvisionRequest request = request_of("gw-1");
    for (int i = 0; i < 70; ++i) {
        request.display_name += "é";
    }
    world.provision(world.tenant_token(), request);
    EXPECT_EQ(world.state().gateways.get("gw-1")->display_name.size(), 2 * 64u);
}

TEST(RelayCredentials, BoundsTheBotsOfAnInstance) {
    World world;
    const std::string bearer = world.tenant_token();
    ProvisionRequest request = request_of("gw-1");
    for (std::size_t i = 0; i < kInstanceIdentitiesMax; ++i) {
        request.bot_id = std::to_string(i);
        ASSERT_EQ(World::code_of(world.provision(bearer, request)), "ok");
    }
    request.bot_id = "one more";
    EXPECT_EQ(World::code_of(world.provision(bearer, request)), "relay_limit_reached");
    EXPECT_EQ(world.state().instances.get("gw-1")->identities.size(), kInstanceIdentitiesMax);
}

TEST(RelayCredentials, BoundsTheGatewaysOfATenantAndNotOfOthers) {
    World world({.quotas = {.gateways_max = 2}});
    const std::string bearer = world.tenant_token();
    world.provision(bearer, request_of("a"));
    world.provision(bearer, request_of("b"));
    EXPECT_EQ(World::code_of(world.provision(bearer, request_of("c"))), "relay_limit_reached");
    EXPECT_EQ(World::code_of(world.provision(bearer, request_of("a"))), "ok");
    EXPECT_EQ(World::code_of(world.provision(world.tenant_token("globex"), request_of("c"))), "ok");
}

TEST(RelayCredentials, RefusesNamesThatAreNone) {
    World world;
    const std::string bearer = world.tenant_token();
    for (const std::string& bad :
         {std::string(), std::string("a\nb"), std::string(kGatewayIdBytesMax + 1, 'x')}) {
        EXPECT_EQ(World::code_of(world.provision(bearer, request_of(bad))), "invalid_request");
    }
}

TEST(RelayCredentials, TakesAPinnedSecretOfTheOperator) {
    World world;
    auto gateway = gateway_of("gw:with:colons");
    gateway.secret = SecretString("0123456789abcdef0123456789abcdef");
    ASSERT_TRUE(world.add_gateway(std::move(gateway)).has_value());
    EXPECT_EQ(
        world.dial("gw:with:colons", "0123456789abcdef0123456789abcdef").kind, Kind::accepted);
    auto weak = gateway_of("gw-2");
    weak.secret = SecretString("short");
    EXPECT_EQ(World::code_of(world.add_gateway(std::move(weak))), "invalid_request");
}

TEST(RelayCredentials, TellsExpiredFromWrong) {
    World world;
    const std::string secret = World::text_of(world.add_gateway(gateway_of("gw-1")), "secret");
    EXPECT_EQ(world.dial("gw-1", secret, -1).kind, Kind::expired);
    EXPECT_EQ(world.dial("gw-1", secret, 0).kind, Kind::accepted);
    EXPECT_EQ(world.dial("gw-1", "another secret", 300).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-1", "another secret", -1).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-2", secret, 300).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-1", "", 300).kind, Kind::rejected);
    EXPECT_EQ(world.credentials().authenticate("", world.clock.now()).kind, Kind::rejected);
}

TEST(RelayCredentials, NoTextButATokenIsEverAccepted) {
    World world;
    world.add_gateway(gateway_of("gw-1"));
    EXPECT_TRUE(rc::check([&](const std::string& bearer) {
        RC_ASSERT(
            world.credentials().authenticate(bearer, world.clock.now()).kind == Kind::rejected);
    }));
}

TEST(RelayCredentials, TakesTheAgentsTokenOfAnIssuer) {
    World world({.has_issuer = true});
    world.provision(std::string(kAcmeBearer), request_of("gw-1", "inst-1"));
    const auto judge = [&](std::string_view token) {
        return world.credentials().authenticate(token, world.clock.now());
    };
    const AuthVerdict good = judge(kAgentToken);
    EXPECT_EQ(good.kind, Kind::accepted);
    EXPECT_EQ(good.caller.instance_id, "inst-1");
    EXPECT_EQ(good.caller.gateway_id, "gw-1");
    EXPECT_EQ(judge(kExpiredAgentToken).kind, Kind::expired);
    EXPECT_EQ(judge(kAcmeBearer).kind, Kind::rejected);
    EXPECT_EQ(judge(kForeignAgentToken).kind, Kind::rejected);
}

TEST(RelayCredentials, TakesAnAudienceThatIsAListOfOneAndNoLongerOne) {
    World world({.has_issuer = true});
    world.key_set = third_key_set();
    ASSERT_TRUE(world.restart().has_value());
    world.add_gateway(gateway_of("inst-1"));
    const auto judge = [&](std::string_view token) {
        return world.credentials().authenticate(token, world.clock.now());
    };
    EXPECT_EQ(judge(kListedAgentToken).kind, Kind::accepted);
    EXPECT_EQ(judge(kListedAgentToken).caller.instance_id, "inst-1");
    EXPECT_EQ(judge(kTwiceListedAgentToken).kind, Kind::rejected);
}

TEST(RelayCredentials, RefusesAnAgentsTokenOfAnInstanceNobodyHas) {
    World world({.has_issuer = true});
    EXPECT_EQ(
        world.credentials().authenticate(kAgentToken, world.clock.now()).kind, Kind::rejected);
}

TEST(RelayCredentials, AnUnknownKeyOfAnIssuerIsNotCalledWrongBeforeItWasLookedFor) {
    World world({.has_issuer = true});
    world.provision(std::string(kAcmeBearer), request_of("gw-1", "inst-1"));
    world.clock.advance(kKeySetRefreshGap);
    world.key_set = second_key_set();
    const auto judge = [&] {
        return world.credentials().authenticate(kSecondKeyAgentToken, world.clock.now()).kind;
    };
    EXPECT_EQ(judge(), Kind::unavailable);
    EXPECT_EQ(judge(), Kind::accepted);
}

TEST(RelayCredentials, ARotatedSecretCountsUntilItRetires) {
    World world;
    const std::string first = World::text_of(world.add_gateway(gateway_of("gw-1")), "secret");
    const auto rotated = rotate(world, "gw-1", kSecretGrace);
    const std::string second = World::text_of(rotated, "secret");
    ASSERT_NE(first, second);
    EXPECT_EQ(world.dial("gw-1", first).kind, Kind::accepted);
    EXPECT_EQ(world.dial("gw-1", second).kind, Kind::accepted);
    world.clock.advance(kSecretGrace);
    EXPECT_EQ(world.dial("gw-1", first).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-1", second).kind, Kind::accepted);
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(world.dial("gw-1", second).kind, Kind::accepted);
}

TEST(RelayCredentials, ProvisioningAfterARotationTellsTheNewSecret) {
    World world;
    const std::string bearer = world.tenant_token();
    world.provision(bearer, request_of("gw-1"));
    const auto rotated = rotate(world, "gw-1", kSecretGrace);
    EXPECT_EQ(
        World::text_of(world.provision(bearer, request_of("gw-1")), "secret"),
        World::text_of(rotated, "secret"));
}

TEST(RelayCredentials, BoundsTheSecretsThatCount) {
    World world;
    world.add_gateway(gateway_of("gw-1"));
    for (std::size_t i = 1; i < kGatewaySecretsMax; ++i) {
        ASSERT_EQ(World::code_of(rotate(world, "gw-1", kSecretGrace)), "ok");
    }
    EXPECT_EQ(World::code_of(rotate(world, "gw-1", kSecretGrace)), "relay_limit_reached");
    EXPECT_EQ(World::code_of(rotate(world, "gw-1", Duration{0})), "ok");
    EXPECT_EQ(world.state().gateways.get("gw-1")->secrets.size(), 1u);
    EXPECT_EQ(
        World::code_of(rotate(world, "gw-1", Duration{kSecretGraceMax.microseconds + 1})),
        "out_of_range");
}

TEST(RelayCredentials, ARevokedGatewayIsRefusedTheMomentItIsAnswered) {
    World world;
    const std::string secret = World::text_of(world.add_gateway(gateway_of("gw-1")), "secret");
    EXPECT_TRUE(world.credentials().is_open("gw-1"));
    ASSERT_EQ(World::code_of(revoke(world, {{}, "gw-1", {}})), "ok");
    EXPECT_EQ(world.dial("gw-1", secret).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-1", secret, -1).kind, Kind::rejected);
    EXPECT_FALSE(world.credentials().is_open("gw-1"));
    ASSERT_EQ(world.hints.size(), 1u);
    EXPECT_EQ(world.hints[0].kind, RelayHint::Kind::revoked);
    EXPECT_EQ(world.hints[0].instance_id, "gw-1");
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(world.dial("gw-1", secret).kind, Kind::rejected);
}

TEST(RelayCredentials, OnlyAnOperatorBringsARevokedGatewayBack) {
    World world;
    const std::string bearer = world.tenant_token();
    const std::string old = World::text_of(world.provision(bearer, request_of("gw-1")), "secret");
    revoke(world, {{}, "gw-1", {}});
    EXPECT_EQ(World::code_of(world.provision(bearer, request_of("gw-1"))), "gateway_revoked");
    EXPECT_EQ(World::code_of(world.enroll(bearer, world.enrollment(), "gw-1")), "gateway_revoked");
    const auto added = world.add_gateway(gateway_of("gw-1"));
    ASSERT_EQ(World::code_of(added), "ok");
    EXPECT_EQ(world.dial("gw-1", World::text_of(added, "secret")).kind, Kind::accepted);
    EXPECT_EQ(world.dial("gw-1", old).kind, Kind::rejected);
}

TEST(RelayCredentials, AnInstanceIsRevokedWithAllItsGateways) {
    World world({.has_issuer = true});
    const std::string bearer(kAcmeBearer);
    world.provision(bearer, request_of("gw-1", "inst-1"));
    world.provision(bearer, request_of("gw-2", "inst-1"));
    revoke(world, {{}, "gw-1", {}});
    EXPECT_EQ(
        world.credentials().authenticate(kAgentToken, world.clock.now()).caller.gateway_id, "gw-2");
    ASSERT_EQ(World::code_of(revoke(world, {{}, {}, "inst-1"})), "ok");
    EXPECT_FALSE(world.credentials().is_open("gw-2"));
    EXPECT_EQ(
        world.credentials().authenticate(kAgentToken, world.clock.now()).kind, Kind::rejected);
    EXPECT_EQ(world.count_in_chain("RELAY_GATEWAY_REVOKED"), 2);
}

TEST(RelayCredentials, OtherTenantsHaveNothingOfThatName) {
    World world;
    world.add_gateway(gateway_of("gw-1", "globex"));
    EXPECT_EQ(World::code_of(revoke(world, {TenantId::trusted("acme"), "gw-1", {}})), "not_found");
    EXPECT_EQ(World::code_of(revoke(world, {TenantId::trusted("acme"), {}, "gw-1"})), "not_found");
    EXPECT_TRUE(world.credentials().is_open("gw-1"));
}

TEST(RelayCredentials, DeprovisioningTakesEverythingOfTheInstance) {
    World world;
    const BotKey bot{"discord", "100"};
    world.add_bot("discord", "100").views["u1"] = true;
    world.route(bot, "g1");
    const std::string secret = World::text_of(world.add_gateway(gateway_of("gw-1")), "secret");
    const RelayCaller caller{TenantId::trusted("acme"), "gw-1", "gw-1"};
    world.bind("discord", "u1", "gw-1");
    ASSERT_EQ(World::code_of(world.claim(caller, "g1", "c1")), "ok");
    world.ask([&](RelayReply reply) {
        world.management().set_dm_default(caller, {"discord", {}, "u1"}, reply);
    });
    world.change([&](RelayTurn& turn) {
        CapabilityRow row;
        row.instance_id = "gw-1";
        world.state().capabilities.put(turn, row_key({"gw-1", "discord", "100", "s", "k"}), row);
        world.state().capabilities.put(turn, row_key({"gw-10", "discord", "100", "s", "k"}), row);
        for (std::int64_t seq = 1; seq <= 600; ++seq) {
            DeadLetter letter;
            letter.entry.instance_id = seq == 600 ? "gw-10" : "gw-1";
            letter.entry.seq = seq;
            letter.entry.event_key = "e" + std::to_string(seq);
            letter.entry.text = "{}";
            letter.tenant_id = caller.tenant_id;
            letter.dead_at = turn.now();
            turn.rows().dead.push_back(letter);
        }
    });
    const auto gone =
        world.ask([&](RelayReply reply) { world.credentials().deprovision(caller, reply); });
    ASSERT_EQ(World::code_of(gone), "ok");
    EXPECT_EQ(world.dropped, std::vector<std::string>{"gw-1"});
    EXPECT_EQ(world.hints.size(), 1u);
    EXPECT_EQ(world.dial("gw-1", secret).kind, Kind::rejected);
    ASSERT_TRUE(world.restart().has_value());
    EXPECT_EQ(world.dial("gw-1", secret).kind, Kind::rejected);
    EXPECT_EQ(world.state().instances.get("gw-1"), nullptr);
    EXPECT_EQ(world.state().scope_of("discord", "g1", "c1"), nullptr);
    EXPECT_TRUE(world.state().bindings_of({"discord", "100"}, "u1").empty());
    EXPECT_EQ(world.state().dm_defaults.get(row_key({"discord", "100", "u1"})), nullptr);
    const auto left = *world.store().read_rows("capability", "", "", 10);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].key, row_key({"gw-10", "discord", "100", "s", "k"}));
    EXPECT_TRUE(world.store().read_dead_letters("gw-1", {"gw-1", 0}, 10)->empty());
    EXPECT_EQ(world.store().read_dead_letters("gw-10", {"gw-10", 0}, 10)->size(), 1u);
    EXPECT_EQ(world.holdings().count(Holding::gateway, caller.tenant_id), 0u);
}

TEST(RelayCredentials, SaysNothingOfSecretsInRowsAndRecords) {
    World world;
    const std::string bearer = world.tenant_token();
    const std::string token = world.enrollment();
    const std::string secret = World::text_of(world.enroll(bearer, token), "secret");
    const std::string rotated = World::text_of(rotate(world, "gw-1", kSecretGrace), "secret");
    const std::string text = world.stored_text();
    ASSERT_NE(text.find("RELAY_SECRET_ROTATED"), std::string::npos);
    for (const std::string& hidden : {bearer, token, secret, rotated}) {
        ASSERT_FALSE(hidden.empty());
        EXPECT_EQ(text.find(hidden), std::string::npos);
    }
}

TEST(RelayCredentials, DoesNotStartOnASecretThatWasChanged) {
    World world;
    world.add_gateway(gateway_of("gw-1"));
    const auto started = world.restart([](MemoryRelayContents& contents) {
        std::string& json = contents.rows.at({"gateway", "gw-1"}).json;
        const std::size_t at = json.find("sealed\":\"") + 20;
        json[at] = json[at] == 'A' ? 'B' : 'A';
    });
    ASSERT_FALSE(started.has_value());
    EXPECT_TRUE(started.error() == errors::corrupt_data);
    EXPECT_EQ(world.dial("gw-1", "anything").kind, Kind::unavailable);
    // Nothing is asked of a relay that did not start.
    EXPECT_EQ(World::code_of(world.provision("ilr_x", request_of("gw-1"))), "unavailable");
    EXPECT_EQ(World::code_of(world.add_gateway(gateway_of("gw-2"))), "unavailable");
}

TEST(RelayCredentials, NobodyIsToldOfAChangeThatWasNotStored) {
    World world;
    world.store().fail_next_commit();
    const auto added = world.add_gateway(gateway_of("gw-1"));
    EXPECT_EQ(World::code_of(added), "unavailable");
    EXPECT_FALSE(world.credentials().is_open("gw-1"));
    EXPECT_EQ(world.dial("gw-1", "x").kind, Kind::unavailable);
    // A lane that is lost takes nothing more, and says so.
    EXPECT_EQ(World::code_of(world.add_gateway(gateway_of("gw-2"))), "unavailable");
}

TEST(RelayCredentials, AreAskedFromManyThreadsWhileTheyChange) {
    World world;
    const std::string secret = World::text_of(world.add_gateway(gateway_of("gw-1")), "secret");
    std::atomic<bool> is_over{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
        askers.emplace_back([&] {
            while (!is_over.load()) {
                // Its first secret counts throughout: each rotation leaves it a day.
                wrong += world.dial("gw-1", secret).kind == Kind::accepted ? 0 : 1;
                world.credentials().is_open("gw-2");
            }
        });
    }
    for (std::size_t i = 1; i < kGatewaySecretsMax; ++i) {
        EXPECT_EQ(World::code_of(rotate(world, "gw-1", kSecretGrace)), "ok");
        EXPECT_EQ(World::code_of(world.add_gateway(gateway_of("gw-2"))), "ok");
        EXPECT_EQ(World::code_of(revoke(world, {{}, "gw-2", {}})), "ok");
    }
    is_over = true;
    for (std::thread& asker : askers) {
        asker.join();
    }
    EXPECT_EQ(wrong.load(), 0);
}

TEST(RelayCredentials, ListsGatewaysOfOneTenantWithoutSecrets) {
    World world;
    world.add_gateway(gateway_of("gw-1", "acme"));
    world.add_gateway(gateway_of("gw-2", "globex"));
    const auto listed = world.ask(
        [&](RelayReply reply) { world.credentials().list(TenantId::trusted("acme"), reply); });
    ASSERT_EQ(listed->find("gateways")->items().size(), 1u);
    const std::string text = to_text(*listed);
    EXPECT_NE(text.find("gw-1"), std::string::npos);
    EXPECT_EQ(text.find("ilr_"), std::string::npos);
}

}  // namespace
}  // namespace interlock
