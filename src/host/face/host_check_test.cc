#include "host/face/host_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace interlock {
namespace {

TEST(HostCheck, AcceptsLoopbackNamesWithAnyPort) {
    for (const char* host :
         {"localhost",
          "localhost:8420",
          "LOCALHOST:1",
          "127.0.0.1",
          "127.0.0.1:65535",
          "[::1]",
          "[::1]:8420"}) {
        EXPECT_TRUE(is_allowed_host(host)) << host;
    }
}

TEST(HostCheck, RefusesOtherNamesAndMalformedOnes) {
    for (const char* host :
         {"",
          ":80",
          "evil.example.com",
          "localhost.evil.example.com",
          "localhost:80:80",
          "localhost:",
          "localhost:port",
          "localhost:123456",
          "127.0.0.1.evil.example.com",
          "[::1]evil.example.com",
          "user@localhost",
          "localhost/",
          "::1"}) {
        EXPECT_FALSE(is_allowed_host(host)) << host;
    }
}

TEST(HostCheck, AcceptsFurtherNames) {
    const std::vector<std::string> further = {"desk.example.com", "one.example.com:8443"};
    EXPECT_TRUE(is_allowed_host("desk.example.com", further));
    EXPECT_TRUE(is_allowed_host("Desk.Example.com:8443", further));
    EXPECT_TRUE(is_allowed_host("one.example.com:8443", further));
    EXPECT_FALSE(is_allowed_host("one.example.com", further));
    EXPECT_FALSE(is_allowed_host("one.example.com:80", further));
}

TEST(HostCheck, AcceptsOriginsOfAllowedHosts) {
    EXPECT_TRUE(is_allowed_origin("http://localhost:5173"));
    EXPECT_TRUE(is_allowed_origin("https://[::1]"));
}

TEST(HostCheck, RefusesForeignAndOpaqueOrigins) {
    for (const char* origin :
         {"",
          "null",
          "localhost",
          "http://",
          "http://evil.example.com",
          "ftp://localhost",
          "http://localhost/path",
          "http://localhost@evil.example.com"}) {
        EXPECT_FALSE(is_allowed_origin(origin)) << origin;
    }
}

}  // namespace
}  // namespace interlock
