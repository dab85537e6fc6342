#include "relay/platforms/common/web_platform_http.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "net/test_scripted_server.h"

namespace interlock {
namespace {

PlatformHttpCall call_to(std::uint16_t port, std::string method = "POST") {
    PlatformHttpCall call;
    call.method = std::move(method);
    call.url = "http://127.0.0.1:" + std::to_string(port) + "/bot1/x";
    call.headers = {{"content-type", "application/json"}};
    call.body = "{}";
    return call;
}

TEST(WebPlatformHttp, CarriesAnAnswerOfAnyStatus) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        EXPECT_TRUE(connection.read_through("\r\n\r\n{}").starts_with("POST /bot1/x "));
        connection.send("HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 3\r\n\r\nabc");
    });
    const auto answer = web_platform_http()(call_to(server.port()));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->body, "abc");
    EXPECT_EQ(answer->headers.at(0).second, "7");
}

TEST(WebPlatformHttp, TellsWhatNeverLeftFromWhatWasCut) {
    std::uint16_t port = 0;
    {
        ScriptedServer server(
            [](ScriptedConnection& connection, int) { connection.read_through("{}"); });
        port = server.port();
        const auto answer = web_platform_http()(call_to(port));
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error(), HttpFailure::unknown);
    }
    const auto answer = web_platform_http()(call_to(port));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error(), HttpFailure::not_sent);
}

TEST(WebPlatformHttp, AnAnswerThatIsTooLargeIsUnknown) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("{}");
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0123456789a");
    });
    PlatformHttpCall call = call_to(server.port());
    call.answer_bytes_max = 10;
    const auto answer = web_platform_http()(call);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error(), HttpFailure::unknown);
}

// relay-connector.md#urls-that-others-give: an answer's address is judged like a tenant's.
TEST(WebPlatformHttp, AnAddressThatWasToldDoesNotLeadInside) {
    std::atomic<int> connections{0};
    ScriptedServer server([&](ScriptedConnection&, int) { ++connections; });
    PlatformHttpCall call = call_to(server.port());
    call.is_told = true;
    const auto answer = web_platform_http()(call);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error(), HttpFailure::not_sent);
    EXPECT_EQ(connections.load(), 0);
}

TEST(WebPlatformHttp, ACancelledCallEnds) {
    std::atomic<bool> is_cancelled = false;
    ScriptedServer server([&](ScriptedConnection& connection, int) {
        connection.read_through("{}");
        is_cancelled = true;
        while (connection.read_more()) {  // Until the client gives up.
        }
    });
    PlatformHttpCall call = call_to(server.port());
    call.is_cancelled = &is_cancelled;
    call.timeout = Duration::of_hours(1);
    EXPECT_FALSE(web_platform_http()(call).has_value());
}

TEST(WebPlatformHttp, SeveralThreadsCallAtOnce) {
    ScriptedServer server([](ScriptedConnection& connection, int) {
        connection.read_through("{}");
        connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    const PlatformHttp http = web_platform_http();
    std::atomic<int> answered = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 5; ++n) {
                const auto answer = http(call_to(server.port()));
                answered += answer && answer->status == 200 ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(answered, 20);
}

}  // namespace
}  // namespace interlock
