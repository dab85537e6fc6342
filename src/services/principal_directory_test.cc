#include "services/principal_directory.h"

#include <gtest/gtest.h>

#include "base/crypto.h"

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

}  // namespace
}  // namespace interlock
