#include "app/wiring/server_client.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/wiring/test_server.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(ServerClient, SaysHowToStartAServerWhenNoneAnswers) {
    const TempFolder folder;
    ServerClient client(folder.path().string());
    const auto answer = client.get("/healthz");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error(), errors::server_unreachable);
    EXPECT_TRUE(answer.error().next().contains("interlock serve --data " + folder.path().string()));
    EXPECT_EQ(report_failure({}, answer.error()), ExitCode::unreachable);
}

TEST(ServerClient, GivesRefusalsAsAnswers) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return json_answer(409, R"({"error":{"code":"tenant_exists","message":"m"}})");
    });
    ServerClient client(folder.path().string());
    const auto answer = client.post("/tenants", Json::object());
    ASSERT_TRUE(answer.has_value());
    EXPECT_FALSE(answer->ok());
    EXPECT_EQ(answer->error_code(), "tenant_exists");
    EXPECT_EQ(report_refusal({}, *answer), ExitCode::refused);
}

TEST(ServerClient, BearsAnAnswerThatIsNotOurs) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return text_response(502, "text/html", "<html>");
    });
    ServerClient client(folder.path().string());
    const auto answer = client.get("/");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->error_code(), "");
    EXPECT_EQ(report_refusal({}, *answer), ExitCode::refused);
}

TEST(ServerClient, ActsAsTheHumanOnceItHasASession) {
    const TempFolder folder;
    std::string seen;
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        seen = request.header("Authorization").value_or("none");
        return json_answer(200, "{}");
    });
    ServerClient client(folder.path().string());
    ASSERT_TRUE(client.get("/").has_value());
    EXPECT_EQ(seen, "none");
    client.act_as(SecretString("ils_token"));
    ASSERT_TRUE(client.get("/").has_value());
    EXPECT_EQ(seen, "Bearer ils_token");
}

TEST(ServerClient, ReadsEveryPageOfTenants) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest& request) {
        return request.query_value("after")
                   ? json_answer(200, R"({"tenants":[{"tenant_id":"b"}],"next_after":null})")
                   : json_answer(200, R"({"tenants":[{"tenant_id":"a"}],"next_after":"a"})");
    });
    ServerClient client(folder.path().string());
    const auto tenants = list_tenants(client);
    ASSERT_TRUE(tenants.has_value());
    ASSERT_EQ(tenants->size(), 2u);
    EXPECT_EQ(tenants->back().text(), "b");
}

TEST(ServerClient, TakesTheDemosOwnTenantInTheDemosFolderAlone) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return json_answer(
            200, R"({"tenants":[{"tenant_id":"demo"},{"tenant_id":"tn_a"}],"next_after":null})");
    });
    ServerClient client(folder.path().string());
    const auto elsewhere = chosen_tenant(client, "");
    ASSERT_FALSE(elsewhere.has_value());
    EXPECT_EQ(elsewhere.error(), errors::bad_usage);
    std::ofstream(demo_mark_path(folder.path().string())) << "demo";
    EXPECT_EQ(chosen_tenant(client, "").value_or(""), "demo");
    EXPECT_EQ(chosen_tenant(client, "tn_a").value_or(""), "tn_a");
}

TEST(ServerClient, StopsAtAServerWhosePagesNeverEnd) {
    const TempFolder folder;
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return json_answer(200, R"({"tenants":[{"tenant_id":"a"}],"next_after":"a"})");
    });
    ServerClient client(folder.path().string());
    const auto tenants = list_tenants(client);
    ASSERT_TRUE(tenants.has_value());
    EXPECT_EQ(tenants->size(), 100u);
}

}  // namespace
}  // namespace interlock
