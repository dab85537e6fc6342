#include "bots/rules/account_policy.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

TEST(MailRetry, WaitsLongerEachTimeAndSixHoursAtMost) {
    EXPECT_EQ(mail_retry_delay(1), Duration::of_minutes(1));
    EXPECT_EQ(mail_retry_delay(2), Duration::of_minutes(5));
    EXPECT_EQ(mail_retry_delay(3), Duration::of_minutes(25));
    EXPECT_EQ(mail_retry_delay(4), Duration::of_minutes(125));
    EXPECT_EQ(mail_retry_delay(5), Duration::of_hours(6));
    EXPECT_EQ(mail_retry_delay(1'000'000), Duration::of_hours(6));
}

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
