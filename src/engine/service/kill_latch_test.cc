#include "engine/service/kill_latch.h"

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

// An activation that comes in while a release is being decided must win.
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

TenantId numbered(std::size_t i) {
    return TenantId::trusted("t" + std::to_string(i));
}

// Places in the table are few, so many tenants meet at one.
TEST(KillLatch, TellsTenantsApartThatMeetInTheTable) {
    const auto latch = std::make_unique<KillLatch>();
    for (std::size_t i = 0; i < KillLatch::kTenantsMax; i += 2) {
        latch->raise(numbered(i));
    }
    for (std::size_t i = 0; i < KillLatch::kTenantsMax; ++i) {
        const std::uint64_t times = i % 2 == 0 ? 1 : 0;
        ASSERT_EQ(latch->raised_count(numbered(i)), times) << i;
        ASSERT_EQ(latch->is_raised(numbered(i)), times == 1) << i;
        ASSERT_EQ(latch->activations_under_way(numbered(i)), 0) << i;
    }
}

TEST(KillLatch, TellsLongNamesApartByTheirBeginnings) {
    const auto latch = std::make_unique<KillLatch>();
    latch->raise(TenantId::trusted("a" + std::string(63, 'x')));
    EXPECT_FALSE(latch->is_raised(TenantId::trusted("b" + std::string(63, 'x'))));
}

// A fingerprint of zero would look like an empty place, which the next tenant takes.
TEST(KillLatch, ANameWhoseFingerprintWouldBeZeroHasAPlaceOfItsOwn) {
    const auto latch = std::make_unique<KillLatch>();
    const TenantId zero = TenantId::trusted("77kepQFQ8Kl");
    latch->raise(zero);
    for (std::size_t i = 1; i < KillLatch::kTenantsMax; ++i) {
        latch->raise(numbered(i));
    }
    EXPECT_EQ(latch->raised_count(zero), 1u);
    for (std::size_t i = 1; i < KillLatch::kTenantsMax; ++i) {
        ASSERT_EQ(latch->raised_count(numbered(i)), 1u) << i;
    }
    latch->raise(kDemo);
    EXPECT_TRUE(latch->is_raised_global());
}

TEST(KillLatch, CountsEachTimeItWasRaised) {
    const auto latch = std::make_unique<KillLatch>();
    latch->raise(kDemo);
    latch->raise(kDemo);
    EXPECT_EQ(latch->raised_count(kDemo), 2u);
    EXPECT_EQ(latch->raised_count(system_tenant()), 0u);
    latch->raise_global();
    EXPECT_EQ(latch->raised_count(system_tenant()), 1u);
    EXPECT_EQ(latch->raised_count(kDemo), 2u);
    EXPECT_TRUE(latch->is_raised_itself(system_tenant()));
}

// Whoever finds no place stops everybody, and only a release of everything ends that.
TEST(KillLatch, WithoutAPlaceInTheTableAnActivationIsEverybodys) {
    const auto latch = std::make_unique<KillLatch>();
    for (std::size_t i = 0; i < KillLatch::kTenantsMax; ++i) {
        latch->raise(numbered(i));
    }
    EXPECT_EQ(latch->raised_count(kDemo), 0u);
    EXPECT_FALSE(latch->is_raised_itself(kDemo));
    EXPECT_FALSE(latch->lower(kDemo, 0));
    latch->begin_activation(kDemo);
    EXPECT_EQ(latch->activations_under_way(kDemo), 0);
    EXPECT_EQ(latch->activations_under_way(system_tenant()), 1);
    EXPECT_EQ(latch->raised_count(system_tenant()), 1u);
    EXPECT_FALSE(latch->lower(kDemo, 0));
    EXPECT_FALSE(latch->try_send(kOther));
    latch->end_activation(kDemo);
    EXPECT_EQ(latch->activations_under_way(system_tenant()), 0);
    EXPECT_TRUE(latch->lower(system_tenant(), 1));
    EXPECT_FALSE(latch->is_raised_global());
    for (std::size_t i = 0; i < KillLatch::kTenantsMax; ++i) {
        ASSERT_EQ(latch->raised_count(numbered(i)), 1u) << i;
    }
}

}  // namespace
}  // namespace interlock
