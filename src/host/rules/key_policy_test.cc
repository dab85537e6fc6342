#include "host/rules/key_policy.h"

#include <gtest/gtest.h>

#include "host/wire/key_lock.h"

namespace interlock {
namespace {

constexpr Timestamp kNow{1'794'744'000'000'000};

AccessKey key(std::size_t number) {
    AccessKey made;
    made.key_id = KeyId::trusted("key_" + std::to_string(number));
    return made;
}

Tenant tenant_with(std::size_t count) {
    Tenant tenant;
    for (std::size_t i = 0; i < count; ++i) {
        tenant = *add_access_key(std::move(tenant), key(i));
    }
    return tenant;
}

TEST(KeyPolicy, RefusesOneActiveKeyMoreThanTheBound) {
    Tenant tenant = tenant_with(kActiveKeysMax);

    const auto added = add_access_key(tenant, key(kActiveKeysMax));

    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), "limit_reached");
}

TEST(KeyPolicy, TakesANewKeyOnceOneIsRevoked) {
    const auto tenant =
        revoke_access_key(tenant_with(kActiveKeysMax), KeyId::trusted("key_3"), kNow);
    ASSERT_TRUE(tenant);

    EXPECT_TRUE(add_access_key(*tenant, key(kActiveKeysMax)));
}

TEST(KeyPolicy, KeepsTheTimeOfTheFirstRevocation) {
    const auto once = revoke_access_key(tenant_with(1), KeyId::trusted("key_0"), kNow);
    ASSERT_TRUE(once);

    const auto twice =
        revoke_access_key(*once, KeyId::trusted("key_0"), kNow + Duration::of_hours(1));

    ASSERT_TRUE(twice);
    EXPECT_EQ(find_access_key(*twice, KeyId::trusted("key_0"))->revoked_at, kNow);
}

TEST(KeyPolicy, KnowsNoKeyOfAnotherTenant) {
    const auto revoked = revoke_access_key(tenant_with(1), KeyId::trusted("key_9"), kNow);

    ASSERT_FALSE(revoked);
    EXPECT_EQ(revoked.error().code(), "not_found");
}

TEST(KeyPolicy, DropsTheLongestRevokedKeyPastTheBound) {
    Tenant tenant;
    for (std::size_t i = 0; i <= kRevokedKeysMax; ++i) {
        tenant = *add_access_key(std::move(tenant), key(i));
        tenant = *revoke_access_key(
            std::move(tenant), key(i).key_id, kNow + Duration::of_seconds(static_cast<int>(i)));
    }

    EXPECT_EQ(tenant.access_keys.size(), kRevokedKeysMax);
    EXPECT_EQ(find_access_key(tenant, key(0).key_id), nullptr);
    EXPECT_NE(find_access_key(tenant, key(1).key_id), nullptr);
}

TEST(KeyPolicy, LocksActiveKeysOnceAndConfirmsThemOneByOne) {
    Tenant tenant = *revoke_access_key(tenant_with(3), KeyId::trusted("key_1"), kNow);
    tenant.access_keys[0].key_hash = "abc";

    EXPECT_EQ(
        lock_access_keys(tenant), (std::vector{KeyId::trusted("key_0"), KeyId::trusted("key_2")}));
    EXPECT_TRUE(lock_access_keys(tenant).empty());
    EXPECT_TRUE(is_locked(tenant.access_keys[0]));
    EXPECT_EQ(plain_hash(tenant.access_keys[0]), "abc");
    EXPECT_FALSE(is_locked(tenant.access_keys[1]));

    const auto confirmed = confirm_access_key(tenant, KeyId::trusted("key_0"));
    ASSERT_TRUE(confirmed);
    EXPECT_EQ(confirmed->access_keys[0].key_hash, "abc");
    EXPECT_TRUE(is_locked(confirmed->access_keys[2]));
    // A revoked key and one of somebody else stay what they are.
    EXPECT_FALSE(confirm_access_key(tenant, KeyId::trusted("key_1")));
    EXPECT_FALSE(confirm_access_key(tenant, KeyId::trusted("key_9")));
}

}  // namespace
}  // namespace interlock
