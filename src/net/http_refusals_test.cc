// Connections that are only refused are slowed down.
// Every bound of the server and what happens at it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr milliseconds kSoon{60};

HttpServerConfig with_limits(HttpLimits limits) {
    HttpServerConfig config;
    config.limits = limits;
    return config;
}

// Four requests in one piece: the server has them all.
std::string four_requests() {
    std::string bytes;
    for (int i = 0; i < 4; ++i) {
        bytes += kGet;
    }
    return bytes;
}

void refuse(const HttpRequest&, const HttpResponderPtr& responder) {
    responder->send(text_response(429, "text/plain", "no"));
}

TEST(HttpRefusals, ReadsAConnectionThatIsOnlyRefusedMoreSlowly) {
    const auto server = start_server(
        refuse,
        with_limits(
            {.refusals_free = 2,
             .refusals_per_second = 0,
             .refusal_pause = std::chrono::hours(1)}));
    RawPeer flood(server->port());
    flood.send(four_requests());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(flood.read_response().status, 429);
    }
    RawPeer other(server->port());
    other.send(kGet);
    EXPECT_EQ(other.read_response().status, 429);
    EXPECT_EQ(server->counters().requests, 4U);  // Three of the flood and the other's.
}

TEST(HttpRefusals, LetsASecondHaveItsRefusalsAtFullSpeed) {
    // A tenth of them at once: three.
    const auto server = start_server(
        refuse,
        with_limits(
            {.refusals_free = 0,
             .refusals_per_second = 30,
             .refusal_pause = std::chrono::hours(1)}));
    RawPeer flood(server->port());
    flood.send(four_requests());
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(flood.read_response().status, 429);
    }
}

TEST(HttpRefusals, AnswersARefusedConnectionAgainAfterThePause) {
    const auto server = start_server(
        refuse,
        with_limits(
            {.refusals_free = 0, .refusals_per_second = 0, .refusal_pause = milliseconds(1)}));
    RawPeer peer(server->port());
    peer.send(four_requests());
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(peer.read_response().status, 429);
    }
}

TEST(HttpRefusals, OtherAnswersMakeUpForRefusals) {
    std::atomic<int> asked{0};
    const auto server = start_server(
        [&asked](const HttpRequest&, const HttpResponderPtr& responder) {
            responder->send(text_response(asked++ % 2 == 0 ? 401 : 200, "text/plain", ""));
        },
        with_limits(
            {.refusals_free = 1,
             .refusals_per_second = 0,
             .refusal_pause = std::chrono::hours(1)}));
    RawPeer peer(server->port());
    peer.send(four_requests() + four_requests());
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(peer.read_response().status, i % 2 == 0 ? 401 : 200);
    }
}

TEST(HttpRefusals, ClosesAPausedConnectionWhenTheServerStops) {
    const auto server = start_server(
        refuse,
        with_limits(
            {.refusals_free = 0,
             .refusals_per_second = 0,
             .refusal_pause = std::chrono::hours(1)}));
    RawPeer peer(server->port());
    peer.send(four_requests());
    EXPECT_EQ(peer.read_response().status, 429);
    server->stop(milliseconds(1000));
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_EQ(server->counters().open, 0U);
}

}  // namespace
}  // namespace interlock
