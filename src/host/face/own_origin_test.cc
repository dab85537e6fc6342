#include "host/face/own_origin.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

HttpRequest write_from(std::vector<HttpHeader> headers, bool tls = false) {
    HttpRequest request;
    request.method = "POST";
    request.headers = std::move(headers);
    request.tls = tls;
    return request;
}

TEST(OwnOrigin, IsSchemeAndHostOfTheRequest) {
    EXPECT_TRUE(OwnOrigin().is_same_origin(
        write_from({{"Host", "localhost:8420"}, {"Origin", "http://localhost:8420"}})));
    EXPECT_TRUE(OwnOrigin().is_same_origin(
        write_from({{"Host", "Desk.example"}, {"Origin", "https://desk.example"}}, true)));
}

TEST(OwnOrigin, IsNoOtherOrigin) {
    const HttpHeader host{"Host", "localhost:8420"};
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from({host})));
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from({host, {"Origin", "null"}})));
    EXPECT_FALSE(
        OwnOrigin().is_same_origin(write_from({host, {"Origin", "https://localhost:8420"}})));
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from({host, {"Origin", "http://localhost"}})));
    EXPECT_FALSE(
        OwnOrigin().is_same_origin(write_from({host, {"Origin", "http://localhost:8420.evil"}})));
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from({{"Origin", "http://"}})));
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from({{"Host", ""}, {"Origin", "http://"}})));
}

TEST(OwnOrigin, IsNotTwoOrigins) {
    EXPECT_FALSE(OwnOrigin().is_same_origin(write_from(
        {{"Host", "a:1"}, {"Origin", "http://a:1"}, {"Origin", "http://evil.example"}})));
}

TEST(OwnOrigin, IsThePublicUrlWhateverAProxyMakesOfSchemeAndHost) {
    const OwnOrigin own("https://Desk.Example:443/interlock");
    EXPECT_EQ(own.public_origin(), "https://desk.example");
    EXPECT_EQ(own.public_host(), "desk.example");
    for (const std::string host : {"desk.example", "127.0.0.1:8420", "backend"}) {
        EXPECT_TRUE(
            own.is_same_origin(write_from({{"Host", host}, {"Origin", "https://desk.example"}})));
    }
    // Whoever reaches it directly is on its pages there.
    EXPECT_TRUE(own.is_same_origin(
        write_from({{"Host", "localhost:8420"}, {"Origin", "http://localhost:8420"}})));
    for (const std::string origin :
         {"http://desk.example",
          "https://desk.example:8443",
          "https://desk.example.evil",
          "https://evil.example",
          "null",
          ""}) {
        EXPECT_FALSE(
            own.is_same_origin(write_from({{"Host", "127.0.0.1:8420"}, {"Origin", origin}})))
            << origin;
    }
    EXPECT_FALSE(own.is_same_origin(write_from(
        {{"Host", "h"}, {"Origin", "https://desk.example"}, {"Origin", "https://evil.example"}})));
}

TEST(OwnOrigin, KeepsAPortThatIsNotTheSchemesOwn) {
    EXPECT_EQ(OwnOrigin("http://desk.example:8080").public_origin(), "http://desk.example:8080");
    EXPECT_EQ(OwnOrigin("https://[2001:db8::1]").public_origin(), "https://[2001:db8::1]");
}

TEST(OwnOrigin, IsSecureByThePublicUrlOrByTheSocket) {
    const HttpRequest plain = write_from({});
    const HttpRequest tls = write_from({}, true);
    EXPECT_FALSE(OwnOrigin().is_secure(plain));
    EXPECT_TRUE(OwnOrigin().is_secure(tls));
    EXPECT_TRUE(OwnOrigin("https://desk.example").is_secure(plain));
    EXPECT_FALSE(OwnOrigin("http://desk.example").is_secure(plain));
    EXPECT_TRUE(OwnOrigin("http://desk.example").is_secure(tls));
}

}  // namespace
}  // namespace interlock
