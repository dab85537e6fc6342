// URLs that can be called, those that cannot, and the look-up of hosts.
#include "net/web_url.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace interlock {
namespace {

TEST(WebUrl, KnowsTheParts) {
    const WebUrl url = parse_web_url("HTTPS://api.example.com:8443/v1/x?y=1&z=%20").value();
    EXPECT_EQ(url.scheme, "https");
    EXPECT_TRUE(url.is_tls());
    EXPECT_EQ(url.host, "api.example.com");
    EXPECT_EQ(url.port, 8443);
    EXPECT_EQ(url.target, "/v1/x?y=1&z=%20");
    EXPECT_EQ(url.authority(), "api.example.com:8443");
}

TEST(WebUrl, FillsInWhatIsLeftOut) {
    const WebUrl url = parse_web_url("wss://gateway.example").value();
    EXPECT_EQ(url.port, 443);
    EXPECT_EQ(url.target, "/");
    EXPECT_EQ(url.authority(), "gateway.example");
    EXPECT_EQ(parse_web_url("ws://h?v=1").value().target, "/?v=1");
    EXPECT_EQ(parse_web_url("ws://h").value().port, 80);
}

TEST(WebUrl, ReadsAddressesOfVersion6) {
    const WebUrl url = parse_web_url("http://[::1]:81/").value();
    EXPECT_EQ(url.host, "::1");
    EXPECT_EQ(url.authority(), "[::1]:81");
}

class BadUrl : public testing::TestWithParam<std::string> {};

TEST_P(BadUrl, IsRefusedWithoutBeingQuoted) {
    const auto url = parse_web_url(GetParam());
    ASSERT_FALSE(url.has_value());
    EXPECT_EQ(url.error().code(), "invalid_request");
    EXPECT_FALSE(url.error().message.contains("example"));
}

INSTANTIATE_TEST_SUITE_P(
    WebUrl,
    BadUrl,
    testing::Values(
        "",
        "example.com",
        "ftp://example.com/",
        "file:///example",
        "http://",
        "http:///example",
        "http://user@example.com/",
        "http://user:word@example.com/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:80x/",
        "http://example.com:/",
        "http://example.com\\@other/",
        "http://example.com/#part",
        "http://example.com/a b",
        "http://example.com/\r\nX: y",
        "http://[::1/example",
        "http://[::1]example/",
        "http://[example]/",
        "http://ex%61mple.com/"));

TEST(WebUrl, RefusesHeadersThatWouldBecomeTwo) {
    EXPECT_TRUE(check_headers({{"Authorization", "Bearer x"}, {"X-Empty", ""}}).has_value());
    EXPECT_FALSE(check_headers({{"A", "x\r\nB: y"}}).has_value());
    EXPECT_FALSE(check_headers({{"A: b\r\nC", "x"}}).has_value());
    EXPECT_FALSE(check_headers({{"", "x"}}).has_value());
}

TEST(WebUrl, LooksHostsUp) {
    EXPECT_EQ(resolve_host("127.0.0.1", 80).value(), (std::vector<std::string>{"127.0.0.1"}));
    EXPECT_EQ(resolve_host("::1", 80).value(), (std::vector<std::string>{"::1"}));
    const std::vector<std::string> local = resolve_host("localhost", 80).value();
    ASSERT_FALSE(local.empty());
    EXPECT_TRUE(std::ranges::all_of(
        local, [](const std::string& one) { return one == "127.0.0.1" || one == "::1"; }));
    EXPECT_FALSE(resolve_host("not a host", 80).has_value());
}

}  // namespace
}  // namespace interlock
