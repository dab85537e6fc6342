// The stop listener as a program meets it. That it is quick in a flood is for `interlock drill
// dos`.
#include "app/wiring/stop_listener.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(StopListener, HasThePortAboveTheOrdinaryOneUnlessTold) {
    Config config;
    EXPECT_EQ(stop_port_of(config), 8421);
    config.http_port = 0;
    EXPECT_EQ(stop_port_of(config), 0);
    config.stop_port = 7000;
    EXPECT_EQ(stop_port_of(config), 7000);
}

TEST(StopListener, TakesPlainTextOnThisMachineOnly) {
    Config config;
    for (const char* address : {"127.0.0.1", "127.8.9.1", "::1", "localhost"}) {
        config.stop_address = address;
        EXPECT_TRUE(check_stop_listener(config)) << address;
    }
    for (const char* address : {"0.0.0.0", "::", "192.0.2.1"}) {
        config.stop_address = address;
        const auto refused = check_stop_listener(config);
        ASSERT_FALSE(refused) << address;
        EXPECT_EQ(refused.error().code(), "invalid_config");
    }
    config.http_tls_certificate = "certificate.pem";
    EXPECT_TRUE(check_stop_listener(config));
}

TEST(StopListener, IsThereUnlessItsAddressIsEmpty) {
    Config config;
    EXPECT_TRUE(has_stop_listener(config));
    config.stop_address.clear();
    EXPECT_FALSE(has_stop_listener(config));
    EXPECT_TRUE(check_stop_listener(config));
}

}  // namespace
}  // namespace interlock
