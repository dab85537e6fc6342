#include "adapters/wake/http_wake_caller.h"

#include <gtest/gtest.h>

#include <future>

#include "base/errors.h"
#include "net/http_server.h"

namespace interlock {
namespace {

HttpWakeCaller::Resolve to(std::vector<std::string> addresses) {
    return [addresses](const std::string&, std::uint16_t) -> Result<std::vector<std::string>> {
        return addresses;
    };
}

TEST(HttpWakeCaller, CallsOnlyAddressesThatATenantMayName) {  // R13
    HttpWakeCaller outside({}, to({"93.184.216.34"}));
    EXPECT_TRUE(outside.address_for({.instance_id = "i", .url = "http://a.example/w"}));
    for (const char* inside : {"127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1"}) {
        HttpWakeCaller caller({}, to({inside}));
        const auto address = caller.address_for({.instance_id = "i", .url = "http://a.example/"});
        ASSERT_FALSE(address) << inside;
        EXPECT_EQ(address.error(), errors::forbidden);
    }
}

TEST(HttpWakeCaller, OneBadAddressSpoilsTheHost) {
    HttpWakeCaller caller({}, to({"93.184.216.34", "127.0.0.1"}));
    EXPECT_FALSE(caller.address_for({.instance_id = "i", .url = "http://a.example/"}));
}

TEST(HttpWakeCaller, PrivateAddressesNeedAnOperatorOrARange) {
    HttpWakeCaller caller({}, to({"10.1.2.3"}));
    EXPECT_TRUE(
        caller.address_for({.instance_id = "i", .url = "http://a.example/", .is_trusted = true}));
    HttpWakeCaller ranged({*parse_cidr("10.0.0.0/8")}, to({"10.1.2.3"}));
    EXPECT_TRUE(ranged.address_for({.instance_id = "i", .url = "http://a.example/"}));
}

TEST(HttpWakeCaller, PokesWithoutABodyAndFollowsNoRedirect) {  // 003 §3.3
    std::promise<HttpRequest> seen;
    auto server = HttpServer::open({}, [&](HttpRequest request, const HttpResponderPtr& responder) {
        HttpResponse response = text_response(302, "text/plain", "");
        response.set("Location", "http://127.0.0.1:1/");
        responder->send(std::move(response));
        seen.set_value(std::move(request));
    });
    ASSERT_TRUE(server);
    (*server)->start();
    HttpWakeCaller caller({}, to({"127.0.0.1"}));
    std::promise<WakeOutcome> told;
    ASSERT_TRUE(caller.poke(
        {.instance_id = "i",
         .url = "http://wake.example:" + std::to_string((*server)->port()) + "/up?x=1",
         .is_trusted = true},
        [&](WakeOutcome outcome) { told.set_value(std::move(outcome)); }));
    const HttpRequest request = seen.get_future().get();
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.target, "/up?x=1");
    EXPECT_TRUE(request.body.empty());
    EXPECT_FALSE(request.header("authorization"));
    const WakeOutcome outcome = told.get_future().get();
    EXPECT_TRUE(outcome.is_reached);
    EXPECT_EQ(outcome.detail, "302");
}

TEST(HttpWakeCaller, SaysWhenNobodyIsThere) {
    HttpWakeCaller caller({}, to({"127.0.0.1"}));
    std::promise<WakeOutcome> told;
    ASSERT_TRUE(caller.poke(
        {.instance_id = "i", .url = "http://wake.example:1/", .is_trusted = true},
        [&](WakeOutcome outcome) { told.set_value(std::move(outcome)); }));
    EXPECT_FALSE(told.get_future().get().is_reached);
}

}  // namespace
}  // namespace interlock
