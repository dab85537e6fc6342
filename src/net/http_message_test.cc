// Lookups on messages.
#include "net/http_message.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(HttpMessage, FindsAHeaderWithoutRegardToCase) {
    HttpRequest request;
    request.headers = {{"Content-Type", "a"}, {"X-Twice", "first"}, {"x-twice", "second"}};
    EXPECT_EQ(request.header("content-type"), "a");
    EXPECT_EQ(request.header("X-TWICE"), "first");
    EXPECT_FALSE(request.header("Content"));
}

TEST(HttpMessage, SplitsTheTargetAtTheFirstQuestionMark) {
    HttpRequest request;
    request.target = "/a/b?x=1?2";
    EXPECT_EQ(request.path(), "/a/b");
    EXPECT_EQ(request.query(), "x=1?2");
    request.target = "/a";
    EXPECT_EQ(request.path(), "/a");
    EXPECT_EQ(request.query(), "");
}

TEST(HttpMessage, DecodesQueryValues) {
    HttpRequest request;
    request.target = "/?a=1&na%6De=x+y%26z&empty=&bare&a=2";
    EXPECT_EQ(request.query_value("a"), "1");
    EXPECT_EQ(request.query_value("name"), "x y&z");
    EXPECT_EQ(request.query_value("empty"), "");
    EXPECT_EQ(request.query_value("bare"), "");
    EXPECT_EQ(request.query_value("absent"), std::nullopt);
}

TEST(HttpMessage, TreatsAMalformedQueryValueAsAbsent) {
    HttpRequest request;
    request.target = "/?a=%zz";
    EXPECT_EQ(request.query_value("a"), std::nullopt);
}

TEST(HttpMessage, ReplacesAHeaderThatIsSetAgain) {
    HttpResponse response = text_response(200, "text/plain", "x");
    response.set("content-type", "application/json");
    response.set("X-New", "1");
    ASSERT_EQ(response.headers.size(), 2u);
    EXPECT_EQ(response.header("Content-Type"), "application/json");
    EXPECT_EQ(response.header("x-new"), "1");
}

}  // namespace
}  // namespace interlock
