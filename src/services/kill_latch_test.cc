#include "services/kill_latch.h"

#include <gtest/gtest.h>

#include <memory>

namespace interlock {
namespace {

const TenantId kDemo = TenantId::trusted("demo");
const TenantId kOther = TenantId::trusted("other");

TEST(KillLatch, StopsOneTenantAndNoOther) {
    const auto latch = std::make_unique<KillLatch>();
    latch->raise(kDemo);
    EXPECT_TRUE(latch->is_raised(kDemo));
    EXPECT_FALSE(latch->is_raised(kOther));
    EXPECT_FALSE(latch->try_send(kDemo));
    EXPECT_TRUE(latch->try_send(kOther));
}

TEST(KillLatch, GlobalStopsEveryone) {
    const auto latch = std::make_unique<KillLatch>();
    latch->raise(system_tenant());
    EXPECT_FALSE(latch->try_send(kDemo));
    EXPECT_FALSE(latch->try_send(kOther));
}

// S13: an activation that comes in while a release is being decided must win.
TEST(KillLatch, LowerDoesNotUndoALaterActivation) {
    const auto latch = std::make_unique<KillLatch>();
    latch->raise(kDemo);
    const std::uint64_t seen = latch->raised_count(kDemo);
    latch->raise(kDemo);
    EXPECT_FALSE(latch->lower(kDemo, seen));
    EXPECT_TRUE(latch->is_raised(kDemo));
    EXPECT_TRUE(latch->lower(kDemo, latch->raised_count(kDemo)));
    EXPECT_FALSE(latch->is_raised(kDemo));
}

TEST(KillLatch, SendsUnderWayAreCounted) {
    const auto latch = std::make_unique<KillLatch>();
    {
        const auto permit = latch->try_send(kDemo);
        ASSERT_TRUE(permit);
        EXPECT_EQ(latch->in_flight(), 1);
    }
    EXPECT_EQ(latch->in_flight(), 0);
    latch->raise(kDemo);
    EXPECT_FALSE(latch->try_send(kDemo));
    EXPECT_EQ(latch->in_flight(), 0);
}

// A full table cannot stop one tenant alone, so it stops all of them.
TEST(KillLatch, FullTableStopsMoreNeverLess) {
    const auto latch = std::make_unique<KillLatch>();
    for (std::size_t i = 0; i < KillLatch::kTenantsMax; ++i) {
        latch->raise(TenantId::trusted("t" + std::to_string(i)));
    }
    EXPECT_FALSE(latch->is_raised_global());
    latch->raise(kDemo);
    EXPECT_TRUE(latch->is_raised(kDemo));
    EXPECT_TRUE(latch->is_raised_global());
}

TEST(KillLatch, CountsActivationsFromAcceptanceToRecord) {
    auto latch = std::make_unique<KillLatch>();
    const TenantId tenant = TenantId::trusted("a");
    latch->begin_activation(tenant);
    EXPECT_TRUE(latch->is_raised_itself(tenant));
    EXPECT_FALSE(latch->is_raised_global());
    EXPECT_EQ(latch->activations_under_way(tenant), 1);
    latch->end_activation(tenant);
    EXPECT_EQ(latch->activations_under_way(tenant), 0);
    EXPECT_TRUE(latch->is_raised_itself(tenant));
}

}  // namespace
}  // namespace interlock
