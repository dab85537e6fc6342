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

TEST(HttpLimits, RefusesLargeHeadersWith431) {
    const auto server = start_server(echo, with_limits({.header_bytes_max = 2000}));
    RawPeer peer(server->port());
    peer.send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 431);
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_FALSE(peer.was_reset());
}

TEST(HttpLimits, RefusesALongTargetWith414) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send("GET /" + std::string(9000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 414);
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpLimits, RefusesALargeBodyBeforeItComes) {
    const auto server = start_server(echo, with_limits({.body_bytes_max = 1000}));
    RawPeer peer(server->port());
    peer.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 413);
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpLimits, LetsACallerFinishSendingBeforeItReadsThe413) {
    const auto server = start_server(echo, with_limits({.body_bytes_max = 1000}));
    RawPeer peer(server->port());
    const std::string body(8 * 1024 * 1024, 'b');
    peer.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n" + body);
    EXPECT_EQ(peer.read_response().status, 413);
    EXPECT_FALSE(peer.was_reset());
}

TEST(HttpLimits, RefusesChunksBeyondTheBodyBound) {
    const auto server = start_server(echo, with_limits({.body_bytes_max = 10}));
    RawPeer peer(server->port());
    peer.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "8\r\n12345678\r\n8\r\n12345678\r\n");
    EXPECT_EQ(peer.read_response().status, 413);
    EXPECT_TRUE(peer.is_closed_by_server());
}

// Whoever sends a bearer that begins with "good" is known by it, and may bring 1000 bytes to
// /files. A stranger may bring 100 bytes to /files and to /open, and a large body to no place.
HeadVerdict judge(const HttpRequest& head) {
    const std::string bearer(head.header("Authorization").value_or(""));
    const bool is_good = bearer.starts_with("Bearer good");
    if (head.path() == "/files" && is_good) {
        return {.holder = bearer, .body_bytes_max = 1000, .is_large = true};
    }
    if (head.path() == "/closed" && !is_good) {
        return {.body_bytes_max = 10, .refusal = text_response(401, "text/plain", "who are you?")};
    }
    return {.holder = is_good ? bearer : "", .body_bytes_max = 100};
}

HttpServerConfig with_large_bodies(std::size_t at_a_time_max = 8, std::size_t per_holder_max = 8) {
    HttpLimits limits;
    limits.body_bytes_max = 100;
    limits.large_bodies = {
        .bytes_max = 1000, .at_a_time_max = at_a_time_max, .per_holder_max = per_holder_max};
    HttpServerConfig config = with_limits(limits);
    config.judge = judge;
    return config;
}

std::string upload(
    const std::string& target, const std::string& headers, std::size_t length, bool sends = true) {
    return "POST " + target + " HTTP/1.1\r\nHost: h\r\n" + headers +
           "Content-Length: " + std::to_string(length) + "\r\n\r\n" +
           std::string(sends ? length : 0, 'b');
}

TEST(HttpLimits, TakesALargeBodyOnItsPathWithACredential) {
    const auto server = start_server(echo, with_large_bodies());
    RawPeer peer(server->port());
    peer.send(upload("/files", "Authorization: Bearer good\r\n", 1000));
    EXPECT_EQ(peer.read_response().body, "POST /files " + std::string(1000, 'b'));
    peer.send(upload("/files?a=b", "Authorization: Bearer good\r\n", 1000));  // And again.
    EXPECT_EQ(peer.read_response().status, 200);
}

TEST(HttpLimits, RefusesALargeBodyElsewhereUnnamedOrBeyondItsBound) {
    const auto server = start_server(echo, with_large_bodies());
    for (const std::string& request :
         {upload("/files", "", 101),
          upload("/files", "Authorization: Bearer bad\r\n", 101),
          upload("/files/x", "Authorization: Bearer good\r\n", 101),
          upload("/other", "Authorization: Bearer good\r\n", 101),
          upload("/files", "Authorization: Bearer good\r\n", 1001)}) {
        RawPeer peer(server->port());
        peer.send(request);
        EXPECT_EQ(peer.read_response().status, 413) << request.substr(0, 40);
        EXPECT_TRUE(peer.is_closed_by_server());
    }
}

TEST(HttpLimits, TakesLargeBodiesInChunksUpToTheirBound) {
    const auto server = start_server(echo, with_large_bodies());
    const std::string head =
        "POST /files HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    const std::string chunk = "c8\r\n" + std::string(200, 'b') + "\r\n";
    RawPeer peer(server->port());
    peer.send(head + chunk + chunk + chunk + chunk + chunk + "0\r\n\r\n");
    EXPECT_EQ(peer.read_response().status, 200);
    peer.send(head + chunk + chunk + chunk + chunk + chunk + chunk);
    EXPECT_EQ(peer.read_response().status, 413);
}

TEST(HttpLimits, LetsOnlySoManyLargeBodiesArriveAtATime) {
    const auto server = start_server(echo, with_large_bodies(1));
    const std::string named = "Authorization: Bearer good\r\n";
    {
        RawPeer slow(server->port());
        slow.send(upload("/files", named + "Expect: 100-continue\r\n", 1000, false));
        ASSERT_TRUE(slow.read_until("100 Continue\r\n\r\n"));
        RawPeer second(server->port());
        second.send(upload("/files", named, 1000));
        EXPECT_EQ(second.read_response().status, 503);
        RawPeer small(server->port());
        small.send(upload("/files", named, 100));
        EXPECT_EQ(small.read_response().status, 200);
        slow.send(std::string(1000, 'b'));
        EXPECT_EQ(slow.read_response().status, 200);
    }
    RawPeer after(server->port());
    after.send(upload("/files", named, 1000));
    EXPECT_EQ(after.read_response().status, 200);
}

TEST(HttpLimits, GivesALargeBodyMoreTimeThanOthers) {
    HttpServerConfig config = with_large_bodies();
    config.limits.request_read_timeout = kSoon;
    const auto server = start_server(echo, config);
    RawPeer large(server->port());
    large.send(
        upload("/files", "Authorization: Bearer good\r\nExpect: 100-continue\r\n", 1000, false));
    ASSERT_TRUE(large.read_until("100 Continue\r\n\r\n"));
    RawPeer ordinary(server->port());
    ordinary.send(upload("/files", "", 100, false));
    EXPECT_EQ(ordinary.read_response().status, 408);  // By then the large one's is over, too.
    large.send(std::string(1000, 'b'));
    EXPECT_EQ(large.read_response().status, 200);
}

TEST(HttpLimits, GivesNoHolderAllPlacesOfLargeBodies) {
    const auto server = start_server(echo, with_large_bodies(2, 1));
    const std::string expects = "Expect: 100-continue\r\n";
    RawPeer slow(server->port());
    slow.send(upload("/files", "Authorization: Bearer good1\r\n" + expects, 1000, false));
    ASSERT_TRUE(slow.read_until("100 Continue\r\n\r\n"));
    RawPeer again(server->port());
    again.send(upload("/files", "Authorization: Bearer good1\r\n", 1000));
    EXPECT_EQ(again.read_response().status, 503);
    RawPeer other(server->port());
    other.send(upload("/files", "Authorization: Bearer good2\r\n", 1000));
    EXPECT_EQ(other.read_response().status, 200);
}

TEST(HttpLimits, JunkInAuthorizationTakesNoPlaceOfALargeBody) {
    const auto server = start_server(echo, with_large_bodies(1));
    RawPeer junk(server->port());
    junk.send(upload("/files", "Authorization: junk\r\n", 1000, false));
    EXPECT_EQ(junk.read_response().status, 413);
    RawPeer good(server->port());
    good.send(upload("/files", "Authorization: Bearer good\r\n", 1000));
    EXPECT_EQ(good.read_response().status, 200);
}

TEST(HttpLimits, RefusesWhoIsNobodyBeforeTheBodyComes) {
    const auto server = start_server(echo, with_large_bodies());
    RawPeer nobody(server->port());
    nobody.send(upload("/closed", "", 11, false));
    const HttpResponse refusal = nobody.read_response();
    EXPECT_EQ(refusal.status, 401);
    EXPECT_EQ(refusal.body, "who are you?");
    EXPECT_TRUE(nobody.is_closed_by_server());
    RawPeer somebody(server->port());
    somebody.send(upload("/closed", "Authorization: Bearer good\r\n", 11));
    EXPECT_EQ(somebody.read_response().status, 200);
    EXPECT_EQ(server->counters().requests, 1u);
}

// Holds the bodies of one peer at its share: a fourth of a fourth of the total.
TEST(HttpLimits, RefusesBytesBeyondAPeersShareAndGivesThemBack) {
    HeldRequests held;
    HttpServerConfig config = with_limits({.body_bytes_max = 100, .body_bytes_total_max = 1600});
    config.judge = judge;
    const auto server = start_server(held.handler(), config);
    RawPeer first(server->port());
    first.send(upload("/open", "", 100));
    const HeldRequest request = held.next();
    EXPECT_EQ(server->counters().body_bytes, 100u);
    RawPeer second(server->port());
    second.send(upload("/open", "", 1));
    const HttpResponse refusal = second.read_response();
    EXPECT_EQ(refusal.status, 503);
    EXPECT_NE(refusal.body.find("too_many_bodies"), std::string::npos);
    RawPeer known(server->port());
    known.send(upload("/open", "Authorization: Bearer good\r\n", 100));
    held.next().responder->send(text_response(200, "text/plain", ""));
    EXPECT_EQ(known.read_response().status, 200);
    request.responder->send(text_response(200, "text/plain", ""));
    EXPECT_EQ(first.read_response().status, 200);
    EXPECT_EQ(server->counters().body_bytes, 0u);
}

TEST(HttpLimits, AsksForTheBodyWhenTheCallerWaits) {
    const auto server = start_server();
    RawPeer peer(server->port());
    peer.send("POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    ASSERT_TRUE(peer.read_until("HTTP/1.1 100 Continue\r\n\r\n"));
    peer.send("ab");
    EXPECT_EQ(peer.read_response().body, "POST /p ab");
}

TEST(HttpLimits, DoesNotAskForABodyItWouldRefuse) {
    const auto server = start_server(echo, with_limits({.body_bytes_max = 1000}));
    RawPeer peer(server->port());
    peer.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
    ASSERT_TRUE(peer.read_until("\r\n\r\n"));
    EXPECT_TRUE(peer.unread().starts_with("HTTP/1.1 413 ")) << peer.unread();
}

TEST(HttpLimits, GivesUpOnASlowHeadWith408) {
    const auto server = start_server(echo, with_limits({.request_read_timeout = kSoon}));
    RawPeer peer(server->port());
    peer.send("GET / HTTP/1.1\r\nHos");
    EXPECT_EQ(peer.read_response().status, 408);
    EXPECT_TRUE(peer.is_closed_by_server());
    EXPECT_EQ(server->counters().bad_requests, 1u);
}

TEST(HttpLimits, GivesUpOnASlowBodyWith408) {
    const auto server = start_server(echo, with_limits({.request_read_timeout = kSoon}));
    RawPeer peer(server->port());
    peer.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_EQ(peer.read_response().status, 408);
    EXPECT_TRUE(peer.is_closed_by_server());
}

TEST(HttpLimits, ClosesAnIdleConnectionWithoutAWord) {
    const auto server =
        start_server(echo, with_limits({.first_byte_timeout = kSoon, .keep_alive_timeout = kSoon}));
    RawPeer fresh(server->port());
    EXPECT_TRUE(fresh.is_closed_by_server());
    RawPeer used(server->port());
    used.send(kGet);
    EXPECT_EQ(used.read_response().status, 200);
    EXPECT_TRUE(used.is_closed_by_server());
    EXPECT_EQ(server->counters().bad_requests, 0u);
}

TEST(HttpLimits, LetsAHandlerTakeLongerThanTheTimeouts) {
    HeldRequests held;
    const auto server = start_server(
        held.handler(), with_limits({.first_byte_timeout = kSoon, .request_read_timeout = kSoon}));
    RawPeer slow(server->port());
    slow.send(kGet);
    const HeldRequest request = held.next();
    // The idle neighbour's end shows that the deadlines have passed.
    RawPeer idle(server->port());
    EXPECT_TRUE(idle.is_closed_by_server());
    request.responder->send(text_response(200, "text/plain", "late"));
    EXPECT_EQ(slow.read_response().body, "late");
}

TEST(HttpLimits, GivesUpOnAPeerThatDoesNotRead) {
    HeldRequests held;
    const auto server = start_server(
        held.handler(),
        with_limits({.stream_unsent_bytes_max = 256 * 1024 * 1024, .write_timeout = kSoon}));
    RawPeer peer(server->port());
    peer.send(kGet);
    const auto stream = held.next().responder->start_stream(text_response(200, "text/plain", ""));
    std::promise<void> closed;
    stream->on_peer_closed([&] { closed.set_value(); });
    EXPECT_TRUE(stream->write(std::string(64 * 1024 * 1024, 'x')));
    ASSERT_EQ(closed.get_future().wait_for(kTestPatience), std::future_status::ready);
    EXPECT_FALSE(stream->is_open());
}

TEST(HttpLimits, RefusesConnectionsBeyondTheBoundWith503WhenAllAreBeingAnswered) {
    HeldRequests held;
    const auto server = start_server(held.handler(), with_limits({.connections_max = 2}));
    std::vector<std::unique_ptr<RawPeer>> admitted;
    std::vector<HeldRequest> requests;
    for (int i = 0; i < 2; ++i) {
        admitted.push_back(std::make_unique<RawPeer>(server->port()));
        admitted.back()->send(kGet);
        requests.push_back(held.next());
    }
    RawPeer refused(server->port());
    refused.send(kGet);
    const HttpResponse response = refused.read_response();
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.header("Retry-After"), "1");
    EXPECT_NE(response.body.find("too_many_connections"), std::string::npos);
    EXPECT_TRUE(refused.is_closed_by_server());
    EXPECT_EQ(server->counters().refused, 1u);
    EXPECT_EQ(server->counters().open, 2u);

    for (int i = 0; i < 2; ++i) {
        requests[i].responder->send(text_response(200, "text/plain", ""));
        EXPECT_EQ(admitted[i]->read_response().status, 200);
    }
    RawPeer next(server->port());
    next.send(kGet);
    held.next().responder->send(text_response(200, "text/plain", ""));
    EXPECT_EQ(next.read_response().status, 200);
}

TEST(HttpLimits, ClosesTheStrangerThatWasSilentLongestForANewcomer) {
    const auto server =
        start_server(echo, with_limits({.connections_max = 4}));  // Three strangers.
    RawPeer oldest(server->port());
    RawPeer silent(server->port());
    RawPeer active(server->port());
    oldest.send(kGet);  // Has spoken last, so it is not the one.
    EXPECT_EQ(oldest.read_response().status, 200);
    RawPeer newcomer(server->port());
    newcomer.send(kGet);
    EXPECT_EQ(newcomer.read_response().status, 200);
    EXPECT_TRUE(silent.is_closed_by_server());
    EXPECT_EQ(server->counters().made_room, 1u);
    EXPECT_EQ(server->counters().refused, 0u);
    for (RawPeer* peer : {&oldest, &active}) {
        peer->send(kGet);
        EXPECT_EQ(peer->read_response().status, 200);
    }
}

constexpr std::string_view kGetKnown =
    "GET /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\n";

TEST(HttpLimits, NoCrowdOfStrangersClosesAConnectionOfSomebodyKnown) {
    HttpServerConfig config = with_limits({.connections_max = 8});
    config.judge = judge;
    const auto server = start_server(echo, config);
    RawPeer known(server->port());
    known.send(kGetKnown);
    EXPECT_EQ(known.read_response().status, 200);
    EXPECT_EQ(server->counters().known, 1u);
    std::vector<std::unique_ptr<RawPeer>> crowd;
    for (int i = 0; i < 20; ++i) {
        crowd.push_back(std::make_unique<RawPeer>(server->port()));
    }
    RawPeer newcomer(server->port());  // Behind all of them.
    newcomer.send(kGet);
    EXPECT_EQ(newcomer.read_response().status, 200);
    known.send(kGetKnown);
    EXPECT_EQ(known.read_response().status, 200);
    EXPECT_LE(server->counters().open, 8u);
}

TEST(HttpLimits, BoundsTheStrangersOfOnePeerUnlessItStandsForMany) {
    for (const bool is_shared : {false, true}) {
        HttpServerConfig config = with_limits({.connections_per_peer_max = 2});
        if (is_shared) {
            config.trusted_proxies = {*parse_cidr("127.0.0.1/32")};
        }
        const auto server = start_server(echo, config);
        RawPeer first(server->port());
        RawPeer second(server->port());
        RawPeer third(server->port());
        third.send(kGet);
        EXPECT_EQ(third.read_response().status, 200);
        EXPECT_EQ(server->counters().open, is_shared ? 3u : 2u);
        if (!is_shared) {
            EXPECT_TRUE(first.is_closed_by_server());
        }
        second.send(kGet);
        EXPECT_EQ(second.read_response().status, 200);
    }
}

TEST(HttpLimits, GivesAFreshConnectionLessTimeThanOneThatWasUsed) {
    const auto server = start_server(echo, with_limits({.first_byte_timeout = kSoon}));
    RawPeer used(server->port());
    used.send(kGet);
    EXPECT_EQ(used.read_response().status, 200);
    RawPeer fresh(server->port());
    EXPECT_TRUE(fresh.is_closed_by_server());
    used.send(kGet);
    EXPECT_EQ(used.read_response().status, 200);
}

TEST(HttpLimits, KeepsPlacesForTheOperatorWhenTcpIsFull) {
    const TestFolder folder;
    HttpServerConfig config = with_limits({.connections_max = 1});
    config.unix_socket_path = folder / "s";
    const auto server = start_server(echo, config);
    RawPeer only(server->port());
    only.send(kGet);
    EXPECT_EQ(only.read_response().status, 200);
    RawPeer operator_peer(HttpTarget{config.unix_socket_path, "localhost", 0});
    operator_peer.send(kGet);
    EXPECT_EQ(operator_peer.read_response().status, 200);
}

TEST(HttpLimits, RefusesTheOperatorsOwnFlood) {
    const TestFolder folder;
    HttpServerConfig config;
    config.unix_socket_path = folder / "s";
    const auto server = start_server(echo, config);
    const HttpTarget target{config.unix_socket_path, "localhost", 0};
    std::vector<std::unique_ptr<RawPeer>> admitted;
    for (int i = 0; i < 64; ++i) {
        admitted.push_back(std::make_unique<RawPeer>(target));
        admitted.back()->send(kGet);
        ASSERT_EQ(admitted.back()->read_response().status, 200);
    }
    RawPeer refused(target);
    EXPECT_EQ(refused.read_response().status, 503);
}

// Takes every descriptor the process may still open, but for some.
class DescriptorFamine {
public:
    explicit DescriptorFamine(std::size_t left) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit tight = before_;
        tight.rlim_cur = 256;
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
        for (int taken = ::dup(0); taken >= 0; taken = ::dup(0)) {
            taken_.push_back(taken);
        }
        for (std::size_t i = 0; i < left; ++i) {
            ::close(taken_.back());
            taken_.pop_back();
        }
    }
    ~DescriptorFamine() {
        for (const int taken : taken_) {
            ::close(taken);
        }
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }
    DescriptorFamine(const DescriptorFamine&) = delete;
    DescriptorFamine& operator=(const DescriptorFamine&) = delete;

private:
    rlimit before_{};
    std::vector<int> taken_;
};

// Not in the build with the address sanitizer, which needs descriptors itself to look at memory.
#ifndef __SANITIZE_ADDRESS__
TEST(HttpLimits, AcceptsAgainAfterRunningOutOfDescriptors) {
    HttpServerConfig config;
    config.judge = judge;
    const auto server = start_server(echo, config);
    RawPeer early(server->port());
    early.send(kGetKnown);
    EXPECT_EQ(early.read_response().status, 200);
    std::optional<RawPeer> late;
    {
        const DescriptorFamine famine(1);  // Just enough for the peer's own end.
        late.emplace(server->port());
        // The server looks at the new connection before it answers the old one.
        early.send(kGetKnown);
        EXPECT_EQ(early.read_response().status, 200);
        EXPECT_EQ(server->counters().accepted, 1u);
    }
    late->send(kGet);
    EXPECT_EQ(late->read_response().status, 200);
    EXPECT_EQ(server->counters().accepted, 2u);
}
#endif

// While the only thread is kept busy, a crowd sends its requests, then somebody known, then one who
// is in a hurry.
TEST(HttpLimits, HandlesTheUrgentFirstAndTheKnownBeforeTheCrowd) {
    constexpr int kCrowd = 60;
    std::promise<void> let_go;
    const auto gone = let_go.get_future().share();
    std::promise<void> blocked;
    std::vector<std::string> order;
    HttpServerConfig config;
    config.judge = [](const HttpRequest& head) {
        return HeadVerdict{
            .holder = head.target.starts_with("/crowd") ? "" : "somebody",
            .body_bytes_max = 100,
            .is_urgent = head.target == "/urgent"};
    };
    const auto server = start_server(
        [&](const HttpRequest& request, const HttpResponderPtr& responder) {
            if (request.target == "/block") {
                blocked.set_value();
                gone.wait();
            } else if (!request.target.ends_with("/hello")) {
                order.push_back(request.target);
            }
            responder->send(text_response(200, "text/plain", ""));
        },
        config);
    const auto get = [](const std::string& target) {
        return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
    };
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < kCrowd + 2; ++i) {
        peers.push_back(std::make_unique<RawPeer>(server->port()));
        peers.back()->send(get(i < kCrowd ? "/crowd/hello" : "/hello"));
        ASSERT_EQ(peers.back()->read_response().status, 200);
    }
    RawPeer blocker(server->port());
    blocker.send(get("/block"));
    blocked.get_future().wait();
    for (int i = 0; i < kCrowd; ++i) {
        peers[i]->send(get("/crowd"));
    }
    peers[kCrowd]->send(get("/known"));
    peers[kCrowd + 1]->send(get("/urgent"));
    let_go.set_value();
    for (const auto& peer : peers) {
        EXPECT_EQ(peer->read_response().status, 200);
    }
    const auto place_of = [&](const std::string& target) {
        return std::ranges::find(order, target) - order.begin();
    };
    // In the order of their arrival they would be the last two.
    EXPECT_LT(place_of("/urgent"), kCrowd / 2);
    EXPECT_LT(place_of("/known"), kCrowd - 10);
    EXPECT_LT(place_of("/urgent"), place_of("/known"));
}

}  // namespace
}  // namespace interlock
