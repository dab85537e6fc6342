// WebSockets on a running server: the handshake on the wire, messages, closing, and each bound.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "net/web_socket_session.h"
#include "net/web_socket_test_peer.h"

namespace interlock {
namespace {

std::string closing(std::uint16_t code, std::string_view reason) {
    return client_frame(WebSocketOpcode::close, close_payload(code, reason));
}

HttpServerConfig config_with(void (*change)(HttpLimits&)) {
    HttpServerConfig config;
    change(config.limits);
    return config;
}

TEST(WebSocketServer, EchoesMessagesOfEverySize) {
    const auto server = start_server(echo_frames);
    FramePeer peer(server->port());
    peer.open();
    for (const std::size_t size : {0U, 125U, 126U, 127U, 65'535U, 65'536U, 1'000'000U}) {
        const std::string payload(size, '*');
        peer.send_text(payload);
        EXPECT_TRUE(peer.next() == "text:" + payload) << size;
    }
}

TEST(WebSocketServer, SpeaksOnTheUnixSocket) {
    const TestFolder folder;
    HttpServerConfig config;
    config.address = "";
    config.unix_socket_path = folder / "s";
    const auto server = start_server(echo_frames, config);
    FramePeer peer(HttpTarget{folder / "s", "x", 0});
    peer.open();
    peer.send_text("hello");
    EXPECT_EQ(peer.next(), "text:hello");
}

TEST(WebSocketServer, TakesBytesBehindTheUpgradeForFrames) {
    const auto server = start_server(echo_frames);
    FramePeer peer(server->port());
    // To HTTP this would be a second request.
    const std::string trick = "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n";
    peer.open(client_frame(WebSocketOpcode::text, trick));
    EXPECT_EQ(peer.next(), "text:" + trick);
    EXPECT_EQ(server->counters().requests, 1U);
}

TEST(WebSocketServer, ARequestBehindTheUpgradeIsNoRequest) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open("GET /secret HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(peer.next().starts_with("close:1002 "));
    EXPECT_EQ(host.next().peer->close().code, 1002);
    EXPECT_EQ(server->counters().requests, 1U);
}

TEST(WebSocketServer, AnUpgradeMayComeAfterOrdinaryRequests) {
    const auto server = start_server([](HttpRequest request, const HttpResponderPtr& responder) {
        if (is_web_socket_upgrade(request)) {
            echo_frames(std::move(request), responder);
        } else {
            echo(std::move(request), responder);
        }
    });
    RawPeer peer(server->port());
    peer.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(kUpgrade));
    EXPECT_EQ(peer.read_response().body, "GET /a ");
    EXPECT_TRUE(peer.read_until("\r\n\r\n"));
    peer.send(client_frame(WebSocketOpcode::text, "now frames"));
    EXPECT_TRUE(peer.read_until("now frames"));
}

TEST(WebSocketServer, AHandlerMayAnswerAnUpgradeWithoutAccepting) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send(kUpgrade);
    EXPECT_EQ(peer.read_response().status, 200);
    peer.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(peer.read_response().body, "GET /b ");
}

struct Refusal {
    std::string name;
    std::string request;
    int status;
};
class UpgradeRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(UpgradeRefusals, AreAnsweredAndEndTheConnection) {
    SocketHost host;
    const auto server = start_server(host.handler());
    RawPeer peer(server->port());
    // What stands behind a refused upgrade is never read as a request.
    peer.send(GetParam().request + "GET /secret HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, GetParam().status);
    EXPECT_FALSE(peer.keeps_alive());
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_EQ(server->counters().requests, 1U);
    EXPECT_EQ(server->counters().bad_requests, 1U);
}

std::string changed(std::string_view from, std::string_view to) {
    std::string request(kUpgrade);
    return request.replace(request.find(from), from.size(), to);
}

INSTANTIATE_TEST_SUITE_P(
    WebSocketServer,
    UpgradeRefusals,
    testing::Values(
        Refusal{"NoUpgrade", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        Refusal{"Post", changed("GET", "POST"), 400},
        Refusal{"Version", changed("Version: 13", "Version: 12"), 426},
        Refusal{"Key", changed("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ="), 400},
        Refusal{"Http10", changed("HTTP/1.1", "HTTP/1.0"), 400},
        Refusal{"Body", changed("Host: x", "Host: x\r\nContent-Length: 2") + "\x81\x80", 400},
        Refusal{
            "Chunks",
            changed("Host: x", "Host: x\r\nTransfer-Encoding: chunked") + "0\r\n\r\n",
            400}),
    [](const auto& entry) { return entry.param.name; });

TEST(WebSocketServer, AHandlerMayAcceptAndCloseAtOnce) {
    auto peer_side = std::make_shared<NotingPeer>();
    const auto server = start_server([&](HttpRequest, const HttpResponderPtr& responder) {
        responder->accept_web_socket(peer_side)->close(4401, "who are you");
    });
    FramePeer peer(server->port());
    peer.open();
    EXPECT_EQ(peer.next(), "close:4401 who are you");
    peer.send(closing(4401, ""));
    EXPECT_EQ(peer.next(), "end");
    EXPECT_FALSE(peer.was_reset());
    EXPECT_EQ(peer_side->close(), (HeardClose{4401, "who are you"}));
}

TEST(WebSocketServer, AcceptsFromAnotherThread) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    FramePeer peer(server->port());
    peer.send(std::string(kUpgrade) + client_frame(WebSocketOpcode::text, "early"));
    const HeldRequest request = held.next();
    auto noting = std::make_shared<NotingPeer>();
    const auto socket = request.responder->accept_web_socket(noting);
    ASSERT_NE(socket, nullptr);
    EXPECT_EQ(noting->messages(1), (std::vector<std::string>{"early"}));
}

TEST(WebSocketServer, SaysWhenThePeerWasGoneBeforeTheAccept) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    HeldRequest request;
    {
        RawPeer peer(server->port());
        peer.send(kUpgrade);
        request = held.next();
    }
    auto noting = std::make_shared<NotingPeer>();
    const auto socket = request.responder->accept_web_socket(noting);
    ASSERT_NE(socket, nullptr);
    EXPECT_EQ(noting->close().code, 1006);
    EXPECT_FALSE(socket->send("nobody"));
}

TEST(WebSocketServer, ThereIsNoSocketAfterTheStop) {
    HeldRequests held;
    auto server = start_server(held.handler());
    RawPeer peer(server->port());
    peer.send(kUpgrade);
    const HeldRequest request = held.next();
    server->stop(std::chrono::milliseconds(0));
    auto noting = std::make_shared<NotingPeer>();
    EXPECT_EQ(request.responder->accept_web_socket(noting), nullptr);
}

TEST(WebSocketServer, AnswersThePeersClose) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    peer.send(closing(1000, "bye"));
    EXPECT_EQ(peer.next(), "close:1000 bye");
    EXPECT_EQ(peer.next(), "end");
    EXPECT_EQ(accepted.peer->close(), (HeardClose{1000, "bye"}));
    EXPECT_FALSE(accepted.socket->is_open());
    EXPECT_FALSE(accepted.socket->send("late"));
}

TEST(WebSocketServer, AnswersACloseWithoutACodeWithOneWithout) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    peer.send(client_frame(WebSocketOpcode::close, ""));
    EXPECT_EQ(peer.next(), "close:1005 ");
    EXPECT_EQ(host.next().peer->close().code, 1005);
}

TEST(WebSocketServer, SendsWhatWaitsBeforeItsClose) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    EXPECT_TRUE(accepted.socket->send("one"));
    EXPECT_TRUE(accepted.socket->send("two"));
    accepted.socket->close(1000, "done");
    accepted.socket->close(4000, "again");
    EXPECT_FALSE(accepted.socket->send("three"));
    EXPECT_EQ(peer.next(), "text:one");
    EXPECT_EQ(peer.next(), "text:two");
    EXPECT_EQ(peer.next(), "close:1000 done");
    EXPECT_EQ(accepted.peer->close(), (HeardClose{1000, "done"}));
}

TEST(WebSocketServer, DropsAPeerThatDoesNotAnswerTheClose) {
    SocketHost host;
    const auto server = start_server(host.handler(), config_with([](HttpLimits& limits) {
                                         limits.web_socket_close_timeout =
                                             std::chrono::milliseconds(20);
                                     }));
    FramePeer peer(server->port());
    peer.open();
    host.next().socket->close(1000, "");
    EXPECT_EQ(peer.next(), "close:1000 ");
    EXPECT_EQ(peer.next(), "end");
}

TEST(WebSocketServer, HearsNothingMoreAfterItsClose) {
    auto peer_side = std::make_shared<NotingPeer>();
    const auto server = start_server([&](HttpRequest, const HttpResponderPtr& responder) {
        responder->accept_web_socket(peer_side)->close(1000, "");
    });
    FramePeer peer(server->port());
    peer.open();
    EXPECT_EQ(peer.next(), "close:1000 ");
    peer.send_text("too late");
    peer.send(closing(1000, ""));
    EXPECT_EQ(peer.next(), "end");
    EXPECT_EQ(peer_side->count(), 0U);
}

TEST(WebSocketServer, DroppingTheSocketClosesIt) {
    const auto server = start_server(echo_frames);
    FramePeer peer(server->port());
    peer.open();
    peer.send_text("hang up");
    EXPECT_EQ(peer.next(), "close:1001 ");
}

TEST(WebSocketServer, ABrokenConnectionIs1006) {
    SocketHost host;
    const auto server = start_server(host.handler());
    {
        FramePeer peer(server->port());
        peer.open();
    }
    EXPECT_EQ(host.next().peer->close(), (HeardClose{1006, ""}));
}

TEST(WebSocketServer, AnEndWithoutACloseFrameIs1006) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    ASSERT_EQ(::shutdown(peer.descriptor(), SHUT_WR), 0);
    EXPECT_EQ(host.next().peer->close(), (HeardClose{1006, ""}));
    EXPECT_EQ(peer.next(), "end");
}

TEST(WebSocketServer, SaysWhatWasWrongBeforeItCloses) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    peer.send(client_frame(WebSocketOpcode::text, "\xff") + std::string(100'000, 'x'));
    EXPECT_EQ(peer.next(), "close:1007 text is not UTF-8");
    EXPECT_EQ(peer.next(), "end");
    EXPECT_FALSE(peer.was_reset());
    EXPECT_EQ(host.next().peer->close().code, 1007);
}

TEST(WebSocketServer, RefusesMessagesBeyondTheBound) {
    const auto server = start_server(echo_frames, config_with([](HttpLimits& limits) {
                                         limits.web_socket_message_bytes_max = 1000;
                                     }));
    FramePeer peer(server->port());
    peer.open();
    peer.send_text(std::string(1000, 'x'));
    EXPECT_EQ(peer.next(), "text:" + std::string(1000, 'x'));
    peer.send_text(std::string(1001, 'x'));
    EXPECT_EQ(peer.next(), "close:1009 message too large");
}

TEST(WebSocketServer, AnswersPingsInsideAMessage) {
    const auto server = start_server(echo_frames);
    FramePeer peer(server->port());
    peer.open();
    peer.send(client_frame(WebSocketOpcode::text, "he", false));
    peer.send(client_frame(WebSocketOpcode::ping, "there?"));
    EXPECT_EQ(peer.next(), "pong:there?");
    peer.send(client_frame(WebSocketOpcode::continuation, "llo"));
    EXPECT_EQ(peer.next(), "text:hello");
}

TEST(WebSocketServer, AFloodOfPingsEndsTheConnection) {
    const auto server = start_server(echo_frames);
    FramePeer peer(server->port());
    peer.open();
    std::string flood;
    // Twice what is allowed, since the flood may fall into two seconds.
    for (int i = 0; i <= 2 * kControlFramesPerSecondMax; ++i) {
        flood += client_frame(WebSocketOpcode::ping, "");
    }
    peer.send(flood);
    std::string heard = peer.next();
    while (heard == "pong:") {
        heard = peer.next();
    }
    EXPECT_EQ(heard, "close:1008 too many control frames");
}

TEST(WebSocketServer, PingsASilentPeerAndKeepsItWhileItAnswers) {
    SocketHost host;
    const auto server = start_server(host.handler(), config_with([](HttpLimits& limits) {
                                         limits.web_socket_ping_interval =
                                             std::chrono::milliseconds(10);
                                     }));
    FramePeer peer(server->port());
    peer.open();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(peer.next(), "ping:");
        peer.send(client_frame(WebSocketOpcode::pong, ""));
    }
    EXPECT_TRUE(host.next().socket->is_open());
}

TEST(WebSocketServer, DropsAPeerThatStaysSilent) {
    SocketHost host;
    const auto server =
        start_server(host.handler(), config_with([](HttpLimits& limits) {
                         limits.web_socket_ping_interval = std::chrono::milliseconds(10);
                         limits.web_socket_silence_max = std::chrono::milliseconds(50);
                     }));
    FramePeer peer(server->port());
    peer.open();
    std::string heard = peer.next();
    EXPECT_EQ(heard, "ping:");
    while (heard == "ping:") {
        heard = peer.next();
    }
    EXPECT_EQ(heard, "end");
    EXPECT_EQ(host.next().peer->close(), (HeardClose{1006, ""}));
}

TEST(WebSocketServer, ClosesASlowConsumerWith1013) {
    SocketHost host;
    const auto server = start_server(host.handler(), config_with([](HttpLimits& limits) {
                                         limits.web_socket_unsent_bytes_max = 1'000'000;
                                     }));
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    const std::string message(100'000, 'x');
    int sent = 0;
    // The kernel is filled first: what a slow loop has not handed to it yet could still leave
    // between the refusal and the close.
    do {
        ASSERT_TRUE(accepted.socket->send(message));
        ASSERT_LT(++sent, 10'000);
    } while (accepted.peer->drains_within(std::chrono::seconds(2)));
    const int stuck = sent;
    while (accepted.socket->send(message)) {
        ASSERT_LT(++sent, 10'000);
    }
    EXPECT_EQ(sent, stuck + 8);  // One is on its way; ten would be more than the bound.
    EXPECT_FALSE(accepted.socket->is_open());
    EXPECT_EQ(accepted.peer->close(), (HeardClose{1013, "slow consumer"}));
    // When it reads after all, it hears whole messages and then why it was closed.
    int received = 0;
    std::string heard = peer.next();
    for (; heard == "text:" + message; heard = peer.next()) {
        ++received;
    }
    EXPECT_EQ(heard, "close:1013 slow consumer");
    EXPECT_LT(received, sent);
}

TEST(WebSocketServer, UrgentMessagesGoBeforeThoseThatWait) {
    SocketHost host;
    const auto server = start_server(host.handler(), config_with([](HttpLimits& limits) {
                                         limits.web_socket_unsent_bytes_max = 64 * 1024 * 1024;
                                     }));
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    // More than the kernel takes, so that most of it waits.
    constexpr int kMessages = 400;
    const std::string message(100'000, 'x');
    for (int i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(accepted.socket->send(message));
    }
    ASSERT_TRUE(accepted.socket->send_urgent("first"));
    ASSERT_TRUE(accepted.socket->send_urgent("second"));
    EXPECT_GT(accepted.socket->unsent_bytes(), 1'000'000U);
    int before = 0;
    std::string heard = peer.next();
    for (; heard == "text:" + message; heard = peer.next()) {
        ++before;
    }
    EXPECT_EQ(heard, "text:first");
    EXPECT_EQ(peer.next(), "text:second");
    EXPECT_LT(before, kMessages);
    for (int i = before; i < kMessages; ++i) {
        ASSERT_TRUE(peer.next() == "text:" + message);
    }
    accepted.peer->wait_drained();
    EXPECT_EQ(accepted.socket->unsent_bytes(), 0U);
}

TEST(WebSocketServer, TellsWhenAllIsSent) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    ASSERT_TRUE(accepted.socket->send("x"));
    accepted.peer->wait_drained();
    EXPECT_EQ(accepted.socket->unsent_bytes(), 0U);
    EXPECT_EQ(peer.next(), "text:x");
}

TEST(WebSocketServer, HoldsBackArrivedMessagesWhilePaused) {
    std::shared_ptr<WebSocket> socket;
    auto peer_side =
        std::make_shared<NotingPeer>([&](std::string_view, bool) { socket->pause_reading(); });
    const auto server = start_server([&](HttpRequest, const HttpResponderPtr& responder) {
        socket = responder->accept_web_socket(peer_side);
    });
    FramePeer peer(server->port());
    const std::string two =
        client_frame(WebSocketOpcode::text, "a") + client_frame(WebSocketOpcode::text, "b");
    peer.open(two);
    // Both have arrived together, yet only the first is heard until we say so.
    EXPECT_EQ(peer_side->messages(1).size(), 1U);
    ASSERT_TRUE(socket->send("still speaking"));
    EXPECT_EQ(peer.next(), "text:still speaking");
    EXPECT_EQ(peer_side->count(), 1U);
    socket->resume_reading();
    EXPECT_EQ(peer_side->messages(2), (std::vector<std::string>{"a", "b"}));
}

TEST(WebSocketServer, APausedSocketMakesThePeerWait) {
    SocketHost host;
    const auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.send(kUpgrade);
    const AcceptedSocket accepted = host.next();
    accepted.socket->pause_reading();
    // Offers bytes until the kernel takes no more: nobody reads them.
    const std::string frame = client_frame(WebSocketOpcode::text, std::string(100'000, 'x'));
    std::size_t offered = 0;
    std::string rest;
    while (rest.empty()) {
        const ssize_t count =
            ::send(peer.descriptor(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        rest = frame.substr(count < 0 ? 0 : static_cast<std::size_t>(count));
        ++offered;
        ASSERT_LT(offered, 10'000U);
    }
    EXPECT_LE(accepted.peer->count(), 1U);
    accepted.socket->resume_reading();
    peer.send(rest);
    EXPECT_EQ(accepted.peer->messages(offered).size(), offered);
}

TEST(WebSocketServer, ACloseOfThePeerIsHeardBehindAPause) {
    std::shared_ptr<WebSocket> socket;
    auto peer_side =
        std::make_shared<NotingPeer>([&](std::string_view, bool) { socket->pause_reading(); });
    const auto server = start_server([&](HttpRequest, const HttpResponderPtr& responder) {
        socket = responder->accept_web_socket(peer_side);
    });
    {
        FramePeer peer(server->port());
        peer.open(
            client_frame(WebSocketOpcode::text, "a") + client_frame(WebSocketOpcode::text, "b") +
            closing(1000, "bye"));
        EXPECT_EQ(peer_side->messages(1).size(), 1U);
    }
    socket->resume_reading();
    EXPECT_EQ(peer_side->messages(2).size(), 2U);
    socket->resume_reading();
    EXPECT_EQ(peer_side->close(), (HeardClose{1000, "bye"}));
}

TEST(WebSocketServer, ClosesWith1001WhenItStops) {
    SocketHost host;
    auto server = start_server(host.handler());
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    std::thread stopper([&] { server->stop(kTestPatience); });
    EXPECT_EQ(peer.next(), "close:1001 going away");
    peer.send(closing(1001, ""));
    EXPECT_EQ(peer.next(), "end");
    stopper.join();
    EXPECT_EQ(accepted.peer->close(), (HeardClose{1001, "going away"}));
    EXPECT_FALSE(accepted.socket->send("late"));
}

TEST(WebSocketServer, WhatIsQueuedTogetherLeavesTogether) {
    std::shared_ptr<WebSocket> socket;
    const auto server = start_server([&](HttpRequest, const HttpResponderPtr& responder) {
        socket = responder->accept_web_socket(std::make_shared<NotingPeer>());
        for (int i = 0; i < 100; ++i) {
            socket->send("m");
        }
    });
    RawPeer peer(server->port());
    peer.send(kUpgrade);
    ASSERT_TRUE(peer.read_until("\r\n\r\n"));
    // One packet on loopback is read at once: the answer and a hundred frames of three bytes.
    const std::size_t end = peer.unread().find("\r\n\r\n") + 4;
    EXPECT_EQ(peer.unread().size() - end, 300U);
}

TEST(WebSocketServer, ManyThreadsMaySendAtOnce) {
    SocketHost host;
    HttpServerConfig config;
    config.threads = 2;
    const auto server = start_server(host.handler(), config);
    FramePeer peer(server->port());
    peer.open();
    const AcceptedSocket accepted = host.next();
    constexpr int kEach = 500;
    std::vector<std::thread> threads;
    for (const char* name : {"a", "b", "c"}) {
        threads.emplace_back([&accepted, name] {
            for (int i = 0; i < kEach; ++i) {
                EXPECT_TRUE(accepted.socket->send(name + std::to_string(i)));
            }
        });
    }
    std::map<char, int> next;  // Per thread the order is kept.
    for (int i = 0; i < 3 * kEach; ++i) {
        const std::string heard = peer.next();
        ASSERT_TRUE(heard.starts_with("text:"));
        EXPECT_EQ(heard.substr(6), std::to_string(next[heard[5]]++));
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace interlock
