#include "relay/face/relay_face.h"

#include <gtest/gtest.h>

#include "testing/fake_http.h"
#include "testing/relay_world.h"

namespace interlock {
namespace {

HttpRequest upgrade(std::string path = "/relay") {
    HttpRequest request;
    request.method = "GET";
    request.target = std::move(path);
    request.headers = {
        {"Connection", "Upgrade"},
        {"Upgrade", "websocket"},
        {"Sec-WebSocket-Version", "13"},
        {"Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="},
        {"Authorization", "Bearer token"}};
    return request;
}

struct RelayFaceTest : testing::Test {
    RelayFaceTest()
        : face(
              {.desk = world.desk,
               .authenticate =
                   [this](std::string_view bearer) {
                       bearers.emplace_back(bearer);
                       return dial;
                   },
               .is_ready = [this] { return is_ready; }}) {
        world.add_instance("i1");
        world.bind("ann", "i1");
        dial = {RelayDial::Verdict::accepted, {TenantId::trusted("t1"), "i1", "gw-i1"}};
    }
    std::shared_ptr<FakeResponder> send(const HttpRequest& request) {
        auto responder = std::make_shared<FakeResponder>();
        face.handle(request, responder);
        world.settle();
        return responder;
    }
    void say(FakeResponder& gateway, std::string_view bytes) {
        gateway.peer->on_message(bytes, true);
        gateway.peer->on_read_end();
        world.settle();
    }

    RelayWorld world;
    RelayDial dial;
    bool is_ready = true;
    std::vector<std::string> bearers;
    RelayFace face;
};

TEST(SparseLines, HaveALineForTheFirstOnesThenForOneInAHundred) {
    SparseLines lines;
    std::vector<std::uint64_t> shown;
    for (int i = 0; i < 350; ++i) {
        if (const auto count = lines.take()) {
            shown.push_back(*count);
        }
    }
    ASSERT_EQ(shown.size(), SparseLines::kFirst + 3);
    EXPECT_EQ(shown.front(), 1u);
    EXPECT_EQ(shown[SparseLines::kFirst], 100u);
    EXPECT_EQ(shown.back(), 300u);
}

TEST_F(RelayFaceTest, TakesItsPathAndUpgradesThatLostTheirWay) {
    EXPECT_TRUE(RelayFace::takes(upgrade()));
    EXPECT_TRUE(RelayFace::takes(upgrade("/elsewhere")));
    HttpRequest plain;
    plain.method = "GET";
    plain.target = "/health";
    EXPECT_FALSE(RelayFace::takes(plain));
}

TEST_F(RelayFaceTest, AnUpgradeElsewhereIs400) {  // relay-connector.md#refused-dials
    EXPECT_EQ(send(upgrade("/elsewhere"))->status(), 400);
    EXPECT_TRUE(bearers.empty());
}

TEST_F(RelayFaceTest, ARequestWithoutAnUpgradeIs400) {
    HttpRequest request = upgrade();
    request.headers.clear();
    EXPECT_EQ(send(request)->status(), 400);
}

TEST_F(RelayFaceTest, WhatCannotBeToldNowIs503) {  // relay-connector.md#refused-dials
    is_ready = false;
    EXPECT_EQ(send(upgrade())->status(), 503);
    is_ready = true;
    dial.verdict = RelayDial::Verdict::unavailable;
    const auto responder = send(upgrade());
    EXPECT_EQ(responder->status(), 503);
    EXPECT_TRUE(responder->response->header("Retry-After"));
}

TEST_F(RelayFaceTest, AnExpiredTokenIs401) {  // relay-connector.md#refused-dials
    dial.verdict = RelayDial::Verdict::expired;
    EXPECT_EQ(send(upgrade())->status(), 401);
}

// relay-connector.md#refused-dials
TEST_F(RelayFaceTest, AWrongCredentialIsLetInToBeClosedWith4401) {
    dial.verdict = RelayDial::Verdict::wrong;
    const auto responder = send(upgrade());
    ASSERT_TRUE(responder->web_socket);
    EXPECT_EQ(responder->web_socket->close_code, 4401);
    EXPECT_EQ(responder->web_socket->close_reason, "unauthorized");
    EXPECT_EQ(world.delivery.sockets(), 0u);
}

TEST_F(RelayFaceTest, AFrameMaySpanMessagesAndAMessageHoldSeveral) {  // relay-connector.md#1-frames
    const auto gateway = send(upgrade());
    EXPECT_EQ(bearers, std::vector<std::string>{"token"});
    say(*gateway, R"({"type":"hello","platform":"lo)");
    EXPECT_TRUE(gateway->web_socket->sent.empty());
    say(*gateway, "cal\",\"botId\":\"bot\"}\n{\"type\":\"nonsense\"}\n{\"type\":\"going_idle\"}\n");
    ASSERT_EQ(gateway->web_socket->sent.size(), 2u);
    EXPECT_TRUE(gateway->web_socket->sent[0].starts_with(R"({"type":"descriptor")"));
    EXPECT_EQ(gateway->web_socket->sent[1], "{\"type\":\"going_idle_ack\"}\n");
}

// relay-connector.md#1-frames
TEST_F(RelayFaceTest, ABadFrameWithARequestIsAnsweredAndOthersAreSkipped) {
    const auto gateway = send(upgrade());
    say(*gateway, "not json\n");
    say(*gateway,
        R"({"type":"outbound","requestId":"r1","action":{"op":"send"}})"
        "\n");
    ASSERT_EQ(gateway->web_socket->sent.size(), 1u);
    EXPECT_NE(gateway->web_socket->sent[0].find("r1"), std::string::npos);
    EXPECT_EQ(face.counters().bad_frames.load(), 2u);
    EXPECT_TRUE(gateway->web_socket->open);
}

TEST_F(RelayFaceTest, ALineBeyondItsBoundEndsTheSocket) {  // relay-connector.md#1-frames
    const auto gateway = send(upgrade());
    say(*gateway, std::string(kFrameBytesMax + 1, 'x'));
    EXPECT_EQ(gateway->web_socket->close_code, kCloseProtocol);
}

TEST_F(RelayFaceTest, AFloodOfFramesIsReadNoFasterThanTheLaneWorks) {
    const auto gateway = send(upgrade());
    std::string flood;
    for (int i = 0; i < kSocketFramesMax; ++i) {
        flood += "{\"type\":\"inbound_ack\",\"bufferId\":\"1\"}\n";
    }
    gateway->peer->on_message(flood, true);
    EXPECT_TRUE(gateway->web_socket->is_paused);
    gateway->peer->on_read_end();
    world.settle();
    EXPECT_FALSE(gateway->web_socket->is_paused);
}

constexpr std::string_view kHello = R"({"type":"hello","platform":"local","botId":"bot"})"
                                    "\n";

std::string ack_line(const BufferEntryHead& entry) {
    return R"({"type":"inbound_ack","bufferId":")" + std::to_string(entry.seq) + "\"}\n";
}

TEST_F(RelayFaceTest, AcknowledgementsOfOneReadAreOnePieceOfWork) {  // I7
    const auto gateway = send(upgrade());
    say(*gateway, kHello);
    world.submit(RelayWorld::message("ann", "m1"));
    world.submit(RelayWorld::message("ann", "m2"));
    const auto waiting = world.store.load_buffer_heads();
    ASSERT_EQ(waiting->size(), 2u);
    const auto before = world.lane.counters();
    gateway->peer->on_message(ack_line(waiting->at(0)), true);
    gateway->peer->on_message(ack_line(waiting->at(1)), true);
    EXPECT_EQ(world.lane.waiting(), 0u);
    gateway->peer->on_read_end();
    EXPECT_EQ(world.lane.waiting(), 1u);
    world.settle();
    EXPECT_EQ(world.lane.counters().commits - before.commits, 1u);
    EXPECT_TRUE(world.store.load_buffer_heads()->empty());
}

TEST_F(RelayFaceTest, WhatWasAcknowledgedBeforeTheSocketEndedCounts) {  // I8
    const auto gateway = send(upgrade());
    say(*gateway, kHello);
    world.submit(RelayWorld::message("ann", "m1"));
    const auto waiting = world.store.load_buffer_heads();
    ASSERT_EQ(waiting->size(), 1u);
    gateway->peer->on_message(ack_line(waiting->at(0)), true);
    gateway->peer->on_closed(1000, "");
    world.settle();
    EXPECT_TRUE(world.store.load_buffer_heads()->empty());
    EXPECT_EQ(world.delivery.sockets(), 0u);
}

TEST_F(RelayFaceTest, AnOutboundIsSubmittedAfterWhatCameBeforeIt) {
    const auto gateway = send(upgrade());
    say(*gateway,
        std::string(kHello) +
            R"({"type":"outbound","requestId":"r1","action":{"op":"typing","chat_id":"c"}})"
            "\n");
    ASSERT_EQ(world.outbounds.size(), 1u);
    EXPECT_EQ(world.outbounds[0].request_id, "r1");
    EXPECT_TRUE(gateway->web_socket->sent.at(0).starts_with(R"({"type":"descriptor")"));
}

TEST_F(RelayFaceTest, ALongMessageOfFramesIsHandedOnInPieces) {
    const auto gateway = send(upgrade());
    std::string flood;
    for (int i = 0; i < 2 * kSocketFramesMax + 1; ++i) {
        flood += "{\"type\":\"inbound_ack\",\"bufferId\":\"1\"}\n";
    }
    gateway->peer->on_message(flood, true);
    EXPECT_EQ(world.lane.waiting(), 2u);
    gateway->peer->on_read_end();
    EXPECT_EQ(world.lane.waiting(), 3u);
}

TEST_F(RelayFaceTest, ASocketThatEndsIsForgotten) {
    const auto gateway = send(upgrade());
    EXPECT_EQ(world.delivery.sockets(), 1u);
    gateway->peer->on_closed(1006, "");
    world.settle();
    EXPECT_EQ(world.delivery.sockets(), 0u);
}

TEST_F(RelayFaceTest, TwoAuthorizationHeadersAreNone) {
    HttpRequest request = upgrade();
    EXPECT_EQ(bearer_of(request), "token");
    request.headers.emplace_back("authorization", "Bearer other");
    EXPECT_EQ(bearer_of(request), "");
    request.headers = {{"Authorization", "Basic x"}};
    EXPECT_EQ(bearer_of(request), "");
}

TEST(RelayFaceBase, IsWhatTheGatewayDialled) {
    HttpRequest request = upgrade();
    EXPECT_EQ(dialled_base(request, ""), "");
    request.headers.push_back({"Host", "relay.example:8420"});
    EXPECT_EQ(dialled_base(request, ""), "http://relay.example:8420");
    // A proxy ended TLS; somebody who dialled another name is told that one.
    EXPECT_EQ(dialled_base(request, "https://Relay.example:8420"), "https://Relay.example:8420");
    EXPECT_EQ(dialled_base(request, "https://relay.example"), "http://relay.example:8420");
    request.tls = true;
    EXPECT_EQ(dialled_base(request, ""), "https://relay.example:8420");
    request.headers.back().second = "evil/relay.example";
    EXPECT_EQ(dialled_base(request, ""), "");
    request.headers.back().second = std::string(300, 'a');
    EXPECT_EQ(dialled_base(request, ""), "");
}

}  // namespace
}  // namespace interlock
