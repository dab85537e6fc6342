#include "net/peer_group.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(PeerGroup, IsTheAddressOfIpv4) {
    EXPECT_EQ(peer_group("192.0.2.7"), "192.0.2.7");
    EXPECT_NE(peer_group("192.0.2.7"), peer_group("192.0.2.8"));
}

TEST(PeerGroup, IsTheNetworkOfIpv6HoweverItIsWritten) {
    EXPECT_EQ(peer_group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(peer_group("2001:db8:1:2::ffff"), peer_group("2001:0db8:0001:0002:9::1"));
    EXPECT_NE(peer_group("2001:db8:1:2::1"), peer_group("2001:db8:1:3::1"));
    EXPECT_EQ(peer_group("fe80::1%eth0"), "fe80::/64");
}

TEST(PeerGroup, TakesAMappedAddressForTheOneInside) {
    EXPECT_EQ(peer_group("::ffff:192.0.2.7"), "192.0.2.7");
}

TEST(PeerGroup, LeavesWhatIsNoAddressAlone) {
    EXPECT_EQ(peer_group("unix"), "unix");
    EXPECT_EQ(peer_group("a:b"), "a:b");
}

}  // namespace
}  // namespace interlock
