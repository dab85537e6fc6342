// The relay's credentials and management plane as its documents tell them, over the HTTP routes:
// each test names the section of seed 003, the fact of relay-wire or the ruling (R…) it holds us
// to.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/outbound_url.h"
#include "base/text.h"
#include "relay/face/relay_http.h"
#include "relay/wire/relay_errors.h"
#include "testing/fake_http.h"
#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;
using Kind = AuthVerdict::Kind;

class NoInbox final : public PlatformInbox {
public:
    void submit(PlatformArrival, std::function<void(InboxAnswer)> done) override { done({}); }
    void note_cursor(const BotKey&, std::string) override {}
};

struct Said {
    int status = 0;
    Json body;

    std::string text(std::string_view key) const { return World::text_of(body, key); }
};

// A connector with an issuer, the tenants acme and globex, and the bot 100 on Discord.
class Connector {
public:
    Connector() : world({.has_issuer = true}) {
        world.add_bot("discord", "100").views = {{"alice", true}, {"bob", true}};
    }

    Said post(const std::string& path, const std::string& bearer, const std::string& body) {
        RelayHttp http(
            {.credentials = world.credentials(),
             .management = world.management(),
             .inbox = inbox_,
             .bot = nullptr,
             .clock = world.clock});
        HttpRequest request;
        request.method = "POST";
        request.target = path;
        request.body = body;
        request.headers = {{"Content-Type", "application/json"}};
        if (!bearer.empty()) {
            request.headers.emplace_back("Authorization", "Bearer " + bearer);
        }
        const auto responder = std::make_shared<FakeResponder>();
        EXPECT_TRUE(http.takes(request)) << path;
        http.handle(std::move(request), responder);
        world.settle();
        return {responder->status(), *parse_json(responder->response->body)};
    }
    Said provision(const std::string& bearer, const std::string& more) {
        return post("/relay/provision", bearer, "{" + more + "}");
    }
    // The bearer of an instance of acme, provisioned as the real client does it.
    std::string instance(const std::string& name) {
        const Said told = provision(
            std::string(kAcmeBearer),
            R"("gatewayId":"gw-)" + name + R"(","instanceId":")" + name + "\"");
        EXPECT_EQ(told.status, 200);
        secrets[name] = told.text("secret");
        return mint_upgrade_token("gw-" + name, secrets[name], 0);
    }

    World world;
    std::map<std::string, std::string> secrets;

private:
    NoInbox inbox_;
};

std::string scope_of(const std::string& guild, const std::string& channel) {
    return R"({"platform":"discord","guildId":")" + guild + R"(","channelId":")" + channel +
           R"("})";
}

// 003 §6.1: the authenticated tenant comes from the connector's store.
TEST(RelayManageConformance, S61TheStoreSaysWhoseGatewayDials) {
    Connector connector;
    connector.instance("inst-1");
    const AuthVerdict verdict = connector.world.dial("gw-inst-1", connector.secrets["inst-1"]);
    ASSERT_EQ(verdict.kind, Kind::accepted);
    EXPECT_EQ(verdict.caller.tenant_id.text(), "acme");
    EXPECT_EQ(verdict.caller.instance_id, "inst-1");
}

// 003 §6.1: a list of secrets verifies, so that one can be rotated out.
TEST(RelayManageConformance, S61OldAndNewSecretsVerifyWhileOneIsRotatedOut) {
    Connector connector;
    connector.instance("inst-1");
    const auto rotated = connector.world.ask([&](RelayReply reply) {
        connector.world.credentials().rotate_secret(
            "operator:test", {{}, "gw-inst-1", {}}, kSecretGrace, reply);
    });
    const std::string fresh = World::text_of(rotated, "secret");
    EXPECT_EQ(connector.world.dial("gw-inst-1", fresh).kind, Kind::accepted);
    EXPECT_EQ(connector.world.dial("gw-inst-1", connector.secrets["inst-1"]).kind, Kind::accepted);
}

// 003 §6.1, R6: mismatch, absence and revocation are 4401; a good token that expired is not.
TEST(RelayManageConformance, S61RefusalsAreToldApart) {
    Connector connector;
    connector.instance("inst-1");
    const std::string secret = connector.secrets["inst-1"];
    World& world = connector.world;
    EXPECT_EQ(world.dial("gw-inst-1", "mismatch").kind, Kind::rejected);
    EXPECT_EQ(world.credentials().authenticate("", world.clock.now()).kind, Kind::rejected);
    EXPECT_EQ(world.dial("gw-inst-1", secret, -1).kind, Kind::expired);
    world.ask([&](RelayReply reply) {
        world.credentials().revoke("operator:test", {{}, "gw-inst-1", {}}, reply);
    });
    EXPECT_EQ(world.dial("gw-inst-1", secret).kind, Kind::rejected);
}

// relay-wire §8: equal to its expiry a token still passes; 0 never ends.
TEST(RelayManageConformance, W8ExpiryIsInclusiveAndZeroIsNever) {
    Connector connector;
    connector.instance("inst-1");
    World& world = connector.world;
    const std::int64_t now = world.clock.now().microseconds / 1'000'000;
    const auto at = [&](std::int64_t expiry) {
        return world.credentials()
            .authenticate(
                mint_upgrade_token("gw-inst-1", connector.secrets["inst-1"], expiry),
                world.clock.now())
            .kind;
    };
    EXPECT_EQ(at(now), Kind::accepted);
    EXPECT_EQ(at(now - 1), Kind::expired);
    EXPECT_EQ(at(0), Kind::accepted);
}

// relay-wire §9: the reply of enroll, its 401, 403 and 400.
TEST(RelayManageConformance, W9EnrollAnswers) {
    Connector connector;
    const std::string bearer(kAcmeBearer);
    const std::string token = connector.world.enrollment();
    const std::string body = R"({"enrollmentToken":")" + token + R"(","gatewayId":"gw-1"})";
    EXPECT_EQ(connector.post("/relay/enroll", "stranger", body).status, 401);
    EXPECT_EQ(connector.post("/relay/enroll", std::string(kGlobexBearer), body).status, 403);
    EXPECT_EQ(connector.post("/relay/enroll", bearer, "{}").status, 400);
    const Said told = connector.post("/relay/enroll", bearer, body);
    ASSERT_EQ(told.status, 200);
    for (const std::string_view key : {"secret", "deliveryKey", "tenant", "gatewayId"}) {
        EXPECT_FALSE(told.text(key).empty()) << key;
    }
    const Said used = connector.post("/relay/enroll", bearer, body);
    EXPECT_EQ(used.status, 403);
    EXPECT_FALSE(used.text("error").empty());
}

// relay-wire §9: one POST per platform; the first reply's secret stays valid.
TEST(RelayManageConformance, W9ProvisioningAnotherPlatformKeepsTheSecret) {
    Connector connector;
    connector.instance("inst-1");
    const Said again = connector.provision(
        std::string(kAcmeBearer),
        R"("gatewayId":"gw-inst-1","instanceId":"inst-1","platform":"telegram","botId":"7")");
    EXPECT_EQ(again.text("secret"), connector.secrets["inst-1"]);
}

// R4: provision confirms only routes that were granted to its tenant.
TEST(RelayManageConformance, R4ProvisionConfirmsGrantedRoutesOnly) {
    Connector connector;
    connector.world.route({"discord", "100"}, "ours", "acme");
    connector.world.route({"discord", "100"}, "theirs", "globex");
    const Said told = connector.provision(
        std::string(kAcmeBearer),
        R"("gatewayId":"g","platform":"discord","botId":"100","routeKeys":["theirs","ours","no"])");
    EXPECT_EQ(to_text(*told.body.find("routeKeys")), R"(["ours"])");
    EXPECT_EQ(connector.world.state().route_of({"discord", "100"}, "no").text(), "");
}

// R4: a discriminator is routed to one tenant.
TEST(RelayManageConformance, R4ARouteIsUnique) {
    Connector connector;
    const BotKey bot{"discord", "100"};
    EXPECT_EQ(World::code_of(connector.world.route(bot, "g", "acme")), "ok");
    EXPECT_EQ(World::code_of(connector.world.route(bot, "g", "globex")), "conflict");
}

// R7: the first tenant owns a gateway's and an instance's name.
TEST(RelayManageConformance, R7NamesBelongToTheFirstTenant) {
    Connector connector;
    connector.instance("inst-1");
    const std::string globex(kGlobexBearer);
    EXPECT_EQ(connector.provision(globex, R"("gatewayId":"gw-inst-1")").status, 409);
    EXPECT_EQ(connector.provision(globex, R"("gatewayId":"x","instanceId":"inst-1")").status, 409);
}

// R7: without instanceId it is the gatewayId.
TEST(RelayManageConformance, R7TheInstanceIsTheGatewayUnlessNamed) {
    Connector connector;
    connector.provision(std::string(kAcmeBearer), R"("gatewayId":"gw-9")");
    EXPECT_NE(connector.world.state().instances.get("gw-9"), nullptr);
}

// R7: secrets are sealed, tokens that are only compared are hashed.
TEST(RelayManageConformance, R7NoSecretLiesInTheStore) {
    Connector connector;
    connector.instance("inst-1");
    const std::string token = connector.world.enrollment();
    const std::string text = connector.world.stored_text();
    EXPECT_EQ(text.find(connector.secrets["inst-1"]), std::string::npos);
    EXPECT_EQ(text.find(token), std::string::npos);
}

// R7: the bearer's issuer, audience, expiry and key are all checked.
TEST(RelayManageConformance, R7BearersOfIssuersAreJudgedWhole) {
    Connector connector;
    const std::string wish = R"("gatewayId":"g")";
    for (const std::string_view bad :
         {kExpiredBearer, kOtherAudienceBearer, kOtherIssuerBearer, kNoTenantBearer, kAgentToken}) {
        EXPECT_EQ(connector.provision(std::string(bad), wish).status, 401);
    }
    EXPECT_EQ(connector.provision(std::string(kAcmeBearer), wish).status, 200);
}

// 003 §7.2: both credentials of the upgrade open the management routes.
TEST(RelayManageConformance, S72BothCredentialsManage) {
    Connector connector;
    const std::string own = connector.instance("inst-1");
    const std::string body = R"({"policy":"any"})";
    EXPECT_EQ(connector.post("/manage/principal", own, body).status, 200);
    EXPECT_EQ(connector.post("/manage/principal", std::string(kAgentToken), body).status, 200);
    EXPECT_EQ(
        connector.post("/manage/principal", std::string(kForeignAgentToken), body).status, 401);
    EXPECT_EQ(connector.post("/manage/principal", std::string(kAcmeBearer), body).status, 401);
}

// 003 §7.2: an instanceId in the body is ignored.
TEST(RelayManageConformance, S72TheBodyNamesNoInstance) {
    Connector connector;
    const std::string one = connector.instance("inst-1");
    connector.instance("inst-2");
    ASSERT_EQ(
        connector.post("/manage/principal", one, R"({"policy":"any","instanceId":"inst-2"})")
            .status,
        200);
    EXPECT_EQ(connector.world.state().instances.get("inst-1")->principals.size(), 1u);
    EXPECT_TRUE(connector.world.state().instances.get("inst-2")->principals.empty());
}

// 003 §7.2, R8: a link's user is the one the platform names; the code is short-lived and single.
TEST(RelayManageConformance, S72ALinkBindsTheUserWhoRedeemsIt) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const Said told = connector.post("/manage/link", bearer, R"({"platform":"discord"})");
    ASSERT_EQ(told.status, 200);
    EXPECT_EQ(told.text("expiresAt"), to_text(connector.world.clock.now() + kLinkCodeLife));
    const LinkAttempt attempt{{"discord", "100"}, "alice", "Alice", told.text("code"), true};
    const LinkOutcome bound = connector.world.redeem(attempt);
    EXPECT_TRUE(bound.is_bound);
    EXPECT_NE(bound.sentence.find("inst-1"), std::string::npos);
    EXPECT_FALSE(connector.world.redeem(attempt).is_bound);
    EXPECT_EQ(connector.world.state().bindings_of({"discord", "100"}, "alice").size(), 1u);
}

// R8: at least fifty bits, in a direct message only.
TEST(RelayManageConformance, R8CodesAreLongAndPrivate) {
    static_assert(kLinkCodeCharacters * 5 >= 50);
    static_assert(kLinkCodeLife == Duration::of_minutes(10));
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const Said told = connector.post("/manage/link", bearer, R"({"platform":"discord"})");
    EXPECT_FALSE(connector.world.redeem({{"discord", "100"}, "alice", "", told.text("code"), false})
                     .is_bound);
}

// 003 §7.2: a channel is owned by at most one instance.
TEST(RelayManageConformance, S72AChannelHasOneOwner) {
    Connector connector;
    const std::string one = connector.instance("inst-1");
    const std::string two = connector.instance("inst-2");
    connector.world.route({"discord", "100"}, "g1");
    connector.world.bind("discord", "alice", "inst-1");
    connector.world.bind("discord", "bob", "inst-2");
    EXPECT_EQ(connector.post("/manage/scope", one, scope_of("g1", "c")).status, 200);
    EXPECT_EQ(connector.post("/manage/scope", two, scope_of("g1", "c")).status, 409);
    EXPECT_EQ(connector.post("/manage/scope/release", two, scope_of("g1", "c")).status, 404);
    EXPECT_EQ(connector.post("/manage/scope/release", one, scope_of("g1", "c")).status, 200);
    EXPECT_EQ(connector.post("/manage/scope", two, scope_of("g1", "c")).status, 200);
}

// R9: a claim needs the guild routed to the tenant and an owner who can see the channel now.
TEST(RelayManageConformance, R9AClaimNeedsRouteAndSight) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    connector.world.bind("discord", "alice", "inst-1");
    const auto claim = [&] {
        return connector.post("/manage/scope", bearer, scope_of("g1", "c")).status;
    };
    EXPECT_EQ(claim(), 403);
    connector.world.route({"discord", "100"}, "g1");
    connector.world.bots.at({"discord", "100"})->views["alice"] = false;
    EXPECT_EQ(claim(), 403);
    connector.world.bots.at({"discord", "100"})->views.clear();
    EXPECT_EQ(claim(), 503);
    connector.world.bots.at({"discord", "100"})->views["alice"] = true;
    EXPECT_EQ(claim(), 200);
}

// R9: bodies and words of the principal policy.
TEST(RelayManageConformance, R9PrincipalPolicies) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const auto set = [&](const std::string& body) {
        return connector.post("/manage/principal", bearer, body).status;
    };
    EXPECT_EQ(set(R"({"policy":"owner-only"})"), 200);
    EXPECT_EQ(set(R"({"policy":"allow-list","allow":["u1"],"platform":"discord"})"), 200);
    EXPECT_EQ(set(R"({"policy":"any"})"), 200);
    EXPECT_EQ(set(R"({"policy":"everybody"})"), 400);
    EXPECT_EQ(set(R"({"policy":"allow-list"})"), 400);
}

// 003 §7.2: the DM default is of a user who linked the instance.
TEST(RelayManageConformance, S72DmDefaultIsForLinkedUsers) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const std::string body = R"({"platform":"discord","userId":"alice"})";
    EXPECT_EQ(connector.post("/manage/dm-default", bearer, body).status, 403);
    connector.world.bind("discord", "alice", "inst-1");
    EXPECT_EQ(connector.post("/manage/dm-default", bearer, body).status, 200);
}

// §6: a person's direct messages change hands by his word alone, not by an instance's.
TEST(RelayManageConformance, S6AnotherInstanceAsksAndThePersonDecides) {
    Connector connector;
    const std::string one = connector.instance("inst-1");
    const std::string two = connector.instance("inst-2");
    const BotKey bot{"discord", "100"};
    connector.world.bind("discord", "alice", "inst-1");
    connector.world.clock.advance(Duration::of_seconds(1));
    connector.world.bind("discord", "alice", "inst-2");
    const std::string body = R"({"platform":"discord","userId":"alice"})";
    const Said asked = connector.post("/manage/dm-default", two, body);
    ASSERT_EQ(asked.status, 200);
    EXPECT_EQ(asked.text("state"), "asked");
    EXPECT_EQ(connector.world.state().dm_choice_of(bot, "alice"), "inst-1");
    EXPECT_EQ(connector.post("/manage/dm-default", one, body).text("state"), "set");
    connector.world.change([&](RelayTurn& turn) {
        connector.world.people().answer(
            turn,
            {.bot = bot, .user_id = "alice", .user_name = {}, .is_dm = true},
            *read_person_word("/default inst-2"));
    });
    EXPECT_EQ(connector.world.state().dm_choice_of(bot, "alice"), "inst-2");
    EXPECT_EQ(connector.post("/manage/dm-default", two, body).text("state"), "set");
}

// 003 §3: "a per-tenant delivery key is still issued".
TEST(RelayManageConformance, S3TheDeliveryKeyIsTheTenants) {
    Connector connector;
    const std::string acme(kAcmeBearer);
    const Said first = connector.provision(acme, R"("gatewayId":"gw-1")");
    const Said second = connector.provision(acme, R"("gatewayId":"gw-2")");
    const Said foreign = connector.provision(std::string(kGlobexBearer), R"("gatewayId":"gw-3")");
    EXPECT_EQ(first.text("deliveryKey"), second.text("deliveryKey"));
    EXPECT_NE(first.text("deliveryKey"), foreign.text("deliveryKey"));
}

// §2: a link is to one bot.
TEST(RelayManageConformance, S2ALinkIsToOneBot) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const Said told =
        connector.post("/manage/link", bearer, R"({"platform":"discord","botId":"100"})");
    const std::string code = told.text("code");
    EXPECT_FALSE(connector.world.redeem({{"discord", "200"}, "alice", "", code, true}).is_bound);
    EXPECT_TRUE(connector.world.redeem({{"discord", "100"}, "alice", "", code, true}).is_bound);
    EXPECT_TRUE(connector.world.state().bindings_of({"discord", "200"}, "alice").empty());
}

// 003 §7.3: a full replace; an absent row means the defaults; success is 200 and nothing else.
TEST(RelayManageConformance, S73ThePolicyIsReplacedWhole) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    const auto held = [&] {
        return RelayState::relevance_of(
            *connector.world.state().instances.get("inst-1"), "discord");
    };
    EXPECT_EQ(held(), (RelevancePolicy{.platform = "discord", .free_response_scopes = {}}));
    ASSERT_EQ(
        connector
            .post(
                "/relay/policy",
                bearer,
                R"({"platform":"discord","requireAddress":true,)"
                R"("freeResponseScopes":["c1"],"allowOtherBots":true})")
            .status,
        200);
    EXPECT_TRUE(held().require_address);
    connector.post("/relay/policy", bearer, R"({"platform":"discord","allowOtherBots":true})");
    EXPECT_FALSE(held().require_address);
    EXPECT_TRUE(held().free_response_scopes.empty());
}

// R16: deprovisioning purges, and the credential is refused from then on.
TEST(RelayManageConformance, R16DeprovisionPurges) {
    Connector connector;
    const std::string bearer = connector.instance("inst-1");
    connector.world.bind("discord", "alice", "inst-1");
    EXPECT_EQ(connector.post("/manage/deprovision", bearer, "{}").status, 200);
    EXPECT_EQ(connector.post("/manage/deprovision", bearer, "{}").status, 401);
    EXPECT_TRUE(connector.world.state().bindings_of({"discord", "100"}, "alice").empty());
    EXPECT_EQ(connector.world.dropped, std::vector<std::string>{"inst-1"});
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(std::filesystem::path(INTERLOCK_SOURCE_DIR) / path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

using Rows = std::map<std::string, std::string>;

// First and second column of the tables in a section of the page.
Rows told(std::string_view heading) {
    Rows rows;
    bool is_inside = false;
    const std::string page = file_text("docs/contracts/relay-management.md");
    for (const std::string_view line : split(page, '\n')) {
        if (line.starts_with("## ")) {
            is_inside = line.find(heading) != std::string_view::npos;
        }
        const auto cells = split(line, '|');
        if (is_inside && line.starts_with("| ") && cells.size() >= 4) {
            std::string name(trim(cells[1]));
            std::erase(name, '`');
            rows[name] = trim(cells[2]);
        }
    }
    EXPECT_FALSE(rows.empty()) << heading;
    return rows;
}

// docs/contracts/relay-management.md §2: every route of the page is served.
TEST(RelayManageConformance, ThePageTellsRoutesThatAreThere) {
    Connector connector;
    std::size_t routes = 0;
    for (const auto& [path, body] : told("2. Routes")) {
        if (path.starts_with('/')) {
            ++routes;
            const int status = connector.post(path, "", "{}").status;
            EXPECT_TRUE(status == 401 || status == 400) << path << " " << status;
        }
    }
    EXPECT_EQ(routes, 9u);
}

// §3: codes and statuses are those of the code.
TEST(RelayManageConformance, ThePageTellsRefusalsAsTheyAre) {
    Rows kinds = {{"code", "status"}};
    for (const ErrorKind* kind :
         {&errors::enrollment_refused,
          &errors::gateway_revoked,
          &errors::relay_name_taken,
          &errors::relay_limit_reached,
          &errors::guild_not_routed,
          &errors::owner_cannot_view,
          &errors::channel_claimed,
          &errors::user_not_linked,
          &errors::url_not_allowed}) {
        kinds[std::string(kind->code)] = std::to_string(kind->http_status);
    }
    EXPECT_EQ(told("3. Refusals"), kinds);
}

// "10000" as the page writes it.
std::string grouped(std::size_t number) {
    std::string text = std::to_string(number);
    return text.size() > 3 ? text.insert(text.size() - 3, ",") : text;
}

// §4: the bounds are those of the code.
TEST(RelayManageConformance, ThePageTellsBoundsAsTheyAre) {
    const RelayQuotas quotas;
    const RelayHttpLimits limits;
    const auto pace = [](const RateLimit& limit) {
        return std::to_string(limit.count) + ", at once " + std::to_string(limit.burst);
    };
    const Rows bounds = {
        {"of", "at most"},
        {"gateways of a tenant", grouped(quotas.gateways_max)},
        {"routes of a tenant", grouped(quotas.routes_max)},
        {"channels of a tenant", grouped(quotas.scopes_max)},
        {"linked users of a tenant", grouped(quotas.bindings_max)},
        {"tenant tokens of a tenant", grouped(quotas.tenant_tokens_max)},
        {"secrets of a gateway that count", grouped(kGatewaySecretsMax)},
        {"bots of an instance", grouped(kInstanceIdentitiesMax)},
        {"platforms with policies of an instance", grouped(kInstancePlatformsMax)},
        {"instances of a user on a platform", grouped(kUserBindingsMax)},
        {"link codes of an instance in 10 minutes", grouped(kLinkCodesPerWindowMax)},
        {"tries of a user in 10 minutes", grouped(kLinkTriesPerUserMax)},
        {"answered words of a user at a bot in 10 minutes", grouped(kPersonWordsMax)},
        {"strangers of a tenant at a bot, and of none there",
         grouped(kStrangersPerBotMax) + ", for 7 days since they were last seen"},
        {"wrong codes at a bot in 10 minutes", grouped(kLinkMissesPerBotMax)},
        {"enrolments and provisions of an address in a minute", pace(limits.join)},
        {"other calls of a gateway in a second", pace(limits.manage)},
    };
    EXPECT_EQ(told("4. Bounds"), bounds);
}

// §5: every record that these services make is told, and no other.
TEST(RelayManageConformance, ThePageTellsEveryRecord) {
    std::set<std::string> made;
    for (const std::string name :
         {"relay_seal",
          "relay_credentials",
          "relay_credentials_operator",
          "relay_management",
          "relay_management_operator"}) {
        const std::string source = file_text("src/relay/service/" + name + ".cc");
        for (const std::string_view part : split(source, '"')) {
            if (part.starts_with("RELAY_")) {
                made.emplace(part);
            }
        }
    }
    std::set<std::string> page;
    for (const auto& [event, meaning] : told("5. Records")) {
        if (event.starts_with("RELAY_")) {
            page.insert(event);
        }
    }
    EXPECT_EQ(page, made);
}

TEST(RelayManageConformance, R13AnUnusableWakeUrlIsRefusedWhenItIsGiven) {
    Connector connector;
    for (const std::string url :
         {"http://10.0.0.8/wake", "http://[::1]/", "http://localhost:9/", "ftp://wake.example/"}) {
        const Said told = connector.provision(
            std::string(kAcmeBearer), R"("gatewayId":"gw-1","wakeUrl":")" + url + "\"");
        EXPECT_EQ(told.status, 400) << url;
        EXPECT_EQ(told.text("code"), "url_not_allowed") << url;
        EXPECT_TRUE(told.text("error").starts_with("The URL ")) << told.text("error");
        EXPECT_FALSE(told.text("next").empty());
        EXPECT_EQ(connector.world.state().gateways.get("gw-1"), nullptr) << url;
    }
    const Said good = connector.provision(
        std::string(kAcmeBearer), R"("gatewayId":"gw-1","wakeUrl":"https://wake.example/up")");
    EXPECT_EQ(good.status, 200);
}

}  // namespace
}  // namespace interlock
