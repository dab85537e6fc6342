#include "base/outbound_url.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

TEST(OutboundUrl, ReadsHostPortAndTarget) {
    const auto url = parse_outbound_url("https://Wake.Example:8443/a?b=c#d");
    ASSERT_TRUE(url.has_value()) << url.error().message;
    EXPECT_TRUE(url->is_tls);
    EXPECT_EQ(url->host, "wake.example");
    EXPECT_EQ(url->port, 8443);
    EXPECT_EQ(url->target, "/a?b=c");
    EXPECT_FALSE(url->address.has_value());
    EXPECT_EQ(parse_outbound_url("http://h.example?x").value().target, "/?x");
    EXPECT_EQ(parse_outbound_url("http://h.example").value().port, 80);
}

TEST(OutboundUrl, KnowsAHostThatIsAnAddress) {
    EXPECT_TRUE(parse_outbound_url("http://127.0.0.1/").value().address.has_value());
    EXPECT_EQ(parse_outbound_url("https://[2001:db8::1]:1/").value().host, "2001:db8::1");
}

TEST(OutboundUrl, RefusesWhatParsersDisagreeAbout) {
    for (const std::string_view text :
         {"",
          "example.com",
          "ftp://h.example/",
          "file:///etc/passwd",
          "http://",
          "http:///path",
          "http://user@h.example/",
          "http://user:pass@h.example/",
          "http://good.example@evil.example/",
          "http://good.example\\@evil.example/",
          "http://h.example/a b",
          "http://h.example/\r\nHost: x",
          "http://h\xC3\xA9.example/",
          "http://127.1/",
          "http://0x7f000001/",
          "http://0x7f.0.0.1/",
          "http://2130706433/",
          "http://0177.0.0.1/",
          "http://127.0.0.1./",
          "http://1.2.3.4.5/",
          "http://h..example/",
          "http://h.example:0/",
          "http://h.example:65536/",
          "http://h.example:/",
          "http://h.example:80x/",
          "http://[::1/",
          "http://[::1]x/",
          "http://[::1%25eth0]/",
          "http://[127.0.0.1]/"}) {
        EXPECT_FALSE(parse_outbound_url(text).has_value()) << text;
    }
    EXPECT_FALSE(parse_outbound_url("http://h.example/" + std::string(2048, 'a')).has_value());
}

TEST(OutboundUrl, NeverFailsOnAnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        (void)parse_outbound_url(bytes);
        (void)parse_outbound_url("http://" + bytes);
        (void)parse_ip(bytes);
        (void)parse_cidr(bytes);
    }));
}

TEST(OutboundUrl, LetsAConfiguredRangeThroughAndNothingBesideIt) {
    const std::vector<Cidr> allowed = {*parse_cidr("10.1.0.0/16"), *parse_cidr("fd00::/64")};
    EXPECT_TRUE(may_connect(*parse_ip("10.1.255.1"), allowed));
    EXPECT_FALSE(may_connect(*parse_ip("10.2.0.1"), allowed));
    EXPECT_TRUE(may_connect(*parse_ip("fd00::1"), allowed));
    EXPECT_FALSE(may_connect(*parse_ip("fd00:0:0:1::1"), allowed));
    EXPECT_TRUE(may_connect(*parse_ip("9.9.9.9"), {}));
    EXPECT_FALSE(may_connect(*parse_ip("127.0.0.1"), {}));
}

TEST(OutboundUrl, IsJudgedByWhatItSaysBeforeItsHostIsLookedUp) {
    EXPECT_TRUE(judge_outbound_url("https://wake.example:8443/x", {}));
    EXPECT_TRUE(judge_outbound_url("http://8.8.8.8/", {}));
    EXPECT_TRUE(judge_outbound_url("http://10.1.2.3:8080/", {*parse_cidr("10.0.0.0/8")}));
    for (const std::string_view text :
         {"http://127.0.0.1/",
          "http://10.1.2.3/",
          "http://169.254.169.254/latest/meta-data",
          "http://100.64.0.1/",
          "http://[::1]/",
          "http://[::ffff:10.0.0.1]/",
          "http://[fe80::1]/",
          "http://0.0.0.0/",
          "http://224.0.0.1/",
          "http://localhost:8420/",
          "http://LOCALHOST./",
          "http://db.localhost/",
          "http://mail.example:25/",
          "http://h.example:22/",
          "ftp://h.example/",
          "http://u:p@h.example/"}) {
        const auto judged = judge_outbound_url(text, {});
        ASSERT_FALSE(judged) << text;
        EXPECT_EQ(judged.error(), errors::url_not_allowed) << text;
    }
}

}  // namespace
}  // namespace interlock
