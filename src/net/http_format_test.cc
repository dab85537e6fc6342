// The bytes of our answers.
#include "net/http_format.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace interlock {
namespace {

constexpr ResponseFraming kFraming{.date = "D"};

TEST(HttpFormat, WritesAWholeResponse) {
    std::string out;
    append_response(out, text_response(201, "text/plain", "hello"), kFraming);
    EXPECT_EQ(
        out,
        "HTTP/1.1 201 Created\r\nDate: D\r\nContent-Type: text/plain\r\n"
        "Content-Length: 5\r\n\r\nhello");
}

TEST(HttpFormat, TellsTheLengthButNotTheBodyToHead) {
    std::string out;
    append_response(
        out, text_response(200, "text/plain", "hello"), {.head_only = true, .date = "D"});
    EXPECT_TRUE(out.ends_with("Content-Length: 5\r\n\r\n")) << out;
}

TEST(HttpFormat, GivesNoLengthToAStatusWithoutABody) {
    std::string out;
    append_response(out, {.status = 204, .headers = {}, .body = "ignored"}, kFraming);
    EXPECT_EQ(out, "HTTP/1.1 204 No Content\r\nDate: D\r\n\r\n");
}

TEST(HttpFormat, NamesTheStatusOfAMissingUpgrade) {
    std::string out;
    append_response(out, text_response(426, "text/plain", ""), kFraming);
    EXPECT_TRUE(out.starts_with("HTTP/1.1 426 Upgrade Required\r\n")) << out;
}

TEST(HttpFormat, KeepsFramingToItself) {
    HttpResponse response = text_response(200, "text/plain", "hello");
    response.set("Content-Length", "999");
    response.set("transfer-encoding", "chunked");
    response.set("Connection", "upgrade");
    std::string out;
    append_response(out, response, kFraming);
    EXPECT_EQ(out.find("999"), std::string::npos);
    EXPECT_EQ(out.find("chunked"), std::string::npos);
    EXPECT_EQ(out.find("upgrade"), std::string::npos);
}

TEST(HttpFormat, LetsNoValueStartAnotherHeader) {
    HttpResponse response = text_response(200, "text/plain", "");
    response.set("Location", "/x\r\nSet-Cookie: stolen\n\rA: b");
    std::string out;
    append_response(out, response, kFraming);
    EXPECT_NE(out.find("Location: /x  Set-Cookie: stolen  A: b\r\n"), std::string::npos) << out;
}

TEST(HttpFormat, SaysKeepAliveToHttp10AndCloseWhenItCloses) {
    std::string old_style;
    append_response(old_style, text_response(200, "a", ""), {.http_1_0 = true, .date = "D"});
    EXPECT_NE(old_style.find("Connection: keep-alive\r\n"), std::string::npos);
    std::string closing;
    append_response(closing, text_response(200, "a", ""), {.keep_alive = false, .date = "D"});
    EXPECT_NE(closing.find("Connection: close\r\n"), std::string::npos);
}

TEST(HttpFormat, WritesChunksInHex) {
    std::string out;
    append_chunk(out, std::string(26, 'x'));
    EXPECT_EQ(out, "1a\r\n" + std::string(26, 'x') + "\r\n");
}

TEST(HttpFormat, WritesARequestWithHostAndLength) {
    HttpRequest request;
    request.method = "POST";
    request.target = "/a?b";
    request.headers = {{"X", "1"}, {"Content-Length", "77"}};
    request.body = "body";
    std::string out;
    append_request(out, request, "h:1");
    EXPECT_EQ(out, "POST /a?b HTTP/1.1\r\nHost: h:1\r\nX: 1\r\nContent-Length: 4\r\n\r\nbody");
}

TEST(HttpFormat, LeavesAHostThatTheRequestBrings) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/";
    request.headers = {{"host", "mine"}};
    std::string out;
    append_request(out, request, "other");
    EXPECT_EQ(out, "GET / HTTP/1.1\r\nhost: mine\r\n\r\n");
}

TEST(HttpFormat, WritesDatesInEnglish) {
    EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

struct FaultCase {
    HttpFault fault;
    int status;
    std::string_view code;
    bool retryable;
};

class HttpFaultText : public testing::TestWithParam<FaultCase> {};

TEST_P(HttpFaultText, HasTheShapeOfEveryError) {
    const HttpResponse response = fault_response(GetParam().fault);
    EXPECT_EQ(response.status, GetParam().status);
    EXPECT_EQ(response.header("Content-Type"), "application/json");
    const auto body = parse_json(response.body);
    ASSERT_TRUE(body.has_value()) << response.body;
    const Json* error = body->find("error");
    ASSERT_NE(error, nullptr);
    ASSERT_EQ(error->members().size(), 4u);
    EXPECT_EQ(error->find("code")->as_string(), GetParam().code);
    EXPECT_FALSE(error->find("message")->as_string().empty());
    EXPECT_EQ(error->find("retryable")->as_bool(), GetParam().retryable);
    EXPECT_FALSE(error->find("next_step")->as_string().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    HttpFaultText,
    testing::Values(
        FaultCase{HttpFault::invalid_http, 400, "invalid_http", false},
        FaultCase{HttpFault::request_timeout, 408, "request_timeout", true},
        FaultCase{HttpFault::too_many_bodies, 503, "too_many_bodies", true},
        FaultCase{HttpFault::body_too_large, 413, "body_too_large", false},
        FaultCase{HttpFault::uri_too_long, 414, "uri_too_long", false},
        FaultCase{HttpFault::headers_too_large, 431, "headers_too_large", false},
        FaultCase{HttpFault::too_many_connections, 503, "too_many_connections", true},
        FaultCase{HttpFault::internal, 500, "internal", false}),
    [](const auto& tested) { return std::string(tested.param.code); });

TEST(HttpFormat, TellsRefusedConnectionsWhenToComeBack) {
    EXPECT_EQ(fault_response(HttpFault::too_many_connections).header("Retry-After"), "1");
}

}  // namespace
}  // namespace interlock
