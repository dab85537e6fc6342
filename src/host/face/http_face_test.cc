// The face with a handful of operations: the key in the path, and how much one key or one tenant
// may ask. Who may call what is walked over the whole table in conformance/contracts.
#include "host/face/http_face.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/log.h"
#include "testing/fake_http.h"
#include "testing/principal_desk.h"

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

class HttpFaceTest : public ::testing::Test {
protected:
    HttpFaceTest() {
        for (const TenantId& tenant : {kDemo, kOther}) {
            CHECK(desk_
                      .ask<Answer>(
                          &PrincipalService::create_tenant,
                          PrincipalDesk::host_operator(),
                          CreateTenant{tenant, "A name"})
                      .has_value());
        }
        add("thing", "GET", "/api/{tenant_id}/thing", {.agent = Scope::read});
        add("stop", "POST", "/api/{tenant_id}/stop", {.human = true, .agent = Scope::read});
        add("set_kill_switch", "POST", "/api/{tenant_id}/kill", {.agent_with_any_scope = true});
        add("ledger",
            "GET",
            "/api/{tenant_id}/ledger",
            {.host_operator = true, .agent = Scope::read});
        add("people", "GET", "/api/{tenant_id}/people", {.host_operator = true, .human = true});
        add("signup", "POST", "/signup", {.place = Access::Place::host, .anyone = true});
        add("login", "POST", "/account/login", {.place = Access::Place::host, .anyone = true});
        add("open", "GET", "/open", {.place = Access::Place::host, .anyone = true});
        add("page", "GET", "/page", {.place = Access::Place::host, .anyone = true});
        add("healthz", "GET", "/healthz", {.place = Access::Place::host, .anyone = true});
        build({});
    }

    void add(std::string id, std::string method, std::string path, Access access) {
        Operation operation;
        operation.id = std::move(id);
        operation.method = std::move(method);
        operation.path = std::move(path);
        operation.access = access;
        operation.query = {{.name = "n", .description = "", .schema = Json::object()}};
        operation.request_schema = operation.method == "GET" ? Json() : Json::object();
        operation.handle = [this](ApiCall call, ApiReplyTo reply) {
            seen_target_ = call.http->target;
            seen_tenant_ = call.tenant_id;
            saw_referer_ = call.http->header("Referer").has_value();
            if (call.http->path().ends_with("/ledger")) {
                charge_records(call, std::stoll(call.query.at("n")));
            }
            ApiReply out = json_reply(200, Json::object({{"n", call.query["n"]}}));
            out.headers.emplace_back("Cache-Control", "max-age=60");
            reply(std::move(out));
        };
        operation.lane = operation.id == "healthz"  ? AnonymousLane::none
                         : operation.id == "page"   ? AnonymousLane::page
                         : operation.id == "login"  ? AnonymousLane::entrance
                         : operation.id == "signup" ? AnonymousLane::entrance
                                                    : AnonymousLane::ordinary;
        operation.body_bytes_max = operation.id == "stop" ? 500 : kOperationBodyBytesMax;
        table_.add(std::move(operation));
    }

    void build(HttpFaceConfig config) {
        face_ = std::make_unique<HttpFace>(
            HttpFace::Parts{
                .table = table_,
                .directory = desk_.directory,
                .clock = desk_.clock,
                .metrics = metrics_,
                .mcp = [this](HttpRequest, Principal, HttpResponderPtr) { ++mcp_calls_; }},
            std::move(config));
    }

    struct Key {
        std::string secret;
        KeyId id;
    };
    Key make_key(const TenantId& tenant) {
        const auto made = desk_.ask<Answer>(
            &PrincipalService::create_access_key,
            PrincipalService::Caller{PrincipalDesk::host_operator(), tenant},
            CreateAccessKey{"k", {Scope::read}, {}});
        CHECK(made.has_value());
        const Json body = parse_json(made->body).value();
        return {
            body.find("access_key")->as_string(), KeyId::trusted(body.find("key_id")->as_string())};
    }

    static HttpRequest request(std::string method, std::string target) {
        HttpRequest request;
        request.method = std::move(method);
        request.target = std::move(target);
        request.headers = {{"Host", "localhost:8420"}};
        return request;
    }
    HttpResponse send(HttpRequest request) {
        const auto responder = std::make_shared<FakeResponder>();
        face_->handle(std::move(request), responder);
        CHECK(responder->response.has_value());
        return *responder->response;
    }
    HttpResponse get(std::string target) { return send(request("GET", std::move(target))); }
    HttpResponse with_key(std::string method, std::string target, const std::string& key) {
        HttpRequest sent = request(std::move(method), std::move(target));
        sent.headers.emplace_back("X-Access-Key", key);
        return send(std::move(sent));
    }
    // What a bad key in the header gets: the answer that all others must equal.
    HttpResponse refused() { return with_key("GET", "/api/demo/thing", "ilk_wrong"); }

    PrincipalDesk desk_;
    OperationTable table_;
    Metrics metrics_;
    std::unique_ptr<HttpFace> face_;
    std::string seen_target_;
    TenantId seen_tenant_;
    bool saw_referer_ = false;
    int mcp_calls_ = 0;
};

bool same(const HttpResponse& a, const HttpResponse& b) {
    return a.status == b.status && a.body == b.body && a.headers == b.headers;
}

// A document may be large, and anyone asks for it: it is not searched for each of them.
TEST_F(HttpFaceTest, ADocumentGoesOutAsItIsAndAnyOtherAnswerInTheWordsOfItsReader) {
    for (const bool is_document : {true, false}) {
        Operation operation;
        operation.id = is_document ? "document" : "advice";
        operation.method = "GET";
        operation.path = "/" + operation.id;
        operation.access = {.place = Access::Place::host, .anyone = true};
        operation.handle = [is_document](ApiCall, ApiReplyTo reply) {
            ApiReply out = json_reply(
                200,
                Json::object(
                    {{"blocked",
                      Json::object({{"code", "x"}, {"next", "See `interlock account`."}})}}));
            out.is_document = is_document;
            reply(std::move(out));
        };
        table_.add(std::move(operation));
    }
    build({});
    EXPECT_EQ(
        get("/document").body, R"({"blocked":{"code":"x","next":"See `interlock account`."}})");
    EXPECT_EQ(get("/advice").body, R"({"blocked":{"code":"x","next":"See GET /account."}})");
}

TEST_F(HttpFaceTest, AKeyInThePathIsItsTenantsOwnBase) {
    const Key key = make_key(kDemo);
    const HttpResponse response = get("/" + key.secret + "/thing?n=5");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"n":"5"})");
    EXPECT_EQ(seen_target_, "/api/demo/thing?n=5");
    EXPECT_EQ(seen_tenant_, kDemo);
}

TEST_F(HttpFaceTest, NoCacheAndNoRefererKeepsAnAddressWithAKey) {
    const Key key = make_key(kDemo);
    HttpRequest sent = request("GET", "/" + key.secret + "/thing");
    sent.headers.emplace_back("Referer", "http://localhost:8420/" + key.secret + "/thing");
    for (const HttpResponse& response : {send(sent), get("/ilk_wrong/thing")}) {
        EXPECT_EQ(response.header("Cache-Control"), "no-store");
        EXPECT_EQ(response.header("Referrer-Policy"), "no-referrer");
    }
    EXPECT_FALSE(saw_referer_);
}

TEST_F(HttpFaceTest, AWrongKeyInThePathIsRefusedAsEverywhere) {
    const std::string none(52, 'z');
    for (const std::string& path :
         {"/ilk_" + none + "/thing",
          "/ilk_" + none + "/thing?n=1",
          std::string("/ilk_/thing"),
          "/ilk_" + std::string(1500, 'z') + "/thing",
          std::string("/ilk_%zz/thing"),
          std::string("/ilk_%0d%0a%00/thing"),
          std::string("/%69lk_wrong/thing"),
          std::string("/ilk_a%2Fb/thing")}) {
        const HttpResponse response = get(path);
        EXPECT_TRUE(same(response, refused())) << path << ": " << response.body;
    }
}

TEST_F(HttpFaceTest, ARevokedKeyInThePathIsRefusedAsEverywhere) {
    const Key key = make_key(kDemo);
    ASSERT_EQ(get("/" + key.secret + "/thing").status, 200);
    ASSERT_TRUE(desk_
                    .ask<Answer>(
                        &PrincipalService::revoke_access_key,
                        PrincipalService::Caller{PrincipalDesk::host_operator(), kDemo},
                        key.id)
                    .has_value());
    EXPECT_TRUE(same(get("/" + key.secret + "/thing"), refused()));
}

TEST_F(HttpFaceTest, AnEncodedKeyInThePathIsTheSameKey) {
    const Key key = make_key(kDemo);
    EXPECT_EQ(get("/%69%6Ck_" + key.secret.substr(4) + "/thing").status, 200);
    EXPECT_EQ(seen_target_, "/api/demo/thing");
    // Decoded once and no more.
    EXPECT_EQ(get("/%2569lk_" + key.secret.substr(4) + "/thing").status, 404);
}

TEST_F(HttpFaceTest, NothingElseIsReachedThroughAKeyInThePath) {
    const Key key = make_key(kDemo);
    const std::string base = "/" + key.secret;
    for (const std::string& path :
         {base,
          base + "/",
          base + "?n=1",
          base + "/thing/",
          base + "//thing",
          base + "/../other/thing",
          base + "/api/demo/thing",
          base + "/mcp",
          base + base + "/thing",
          "/" + base + "/thing"}) {
        const HttpResponse response = get(path);
        EXPECT_EQ(response.status, 404) << path;
        EXPECT_EQ(response.body.find("ilk_"), std::string::npos) << path;
    }
    for (const char* path : {"/signup", "/account/login"}) {
        EXPECT_EQ(send(request("POST", base + path)).status, 404) << path;
    }
    EXPECT_EQ(mcp_calls_, 0);
}

// Routes are public; whether a key is right must not show where there is none.
TEST_F(HttpFaceTest, WithoutARouteARightAndAWrongKeyInThePathLookAlike) {
    const Key key = make_key(kDemo);
    EXPECT_TRUE(same(get("/" + key.secret + "/none"), get("/ilk_wrong/none")));
    EXPECT_TRUE(same(
        send(request("DELETE", "/" + key.secret + "/thing")),
        send(request("DELETE", "/ilk_wrong/thing"))));
}

TEST_F(HttpFaceTest, AnotherCredentialBesideTheKeyInThePathIsNobody) {
    const Key key = make_key(kDemo);
    const Key second = make_key(kDemo);
    const std::string path = "/" + key.secret + "/thing";
    EXPECT_EQ(with_key("GET", path, key.secret).status, 200);
    EXPECT_EQ(with_key("GET", path, second.secret).status, 401);
    HttpRequest sent = request("GET", path);
    sent.headers.emplace_back(
        "Authorization", "Bearer " + std::string(PrincipalDesk::kOperatorToken));
    EXPECT_TRUE(same(send(std::move(sent)), refused()));
    HttpRequest on_socket = request("GET", "/ilk_wrong/people");
    on_socket.listener = Listener::operator_socket;
    EXPECT_EQ(send(std::move(on_socket)).status, 401);
}

TEST_F(HttpFaceTest, AKeyInThePathHasTheRightsOfTheKeyAndNoMore) {
    const Key key = make_key(kDemo);
    EXPECT_EQ(get("/" + key.secret + "/people").status, 403);
    // In place of a tenant it is no tenant.
    EXPECT_TRUE(same(with_key("GET", "/api/" + key.secret + "/thing", key.secret), refused()));
}

TEST_F(HttpFaceTest, NoAnswerNumberOrLogLineShowsAKeyFromThePath) {
    configure_log({.level = LogLevel::debug, .format = LogFormat::json});
    ::testing::internal::CaptureStderr();
    const Key key = make_key(kDemo);
    const std::string mark = key.secret.substr(4);
    std::string shown;
    for (const char* rest : {"/thing", "/thing?n=%zz", "/thing?x=1", "/none", "/people", "/mcp"}) {
        for (const char* method : {"GET", "POST", "BREW"}) {
            const HttpResponse response = send(request(method, "/" + key.secret + rest));
            shown += response.body;
            for (const HttpHeader& header : response.headers) {
                shown += header.first + ":" + header.second + "\n";
            }
        }
    }
    HttpRequest elsewhere = request("GET", "/" + key.secret + "/thing");
    elsewhere.headers = {{"Host", "attacker.example"}};
    shown += send(std::move(elsewhere)).body;
    shown += metrics_.render();
    shown += ::testing::internal::GetCapturedStderr();
    configure_log({});
    EXPECT_NE(shown.find("thing"), std::string::npos);  // The numbers name the operation.
    EXPECT_EQ(shown.find(mark), std::string::npos) << shown;
}

TEST_F(HttpFaceTest, AnswersUnderTheHostOfThePublicUrl) {
    const auto status_as = [this](const std::string& host) {
        HttpRequest sent = request("POST", "/signup");
        sent.headers = {{"Host", host}};
        return send(std::move(sent)).status;
    };
    EXPECT_EQ(status_as("desk.example"), 403);
    build({.allowed_hosts = {}, .origin = OwnOrigin("https://desk.example")});
    EXPECT_EQ(status_as("desk.example"), 200);
    EXPECT_EQ(status_as("localhost:8420"), 200);
    EXPECT_EQ(status_as("other.example"), 403);
}

// The STOP button behind a proxy that ends TLS.
TEST_F(HttpFaceTest, APageOfThePublicUrlMayStopAndNoOtherMay) {
    const LoggedIn human = desk_.add_tenant_with_human("third", "owner@example.com");
    const auto stop_from = [&](const std::string& origin) {
        HttpRequest sent = request("POST", "/api/third/stop");
        sent.headers = {
            {"Host", "desk.example"},
            {"Origin", origin},
            {"Cookie", "interlock_session=" + std::string(human.token.reveal())}};
        return send(std::move(sent));
    };
    build({.allowed_hosts = {"desk.example"}});
    EXPECT_EQ(stop_from("https://desk.example").status, 403);
    build({.allowed_hosts = {}, .origin = OwnOrigin("https://desk.example")});
    const HttpResponse stopped = stop_from("https://desk.example");
    EXPECT_EQ(stopped.status, 200);
    EXPECT_TRUE(stopped.header("Strict-Transport-Security"));
    for (const char* foreign :
         {"https://evil.example", "https://desk.example.evil", "http://desk.example:80", "null"}) {
        EXPECT_EQ(stop_from(foreign).status, 403) << foreign;
    }
}

TEST_F(HttpFaceTest, KeysOfATenantShareItsBudget) {
    build({.allowed_hosts = {}, .requests_per_second = 5, .tenant_requests_per_second = 12});
    int passed = 0;
    for (int i = 0; i < 4; ++i) {
        const Key key = make_key(kDemo);
        for (int n = 0; n < 10; ++n) {
            passed += with_key("GET", "/api/demo/thing", key.secret).status == 200 ? 1 : 0;
        }
    }
    EXPECT_EQ(passed, 12);
    const Key another = make_key(kDemo);
    const HttpResponse response = get("/" + another.secret + "/thing");
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.header("Retry-After"), "1");
    desk_.clock.advance(Duration::of_seconds(1));
    EXPECT_EQ(with_key("GET", "/api/demo/thing", another.secret).status, 200);
}

// A read of the whole ledger holds the network thread as long as many requests do.
TEST_F(HttpFaceTest, WhoeverLooksAtManyRecordsPaysForThemAndNobodyElseDoes) {
    build({.allowed_hosts = {}, .requests_per_second = 5, .tenant_requests_per_second = 0});
    const Key key = make_key(kDemo);
    const std::string far = "/api/demo/ledger?n=" + std::to_string(kRecordsPerRequest * 12);
    EXPECT_EQ(with_key("GET", far, key.secret).status, 200);  // One of ten, and three owed.
    const HttpResponse refused = with_key("GET", "/api/demo/thing", key.secret);
    EXPECT_EQ(refused.status, 429);
    EXPECT_TRUE(refused.header("Retry-After"));
    EXPECT_EQ(with_key("GET", "/api/demo/thing", make_key(kDemo).secret).status, 200);
    EXPECT_EQ(with_key("GET", "/api/other/thing", make_key(kOther).secret).status, 200);
    desk_.clock.advance(Duration::of_seconds(1));
    EXPECT_EQ(with_key("GET", "/api/demo/thing", key.secret).status, 200);
}

TEST_F(HttpFaceTest, RecordsAreChargedToTheTenantOfAllItsKeysToo) {
    build({.allowed_hosts = {}, .requests_per_second = 0, .tenant_requests_per_second = 10});
    const std::string far = "/api/demo/ledger?n=" + std::to_string(kRecordsPerRequest * 20);
    EXPECT_EQ(with_key("GET", far, make_key(kDemo).secret).status, 200);
    EXPECT_EQ(with_key("GET", "/api/demo/thing", make_key(kDemo).secret).status, 429);
    EXPECT_EQ(with_key("GET", "/api/other/thing", make_key(kOther).secret).status, 200);
}

TEST_F(HttpFaceTest, AReadOfAPageIsOneRequestAndTheOperatorPaysNothing) {
    build({.allowed_hosts = {}, .requests_per_second = 5, .tenant_requests_per_second = 0});
    const Key key = make_key(kDemo);
    const std::string page = "/api/demo/ledger?n=" + std::to_string(kRecordsPerRequest - 1);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(with_key("GET", page, key.secret).status, 200) << i;
        HttpRequest all = request("GET", "/api/demo/ledger?n=1000000");
        all.headers.emplace_back(
            "Authorization", "Bearer " + std::string(PrincipalDesk::kOperatorToken));
        EXPECT_EQ(send(std::move(all)).status, 200) << i;
    }
    EXPECT_EQ(with_key("GET", page, key.secret).status, 429);
}

// MCP asks for its lists and streams, which are no operations.
TEST_F(HttpFaceTest, OtherRequestsOfAKeyDrawOnTheSameBudget) {
    build({.allowed_hosts = {}, .requests_per_second = 0, .tenant_requests_per_second = 2});
    const Key key = make_key(kDemo);
    const Principal principal = desk_.directory.by_access_key(key.secret).value();
    EXPECT_TRUE(face_->check_rate(principal));
    EXPECT_EQ(with_key("GET", "/api/demo/thing", key.secret).status, 200);
    const auto refused = face_->check_rate(principal);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().http_status(), 429);
    EXPECT_EQ(refused.error().retry_after_seconds, 1);
}

TEST_F(HttpFaceTest, AFloodOfOneTenantLeavesOthersAndItsPeopleAlone) {
    const LoggedIn human = desk_.add_tenant_with_human("third", "a@example.com");
    build({.allowed_hosts = {}, .requests_per_second = 0, .tenant_requests_per_second = 1});
    const TenantId third = TenantId::trusted("third");
    const Key key = make_key(third);
    const Key foreign = make_key(kOther);
    EXPECT_EQ(with_key("GET", "/api/third/thing", key.secret).status, 200);
    EXPECT_EQ(with_key("GET", "/api/third/thing", key.secret).status, 429);
    EXPECT_EQ(with_key("GET", "/api/other/thing", foreign.secret).status, 200);
    for (const std::string& token :
         {std::string(human.token.reveal()), std::string(PrincipalDesk::kOperatorToken)}) {
        for (int i = 0; i < 3; ++i) {
            HttpRequest sent = request("GET", "/api/third/people");
            sent.headers.emplace_back("Authorization", "Bearer " + token);
            EXPECT_EQ(send(std::move(sent)).status, 200);
        }
    }
}

TEST_F(HttpFaceTest, AForeignKeyCannotSpendATenantsBudget) {
    build({.allowed_hosts = {}, .requests_per_second = 0, .tenant_requests_per_second = 1});
    const Key key = make_key(kDemo);
    const Key foreign = make_key(kOther);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(with_key("GET", "/api/demo/thing", foreign.secret).status, 401);
    }
    EXPECT_EQ(with_key("GET", "/api/demo/thing", key.secret).status, 200);
}

TEST_F(HttpFaceTest, HoweverBusyACallerWasItCanStop) {
    build({.allowed_hosts = {}, .requests_per_second = 1, .tenant_requests_per_second = 1});
    const Key key = make_key(kDemo);
    const std::string base = "/" + key.secret;
    for (int i = 0; i < 10; ++i) {
        get(base + "/thing");
    }
    EXPECT_EQ(get(base + "/thing").status, 429);
    HttpRequest kill = request("POST", base + "/kill");
    kill.body = R"({"active":true})";
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(send(kill).status, 200);
    }
    EXPECT_EQ(send(request("POST", base + "/stop")).status, 200);
    kill.body = R"({"active":false})";
    EXPECT_EQ(send(std::move(kill)).status, 429);
}

// Only the kill switch is without any limit; a bot's stop is a turn like others.
TEST_F(HttpFaceTest, StoppingABotHasABudgetOfItsOwn) {
    build({.allowed_hosts = {}, .requests_per_second = 5, .tenant_requests_per_second = 3});
    const Key key = make_key(kDemo);
    int passed = 0;
    for (int i = 0; i < 10; ++i) {
        passed += send(request("POST", "/" + key.secret + "/stop")).status == 200 ? 1 : 0;
    }
    EXPECT_EQ(passed, 3);
    EXPECT_EQ(get("/" + key.secret + "/thing").status, 200);
}

// A request from an address, without a credential.
HttpRequest from(const std::string& address, HttpRequest request) {
    request.peer_address = address;
    return request;
}

TEST_F(HttpFaceTest, AFloodWithoutACredentialCostsNobodyElse) {
    build({.allowed_hosts = {}, .anonymous_requests_per_second = 1});
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(send(from("192.0.2.1", request("GET", "/open"))).status, 200);
    }
    const HttpResponse refused = send(from("192.0.2.1", request("GET", "/open")));
    EXPECT_EQ(refused.status, 429);
    EXPECT_TRUE(refused.header("Retry-After"));
    EXPECT_EQ(send(from("192.0.2.2", request("GET", "/open"))).status, 200);
}

TEST_F(HttpFaceTest, AnIpv6NetworkIsOnePeer) {
    build({.allowed_hosts = {}, .anonymous_requests_per_second = 1});
    for (const char* address : {"2001:db8::1", "2001:db8::2"}) {
        EXPECT_EQ(send(from(address, request("GET", "/open"))).status, 200);
    }
    EXPECT_EQ(send(from("2001:db8::3", request("GET", "/open"))).status, 429);
    EXPECT_EQ(send(from("2001:db8:0:1::1", request("GET", "/open"))).status, 200);
}

TEST_F(HttpFaceTest, LoginsAndPagesHaveBudgetsOfTheirOwnAndHealthHasNone) {
    build({.allowed_hosts = {}, .anonymous_requests_per_second = 1});
    for (int i = 0; i < 3; ++i) {
        send(from("192.0.2.1", request("GET", "/open")));
    }
    for (std::int64_t i = 0; i < kEntrancesAtOnce; ++i) {
        EXPECT_EQ(send(from("192.0.2.1", request("POST", "/account/login"))).status, 200);
    }
    EXPECT_EQ(send(from("192.0.2.1", request("POST", "/account/login"))).status, 429);
    EXPECT_EQ(send(from("192.0.2.1", request("POST", "/signup"))).status, 429);
    EXPECT_EQ(send(from("192.0.2.2", request("POST", "/account/login"))).status, 200);
    for (std::int64_t i = 0; i < 2 * kPageRequestsPerSecond; ++i) {
        EXPECT_EQ(send(from("192.0.2.1", request("GET", "/page"))).status, 200);
    }
    EXPECT_EQ(send(from("192.0.2.1", request("GET", "/page"))).status, 429);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(send(from("192.0.2.1", request("GET", "/healthz"))).status, 200);
    }
}

TEST_F(HttpFaceTest, TheHeadAloneSaysWhoMayBringWhat) {
    const Key key = make_key(kDemo);
    const auto judge = [&](std::string method, std::string target, std::string secret) {
        HttpRequest head = request(std::move(method), std::move(target));
        if (!secret.empty()) {
            head.headers.emplace_back("X-Access-Key", secret);
        }
        return face_->judge(head);
    };
    const HeadVerdict known = judge("POST", "/api/demo/stop", key.secret);
    EXPECT_EQ(known.holder, "tenant:demo");
    EXPECT_EQ(known.body_bytes_max, 500u);
    EXPECT_TRUE(known.is_urgent);
    EXPECT_FALSE(known.refusal);
    EXPECT_FALSE(judge("GET", "/api/demo/thing", key.secret).is_urgent);
    EXPECT_EQ(judge("POST", "/" + key.secret + "/kill", "").holder, "tenant:demo");
    EXPECT_EQ(judge("POST", "/mcp", key.secret).body_bytes_max, kOperationBodyBytesMax);

    const HeadVerdict stranger = judge("POST", "/account/login", "");
    EXPECT_EQ(stranger.holder, "");
    EXPECT_EQ(stranger.body_bytes_max, kStrangerBodyBytesMax);
    EXPECT_FALSE(stranger.refusal);
    for (const auto& [target, secret, status] :
         std::vector<std::tuple<std::string, std::string, int>>{
             {"/api/demo/kill", "", 401},
             {"/api/demo/kill", "ilk_wrong", 401},
             {"/api/other/kill", key.secret, 401},
             {"/mcp", "ilk_wrong", 401},
             {"/nothing", "", 404}}) {
        const HeadVerdict refused = judge("POST", target, secret);
        ASSERT_TRUE(refused.refusal) << target;
        EXPECT_EQ(refused.refusal->status, status) << target;
        EXPECT_EQ(refused.body_bytes_max, kStrangerBodyBytesMax);
        EXPECT_FALSE(refused.is_urgent);
    }
    HttpRequest foreign = request("POST", "/api/demo/kill");
    foreign.headers = {{"Host", "evil.example"}};
    EXPECT_EQ(face_->judge(foreign).refusal->status, 403);
}

}  // namespace
}  // namespace interlock
