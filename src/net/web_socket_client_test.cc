// The client against our server, plain and over TLS: Beast's reading of the protocol on one end and
// ours on the other, so each is a test of the other.
#include "net/web_socket_client.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/test_certificate.h"
#include "net/test_scripted_server.h"
#include "net/web_socket_test_peer.h"
#include "net/web_socket_upgrade.h"

namespace interlock {
namespace {

WebSocketTarget target_of(const HttpServer& server) {
    return {.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/socket"};
}

std::unique_ptr<WebSocketClient> connect_to(const WebSocketTarget& target) {
    auto client = WebSocketClient::connect(target);
    if (!client) {
        ADD_FAILURE() << client.error().message;
        std::abort();
    }
    return *std::move(client);
}

std::string heard(WebSocketClient& client) {
    const auto message = client.receive(test_deadline());
    if (!message) {
        return "error:" + std::string(message.error().code());
    }
    if (!*message) {
        return "nothing";
    }
    return ((*message)->is_text ? "text:" : "binary:") + (*message)->payload;
}

WebSocketClose close_of(WebSocketClient& client) {
    return client.closed().value_or(WebSocketClose{0, "still open"});
}

// Reads a handshake and answers it well.
std::string upgrade_answer(ScriptedConnection& connection) {
    HttpRequestParser parser(HttpParseLimits{64 * 1024, 0});
    parser.feed(connection.read_through("\r\n\r\n"));
    std::string answer;
    append_upgrade_answer(answer, judge_upgrade(parser.take().request, false).accept_key);
    return answer;
}

class BothWays : public testing::TestWithParam<bool> {
protected:
    std::unique_ptr<HttpServer> serve(HttpHandler handler, HttpServerConfig config = {}) const {
        if (GetParam()) {
            config.tls = certificate_.files;
        }
        return start_server(std::move(handler), std::move(config));
    }

    WebSocketTarget target(const HttpServer& server) const {
        const std::string place = ":" + std::to_string(server.port()) + "/socket";
        return {
            .url = (GetParam() ? "wss://localhost" : "ws://localhost") + place,
            .pinned_address = "127.0.0.1",
            .ca_file = certificate_.files.certificate_chain_path};
    }

    const TestCertificate certificate_;
};

INSTANTIATE_TEST_SUITE_P(WebSocketClient, BothWays, testing::Bool(), [](const auto& entry) {
    return entry.param ? std::string("Tls") : std::string("Plain");
});

TEST_P(BothWays, MessagesOfEverySizeComeBack) {
    const auto server = serve(echo_frames);
    const auto client = connect_to(target(*server));
    for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 1'048'576U}) {
        const std::string text(size, 'x');
        ASSERT_TRUE(client->send(text).has_value()) << size;
        EXPECT_TRUE(heard(*client) == "text:" + text) << size;
    }
}

TEST_P(BothWays, ManyMessagesKeepTheirOrder) {
    SocketHost host;
    const auto server = serve(host.handler());
    const auto client = connect_to(target(*server));
    const AcceptedSocket accepted = host.next();
    constexpr int kMessages = 2000;
    for (int i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(accepted.socket->send(std::string(static_cast<std::size_t>(i), 'y')));
    }
    for (int i = 0; i < kMessages; ++i) {
        ASSERT_EQ(heard(*client).size(), 5 + static_cast<std::size_t>(i));
    }
}

TEST_P(BothWays, TheServersCloseArrivesWithCodeAndReason) {
    const auto server = serve([](HttpRequest, const HttpResponderPtr& responder) {
        responder->accept_web_socket(std::make_shared<NotingPeer>())->close(4401, "who are you");
    });
    const auto client = connect_to(target(*server));
    EXPECT_EQ(heard(*client), "error:web_socket_closed");
    EXPECT_EQ(close_of(*client).code, 4401);
    EXPECT_EQ(close_of(*client).reason, "who are you");
    EXPECT_FALSE(client->send("late").has_value());
    EXPECT_EQ(heard(*client), "error:web_socket_closed");
}

TEST_P(BothWays, TheClientsCloseArrivesWithCodeAndReason) {
    SocketHost host;
    const auto server = serve(host.handler());
    const auto client = connect_to(target(*server));
    client->close(4000, "enough");
    EXPECT_EQ(host.next().peer->close(), (HeardClose{4000, "enough"}));
    EXPECT_EQ(close_of(*client).code, 4000);
}

TEST_P(BothWays, AClientThatIsDroppedIs1006) {
    SocketHost host;
    const auto server = serve(host.handler());
    connect_to(target(*server)).reset();
    EXPECT_EQ(host.next().peer->close().code, 1006);
}

TEST_P(BothWays, AStopOfTheServerIs1001) {
    auto server = serve(echo_frames);
    const auto client = connect_to(target(*server));
    std::thread stopper([&] { server->stop(kTestPatience); });
    EXPECT_EQ(heard(*client), "error:web_socket_closed");
    EXPECT_EQ(close_of(*client).code, 1001);
    stopper.join();
}

TEST(WebSocketClient, SendsTheHeadersOfTheTarget) {
    HeldRequests held;
    const auto server = start_server(held.handler());
    WebSocketTarget target = target_of(*server);
    target.headers = {{"Authorization", "Bearer t"}, {"X-Who", "me"}};
    target.connect_timeout = kTestPatience;
    std::thread answerer([&] {
        const HeldRequest request = held.next();
        EXPECT_EQ(request.request.header("Authorization"), "Bearer t");
        EXPECT_EQ(request.request.header("X-Who"), "me");
        EXPECT_EQ(request.request.target, "/socket");
        request.responder->send(text_response(403, "text/plain", "no"));
    });
    const auto client = WebSocketClient::connect(target);
    answerer.join();
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(client.error().code(), "web_socket_refused");
    EXPECT_TRUE(client.error().message.contains("403"));
}

TEST(WebSocketClient, ReturnsNothingAtTheDeadline) {
    const auto server = start_server(echo_frames);
    const auto client = connect_to(target_of(*server));
    const auto nothing =
        client->receive(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    ASSERT_TRUE(nothing.has_value());
    EXPECT_FALSE(nothing->has_value());
    // And nothing is lost by it.
    ASSERT_TRUE(client->send("after").has_value());
    EXPECT_EQ(heard(*client), "text:after");
}

TEST(WebSocketClient, TakesWhatHasArrivedEvenWhenTheDeadlineHasPassed) {
    SocketHost host;
    const auto server = start_server(host.handler());
    const auto client = connect_to(target_of(*server));
    ASSERT_TRUE(host.next().socket->send("x"));
    Result<std::optional<WebSocketMessage>> message = std::optional<WebSocketMessage>();
    const auto give_up = test_deadline();
    while (message && !*message && std::chrono::steady_clock::now() < give_up) {
        message = client->receive({});
    }
    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->payload, "x");
}

TEST(WebSocketClient, AWakeEndsTheWait) {
    const auto server = start_server(echo_frames);
    const auto client = connect_to(target_of(*server));
    client->wake();  // Before the wait it counts as well.
    EXPECT_EQ(heard(*client), "nothing");
    std::thread waker([&] { client->wake(); });
    EXPECT_EQ(heard(*client), "nothing");
    waker.join();
}

TEST(WebSocketClient, RefusesMessagesBeyondItsBound) {
    const auto server = start_server(echo_frames);
    WebSocketTarget target = target_of(*server);
    target.message_bytes_max = 1000;
    const auto client = connect_to(target);
    ASSERT_TRUE(client->send(std::string(1000, 'x')).has_value());
    EXPECT_EQ(heard(*client), "text:" + std::string(1000, 'x'));
    ASSERT_TRUE(client->send(std::string(1001, 'x')).has_value());
    EXPECT_EQ(heard(*client), "error:web_socket_closed");
    EXPECT_EQ(close_of(*client).code, 1009);
}

TEST(WebSocketClient, AnEndWithoutACloseFrameIs1006) {
    ScriptedServer server(
        [](ScriptedConnection& connection, int) { connection.send(upgrade_answer(connection)); });
    const auto client =
        connect_to({.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/"});
    EXPECT_EQ(heard(*client), "error:web_socket_closed");
    EXPECT_EQ(close_of(*client).code, 1006);
}

TEST(WebSocketClient, RefusesAnAnswerWithTheWrongKey) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("\r\n\r\n");
        std::string answer;
        append_upgrade_answer(answer, "AAAAAAAAAAAAAAAAAAAAAAAAAAA=");
        connection.send(answer);
    });
    const auto client =
        WebSocketClient::connect({.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/"});
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(client.error().code(), "unavailable");
}

TEST(WebSocketClient, AnswersPingsWhileItReceives) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        std::string answer = upgrade_answer(connection);
        append_frame(answer, {.opcode = WebSocketOpcode::ping, .payload = "beat"});
        connection.send(answer);
        WebSocketReader reader(WebSocketRole::server, 1000);
        while (connection.read_more()) {
            const auto step = reader.feed(connection.unread());
            connection.unread().erase(0, step.consumed);
            if (step.event == WebSocketReader::Event::pong) {
                std::string frame;
                append_frame(frame, {.opcode = WebSocketOpcode::text, .payload = reader.payload()});
                connection.send(frame);
            }
        }
    });
    const auto client =
        connect_to({.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/"});
    EXPECT_EQ(heard(*client), "text:beat");
}

TEST(WebSocketClient, GivesUpOnAServerThatDoesNotAnswer) {
    ScriptedServer server(
        [](ScriptedConnection& connection, int) { connection.read_through("never"); });
    const auto client = WebSocketClient::connect(
        {.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/token-secret",
         .connect_timeout = std::chrono::milliseconds(30)});
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(client.error().code(), "unavailable");
    EXPECT_FALSE(client.error().message.contains("secret"));
}

TEST(WebSocketClient, SaysThatNobodyListens) {
    std::string url;
    {
        const auto server = start_server();
        url = target_of(*server).url;
    }
    const auto client = WebSocketClient::connect({.url = url});
    ASSERT_FALSE(client.has_value());
    EXPECT_EQ(client.error().code(), "unavailable");
}

TEST(WebSocketClient, RefusesTargetsThatCannotBeUsed) {
    const auto code = [](const WebSocketTarget& target) {
        const auto client = WebSocketClient::connect(target);
        return client ? std::string("(open)") : std::string(client.error().code());
    };
    EXPECT_EQ(code({.url = "http://127.0.0.1/"}), "invalid_request");
    EXPECT_EQ(code({.url = "ws://127.0.0.1/", .headers = {{"A", "b\nC: d"}}}), "invalid_request");
    EXPECT_EQ(code({.url = "wss://127.0.0.1/", .ca_file = "/nonexistent"}), "invalid_config");
}

TEST(WebSocketClientTls, TrustsOnlyWhomItShould) {
    const TestCertificate certificate;
    HttpServerConfig config;
    config.tls = certificate.files;
    const auto server = start_server(echo_frames, config);
    const std::string place = ":" + std::to_string(server->port()) + "/";
    // A stranger's certificate, and a trusted one under another name.
    const auto stranger =
        WebSocketClient::connect({.url = "wss://localhost" + place, .pinned_address = "127.0.0.1"});
    ASSERT_FALSE(stranger.has_value());
    EXPECT_EQ(stranger.error().code(), "unavailable");
    const auto misnamed = WebSocketClient::connect(
        {.url = "wss://127.0.0.1" + place, .ca_file = certificate.files.certificate_chain_path});
    ASSERT_FALSE(misnamed.has_value());
    EXPECT_EQ(misnamed.error().code(), "unavailable");
    EXPECT_EQ(server->counters().requests, 0U);
}

}  // namespace
}  // namespace interlock
