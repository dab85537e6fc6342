#include "relay/face/relay_http.h"

#include <gtest/gtest.h>

#include "testing/fake_http.h"
#include "testing/relay_manage_world.h"

namespace interlock {
namespace {

using World = RelayManageWorld;

// Keeps arrivals until the test answers for them.
class HeldInbox final : public PlatformInbox {
public:
    void submit(PlatformArrival arrival, std::function<void(InboxAnswer)> done) override {
        arrivals.push_back(std::move(arrival));
        waiting.push_back(std::move(done));
    }
    void note_cursor(const BotKey&, std::string) override {}

    std::vector<PlatformArrival> arrivals;
    std::vector<std::function<void(InboxAnswer)>> waiting;
};

struct Desk {
    explicit Desk(RelayHttpLimits limits = {})
        : http(
              {.credentials = world.credentials(),
               .management = world.management(),
               .inbox = inbox,
               .bot =
                   [this](const BotKey& key) {
                       const auto found = world.bots.find(key);
                       return found == world.bots.end() ? nullptr : found->second.get();
                   },
               .clock = world.clock},
              limits) {}

    using Responder = std::shared_ptr<FakeResponder>;
    Responder send(HttpRequest request) {
        auto responder = std::make_shared<FakeResponder>();
        EXPECT_TRUE(http.takes(request)) << request.target;
        http.handle(std::move(request), responder);
        world.settle();
        return responder;
    }
    static HttpRequest request(
        const std::string& path, const std::string& bearer, const std::string& body) {
        HttpRequest made;
        made.method = "POST";
        made.target = path;
        made.body = body;
        made.peer_address = "192.0.2.1";
        if (!bearer.empty()) {
            made.headers.emplace_back("Authorization", "Bearer " + bearer);
        }
        return made;
    }
    Responder post(
        const std::string& path, const std::string& bearer, const std::string& body = "{}") {
        return send(request(path, bearer, body));
    }
    // The bearer of an instance that is made up on the way.
    std::string bearer_of(const std::string& instance, const std::string& tenant = "acme") {
        const auto added = world.add_gateway(
            {.tenant_id = TenantId::trusted(tenant),
             .gateway_id = "gw-" + instance,
             .instance_id = instance,
             .secret = {},
             .wake_url = {},
             .display_name = {}});
        return mint_upgrade_token("gw-" + instance, World::text_of(added, "secret"), 0);
    }
    static std::string field(const Responder& responder, std::string_view key) {
        return World::text_of(parse_json(responder->response->body), key);
    }

    World world;
    HeldInbox inbox;
    RelayHttp http;
};

TEST(RelayHttp, EnrolsAndAnswersAsClientsRead) {
    Desk desk;
    const std::string token = desk.world.enrollment();
    const std::string bearer = desk.world.tenant_token();
    const auto told = desk.post(
        "/relay/enroll", bearer, R"({"enrollmentToken":")" + token + R"(","gatewayId":"gw-1"})");
    ASSERT_EQ(told->status(), 200);
    EXPECT_EQ(Desk::field(told, "tenant"), "acme");
    EXPECT_EQ(Desk::field(told, "gatewayId"), "gw-1");
    EXPECT_FALSE(Desk::field(told, "secret").empty());
    EXPECT_FALSE(Desk::field(told, "deliveryKey").empty());
    EXPECT_EQ(told->response->header("Cache-Control"), "no-store");
}

TEST(RelayHttp, TellsBadIdentityFromABadEnrollmentToken) {
    Desk desk;
    const std::string body = R"({"enrollmentToken":"x","gatewayId":"gw-1"})";
    EXPECT_EQ(desk.post("/relay/enroll", "nobody", body)->status(), 401);
    EXPECT_EQ(desk.post("/relay/enroll", "", body)->status(), 401);
    const auto refused = desk.post("/relay/enroll", desk.world.tenant_token(), body);
    EXPECT_EQ(refused->status(), 403);
    EXPECT_EQ(Desk::field(refused, "code"), "enrollment_refused");
    EXPECT_FALSE(Desk::field(refused, "error").empty());
    EXPECT_FALSE(Desk::field(refused, "next").empty());
}

TEST(RelayHttp, AnswersBadBodiesWith400) {
    Desk desk;
    const std::string bearer = desk.world.tenant_token();
    for (const std::string body : {"", "[]", "{", R"({"gatewayId":5.5})", R"({"gatewayId":""})"}) {
        const auto refused = desk.post("/relay/provision", bearer, body);
        EXPECT_EQ(refused->status(), 400) << body;
        EXPECT_FALSE(Desk::field(refused, "error").empty());
    }
}

TEST(RelayHttp, ProvisionsWhatTheRealClientSends) {
    Desk desk;
    const auto told = desk.post(
        "/relay/provision",
        desk.world.tenant_token(),
        R"({"gatewayId":"gw-1","platform":"discord","botId":"100","gatewayEndpoint":"",)"
        R"("routeKeys":[],"instanceId":"i-1","wakeUrl":"https://w.example/"})");
    ASSERT_EQ(told->status(), 200);
    EXPECT_FALSE(Desk::field(told, "secret").empty());
    EXPECT_NE(told->response->body.find(R"("routeKeys":[])"), std::string::npos);
}

TEST(RelayHttp, AnswersANameOfAnotherTenantWith409) {
    Desk desk;
    desk.bearer_of("one", "globex");
    const auto refused =
        desk.post("/relay/provision", desk.world.tenant_token(), R"({"gatewayId":"gw-one"})");
    EXPECT_EQ(refused->status(), 409);
}

TEST(RelayHttp, SlowsAnAddressThatEnrolsTooOften) {
    Desk desk({.join = {.count = 1, .per = Duration::of_minutes(1), .burst = 2}});
    const auto knock = [&] { return desk.post("/relay/enroll", "guess"); };
    EXPECT_EQ(knock()->status(), 400);
    EXPECT_EQ(knock()->status(), 400);
    const auto slowed = knock();
    EXPECT_EQ(slowed->status(), 429);
    EXPECT_TRUE(slowed->response->header("Retry-After").has_value());
    HttpRequest other = Desk::request("/relay/enroll", "guess", "{}");
    other.peer_address = "192.0.2.2";
    EXPECT_EQ(desk.send(std::move(other))->status(), 400);
}

TEST(RelayHttp, SlowsAGatewayThatCallsTooOften) {
    Desk desk({.manage = {.count = 1, .per = Duration::of_minutes(1), .burst = 1}});
    const std::string bearer = desk.bearer_of("one");
    const std::string body = R"({"platform":"discord"})";
    EXPECT_EQ(desk.post("/relay/policy", bearer, body)->status(), 200);
    EXPECT_EQ(desk.post("/relay/policy", bearer, body)->status(), 429);
    EXPECT_EQ(desk.post("/relay/policy", desk.bearer_of("two"), body)->status(), 200);
}

TEST(RelayHttp, ManagesTheInstanceOfTheCredentialWhateverTheBodySays) {
    Desk desk;
    const std::string bearer = desk.bearer_of("one");
    desk.bearer_of("two", "globex");
    const auto told = desk.post(
        "/manage/principal", bearer, R"({"policy":"any","instanceId":"two","tenant":"globex"})");
    ASSERT_EQ(told->status(), 200);
    EXPECT_EQ(desk.world.state().instances.get("one")->principals.size(), 1u);
    EXPECT_TRUE(desk.world.state().instances.get("two")->principals.empty());
}

TEST(RelayHttp, EveryManagementRouteWantsAGatewaysCredential) {
    Desk desk;
    const std::string tenant_token = desk.world.tenant_token();
    for (const std::string path :
         {"/relay/policy",
          "/manage/link",
          "/manage/scope",
          "/manage/scope/release",
          "/manage/principal",
          "/manage/dm-default",
          "/manage/deprovision"}) {
        for (const std::string& bearer : {std::string(), std::string("x"), tenant_token}) {
            const auto refused = desk.post(path, bearer);
            EXPECT_EQ(refused->status(), 401) << path;
            EXPECT_EQ(refused->response->header("WWW-Authenticate"), "Bearer");
        }
    }
}

TEST(RelayHttp, TwoBearersAreNone) {
    Desk desk;
    const std::string bearer = desk.bearer_of("one");
    HttpRequest request = Desk::request("/manage/deprovision", bearer, "{}");
    request.headers.emplace_back("authorization", "Bearer " + bearer);
    EXPECT_EQ(desk.send(std::move(request))->status(), 401);
}

TEST(RelayHttp, TellsAnExpiredTokenSo) {
    Desk desk;
    const auto added = desk.world.add_gateway(
        {.tenant_id = TenantId::trusted("acme"),
         .gateway_id = "gw-1",
         .instance_id = {},
         .secret = {},
         .wake_url = {},
         .display_name = {}});
    const auto refused = desk.post(
        "/manage/link",
        mint_upgrade_token("gw-1", World::text_of(added, "secret"), 1),
        R"({"platform":"discord"})");
    EXPECT_EQ(refused->status(), 401);
    EXPECT_NE(Desk::field(refused, "error").find("expired"), std::string::npos);
}

TEST(RelayHttp, AnswersEachRouteOnceItIsStored) {
    Desk desk;
    const std::string bearer = desk.bearer_of("one");
    desk.world.add_bot("discord", "100").views["u1"] = true;
    desk.world.route({"discord", "100"}, "g1");
    desk.world.bind("discord", "u1", "one");
    const std::string scope = R"({"platform":"discord","guildId":"g1","channelId":"c1"})";
    const auto linked = desk.post("/manage/link", bearer, R"({"platform":"discord"})");
    EXPECT_EQ(linked->status(), 200);
    EXPECT_FALSE(Desk::field(linked, "code").empty());
    EXPECT_FALSE(Desk::field(linked, "expiresAt").empty());
    EXPECT_EQ(desk.post("/manage/scope", bearer, scope)->status(), 200);
    EXPECT_EQ(desk.post("/manage/scope/release", bearer, scope)->status(), 200);
    EXPECT_EQ(
        desk.post("/manage/dm-default", bearer, R"({"platform":"discord","userId":"u1"})")
            ->status(),
        200);
    EXPECT_EQ(desk.post("/manage/deprovision", bearer, "")->status(), 200);
    EXPECT_EQ(desk.post("/manage/link", bearer, R"({"platform":"discord"})")->status(), 401);
}

TEST(RelayHttp, SaysToComeAgainWhenNothingCanBeStored) {
    Desk desk;
    const std::string bearer = desk.bearer_of("one");
    desk.world.store().fail_next_commit();
    const auto lost = desk.post("/manage/principal", bearer, R"({"policy":"any"})");
    EXPECT_EQ(lost->status(), 503);
    EXPECT_TRUE(lost->response->header("Retry-After").has_value());
    EXPECT_EQ(desk.post("/manage/principal", bearer, R"({"policy":"any"})")->status(), 503);
}

TEST(RelayHttp, TakesItsOwnPathsAndNoOthers) {
    Desk desk;
    const auto takes = [&](const std::string& path) {
        return desk.http.takes(Desk::request(path, "", ""));
    };
    EXPECT_TRUE(takes("/webhooks/discord/100?x=1"));
    EXPECT_FALSE(takes("/relay"));
    EXPECT_FALSE(takes("/relay/media"));
    EXPECT_FALSE(takes("/health"));
    HttpRequest got = Desk::request("/relay/enroll", "", "");
    got.method = "GET";
    const auto refused = desk.send(std::move(got));
    EXPECT_EQ(refused->status(), 405);
    EXPECT_EQ(refused->response->header("Allow"), "POST");
    EXPECT_EQ(desk.post("/manage/else", "")->status(), 404);
}

TEST(RelayHttp, RefusesBodiesBeyondTheirBound) {
    Desk desk;
    const std::string bearer = desk.bearer_of("one");
    EXPECT_EQ(
        desk.post("/relay/policy", bearer, std::string(kRelayBodyBytesMax + 1, ' '))->status(),
        413);
    desk.world.add_bot("sms", "1");
    EXPECT_EQ(
        desk.post("/webhooks/sms/1", "", std::string(kWebhookBodyBytesMax + 1, ' '))->status(),
        413);
    EXPECT_TRUE(desk.world.bots.at({"sms", "1"})->requests.empty());
}

TEST(RelayHttp, TakesTheLongestPolicyThatMayBe) {
    Desk desk;
    Json scopes = Json::array();
    for (std::size_t i = 0; i < kFreeResponseScopesMax; ++i) {
        std::string id = std::to_string(i);
        scopes.push(id.append(512 - id.size(), 'x'));
    }
    Json policy = Json::object({{"platform", "discord"}});
    policy.set("freeResponseScopes", std::move(scopes));
    EXPECT_EQ(desk.post("/relay/policy", desk.bearer_of("one"), to_text(policy))->status(), 200);
}

struct Hook : Desk {
    Hook() : bot(world.add_bot("discord", "100")) {
        bot.on_receive = [this](const WebhookRequest&) {
            WebhookAnswer answer;
            answer.content_type = "application/json";
            answer.body = "{\"type\":5}";
            answer.arrivals.resize(arrivals);
            answer.undelivered_body = [](const InboxAnswer& told) { return "no: " + told.notice; };
            return answer;
        };
    }
    Responder knock() { return post("/webhooks/discord/100?a=b", "", "raw \x01 bytes"); }

    FakeChatBot& bot;
    std::size_t arrivals = 1;
};

TEST(RelayWebhook, ReachesTheBotAsItCame) {
    Hook hook;
    hook.knock();
    ASSERT_EQ(hook.bot.requests.size(), 1u);
    EXPECT_EQ(hook.bot.requests[0].method, "POST");
    EXPECT_EQ(hook.bot.requests[0].url, "/webhooks/discord/100?a=b");
    EXPECT_EQ(hook.bot.requests[0].body, "raw \x01 bytes");
    EXPECT_EQ(hook.bot.requests[0].now_seconds, hook.world.clock.now().microseconds / 1'000'000);
}

TEST(RelayWebhook, IsAnsweredAfterItsArrivalIsStored) {
    Hook hook;
    const auto waiting = hook.knock();
    EXPECT_EQ(waiting->status(), 0);
    hook.inbox.waiting.at(0)({true, true, ""});
    EXPECT_EQ(waiting->status(), 200);
    EXPECT_EQ(waiting->response->body, "{\"type\":5}");
    EXPECT_EQ(waiting->response->header("Content-Type"), "application/json");
}

TEST(RelayWebhook, WaitsForAllItsArrivals) {
    Hook hook;
    hook.arrivals = 3;
    const auto waiting = hook.knock();
    ASSERT_EQ(hook.inbox.waiting.size(), 3u);
    hook.inbox.waiting[2]({true, false, ""});
    hook.inbox.waiting[0]({true, true, ""});
    EXPECT_EQ(waiting->status(), 0);
    hook.inbox.waiting[1]({true, false, ""});
    EXPECT_EQ(waiting->response->body, "{\"type\":5}");
}

TEST(RelayWebhook, IsToBeSentAgainWhenOneArrivalIsNotStored) {
    Hook hook;
    hook.arrivals = 2;
    const auto waiting = hook.knock();
    hook.inbox.waiting.at(0)({true, true, ""});
    hook.inbox.waiting.at(1)({false, false, ""});
    EXPECT_EQ(waiting->status(), 503);
    EXPECT_TRUE(waiting->response->header("Retry-After").has_value());
    EXPECT_EQ(hook.http.counters().webhooks_deferred.load(), 1u);
}

TEST(RelayWebhook, TellsTheUserWhenNobodyWillAnswer) {
    Hook hook;
    const auto waiting = hook.knock();
    hook.inbox.waiting.at(0)({true, false, "nobody is linked"});
    EXPECT_EQ(waiting->response->body, "no: nobody is linked");
}

TEST(RelayWebhook, IsAnsweredAtOnceWithoutArrivals) {
    Hook hook;
    hook.arrivals = 0;
    EXPECT_EQ(hook.knock()->status(), 200);
    EXPECT_TRUE(hook.inbox.waiting.empty());
}

TEST(RelayWebhook, TellsAForgerOnlyThatItIsRefused) {
    Hook hook;
    hook.bot.on_receive = [](const WebhookRequest&) {
        WebhookAnswer answer;
        answer.status = 401;
        answer.refusal = "bad_signature";
        return answer;
    };
    const auto refused = hook.knock();
    EXPECT_EQ(refused->status(), 401);
    EXPECT_EQ(refused->response->body.find("signature"), std::string::npos);
    EXPECT_EQ(Desk::field(refused, "code"), "webhook_refused");
    EXPECT_EQ(hook.http.counters().webhooks_refused.load(), 1u);
}

TEST(RelayWebhook, OfABotWeDoNotHaveIsNotFound) {
    Hook hook;
    EXPECT_EQ(hook.post("/webhooks/discord/999", "")->status(), 404);
    EXPECT_EQ(hook.post("/webhooks/telegram/100", "")->status(), 404);
    EXPECT_EQ(hook.post("/webhooks/discord", "")->status(), 404);
}

TEST(RelayWebhook, MayBeAGet) {
    Hook hook;
    hook.bot.on_receive = [](const WebhookRequest& request) {
        WebhookAnswer answer;
        answer.body = request.method;
        return answer;
    };
    HttpRequest request = Desk::request("/webhooks/discord/100?echostr=1", "", "");
    request.method = "GET";
    EXPECT_EQ(hook.send(std::move(request))->response->body, "GET");
}

}  // namespace
}  // namespace interlock
