#include "relay/wake/http_wake_caller.h"

#include <gtest/gtest.h>

#include <future>

#include "net/http_server.h"

namespace interlock {
namespace {

EgressGuard to(std::vector<std::string> addresses) {
    return EgressGuard(
        {}, [addresses](const std::string&, std::uint16_t) -> Result<std::vector<std::string>> {
            return addresses;
        });
}

WakeOutcome poke(HttpWakeCaller& caller, WakeCall call) {
    std::promise<WakeOutcome> told;
    EXPECT_TRUE(caller.poke(
        std::move(call), [&](WakeOutcome outcome) { told.set_value(std::move(outcome)); }));
    return told.get_future().get();
}

TEST(HttpWakeCaller, JudgesAUrlWhenItIsGiven) {  // relay-connector.md#wake
    const HttpWakeCaller outside(to({"93.184.216.34"}));
    EXPECT_TRUE(outside.judge("http://a.example/w"));
    const HttpWakeCaller inside(to({"10.1.2.3"}));
    const auto judged = inside.judge("http://a.example/w");
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error(), errors::url_not_allowed);
}

TEST(HttpWakeCaller, JudgesAUrlAgainWhenItIsUsed) {  // relay-connector.md#wake
    HttpWakeCaller caller(to({"127.0.0.1"}));
    const WakeOutcome outcome =
        poke(caller, {.instance_id = "i", .url = "http://wake.example:8080/"});
    EXPECT_FALSE(outcome.is_reached);
    EXPECT_EQ(outcome.detail, "url_not_allowed");
}

TEST(HttpWakeCaller, PokesWithoutABodyAndFollowsNoRedirect) {  // relay-connector.md#wake
    std::promise<HttpRequest> seen;
    auto server = HttpServer::open({}, [&](HttpRequest request, const HttpResponderPtr& responder) {
        HttpResponse response = text_response(302, "text/plain", "");
        response.set("Location", "http://127.0.0.1:1/");
        responder->send(std::move(response));
        seen.set_value(std::move(request));
    });
    ASSERT_TRUE(server);
    (*server)->start();
    HttpWakeCaller caller(to({"127.0.0.1"}));
    const WakeOutcome outcome = poke(
        caller,
        {.instance_id = "i",
         .url = "http://wake.example:" + std::to_string((*server)->port()) + "/up?x=1",
         .is_trusted = true});
    const HttpRequest request = seen.get_future().get();
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.target, "/up?x=1");
    EXPECT_TRUE(request.body.empty());
    EXPECT_FALSE(request.header("authorization"));
    EXPECT_TRUE(outcome.is_reached);
    EXPECT_EQ(outcome.detail, "302");
}

TEST(HttpWakeCaller, SaysWhenNobodyIsThere) {
    HttpWakeCaller caller(to({"127.0.0.1"}));
    EXPECT_FALSE(
        poke(caller, {.instance_id = "i", .url = "http://wake.example:1/", .is_trusted = true})
            .is_reached);
}

}  // namespace
}  // namespace interlock
