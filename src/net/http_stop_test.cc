// Stopping: idle callers are let go, those who wait get their answer, nobody waits for ever.
#include <gtest/gtest.h>

#include <thread>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(HttpStop, FinishesARequestUnderWay) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer busy(server->port());
    busy.send(kGet);
    const HeldRequest request = held.next();
    RawPeer idle(server->port());
    idle.send("GET /half HT");  // Not yet a request; it counts as idle.
    std::thread stopping([&] { server->stop(kTestPatience); });
    EXPECT_TRUE(idle.is_closed_by_server());
    request.responder->send(text_response(200, "text/plain", "done"));
    EXPECT_EQ(busy.read_response().body, "done");
    EXPECT_FALSE(busy.keeps_alive());
    EXPECT_TRUE(busy.is_closed_by_server());
    stopping.join();
    EXPECT_EQ(server->counters().open, 0u);
}

TEST(HttpStop, SendsAWholeLargeAnswerToASlowReader) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const HeldRequest request = held.next();
    const std::string body(32 * 1024 * 1024, 'x');
    request.responder->send(text_response(200, "text/plain", body));
    ASSERT_TRUE(peer.read_until("\r\n\r\n"));
    std::thread stopping([&] { server->stop(kTestPatience); });
    EXPECT_EQ(peer.read_response().body.size(), body.size());
    stopping.join();
}

TEST(HttpStop, GivesUpAfterTheGrace) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const HeldRequest request = held.next();
    server->stop(milliseconds(10));
    EXPECT_TRUE(peer.is_closed_by_server());
    request.responder->send(text_response(200, "text/plain", "too late"));
}

TEST(HttpStop, RefusesNewConnections) {
    auto server = start_server();
    const std::uint16_t port = server->port();
    server->stop(milliseconds(0));
    const auto late = ClientSocket::connect(HttpTarget{{}, "127.0.0.1", port}, test_deadline());
    EXPECT_FALSE(late.has_value());
}

TEST(HttpStop, EndsStreamsProperlyAndTellsTheirWriters) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream =
        held.next().responder->start_stream(text_response(200, "text/event-stream", ""));
    std::promise<void> told;
    stream->on_peer_closed([&] { told.set_value(); });
    stream->write("x");
    ASSERT_TRUE(peer.read_until("1\r\nx\r\n"));
    server->stop(kTestPatience);
    EXPECT_EQ(told.get_future().wait_for(kTestPatience), std::future_status::ready);
    EXPECT_EQ(peer.read_response().body, "x");
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_FALSE(stream->write("y"));
    stream->close();
}

TEST(HttpStop, OutlivesResponders) {
    HeldRequests held;
    auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kGet);
    HeldRequest request = held.next();
    RawPeer streaming(server->port());
    streaming.send(kGet);
    HeldRequest stream_request = held.next();
    server.reset();
    request.responder->send(text_response(200, "text/plain", "nobody"));
    const auto stream = stream_request.responder->start_stream(text_response(200, "a", ""));
    stream->write("nobody");
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpStop, MayBeAskedTwiceOrBeforeTheStart) {
    auto running = start_server();
    running->stop(milliseconds(0));
    running->stop(milliseconds(0));
    auto opened = HttpServer::open({}, echo);
    ASSERT_TRUE(opened.has_value());
    (*opened)->stop(milliseconds(0));
}

TEST(HttpStop, StopsUnderLoadOnSeveralThreads) {
    HttpServerConfig config;
    config.threads = 3;
    auto server = start_server(echo, config);
    const std::uint16_t port = server->port();
    std::atomic<std::uint64_t> answers{0};
    std::promise<void> busy;
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back([&] {
            while (true) {
                auto socket =
                    ClientSocket::connect(HttpTarget{{}, "127.0.0.1", port}, test_deadline());
                if (!socket) {
                    return;
                }
                std::size_t written = 0;
                char buffer[4096];
                while (socket->write_all(kGet, test_deadline(), written) &&
                       socket->read_some(buffer, test_deadline()).value_or(0) > 0) {
                    if (answers.fetch_add(1) == 1000) {
                        busy.set_value();
                    }
                }
            }
        });
    }
    ASSERT_EQ(busy.get_future().wait_for(kTestPatience), std::future_status::ready);
    server->stop(kTestPatience);
    for (std::thread& caller : callers) {
        caller.join();
    }
    EXPECT_EQ(server->counters().open, 0u);
}

}  // namespace
}  // namespace interlock
