#include "host/service/principal_directory.h"

#include <gtest/gtest.h>

#include "base/crypto.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

TEST(PrincipalDirectory, CountsTheHostAsATenantButDoesNotListIt) {
    PrincipalDirectory directory;
    directory.update([](PrincipalDirectory::Snapshot& all) {
        all.humans[system_tenant()] = 1;
        all.humans[TenantId::trusted("demo")] = 2;
    });

    EXPECT_TRUE(directory.tenant_exists(system_tenant()));
    EXPECT_EQ(directory.tenants(), std::vector<TenantId>{TenantId::trusted("demo")});
    EXPECT_EQ(directory.humans_of(TenantId::trusted("demo")), 2);
    EXPECT_EQ(directory.humans_of(TenantId::trusted("none")), 0);
}

TEST(PrincipalDirectory, ReplacesEverythingAtOnce) {
    PrincipalDirectory directory;
    directory.update([](PrincipalDirectory::Snapshot& all) {
        all.access_keys[sha256_hex("ilk_old")] = Principal{};
    });
    auto next = std::make_shared<PrincipalDirectory::Snapshot>();
    next->access_keys[sha256_hex("ilk_new")] = Principal{};

    directory.publish(next);

    EXPECT_FALSE(directory.by_access_key("ilk_old"));
    EXPECT_TRUE(directory.by_access_key("ilk_new"));
}

TEST(PrincipalDirectory, KnowsNothingByTheHashItself) {
    PrincipalDirectory directory;
    directory.update([](PrincipalDirectory::Snapshot& all) {
        all.access_keys[sha256_hex("ilk_a")] = Principal{};
        all.operator_token_hash = sha256_hex("ilo_a");
    });

    EXPECT_FALSE(directory.by_access_key(sha256_hex("ilk_a")));
    EXPECT_FALSE(directory.is_operator_token(sha256_hex("ilo_a")));
}

class SessionTime : public testing::Test {
protected:
    SessionTime() {
        directory_.judge_sessions_by(clock_);
        directory_.update([&](PrincipalDirectory::Snapshot& all) {
            all.sessions[sha256_hex("ils_a")] = {
                Principal{}, FakeClock::kNoon + Duration::of_hours(1)};
        });
    }
    bool lives() { return directory_.by_session_token("ils_a", clock_.now()).has_value(); }

    FakeClock clock_;
    PrincipalDirectory directory_;
};

TEST_F(SessionTime, AnExpiredSessionStaysDeadWhenTheClockStepsBack) {
    EXPECT_TRUE(lives());
    clock_.advance(Duration::of_hours(2));
    EXPECT_FALSE(lives());
    clock_.step_to(FakeClock::kNoon);
    EXPECT_FALSE(lives());
}

TEST_F(SessionTime, ALiveSessionExpiresInItsTimeThoughTheClockStepsBack) {
    EXPECT_TRUE(lives());
    clock_.step_to(FakeClock::kNoon - Duration::of_hours(24));
    EXPECT_TRUE(lives());
    clock_.advance(Duration::of_hours(1));
    EXPECT_FALSE(lives());
}

TEST_F(SessionTime, ANewSessionLivesItsTimeThoughTheClockStoodInTheFuture) {
    clock_.step_to(FakeClock::kNoon + Duration::of_days(36'500));
    EXPECT_FALSE(lives());
    clock_.step_to(FakeClock::kNoon);
    const Timestamp expires = directory_.time_of_sessions(clock_.now()) + Duration::of_minutes(30);
    directory_.update([&](PrincipalDirectory::Snapshot& all) {
        all.sessions[sha256_hex("ils_a")] = {Principal{}, expires};
    });
    EXPECT_TRUE(lives());
    clock_.advance(Duration::of_minutes(29));
    EXPECT_TRUE(lives());
    clock_.advance(Duration::of_minutes(1));
    EXPECT_FALSE(lives());
}

// After a restart the newest record tells what time it had been.
TEST_F(SessionTime, WhatHasBeenIsNeverBefore) {
    directory_.time_of_sessions(FakeClock::kNoon + Duration::of_hours(3));
    EXPECT_FALSE(lives());
}

}  // namespace
}  // namespace interlock
