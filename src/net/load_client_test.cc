// The load generator counts what happened, no more and no less.
#include "net/load_client.h"

#include <gtest/gtest.h>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

std::string numbered_request(std::size_t connection, std::uint64_t sequence) {
    const std::string body = std::to_string(connection) + "/" + std::to_string(sequence);
    return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

LoadConfig config_for(const HttpServer& server) {
    LoadConfig config;
    config.target = {{}, "127.0.0.1", server.port()};
    config.duration = kTestPatience;
    config.request = numbered_request;
    return config;
}

TEST(LoadClient, SendsAsManyRequestsAsAsked) {
    const auto server = start_server();
    LoadConfig config = config_for(*server);
    config.connections = 8;
    config.requests_max = 1000;
    std::map<std::size_t, std::uint64_t> next;
    config.on_response = [&](const LoadResponse& response) {
        EXPECT_EQ(response.sequence, next[response.connection]++);
        EXPECT_EQ(
            response.body,
            "POST /x " + std::to_string(response.connection) + "/" +
                std::to_string(response.sequence));
    };
    const auto report = run_load(config);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->latencies_us.size(), 1000u);
    EXPECT_EQ(report->statuses.at(200), 1000u);
    EXPECT_EQ(report->statuses.size(), 1u);
    EXPECT_EQ(report->lost, 0u);
    EXPECT_EQ(next.size(), 8u);
    EXPECT_EQ(server->counters().requests, 1000u);
    EXPECT_EQ(server->counters().accepted, 8u);
    EXPECT_GT(report->requests_per_second(), 0);
}

TEST(LoadClient, StopsAfterItsDuration) {
    const auto server = start_server();
    LoadConfig config = config_for(*server);
    config.duration = std::chrono::milliseconds(50);
    const auto report = run_load(config);
    ASSERT_TRUE(report.has_value());
    EXPECT_GT(report->latencies_us.size(), 0u);
    EXPECT_EQ(report->latencies_us.size(), server->counters().requests);
}

TEST(LoadClient, StopsWhenAsked) {
    const auto server = start_server();
    LoadConfig config = config_for(*server);
    std::stop_source source;
    config.stop = source.get_token();
    config.on_response = [&](const LoadResponse& response) {
        if (response.sequence == 10) {
            source.request_stop();
        }
    };
    EXPECT_EQ(run_load(config).value().latencies_us.size(), 11u);
}

TEST(LoadClient, CountsStatusesAndReopensClosedConnections) {
    const auto server = start_server([](HttpRequest request, const HttpResponderPtr& responder) {
        HttpResponse response = text_response(request.body.ends_with('3') ? 503 : 200, "a", "");
        if (request.body.ends_with('5')) {
            response.set("Connection", "close");
        }
        responder->send(std::move(response));
    });
    LoadConfig config = config_for(*server);
    config.requests_max = 10;
    const auto report = run_load(config);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->statuses.at(503), 1u);
    EXPECT_EQ(report->statuses.at(200), 9u);
    EXPECT_EQ(report->lost, 0u);
    EXPECT_EQ(server->counters().accepted, 2u);
}

TEST(LoadClient, ReadsResponsesThatComeInPieces) {
    const auto server = start_server([](HttpRequest, const HttpResponderPtr& responder) {
        responder->send(text_response(200, "a", std::string(3'000'000, 'x')));
    });
    LoadConfig config = config_for(*server);
    config.requests_max = 3;
    std::size_t bytes = 0;
    config.on_response = [&](const LoadResponse& response) { bytes += response.body.size(); };
    EXPECT_EQ(run_load(config).value().statuses.at(200), 3u);
    EXPECT_EQ(bytes, 9'000'000u);
}

TEST(LoadClient, SendsRequestsLargerThanTheSocketTakes) {
    HttpServerConfig server_config;
    server_config.limits.body_bytes_max = 32 * 1024 * 1024;
    server_config.limits.body_bytes_total_max = 1024 * 1024 * 1024;
    const auto server = start_server(
        [](HttpRequest request, const HttpResponderPtr& responder) {
            responder->send(text_response(200, "a", std::to_string(request.body.size())));
        },
        server_config);
    LoadConfig config = config_for(*server);
    config.requests_max = 2;
    config.request = [](std::size_t, std::uint64_t) {
        return "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n" +
               std::string(20'000'000, 'x');
    };
    config.on_response = [](const LoadResponse& response) { EXPECT_EQ(response.body, "20000000"); };
    EXPECT_EQ(run_load(config).value().statuses.at(200), 2u);
}

TEST(LoadClient, CountsRequestsThatWereNeverAnswered) {
    HeldRequests held;
    auto server = start_server(held.handler());
    LoadConfig config = config_for(*server);
    config.connections = 3;
    auto running = std::async(std::launch::async, [&] { return run_load(config); });
    std::vector<HeldRequest> unanswered;
    for (int i = 0; i < 3; ++i) {
        unanswered.push_back(held.next());
    }
    server->stop(std::chrono::milliseconds(0));
    const auto report = running.get();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->lost, 3u);
    EXPECT_TRUE(report->latencies_us.empty());
    EXPECT_EQ(report->percentile_us(0.5), 0u);
}

TEST(LoadClient, RefusesWhatItCannotDo) {
    const auto server = start_server();
    LoadConfig config = config_for(*server);
    config.connections = 0;
    EXPECT_FALSE(run_load(config).has_value());
    config.connections = kLoadConnectionsMax + 1;
    EXPECT_FALSE(run_load(config).has_value());
    config.connections = 1;
    config.requests_max = kLoadRequestsMax + 1;
    EXPECT_FALSE(run_load(config).has_value());
    config = config_for(*server);
    server->stop(std::chrono::milliseconds(0));
    EXPECT_FALSE(run_load(config).has_value());
}

TEST(LoadReport, TellsPercentiles) {
    LoadReport report;
    for (std::uint32_t i = 100; i > 0; --i) {
        report.latencies_us.push_back(i);
    }
    EXPECT_EQ(report.percentile_us(0), 1u);
    EXPECT_EQ(report.percentile_us(0.5), 51u);
    EXPECT_EQ(report.percentile_us(1), 100u);
    report.elapsed = std::chrono::milliseconds(500);
    EXPECT_DOUBLE_EQ(report.requests_per_second(), 200);
}

}  // namespace
}  // namespace interlock
