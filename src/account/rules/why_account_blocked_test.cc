#include "account/rules/why_account_blocked.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

std::string code_of(const std::optional<Blocked>& blocked) {
    return blocked ? blocked->code : "";
}

TEST(WhyAccountBlocked, AnAccountHasReasonsOfItsOwn) {
    Account account;
    account.key.account_id = default_account_id();
    account.trading_enabled = true;
    EXPECT_EQ(code_of(why_account_blocked(account)), "");
    account.tier.tier = Tier::stop;
    account.tier.stops = {"drawdown"};
    EXPECT_EQ(code_of(why_account_blocked(account)), "risk_stop");
    EXPECT_NE(why_account_blocked(account)->reason.find("drawdown"), std::string::npos);
    account.recovery.phase = RecoveryPhase::recovering;
    account.recovery.reasons = {"startup"};
    EXPECT_EQ(code_of(why_account_blocked(account)), "recovering");
    account.recovery.phase = RecoveryPhase::escalated;
    EXPECT_EQ(code_of(why_account_blocked(account)), "recovery_escalated");
    account.trading_enabled = false;
    EXPECT_EQ(code_of(why_account_blocked(account)), "account_disabled");
}

// There is no command and no button for it; what is said can be called as it is written.
TEST(WhyAccountBlocked, WhatIsToBeDoneNamesARouteThatThereIs) {
    Account account;
    account.key = {TenantId::trusted("demo"), default_account_id(), TradeMode::paper};
    account.trading_enabled = true;
    account.tier.tier = Tier::stop;
    EXPECT_NE(
        why_account_blocked(account)->next.find("`POST /api/demo/recovery/reset_drawdown`"),
        std::string::npos);
}

}  // namespace
}  // namespace interlock
