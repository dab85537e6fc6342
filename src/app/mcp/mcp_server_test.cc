#include "app/mcp/mcp_server.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/fake_mcp.h"

namespace interlock {
namespace {

Json hello(std::string version, Json capabilities = Json::object()) {
    return Json::object(
        {{"protocolVersion", std::move(version)},
         {"capabilities", std::move(capabilities)},
         {"clientInfo", Json::object({{"name", "test"}, {"version", "1"}})}});
}

class McpServerTest : public ::testing::Test {
protected:
    // Sends a request and gives the outlet that got what came of it.
    std::shared_ptr<RecordingOutlet> ask(
        std::string method, Json params = Json::object(), Json id = 1) {
        auto outlet = std::make_shared<RecordingOutlet>();
        server_.handle(McpServer::Incoming{
            .session = session_,
            .principal = internal_principal("test"),
            .request = {std::move(id), std::move(method), std::move(params)},
            .outlet = outlet,
        });
        return outlet;
    }
    std::shared_ptr<RecordingOutlet> call(Json id = 1, Json params = Json::object()) {
        params.set("name", "tool_0");
        return ask("tools/call", std::move(params), std::move(id));
    }

    HeldCatalog catalog_;
    McpServer server_{catalog_, "1.2.3"};
    McpSessionPtr session_ =
        std::make_shared<McpSession>(McpSession::Terms{"2025-11-25", Json::object()});
};

TEST(McpVersions, AgreesToAnOfferedVersionItSpeaksAndElseOffersItsNewest) {
    EXPECT_EQ(negotiate_mcp_version("2025-06-18"), "2025-06-18");
    EXPECT_EQ(negotiate_mcp_version("2025-11-25"), "2025-11-25");
    EXPECT_EQ(negotiate_mcp_version("2024-11-05"), "2025-11-25");
    EXPECT_EQ(negotiate_mcp_version("2026-07-28"), "2025-11-25");
    EXPECT_FALSE(is_mcp_version("2025-03-26"));
}

TEST_F(McpServerTest, InitializeTellsVersionCapabilitiesAndInstructions) {
    catalog_.offered = {.resources = true, .logging = true};
    const auto opened = server_.initialize(hello("2025-06-18"));
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->session->protocol_version(), "2025-06-18");
    EXPECT_EQ(*opened->result.find("protocolVersion"), Json("2025-06-18"));
    EXPECT_EQ(*opened->result.find("instructions"), Json("Be careful."));
    EXPECT_EQ(*opened->result.find("serverInfo")->find("version"), Json("1.2.3"));
    const Json& capabilities = *opened->result.find("capabilities");
    EXPECT_NE(capabilities.find("tools"), nullptr);
    EXPECT_NE(capabilities.find("logging"), nullptr);
    EXPECT_EQ(*capabilities.find("resources")->find("subscribe"), Json(false));
    EXPECT_EQ(capabilities.find("prompts"), nullptr);
    EXPECT_EQ(capabilities.find("completions"), nullptr);
}

TEST_F(McpServerTest, InitializeNeedsVersionCapabilitiesAndClient) {
    for (const char* missing : {"protocolVersion", "capabilities", "clientInfo"}) {
        Json params = Json::object();
        const Json whole = hello("2025-11-25");
        for (const auto& [key, value] : whole.members()) {
            if (key != missing) {
                params.set(key, value);
            }
        }
        const auto opened = server_.initialize(params);
        ASSERT_FALSE(opened) << missing;
        EXPECT_EQ(opened.error().code, kRpcInvalidParams);
    }
}

TEST_F(McpServerTest, ASecondInitializeInASessionIsRefused) {
    EXPECT_EQ(ask("initialize", hello("2025-11-25"))->error_code(), kRpcInvalidRequest);
}

TEST_F(McpServerTest, PingIsAnsweredEmpty) {
    EXPECT_EQ(ask("ping")->result(), Json::object());
}

TEST_F(McpServerTest, UnknownMethodsAndThoseNotOfferedAreNotFound) {
    for (const char* method :
         {"tools/destroy",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "resources/subscribe",
          "resources/unsubscribe",
          "prompts/list",
          "prompts/get",
          "logging/setLevel",
          "completion/complete"}) {
        EXPECT_EQ(ask(method)->error_code(), kRpcMethodNotFound) << method;
    }
}

TEST_F(McpServerTest, ListsComeInPagesThatAddUpToTheWhole) {
    catalog_.tool_count = 2 * kMcpPageMax + 7;
    std::set<std::string> names;
    Json params = Json::object();
    std::vector<std::size_t> sizes;
    for (bool has_more = true; has_more;) {
        const Json result = ask("tools/list", params)->result();
        sizes.push_back(result.find("tools")->items().size());
        for (const Json& tool : result.find("tools")->items()) {
            names.insert(tool.find("name")->as_string());
        }
        const Json* cursor = result.find("nextCursor");
        has_more = cursor != nullptr;
        if (has_more) {
            params.set("cursor", *cursor);
        }
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{kMcpPageMax, kMcpPageMax, 7}));
    EXPECT_EQ(names.size(), catalog_.tool_count);
}

TEST_F(McpServerTest, AListThatFitsOnePageHasNoCursor) {
    catalog_.tool_count = kMcpPageMax;
    EXPECT_EQ(ask("tools/list")->result().find("nextCursor"), nullptr);
}

TEST_F(McpServerTest, RefusesCursorsItDidNotGiveOut) {
    catalog_.offered.resources = true;
    catalog_.tool_count = 2 * kMcpPageMax;
    const Json tools_cursor = *ask("tools/list")->result().find("nextCursor");
    EXPECT_EQ(
        ask("resources/list", Json::object({{"cursor", tools_cursor}}))->error_code(),
        kRpcInvalidParams);
    for (const Json& cursor : {Json("50"), Json("!"), Json(""), Json(50), Json("dG9vbHM6OTk5")}) {
        EXPECT_EQ(
            ask("tools/list", Json::object({{"cursor", cursor}}))->error_code(), kRpcInvalidParams)
            << to_text(cursor);
    }
}

TEST_F(McpServerTest, AToolIsCalledWithItsArguments) {
    const auto outlet = call(1, Json::object({{"arguments", Json::object({{"a", 1}})}}));
    ASSERT_EQ(catalog_.held.size(), 1U);
    EXPECT_EQ(catalog_.last_arguments, Json::object({{"a", 1}}));
    EXPECT_FALSE(outlet->finished);

    catalog_.held[0]->answer(tool_text_result("done"));
    EXPECT_EQ(outlet->result(), tool_text_result("done"));
    EXPECT_TRUE(catalog_.held[0]->is_over());
}

TEST_F(McpServerTest, MissingArgumentsAreEmptyOnes) {
    call();
    EXPECT_EQ(catalog_.last_arguments, Json::object());
}

TEST_F(McpServerTest, MalformedCallsAreInvalidParams) {
    EXPECT_EQ(ask("tools/call")->error_code(), kRpcInvalidParams);
    EXPECT_EQ(call(2, Json::object({{"arguments", 5}}))->error_code(), kRpcInvalidParams);
    const Json bad_token = Json::object({{"progressToken", true}});
    EXPECT_EQ(call(3, Json::object({{"_meta", bad_token}}))->error_code(), kRpcInvalidParams);
    EXPECT_TRUE(catalog_.held.empty());
}

TEST_F(McpServerTest, AnIdIsUsedByOneRunningRequestOnly) {
    call(7);
    EXPECT_EQ(call(7)->error_code(), kRpcInvalidRequest);
    EXPECT_EQ(catalog_.held.size(), 1U);
}

TEST_F(McpServerTest, TooManyRunningRequestsAreRefused) {
    for (std::size_t i = 0; i < kMcpRunningRequestsMax; ++i) {
        call(static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(call("one more")->error_code(), kRpcServerError);
    EXPECT_EQ(catalog_.held.size(), kMcpRunningRequestsMax);
}

TEST_F(McpServerTest, ProgressIsToldOnlyToThoseWhoGaveAToken) {
    const auto silent = call(1);
    catalog_.held[0]->progress(0, 1);
    EXPECT_TRUE(silent->sent.empty());

    const auto told = call(2, Json::object({{"_meta", Json::object({{"progressToken", "tok"}})}}));
    catalog_.held[1]->progress(0, 1);
    ASSERT_EQ(told->sent.size(), 1U);
    EXPECT_EQ(*told->sent[0].find("method"), Json("notifications/progress"));
    EXPECT_EQ(
        *told->sent[0].find("params"),
        Json::object({{"progressToken", "tok"}, {"progress", 0}, {"total", 1}}));
}

TEST_F(McpServerTest, CancellingEndsTheWaitWithoutAnAnswer) {
    const auto outlet = call("c");
    McpServer::handle(
        *session_, RpcNotification{"notifications/cancelled", Json::object({{"requestId", "c"}})});
    EXPECT_TRUE(outlet->finished);
    EXPECT_FALSE(outlet->answer);

    // The turn goes on and its answer finds nobody waiting.
    catalog_.held[0]->progress(1, 1);
    catalog_.held[0]->answer(tool_text_result("late"));
    EXPECT_FALSE(outlet->answer);
    EXPECT_TRUE(outlet->sent.empty());
}

TEST_F(McpServerTest, CancellingWhatDoesNotRunChangesNothing) {
    const auto outlet = call(1);
    for (const Json& id : {Json("1"), Json(2), Json(), Json(true)}) {
        McpServer::handle(
            *session_,
            RpcNotification{"notifications/cancelled", Json::object({{"requestId", id}})});
    }
    EXPECT_FALSE(outlet->finished);
}

TEST_F(McpServerTest, AnIdMayBeUsedAgainAfterItsAnswer) {
    call(1);
    catalog_.held[0]->answer(Json::object());
    const auto second = call(1);
    ASSERT_EQ(catalog_.held.size(), 2U);
    catalog_.held[0]->answer(tool_text_result("stale"));  // The first one is over.
    EXPECT_FALSE(second->finished);
    catalog_.held[1]->answer(tool_text_result("fresh"));
    EXPECT_EQ(second->result(), tool_text_result("fresh"));
}

TEST_F(McpServerTest, QuestionsGoToTheClientAndItsAnswerComesBack) {
    const auto outlet = call(1);
    std::optional<RpcOutcome> answer;
    catalog_.held[0]->ask_client(
        "elicitation/create", Json::object({{"message", "?"}}), [&](RpcOutcome got) {
            answer = std::move(got);
        });
    ASSERT_EQ(outlet->sent.size(), 1U);
    EXPECT_EQ(*outlet->sent[0].find("method"), Json("elicitation/create"));
    McpServer::handle(
        *session_, RpcResponse{*outlet->sent[0].find("id"), rpc_fail(-1, "declined")});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().message, "declined");
}

TEST_F(McpServerTest, AQuestionTooManyFailsAtOnce) {
    call(1);
    for (std::size_t i = 0; i < kMcpQuestionsMax; ++i) {
        catalog_.held[0]->ask_client("roots/list", Json::object(), [](RpcOutcome) {});
    }
    std::optional<RpcOutcome> answer;
    catalog_.held[0]->ask_client(
        "roots/list", Json::object(), [&](RpcOutcome got) { answer = std::move(got); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, kRpcServerError);
}

TEST_F(McpServerTest, LogMessagesObeyTheLevel) {
    catalog_.offered.logging = true;
    EXPECT_EQ(
        ask("logging/setLevel", Json::object({{"level", "warning"}}))->result(), Json::object());
    EXPECT_EQ(
        ask("logging/setLevel", Json::object({{"level", "loud"}}))->error_code(),
        kRpcInvalidParams);
    const auto outlet = call(1);
    catalog_.held[0]->log(McpLogLevel::info, "quiet");
    catalog_.held[0]->log(McpLogLevel::error, "heard");
    ASSERT_EQ(outlet->sent.size(), 1U);
    EXPECT_EQ(
        *outlet->sent[0].find("params"), Json::object({{"level", "error"}, {"data", "heard"}}));
}

TEST_F(McpServerTest, SubscriptionsAreKeptWhenOffered) {
    catalog_.offered = {.resources = true, .subscriptions = true};
    const Json params = Json::object({{"uri", "test://one"}});
    EXPECT_EQ(ask("resources/subscribe", params)->result(), Json::object());
    EXPECT_TRUE(session_->is_subscribed("test://one"));
    EXPECT_EQ(ask("resources/unsubscribe", params)->result(), Json::object());
    EXPECT_FALSE(session_->is_subscribed("test://one"));
    EXPECT_EQ(ask("resources/subscribe")->error_code(), kRpcInvalidParams);
}

TEST_F(McpServerTest, AnUnknownResourceIsNamedInTheError) {
    catalog_.offered.resources = true;
    const auto outlet = ask("resources/read", Json::object({{"uri", "test://nothing"}}));
    EXPECT_EQ(outlet->error_code(), kRpcResourceNotFound);
    EXPECT_EQ(
        *outlet->answer->find("error")->find("data"), Json::object({{"uri", "test://nothing"}}));
}

TEST_F(McpServerTest, EndingASessionLeavesRunningRequestsWithoutAnswer) {
    const auto first = call(1);
    const auto second = call(2);
    McpServer::end(*session_);
    EXPECT_TRUE(first->finished && second->finished);
    EXPECT_FALSE(first->answer || second->answer);
    EXPECT_FALSE(session_->is_busy());
}

}  // namespace
}  // namespace interlock
