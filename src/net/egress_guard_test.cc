#include "net/egress_guard.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/errors.h"
#include "net/http_server.h"

namespace interlock {
namespace {

using Giver = EgressGuard::Giver;

EgressGuard guard_to(std::vector<std::string> addresses, std::vector<Cidr> allowed = {}) {
    return EgressGuard(
        std::move(allowed),
        [addresses](const std::string&, std::uint16_t) -> Result<std::vector<std::string>> {
            return addresses;
        });
}

TEST(EgressGuard, LetsAStrangerNameOnlyPublicAddresses) {
    EXPECT_EQ(
        guard_to({"93.184.216.34"}).judge("http://a.example/w", Giver::stranger).value(),
        "93.184.216.34");
    for (const char* inside :
         {"127.0.0.1",
          "10.1.2.3",
          "172.16.0.1",
          "192.168.1.1",
          "169.254.169.254",
          "100.64.0.1",
          "224.0.0.1",
          "0.0.0.0",
          "::1",
          "::ffff:10.0.0.1",
          "fe80::1",
          "fd00::1",
          "64:ff9b::a00:1",
          "fe80::1%eth0"}) {
        const auto judged = guard_to({inside}).judge("http://a.example/", Giver::stranger);
        ASSERT_FALSE(judged) << inside;
        EXPECT_EQ(judged.error(), errors::url_not_allowed) << inside;
    }
}

TEST(EgressGuard, OneBadAddressSpoilsTheHost) {
    EXPECT_FALSE(
        guard_to({"93.184.216.34", "127.0.0.1"}).judge("http://a.example/", Giver::stranger));
}

TEST(EgressGuard, PrivateAddressesNeedAnOperatorOrARange) {
    EXPECT_TRUE(guard_to({"10.1.2.3"}).judge("http://a.example/", Giver::host_operator));
    EXPECT_TRUE(guard_to({"10.1.2.3"}, {*parse_cidr("10.0.0.0/8")})
                    .judge("http://a.example/", Giver::stranger));
}

TEST(EgressGuard, SaysWhetherItIsForGoodOrForNow) {
    const auto unknown = EgressGuard({}, [](const std::string&, std::uint16_t) {
                             return Result<std::vector<std::string>>(
                                 fail(errors::unavailable, "The host cannot be found."));
                         }).judge("http://a.example/", Giver::stranger);
    ASSERT_FALSE(unknown);
    EXPECT_TRUE(unknown.error().retryable());
    EXPECT_EQ(
        guard_to({}).judge("http://a.example/", Giver::stranger).error(), errors::unavailable);
    // The client would refuse to call these; it is better said now.
    EXPECT_EQ(
        guard_to({"8.8.8.8"}).judge("http://a.example/#top", Giver::stranger).error(),
        errors::url_not_allowed);
}

// A name that is public when it is judged and private when it is dialled leads nowhere.
TEST(EgressGuard, ConnectsToTheAddressThatWasJudged) {
    std::atomic<int> calls{0};
    auto server = HttpServer::open({}, [&](const HttpRequest&, const HttpResponderPtr& responder) {
        ++calls;
        responder->send(text_response(200, "text/plain", "inside"));
    });
    ASSERT_TRUE(server);
    (*server)->start();
    const auto client = WebClient::create();
    WebCall call;
    call.url = "http://somewhere.example:" + std::to_string((*server)->port()) + "/";
    call.pinned_address = "127.0.0.1";  // Whatever was pinned before does not count.
    const std::vector<Cidr> allowed = {*parse_cidr("127.0.0.0/8")};
    EXPECT_FALSE(guard_to({"127.0.0.3"}, allowed).send(*client, call, Giver::stranger));
    EXPECT_FALSE(guard_to({"127.0.0.1"}).send(*client, call, Giver::stranger));
    EXPECT_EQ(calls.load(), 0);
    EXPECT_TRUE(guard_to({"127.0.0.1"}).send(*client, call, Giver::host_operator));
    EXPECT_EQ(calls.load(), 1);
}

}  // namespace
}  // namespace interlock
