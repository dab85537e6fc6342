#include "base/peer_group.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(PeerGroup, IsAnIpv4AddressForItself) {
    EXPECT_EQ(peer_group("203.0.113.7"), "203.0.113.7");
    EXPECT_EQ(peer_group("::ffff:203.0.113.7"), "203.0.113.7");
    EXPECT_EQ(peer_group("::FFFF:203.0.113.7"), "203.0.113.7");
}

TEST(PeerGroup, IsTheNetOfAnIpv6Address) {
    EXPECT_EQ(peer_group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(peer_group("2001:DB8:0001:2:ffff::"), "2001:db8:1:2::/64");
    EXPECT_EQ(peer_group("2001:db8::1"), "2001:db8:0:0::/64");
    EXPECT_EQ(peer_group("2001:db8::2"), peer_group("2001:db8:0:0:9::1"));
    EXPECT_EQ(peer_group("::1"), "0:0:0:0::/64");
    EXPECT_NE(peer_group("2001:db8:0:1::1"), peer_group("2001:db8:0:2::1"));
}

TEST(PeerGroup, LeavesOtherTextsAsTheyAre) {
    for (const std::string text : {"", "unix", "a:b", "fe80::1%eth0", "1:2:3:4:5:6:7:8:9:10"}) {
        EXPECT_EQ(peer_group(text), text);
    }
}

}  // namespace
}  // namespace interlock
