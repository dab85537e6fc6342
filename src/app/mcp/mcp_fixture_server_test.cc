#include "app/mcp/mcp_fixture_server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "net/http_client.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"

namespace interlock {
namespace {

HttpRequest hello() {
    HttpRequest request;
    request.method = "POST";
    request.target = "/mcp";
    request.headers = {
        {"Accept", "application/json, text/event-stream"},
        {"Content-Type", "application/json"},
    };
    request.body =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";
    return request;
}

class McpFixtureServerTest : public ::testing::Test {
protected:
    Result<std::unique_ptr<McpFixtureServer>> start(const McpFixtureConfig& config = {}) {
        return start_conformance_fixtures(config, clock_, ids_);
    }
    int status_of(const McpFixtureServer& server, const HttpRequest& request) {
        const auto client = HttpClient::create({.unix_socket_path = "", .port = server.port()});
        const auto response = client->send(request);
        return response ? response->status : 0;
    }

    FakeClock clock_;
    FakeIdSource ids_;
};

TEST_F(McpFixtureServerTest, RefusesAnyAddressButLoopback) {
    for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "localhost.example.com", ""}) {
        const auto server = start({.address = address});
        ASSERT_FALSE(server) << address;
        EXPECT_EQ(server.error(), errors::fixtures_refused) << address;
    }
}

TEST_F(McpFixtureServerTest, RefusesLiveModeAndFoldersWithTenants) {
    EXPECT_TRUE(check_fixtures_allowed({}));
    EXPECT_FALSE(check_fixtures_allowed({.live_mode = true}));
    EXPECT_FALSE(check_fixtures_allowed({.tenants = 1}));
    const auto server = start({.facts = {.live_mode = false, .tenants = 2}});
    ASSERT_FALSE(server);
    EXPECT_NE(server.error().message.find("found 2"), std::string::npos);
}

TEST_F(McpFixtureServerTest, ServesAClientOnTheSameMachine) {
    const auto server = start();
    ASSERT_TRUE(server) << server.error().message;
    const auto client = HttpClient::create({.unix_socket_path = "", .port = (*server)->port()});
    const auto response = client->send(hello());
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_TRUE(response->header("Mcp-Session-Id"));
}

TEST_F(McpFixtureServerTest, RefusesForeignHostsAndOrigins) {
    const auto server = start();
    ASSERT_TRUE(server);
    HttpRequest foreign_origin = hello();
    foreign_origin.headers.emplace_back("Origin", "http://evil.example.com");
    EXPECT_EQ(status_of(**server, foreign_origin), 403);
    HttpRequest own_origin = hello();
    own_origin.headers.emplace_back("Origin", "http://localhost:3000");
    EXPECT_EQ(status_of(**server, own_origin), 200);
    HttpRequest foreign_host = hello();
    foreign_host.headers.emplace_back("Host", "evil.example.com");
    EXPECT_EQ(status_of(**server, foreign_host), 403);
}

TEST_F(McpFixtureServerTest, HasNothingBesideItsEndpoint) {
    const auto server = start();
    ASSERT_TRUE(server);
    HttpRequest request = hello();
    request.target = "/api/acme/kill";
    EXPECT_EQ(status_of(**server, request), 404);
}

}  // namespace
}  // namespace interlock
