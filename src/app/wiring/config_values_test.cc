#include "app/wiring/config_values.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(ConfigValues, AUrlIsAnOriginPerhapsWithAPath) {
    for (const char* good :
         {"", "http://127.0.0.1:8420", "https://bots.example.com", "https://[::1]:1/a/b"}) {
        std::string url = "before";
        EXPECT_EQ(set_url(url, good), "") << good;
        EXPECT_EQ(url, good);
    }
}

TEST(ConfigValues, WhatCannotStandBeforeAPathIsNoUrl) {
    const std::string too_long = "https://" + std::string(200, 'a');
    for (const std::string& bad :
         {std::string("bots.example.com"),
          std::string("ftp://bots.example.com"),
          std::string("https://"),
          std::string("https:///a"),
          std::string("https://bots.example.com/"),
          std::string("https://a.example/?q=1"),
          std::string("https://a.example/\"x"),
          std::string("https://a example"),
          std::string("https://user@a.example"),
          too_long}) {
        std::string url = "before";
        EXPECT_NE(set_url(url, bad), "") << bad;
        EXPECT_EQ(url, "before");
    }
}

TEST(ConfigValues, TrustedProxiesAreRangesAndNeverEverybody) {
    std::vector<std::string> proxies;
    EXPECT_EQ(set_proxies(proxies, "127.0.0.1, 10.0.0.0/8,fd00::/8"), "");
    EXPECT_EQ(proxies.size(), 3U);
    for (const char* bad : {"proxy.example", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80"}) {
        EXPECT_NE(set_proxies(proxies, bad), "") << bad;
    }
    std::string many;
    for (std::size_t i = 0; i <= kTrustedProxiesMax; ++i) {
        many += "10.0.0." + std::to_string(i) + ",";
    }
    EXPECT_NE(set_proxies(proxies, many), "");
    EXPECT_EQ(proxies.size(), 3U);
}

TEST(ConfigValues, AListenerHasAnAddressAndAPort) {
    std::string listen;
    for (const char* good : {"", "127.0.0.1:9420", "[::1]:9420", "localhost:1", "0.0.0.0:65535"}) {
        EXPECT_EQ(set_listen(listen, good), "") << good;
    }
    EXPECT_EQ(parse_listen("[::1]:9420")->host, "::1");
    EXPECT_EQ(parse_listen("localhost:9420")->port, 9420);
    for (const char* bad :
         {"9420",
          "127.0.0.1",
          "127.0.0.1:0",
          "127.0.0.1:65536",
          "::1:9420",
          "[127.0.0.1]:1",
          "host.example:80",
          "127.0.0.1:9420x",
          ":9420"}) {
        EXPECT_NE(set_listen(listen, bad), "") << bad;
    }
}

TEST(ConfigValues, TenantsAreSeparatedByCommas) {
    std::set<TenantId> tenants;
    EXPECT_EQ(set_tenants(tenants, "a, b,,"), "");
    EXPECT_EQ(tenants.size(), 2U);
    EXPECT_NE(set_tenants(tenants, "a, B"), "");
    EXPECT_EQ(tenants.size(), 2U);
}

TEST(ConfigValues, AConfidenceIsFromZeroToOne) {
    Decimal value;
    EXPECT_EQ(set_confidence(value, "0.65"), "");
    for (const char* bad : {"-0.1", "1.01", "high", ""}) {
        EXPECT_NE(set_confidence(value, bad), "") << bad;
    }
    EXPECT_EQ(to_text(value), "0.65");
}

}  // namespace
}  // namespace interlock
