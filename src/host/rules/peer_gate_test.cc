#include "host/rules/peer_gate.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};

TEST(PeerGate, LetsEachPeerTrySoOftenInAnyHour) {
    PeerGate gate(2);
    EXPECT_FALSE(gate.take("a", kNow));
    EXPECT_FALSE(gate.take("a", kNow + Duration::of_minutes(30)));

    EXPECT_EQ(gate.take("a", kNow + Duration::of_minutes(40)), Duration::of_minutes(20));
    EXPECT_FALSE(gate.take("a", kNow + PeerGate::kWindow));
}

TEST(PeerGate, TakesNothingFromOthersWhenOneIsFull) {
    PeerGate gate(1);
    EXPECT_FALSE(gate.take("a", kNow));
    EXPECT_TRUE(gate.take("a", kNow));

    EXPECT_FALSE(gate.take("b", kNow));
}

TEST(PeerGate, HoldsNoMorePeersThanItsBoundAndForgetsTheOneThatTriedLongestAgo) {
    PeerGate gate(1, 2);
    EXPECT_FALSE(gate.take("a", kNow));
    EXPECT_FALSE(gate.take("b", kNow + Duration{1}));
    EXPECT_FALSE(gate.take("c", kNow + Duration{2}));

    EXPECT_EQ(gate.size(), 2U);
    EXPECT_TRUE(gate.take("b", kNow + Duration{3}));  // Still known; "a" is not.
}

}  // namespace
}  // namespace interlock
