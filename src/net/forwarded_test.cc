#include "net/forwarded.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "net/http_server.h"
#include "net/test_peer.h"

namespace interlock {
namespace {

const std::vector<Cidr> kProxies = {*parse_cidr("127.0.0.1"), *parse_cidr("10.0.0.0/8")};

HttpRequest seen(std::vector<HttpHeader> headers, std::string peer = "127.0.0.1") {
    HttpRequest request;
    request.headers = std::move(headers);
    request.peer_is_loopback = peer == "127.0.0.1";
    request.peer_address = std::move(peer);
    see_through_proxy(request, kProxies);
    return request;
}

TEST(Forwarded, IsReadFromATrustedProxyOnly) {
    EXPECT_EQ(seen({{"X-Forwarded-For", "198.51.100.7"}}).peer_address, "198.51.100.7");
    const HttpRequest stranger =
        seen({{"X-Forwarded-For", "198.51.100.7"}, {"X-Forwarded-Proto", "https"}}, "203.0.113.9");
    EXPECT_EQ(stranger.peer_address, "203.0.113.9");
    EXPECT_FALSE(stranger.tls);
}

TEST(Forwarded, TakesTheRightmostAddressThatIsNoProxy) {
    // The caller wrote the first two, the outer proxy the third, the inner one the fourth.
    const std::string list = "1.1.1.1, 127.0.0.1, 198.51.100.7, 10.0.0.5";
    EXPECT_EQ(seen({{"X-Forwarded-For", list}}).peer_address, "198.51.100.7");
    EXPECT_EQ(
        seen({{"X-Forwarded-For", "1.1.1.1"}, {"x-forwarded-for", "198.51.100.7"}}).peer_address,
        "198.51.100.7");
    EXPECT_EQ(seen({{"X-Forwarded-For", "10.0.0.9"}}).peer_address, "10.0.0.9");
}

TEST(Forwarded, StopsAtWhatItCannotRead) {
    for (const std::string list :
         {"198.51.100.7, unknown", "198.51.100.7, ", "198.51.100.7, evil.example", ""}) {
        EXPECT_EQ(seen({{"X-Forwarded-For", list}}).peer_address, "127.0.0.1") << list;
    }
    std::string endless = "198.51.100.7";
    for (std::size_t i = 0; i < kForwardedHopsMax; ++i) {
        endless += ", 10.0.0.1";
    }
    EXPECT_EQ(seen({{"X-Forwarded-For", endless}}).peer_address, "10.0.0.1");
}

TEST(Forwarded, ReadsAddressesAsProxiesWriteThem) {
    EXPECT_EQ(seen({{"X-Forwarded-For", "198.51.100.7:4711"}}).peer_address, "198.51.100.7");
    EXPECT_EQ(seen({{"X-Forwarded-For", "[2001:DB8::1]:80"}}).peer_address, "2001:db8::1");
    EXPECT_EQ(seen({{"X-Forwarded-For", "2001:db8::1"}}).peer_address, "2001:db8::1");
    EXPECT_EQ(
        seen({{"Forwarded", "for=1.1.1.1, for=\"[2001:db8::7]:1\";proto=https;by=x"}}).peer_address,
        "2001:db8::7");
    // Both: proxies set the one by themselves and pass the other on as the caller sent it.
    EXPECT_EQ(
        seen({{"Forwarded", "for=1.1.1.1"}, {"X-Forwarded-For", "198.51.100.7"}}).peer_address,
        "198.51.100.7");
}

TEST(Forwarded, TellsWhetherTheCallerUsesTls) {
    EXPECT_TRUE(seen({{"X-Forwarded-For", "1.1.1.1"}, {"X-Forwarded-Proto", "https"}}).tls);
    EXPECT_TRUE(seen({{"X-Forwarded-Proto", "HTTPS"}}).tls);
    EXPECT_FALSE(seen({{"X-Forwarded-Proto", "https, http"}}).tls);
    EXPECT_FALSE(seen({{"X-Forwarded-For", "1.1.1.1"}}).tls);
    EXPECT_TRUE(seen({{"Forwarded", "for=1.1.1.1;proto=https"}}).tls);
}

TEST(Forwarded, NobodyBehindAProxyIsOnThisMachine) {
    EXPECT_FALSE(seen({}).peer_is_loopback);
    EXPECT_FALSE(seen({{"X-Forwarded-For", "127.0.0.1"}}).peer_is_loopback);
    HttpRequest local;
    local.peer_address = "127.0.0.1";
    local.peer_is_loopback = true;
    see_through_proxy(local, {});
    EXPECT_TRUE(local.peer_is_loopback);
}

TEST(Forwarded, LeavesTheOperatorsSocketAlone) {
    HttpRequest request;
    request.listener = Listener::operator_socket;
    request.peer_address = "unix";
    request.headers = {{"X-Forwarded-For", "1.1.1.1"}};
    see_through_proxy(request, kProxies);
    EXPECT_EQ(request.peer_address, "unix");
}

// Whatever a caller puts in front of what the proxy appends, he is who the proxy says he is.
TEST(Forwarded, NothingThatACallerWritesMovesHisAddress) {
    EXPECT_TRUE(rc::check([](const std::string& invented) {
        RC_ASSERT(
            seen({{"X-Forwarded-For", invented + ", 198.51.100.7"}, {"Forwarded", invented}})
                .peer_address == "198.51.100.7");
    }));
}

TEST(Forwarded, IsAppliedByTheServerToEachRequestOfAConnection) {
    HttpServerConfig config;
    config.trusted_proxies = kProxies;
    const auto server = start_server(
        [](const HttpRequest& request, const HttpResponderPtr& responder) {
            responder->send(text_response(200, "text/plain", request.peer_address));
        },
        std::move(config));
    RawPeer peer(server->port());
    for (const std::string caller : {"198.51.100.7", "198.51.100.8"}) {
        peer.send("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: " + caller + "\r\n\r\n");
        EXPECT_EQ(peer.read_response().body, caller);
    }
}

// One caller's refusals must not slow down the others who come over the same connection.
TEST(Forwarded, AProxysConnectionIsNotSlowedDownForRefusals) {
    HttpServerConfig config;
    config.trusted_proxies = kProxies;
    config.limits.refusals_free = 1;
    config.limits.refusals_per_second = 1;
    config.limits.refusal_pause = std::chrono::seconds(60);
    const auto server = start_server(
        [](const HttpRequest&, const HttpResponderPtr& responder) {
            responder->send(text_response(429, "text/plain", "no"));
        },
        std::move(config));
    RawPeer peer(server->port());
    for (int i = 0; i < 20; ++i) {
        peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(peer.read_response().status, 429);
    }
}

}  // namespace
}  // namespace interlock
