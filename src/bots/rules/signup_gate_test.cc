#include "bots/rules/signup_gate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace interlock {
namespace {

TEST(SignupGate, LetsInUpToTheBoundOfAPeer) {
    SignupGate gate({.per_peer = 2, .per_host = 10});
    EXPECT_FALSE(gate.take("a", {0}));
    EXPECT_FALSE(gate.take("a", {5}));
    EXPECT_EQ(gate.take("a", {6}), (Duration{kSignupWindow.microseconds - 6}));
    EXPECT_FALSE(gate.take("b", {6}));
    EXPECT_FALSE(gate.take("a", {kSignupWindow.microseconds}));
}

TEST(SignupGate, CountsAnEmptyPeerForTheHostOnly) {
    SignupGate gate({.per_peer = 1, .per_host = 3});
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(gate.take("", {i}));
    }
    EXPECT_TRUE(gate.take("", {3}));
    EXPECT_TRUE(gate.take("a", {3}));
}

TEST(SignupGate, GivesBackTheLatestOfThatPeer) {
    SignupGate gate({.per_peer = 1, .per_host = 2});
    EXPECT_FALSE(gate.take("a", {0}));
    EXPECT_FALSE(gate.take("b", {1}));
    gate.give_back("a");
    gate.give_back("nobody");
    EXPECT_EQ(gate.size(), 1u);
    EXPECT_TRUE(gate.take("b", {2}));
    EXPECT_FALSE(gate.take("a", {2}));
}

TEST(SignupGate, RemembersWhatIsInsideTheWindow) {
    SignupGate gate({.per_peer = 1, .per_host = 2});
    const Timestamp now = Timestamp{0} + kSignupWindow;
    gate.remember("old", {0}, now);
    gate.remember("a", {1}, now);
    EXPECT_EQ(gate.size(), 1u);
    EXPECT_TRUE(gate.take("a", now));
    EXPECT_FALSE(gate.take("old", now));
}

// Whatever comes when: no window of an hour has more than the bounds, and nobody is refused while
// there is room.
TEST(SignupGate, KeepsBothBoundsInEveryWindow) {
    EXPECT_TRUE(rc::check([] {
        SignupGate gate({.per_peer = 3, .per_host = 7});
        std::vector<std::pair<Timestamp, std::string>> taken;
        Timestamp now{0};
        const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(0, 30), rc::gen::inRange(0, 4)));
        for (const auto& [minutes, who] : steps) {
            now = now + Duration::of_minutes(minutes);
            const std::string peer(1, static_cast<char>('a' + who));
            std::int64_t of_peer = 0;
            std::int64_t of_host = 0;
            for (const auto& [at, name] : taken) {
                const bool inside = at > now - kSignupWindow;
                of_host += inside ? 1 : 0;
                of_peer += inside && name == peer ? 1 : 0;
            }
            const auto wait = gate.take(peer, now);
            RC_ASSERT(wait.has_value() == (of_host >= 7 || of_peer >= 3));
            if (wait) {
                RC_ASSERT(wait->microseconds > 0);
                RC_ASSERT(*wait <= kSignupWindow);
            } else {
                taken.emplace_back(now, peer);
            }
        }
    }));
}

}  // namespace
}  // namespace interlock
