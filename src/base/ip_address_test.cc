#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

AddressClass class_of(std::string_view text) {
    const auto address = parse_ip(text);
    EXPECT_TRUE(address.has_value()) << text;
    return address ? classify(*address) : AddressClass::special;
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

TEST(IpAddress, HasOneSpelling) {
    EXPECT_EQ(to_text(*parse_ip("::ffff:10.0.0.1")), "10.0.0.1");
    EXPECT_EQ(to_text(*parse_ip("2001:0DB8:0:0::1")), "2001:db8::1");
    EXPECT_EQ(to_text(*parse_ip("::")), "::");
}

TEST(Cidr, IsARangeOrOneAddress) {
    for (const std::string_view text :
         {"10.0.0.0/33", "10.0.0.0/", "::/129", "x/8", "10.0.0.0/-1"}) {
        EXPECT_FALSE(parse_cidr(text).has_value()) << text;
    }
    EXPECT_TRUE(contains(*parse_cidr("10.1.0.0/16"), *parse_ip("10.1.255.1")));
    EXPECT_FALSE(contains(*parse_cidr("10.1.0.0/16"), *parse_ip("10.2.0.1")));
    EXPECT_TRUE(contains(*parse_cidr("127.0.0.1"), *parse_ip("::ffff:127.0.0.1")));
    EXPECT_FALSE(contains(*parse_cidr("127.0.0.1"), *parse_ip("127.0.0.2")));
    EXPECT_FALSE(contains(*parse_cidr("0.0.0.0/0"), *parse_ip("2001:db8::1")));
}

}  // namespace
}  // namespace interlock
