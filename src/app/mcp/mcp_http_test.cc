#include "app/mcp/mcp_http.h"

#include <gtest/gtest.h>

#include "app/mcp/sse_reader.h"
#include "base/errors.h"
#include "testing/fake_clock.h"
#include "testing/fake_http.h"
#include "testing/fake_id_source.h"
#include "testing/fake_mcp.h"

namespace interlock {
namespace {

using ResponderPtr = std::shared_ptr<FakeResponder>;

Principal key(const std::string& id) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    principal.id = id;
    return principal;
}

std::string rpc(
    std::string_view method, std::string_view params = "{}", std::string_view id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":)" + std::string(params) + "}";
}

std::vector<Json> messages_in(const FakeStream& stream) {
    std::vector<Json> messages;
    SseReader reader;
    EXPECT_TRUE(reader.feed(stream.text, [&](const SseEvent& event) {
        if (!event.data.empty()) {
            messages.push_back(parse_json(event.data).value());
        }
    }));
    return messages;
}

std::string last_id_in(const FakeStream& stream) {
    SseReader reader;
    EXPECT_TRUE(reader.feed(stream.text, [](const SseEvent&) {}));
    return reader.last_event_id();
}

class McpHttpTest : public ::testing::Test {
protected:
    ResponderPtr send(HttpRequest request, const Principal& principal = key("a")) {
        auto responder = std::make_shared<FakeResponder>();
        endpoint_.handle(std::move(request), principal, responder);
        return responder;
    }

    static HttpRequest request(std::string method, std::string session, std::string body = "") {
        HttpRequest request;
        request.method = std::move(method);
        request.target = "/mcp";
        request.headers = {
            {"Accept", "application/json, text/event-stream"},
            {"Content-Type", "application/json"},
        };
        if (!session.empty()) {
            request.headers.emplace_back("Mcp-Session-Id", std::move(session));
        }
        request.body = std::move(body);
        return request;
    }

    ResponderPtr initialize(
        const Principal& principal = key("a"), std::string_view version = "2025-11-25") {
        return send(
            request(
                "POST",
                "",
                rpc("initialize",
                    R"({"protocolVersion":")" + std::string(version) +
                        R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}})")),
            principal);
    }
    std::string open(
        const Principal& principal = key("a"), std::string_view version = "2025-11-25") {
        const ResponderPtr caller = initialize(principal, version);
        EXPECT_EQ(caller->status(), 200);
        return std::string(caller->response->header("Mcp-Session-Id").value_or(""));
    }
    ResponderPtr post(const std::string& session, std::string body) {
        return send(request("POST", session, std::move(body)));
    }
    ResponderPtr call(
        const std::string& session, bool with_progress = false, std::string_view id = "1") {
        return post(
            session,
            rpc("tools/call",
                with_progress ? R"({"name":"tool_0","_meta":{"progressToken":1}})"
                              : R"({"name":"tool_0"})",
                id));
    }

    HeldCatalog catalog_;
    McpServer server_{catalog_, "1"};
    FakeClock clock_;
    FakeIdSource ids_;
    McpHttp endpoint_{
        {server_, clock_, ids_},
        {.sessions_max = 4, .sessions_per_owner_max = 2, .idle_max = Duration::of_seconds(60)}};
};

TEST_F(McpHttpTest, InitializeOpensASessionWithAVisibleId) {
    const std::string session = open();
    EXPECT_TRUE(session.starts_with("mcp_"));
    for (const char c : session) {
        EXPECT_TRUE(c >= 0x21 && c <= 0x7e);
    }
    EXPECT_EQ(endpoint_.session_count(), 1U);
}

TEST_F(McpHttpTest, AFailedInitializeOpensNone) {
    const ResponderPtr caller = post("", rpc("initialize"));
    EXPECT_EQ(caller->status(), 200);
    EXPECT_EQ(
        *parse_json(caller->response->body)->find("error")->find("code"), Json(kRpcInvalidParams));
    EXPECT_EQ(caller->response->header("Mcp-Session-Id"), std::nullopt);
    EXPECT_EQ(endpoint_.session_count(), 0U);
}

TEST_F(McpHttpTest, APlainRequestIsAnsweredAsJson) {
    const ResponderPtr caller = post(open(), rpc("ping"));
    EXPECT_EQ(caller->status(), 200);
    EXPECT_EQ(caller->response->header("Content-Type"), "application/json");
    EXPECT_EQ(caller->response->body, R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_F(McpHttpTest, NotificationsAndResponsesAreAccepted) {
    const std::string session = open();
    EXPECT_EQ(
        post(session, R"({"jsonrpc":"2.0","method":"notifications/initialized"})")->status(), 202);
    EXPECT_EQ(post(session, R"({"jsonrpc":"2.0","id":9,"result":{}})")->status(), 202);
}

TEST_F(McpHttpTest, RefusesMessagesThatAreNone) {
    const std::string session = open();
    for (const char* body : {"{", "[]", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "5"}) {
        EXPECT_EQ(post(session, body)->status(), 400) << body;
    }
}

TEST_F(McpHttpTest, TheAcceptHeaderMustNameBothTypes) {
    for (const char* accept : {"application/json", "text/event-stream", "text/html", ""}) {
        HttpRequest asked = request("POST", "", rpc("initialize"));
        asked.headers[0].second = accept;
        EXPECT_EQ(send(asked)->status(), 406) << accept;
    }
    for (const char* accept :
         {"*/*", "text/*, application/*;q=0.5", "TEXT/event-stream;q=1, Application/JSON"}) {
        HttpRequest asked = request("POST", "", rpc("initialize"));
        asked.headers[0].second = accept;
        EXPECT_EQ(send(asked)->status(), 200) << accept;
    }
}

TEST_F(McpHttpTest, TheBodyMustBeJsonByItsHeader) {
    HttpRequest asked = request("POST", "", rpc("initialize"));
    asked.headers[1].second = "text/plain";
    EXPECT_EQ(send(asked)->status(), 415);
    asked.headers[1].second = "application/json; charset=utf-8";
    EXPECT_EQ(send(asked)->status(), 200);
}

TEST_F(McpHttpTest, OtherMethodsAreNotAllowed) {
    const ResponderPtr caller = send(request("PUT", ""));
    EXPECT_EQ(caller->status(), 405);
    EXPECT_EQ(caller->response->header("Allow"), "GET, POST, DELETE");
}

TEST_F(McpHttpTest, AnUnknownProtocolVersionIsRefusedAndNoneIsTaken) {
    const std::string session = open();
    HttpRequest asked = request("POST", session, rpc("ping"));
    EXPECT_EQ(send(asked)->status(), 200);
    asked.headers.emplace_back("MCP-Protocol-Version", "2025-06-18");
    EXPECT_EQ(send(asked)->status(), 200);
    asked.headers.back().second = "1999-01-01";
    EXPECT_EQ(send(asked)->status(), 400);
}

TEST_F(McpHttpTest, ASessionMustBeNamedAndKnown) {
    EXPECT_EQ(post("", rpc("ping"))->status(), 400);
    EXPECT_EQ(post("mcp_unknown", rpc("ping"))->status(), 404);
    EXPECT_EQ(send(request("GET", ""))->status(), 400);
    EXPECT_EQ(send(request("DELETE", "mcp_unknown"))->status(), 404);
}

TEST_F(McpHttpTest, ASessionBelongsToTheKeyThatOpenedIt) {
    const std::string session = open(key("a"));
    for (const char* method : {"POST", "GET", "DELETE"}) {
        EXPECT_EQ(send(request(method, session, rpc("ping")), key("b"))->status(), 404) << method;
    }
    EXPECT_EQ(post(session, rpc("ping"))->status(), 200);
}

TEST_F(McpHttpTest, ADeletedSessionIsGoneAndItsCallsEnd) {
    const std::string session = open();
    const ResponderPtr running = call(session);
    const ResponderPtr standing = send(request("GET", session));
    EXPECT_EQ(send(request("DELETE", session))->status(), 204);
    EXPECT_EQ(post(session, rpc("ping"))->status(), 404);
    ASSERT_NE(running->stream, nullptr);
    EXPECT_TRUE(running->stream->was_closed);
    EXPECT_TRUE(messages_in(*running->stream).empty());
    EXPECT_TRUE(standing->stream->was_closed);
}

TEST_F(McpHttpTest, SessionsOfOneKeyAreBounded) {
    const std::string first = open();
    const std::string second = open();
    clock_.advance(Duration::of_seconds(1));
    EXPECT_EQ(post(first, rpc("ping"))->status(), 200);
    const std::string third = open();
    EXPECT_EQ(post(second, rpc("ping"))->status(), 404);
    EXPECT_EQ(post(first, rpc("ping"))->status(), 200);
    EXPECT_EQ(post(third, rpc("ping"))->status(), 200);
}

TEST_F(McpHttpTest, WithEverySessionBusyANewOneIsRefused) {
    for (int i = 0; i < 2; ++i) {
        call(open());
    }
    const ResponderPtr caller = initialize();
    EXPECT_EQ(caller->status(), 503);
    EXPECT_TRUE(caller->response->header("Retry-After"));
}

TEST_F(McpHttpTest, AnIdleSessionExpires) {
    const std::string session = open();
    clock_.advance(Duration::of_seconds(61));
    EXPECT_EQ(post(session, rpc("ping"))->status(), 404);
}

TEST_F(McpHttpTest, ACallThatReportsProgressBecomesAStream) {
    const ResponderPtr caller = call(open(), true);
    EXPECT_EQ(caller->status(), 0);
    catalog_.held[0]->progress(0, 1);
    ASSERT_NE(caller->stream, nullptr);
    EXPECT_TRUE(caller->stream->text.starts_with("id: 1-0\nretry: 500\ndata: \n\n"));
    EXPECT_FALSE(caller->stream->was_closed);
    catalog_.held[0]->answer(tool_text_result("done"));
    EXPECT_TRUE(caller->stream->was_closed);
    const std::vector<Json> messages = messages_in(*caller->stream);
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_EQ(*messages[0].find("method"), Json("notifications/progress"));
    EXPECT_EQ(*messages[1].find("result"), tool_text_result("done"));
}

TEST_F(McpHttpTest, AnOlderClientGetsNoEmptyFirstEvent) {
    const ResponderPtr caller = call(open(key("a"), "2025-06-18"), true);
    catalog_.held[0]->progress(0, 1);
    EXPECT_TRUE(caller->stream->text.starts_with("event: message\n"));
}

TEST_F(McpHttpTest, ACancelledCallEndsWithoutAnAnswer) {
    const std::string session = open();
    const ResponderPtr caller = call(session);
    EXPECT_EQ(
        post(
            session,
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})")
            ->status(),
        202);
    ASSERT_NE(caller->stream, nullptr);
    EXPECT_EQ(caller->stream->text, "");
    EXPECT_TRUE(caller->stream->was_closed);
    catalog_.held[0]->answer(tool_text_result("late"));
    EXPECT_EQ(caller->stream->text, "");
}

TEST_F(McpHttpTest, AnAnswerTheCallerMissedIsFetchedWithItsLastEvent) {
    const std::string session = open();
    const ResponderPtr caller = call(session, true);
    catalog_.held[0]->progress(0, 1);
    caller->stream->open = false;
    catalog_.held[0]->answer(tool_text_result("done"));

    HttpRequest again = request("GET", session);
    again.headers.emplace_back("Last-Event-ID", last_id_in(*caller->stream));
    const ResponderPtr resumed = send(again);
    ASSERT_NE(resumed->stream, nullptr);
    const std::vector<Json> messages = messages_in(*resumed->stream);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(*messages[0].find("result"), tool_text_result("done"));
    EXPECT_TRUE(resumed->stream->was_closed);
}

TEST_F(McpHttpTest, APausedCallGoesOnWhenTheClientComesBack) {
    const std::string session = open();
    const ResponderPtr caller = call(session);
    catalog_.held[0]->pause();
    ASSERT_NE(caller->stream, nullptr);
    EXPECT_TRUE(caller->stream->was_closed);

    HttpRequest again = request("GET", session);
    again.headers.emplace_back("Last-Event-ID", last_id_in(*caller->stream));
    const ResponderPtr resumed = send(again);
    catalog_.held[0]->answer(tool_text_result("done"));
    EXPECT_EQ(messages_in(*resumed->stream).size(), 1U);
}

TEST_F(McpHttpTest, AnEventThatIsNotKeptIsSaidToBe) {
    HttpRequest asked = request("GET", open());
    asked.headers.emplace_back("Last-Event-ID", "99-1");
    EXPECT_EQ(send(asked)->status(), 400);
}

TEST_F(McpHttpTest, TheStandingStreamNeedsAcceptAndTellsOfUpdates) {
    catalog_.offered = {.resources = true, .subscriptions = true};
    const std::string session = open();
    HttpRequest asked = request("GET", session);
    asked.headers[0].second = "application/json";
    EXPECT_EQ(send(asked)->status(), 406);

    const ResponderPtr standing = send(request("GET", session));
    post(session, rpc("resources/subscribe", R"({"uri":"test://one"})"));
    endpoint_.announce_update("test://one", [](const Principal& who) { return who.id == "b"; });
    endpoint_.announce_update("test://two", [](const Principal&) { return true; });
    EXPECT_TRUE(messages_in(*standing->stream).empty());
    endpoint_.announce_update("test://one", [](const Principal& who) { return who.id == "a"; });
    const std::vector<Json> messages = messages_in(*standing->stream);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(*messages[0].find("method"), Json("notifications/resources/updated"));
}

TEST_F(McpHttpTest, QuestionsTravelOnTheCallsStreamAndAnswersComeByPost) {
    const std::string session = open();
    const ResponderPtr caller = call(session);
    std::optional<RpcOutcome> answer;
    catalog_.held[0]->ask_client(
        "elicitation/create", Json::object(), [&](RpcOutcome got) { answer = std::move(got); });
    const Json question = messages_in(*caller->stream).at(0);
    post(
        session,
        to_text(encode(RpcResponse{*question.find("id"), Json::object({{"action", "accept"}})})));
    ASSERT_TRUE(answer);
    EXPECT_EQ(*(*answer)->find("action"), Json("accept"));
}

TEST_F(McpHttpTest, EndingAllClosesEveryStream) {
    const ResponderPtr standing = send(request("GET", open(key("a"))));
    const ResponderPtr running = call(open(key("a")));
    endpoint_.end_all();
    EXPECT_EQ(endpoint_.session_count(), 0U);
    EXPECT_TRUE(standing->stream->was_closed);
    EXPECT_TRUE(running->stream->was_closed);
}

TEST_F(McpHttpTest, WhenAKeyEndsItsStreamsCloseAndItsSessionsAreGone) {
    const std::string session = open();
    const ResponderPtr standing = send(request("GET", session));
    const ResponderPtr running = call(session, true);
    catalog_.held[0]->progress(0, 1);
    ASSERT_TRUE(standing->stream && standing->stream->is_open());
    ASSERT_TRUE(running->stream && running->stream->is_open());
    const std::string other = open(key("b"));
    const ResponderPtr kept = send(request("GET", other), key("b"));

    endpoint_.close_of(KeyId::trusted("a"));
    EXPECT_TRUE(standing->stream->was_closed);
    EXPECT_TRUE(running->stream->was_closed);
    EXPECT_TRUE(kept->stream->is_open());
    EXPECT_EQ(endpoint_.session_count(), 1U);
    EXPECT_EQ(send(request("GET", session))->status(), 404);
}

TEST_F(McpHttpTest, ACallThatRunsWhenItsKeyEndsIsAnsweredToNobody) {
    const std::string session = open();
    const ResponderPtr running = call(session);
    EXPECT_EQ(running->status(), 0);
    endpoint_.close_of(KeyId::trusted("a"));
    catalog_.held[0]->answer(tool_text_result("late"));
    ASSERT_NE(running->stream, nullptr);
    EXPECT_TRUE(running->stream->was_closed);
    EXPECT_TRUE(messages_in(*running->stream).empty());
}

// A request that was let in just before the key ended.
TEST_F(McpHttpTest, AnEndedKeyOpensNoSession) {
    endpoint_.close_of(KeyId::trusted("a"));
    EXPECT_EQ(initialize()->status(), 401);
    EXPECT_EQ(endpoint_.session_count(), 0U);
}

TEST_F(McpHttpTest, WhatCallsNoOperationIsCountedHere) {
    const std::string session = open();
    int asked = 0;
    bool is_full = false;
    McpHttp limited(McpHttp::Parts{
        .server = server_,
        .clock = clock_,
        .ids = ids_,
        .admit = [&](const Principal&) -> Result<void> {
            ++asked;
            if (!is_full) {
                return {};
            }
            auto refused = fail(errors::rate_limited, "Too many.");
            refused.error().retry_after_seconds = 3;
            return refused;
        }});
    const auto ask = [&](HttpRequest sent) {
        auto responder = std::make_shared<FakeResponder>();
        limited.handle(std::move(sent), key("a"), responder);
        return responder;
    };
    ask(request("POST", session, rpc("tools/call", R"({"name":"tool_0"})")));
    ask(request("POST", session, rpc("resources/read", R"({"uri":"x"})")));
    EXPECT_EQ(asked, 0);
    is_full = true;
    for (HttpRequest& sent : std::vector<HttpRequest>{
             request("POST", "", rpc("initialize")),
             request("POST", session, rpc("tools/list")),
             request("POST", session, rpc("ping")),
             request("POST", session, R"({"jsonrpc":"2.0","method":"notifications/x"})"),
             request("GET", session)}) {
        const ResponderPtr refused = ask(std::move(sent));
        EXPECT_EQ(refused->status(), 429);
        EXPECT_EQ(refused->response->header("Retry-After"), "3");
    }
    EXPECT_EQ(asked, 5);
}

}  // namespace
}  // namespace interlock
