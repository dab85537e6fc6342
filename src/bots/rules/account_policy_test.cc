#include "bots/rules/account_policy.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(KeyGrant, IsNeededByAgentsForRealExchanges) {
    Principal principal;
    principal.kind = PrincipalKind::agent;
    EXPECT_TRUE(needs_grant(principal, "binance"));
    EXPECT_FALSE(needs_grant(principal, "paper"));
    principal.kind = PrincipalKind::human;
    EXPECT_FALSE(needs_grant(principal, "binance"));
}

TEST(KeyGrant, CoversItsExchangeUntilItExpires) {
    KeyGrant grant;
    grant.expires_at = {100};
    EXPECT_TRUE(covers(grant, "binance", {99}));
    EXPECT_FALSE(covers(grant, "binance", {100}));
    grant.exchange = "kraken";
    EXPECT_FALSE(covers(grant, "binance", {99}));
    EXPECT_TRUE(covers(grant, "kraken", {99}));
}

}  // namespace
}  // namespace interlock
