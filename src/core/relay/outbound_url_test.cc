#include "core/relay/outbound_url.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

AddressClass class_of(std::string_view text) {
    const auto address = parse_ip(text);
    EXPECT_TRUE(address.has_value()) << text;
    return address ? classify(*address) : AddressClass::special;
}

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

TEST(AddressClasses, AreThoseOfTheRegistries) {
    const std::pair<std::string_view, AddressClass> cases[] = {
        {"8.8.8.8", AddressClass::global},
        {"172.32.0.1", AddressClass::global},
        {"2606:4700::1111", AddressClass::global},
        {"0.0.0.0", AddressClass::unspecified},
        {"::", AddressClass::unspecified},
        {"127.0.0.1", AddressClass::loopback},
        {"127.255.255.255", AddressClass::loopback},
        {"::1", AddressClass::loopback},
        {"10.0.0.1", AddressClass::private_use},
        {"172.31.255.255", AddressClass::private_use},
        {"192.168.1.1", AddressClass::private_use},
        {"fd00::1", AddressClass::private_use},
        {"169.254.169.254", AddressClass::link_local},
        {"fe80::1", AddressClass::link_local},
        {"100.64.0.1", AddressClass::shared},
        {"224.0.0.1", AddressClass::multicast},
        {"ff02::1", AddressClass::multicast},
        {"255.255.255.255", AddressClass::special},
        {"192.0.2.1", AddressClass::special},
        {"198.18.0.1", AddressClass::special},
        {"2001:db8::1", AddressClass::special},
        {"2001::1", AddressClass::special},
        {"::ffff:127.0.0.1", AddressClass::loopback},
        {"::ffff:8.8.8.8", AddressClass::global},
        {"::127.0.0.1", AddressClass::loopback},
        {"64:ff9b::10.0.0.1", AddressClass::private_use},
        {"64:ff9b::808:808", AddressClass::global},
        {"2002:7f00:1::", AddressClass::loopback},
        {"2002:808:808::", AddressClass::global},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(to_word(class_of(text)), to_word(expected)) << text;
    }
}

TEST(AddressClasses, RefuseAddressesThatAreWrittenOddly) {
    for (const std::string_view text :
         {"",
          "1.2.3",
          "1.2.3.256",
          "01.2.3.4",
          "1.2.3.4 ",
          ":",
          ":::",
          "1::2::3",
          "12345::",
          "1:2:3:4:5:6:7",
          "1:2:3:4:5:6:7:8:9",
          "::1.2.3",
          "1.2.3.4::",
          "::g"}) {
        EXPECT_FALSE(parse_ip(text).has_value()) << text;
    }
}

TEST(AddressClasses, LetAConfiguredRangeThroughAndNothingBesideIt) {
    const std::vector<Cidr> allowed = {*parse_cidr("10.1.0.0/16"), *parse_cidr("fd00::/64")};
    EXPECT_TRUE(may_connect(*parse_ip("10.1.255.1"), allowed));
    EXPECT_FALSE(may_connect(*parse_ip("10.2.0.1"), allowed));
    EXPECT_TRUE(may_connect(*parse_ip("fd00::1"), allowed));
    EXPECT_FALSE(may_connect(*parse_ip("fd00:0:0:1::1"), allowed));
    EXPECT_TRUE(may_connect(*parse_ip("9.9.9.9"), {}));
    EXPECT_FALSE(may_connect(*parse_ip("127.0.0.1"), {}));
    for (const std::string_view text :
         {"10.0.0.0/33", "10.0.0.0/", "::/129", "x/8", "10.0.0.0/-1"}) {
        EXPECT_FALSE(parse_cidr(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace interlock
