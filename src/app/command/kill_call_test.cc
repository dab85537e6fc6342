#include "app/command/kill_call.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/wiring/test_server.h"
#include "engine/system/file_kill_flag.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

const std::string kStopped = R"({"active":true,"tenant_active":false,"global_active":true,
    "reason":"first reason","by":"operator:local","since":null,"release_approval_id":null,
    "trading_enabled":false,"audit_ref":"7:0123456789abcdef"})";

std::string status_text(bool global_active, bool tenant_active) {
    return to_text(Json::object(
        {{"active", global_active || tenant_active},
         {"tenant_active", tenant_active},
         {"global_active", global_active}}));
}

// Answers /tenants and each switch from a table of tenant → stopped.
TestServer::Answer switches(bool global_active, std::map<std::string, bool> tenants) {
    return [=](const HttpRequest& request) {
        if (request.path() == "/tenants") {
            Json list = Json::array();
            for (const auto& [name, stopped] : tenants) {
                list.push(Json::object({{"tenant_id", name}}));
            }
            return json_answer(
                200, to_text(Json::object({{"tenants", std::move(list)}, {"next_after", Json()}})));
        }
        for (const auto& [name, stopped] : tenants) {
            if (request.path() == "/api/" + name + "/kill") {
                return json_answer(200, status_text(global_active, stopped));
            }
        }
        return json_answer(200, status_text(global_active, false));
    };
}

class KillCallTest : public ::testing::Test {
protected:
    StopCall everything() const { return {.data_folder = folder.path().string(), .choice = {}}; }
    bool has_file() const { return std::filesystem::exists(folder / "KILL"); }
    ServerClient client() const { return ServerClient(folder.path().string()); }

    TempFolder folder;
};

TEST_F(KillCallTest, StopsEverythingThroughTheServer) {
    std::string target;
    std::string body;
    const TestServer server(folder.path().string(), [&](const HttpRequest& request) {
        target = request.target;
        body = request.body;
        return json_answer(200, kStopped);
    });
    StopCall call = everything();
    call.choice.reason = "odd fills";
    const StopOutcome outcome = stop(call);
    EXPECT_TRUE(outcome.stopped);
    EXPECT_FALSE(outcome.by_file);
    EXPECT_EQ(outcome.audit_ref, "7:0123456789abcdef");
    EXPECT_EQ(outcome.reason, "first reason");
    EXPECT_EQ(target, "/api/_system/kill");
    EXPECT_EQ(body, R"({"active":true,"reason":"odd fills"})");
    EXPECT_FALSE(has_file());
}

TEST_F(KillCallTest, WritesTheFileWhenNoServerRuns) {
    const StopOutcome outcome = stop(everything());
    EXPECT_TRUE(outcome.stopped);
    EXPECT_TRUE(outcome.by_file);
    EXPECT_EQ(outcome.exit_code, ExitCode::ok);
    EXPECT_TRUE(has_file());
}

TEST_F(KillCallTest, WritesTheFileWhenTheServerIsSilent) {
    std::vector<HttpResponderPtr> unanswered;
    {
        const TestServer server(
            folder.path().string(), HttpHandler([&](HttpRequest, HttpResponderPtr responder) {
                unanswered.push_back(std::move(responder));
            }));
        StopCall call = everything();
        call.wait = std::chrono::milliseconds(50);
        const StopOutcome outcome = stop(call);
        EXPECT_TRUE(outcome.stopped);
        EXPECT_TRUE(outcome.by_file);
        EXPECT_TRUE(has_file());
    }
}

TEST_F(KillCallTest, WritesTheFileWhenTheServerCannotRecordTheStop) {
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return json_answer(503, R"({"error":{"code":"unavailable"}})");
    });
    const StopOutcome outcome = stop(everything());
    EXPECT_TRUE(outcome.by_file);
    EXPECT_TRUE(outcome.problem.contains("503 unavailable")) << outcome.problem;
}

TEST_F(KillCallTest, WritesTheFileWhenTheServerSaysItIsNotStopped) {
    const TestServer server(folder.path().string(), [](const HttpRequest&) {
        return json_answer(200, R"({"active":false})");
    });
    EXPECT_TRUE(stop(everything()).by_file);
}

TEST_F(KillCallTest, StopsNobodyElseWhenOneTenantWasNamed) {
    StopCall call = everything();
    call.choice.tenant = "demo";
    const StopOutcome outcome = stop(call);
    EXPECT_FALSE(outcome.stopped);
    EXPECT_EQ(outcome.exit_code, ExitCode::unreachable);
    EXPECT_FALSE(has_file());
    EXPECT_TRUE(describe(outcome).starts_with("NOT STOPPED"));
}

TEST_F(KillCallTest, SaysLoudlyWhenNeitherServerNorFileWork) {
    StopCall call = everything();
    call.data_folder = folder / "nowhere";
    const StopOutcome outcome = stop(call);
    EXPECT_FALSE(outcome.stopped);
    EXPECT_EQ(outcome.exit_code, ExitCode::environment);
    EXPECT_TRUE(describe(outcome).starts_with("NOT STOPPED"));
}

TEST_F(KillCallTest, CutsAReasonThatTheServerWouldRefuseBetweenCharacters) {
    StopCall call = everything();
    call.choice.reason = std::string(499, 'x') + "\xc3\xa9";
    stop(call);
    EXPECT_EQ(FileKillFlag(call.data_folder).reason(), std::string(499, 'x'));
}

TEST_F(KillCallTest, ReleasesTheGlobalSwitchFirst) {
    const TestServer server(folder.path().string(), switches(true, {{"a", true}, {"b", true}}));
    ServerClient to_server = client();
    EXPECT_EQ(place_to_release({}, to_server, {}).value(), system_tenant());
}

TEST_F(KillCallTest, ReleasesTheOnlyTenantThatIsStopped) {
    const TestServer server(folder.path().string(), switches(false, {{"a", false}, {"b", true}}));
    ServerClient to_server = client();
    EXPECT_EQ(place_to_release({}, to_server, {}).value().text(), "b");
}

TEST_F(KillCallTest, AsksWhichOfSeveralStoppedTenantsIsMeant) {
    const TestServer server(folder.path().string(), switches(false, {{"a", true}, {"b", true}}));
    ServerClient to_server = client();
    EXPECT_EQ(place_to_release({}, to_server, {}).error(), ExitCode::usage);
}

TEST_F(KillCallTest, FindsNothingToReleaseWhenNothingIsStopped) {
    const TestServer server(folder.path().string(), switches(false, {{"a", false}}));
    ServerClient to_server = client();
    EXPECT_TRUE(place_to_release({}, to_server, {}).value().empty());
}

TEST_F(KillCallTest, ShowsEverySwitch) {
    const TestServer server(folder.path().string(), switches(true, {{"a", true}, {"b", false}}));
    ServerClient to_server = client();
    const auto statuses = kill_statuses(to_server, {});
    ASSERT_TRUE(statuses.has_value());
    ASSERT_EQ(statuses->size(), 3u);
    const std::string text = describe_statuses(*statuses);
    EXPECT_TRUE(text.contains("(global)  STOPPED")) << text;
    EXPECT_TRUE(text.contains("b         stopped globally")) << text;
}

TEST_F(KillCallTest, ShowsWhatMakesOrdersSmallerBesideWhatTrades) {
    KillStatuses statuses;
    Json status = *parse_json(status_text(false, false));
    status.set("blocked", Json());
    status.set("warnings", Json::array({"Less here.", "Less there."}));
    statuses.emplace_back(TenantId::trusted("a"), status);
    const std::string text = describe_statuses(statuses);
    EXPECT_TRUE(text.contains("trading")) << text;
    EXPECT_TRUE(text.contains("Less here. Less there.")) << text;
    EXPECT_FALSE(text.contains("not trading")) << text;
}

}  // namespace
}  // namespace interlock
