#include "trader/rules/why_market_blocked.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

std::string code_of(const std::optional<Blocked>& blocked) {
    return blocked ? blocked->code : "";
}

TEST(WhyMarketBlocked, AMarketHasReasonsOfItsOwn) {
    Concern concern;
    concern.symbol = Symbol::parse("BTCUSDT").value();
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "");
    concern.quality = ExecutionQuality::degraded;
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "");  // It goes on, in less.
    concern.risk_mode = RiskMode::halted;
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "halted");
    concern.quality = ExecutionQuality::stalled;
    concern.quality_reasons = {"unknown_order"};
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "stalled");
    concern.status = ConcernStatus::paused;
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "paused");
    concern.status = ConcernStatus::informational;
    EXPECT_EQ(code_of(why_market_blocked({.concern = concern})), "informational");
    const Concern active;
    EXPECT_EQ(code_of(why_market_blocked({.concern = active})), "");
    EXPECT_EQ(code_of(why_market_blocked({.concern = active, .is_throttled = true})), "throttled");
}

// There is no command and no button for it; what is said can be called as it is written.
TEST(WhyMarketBlocked, WhatIsToBeDoneNamesARouteThatThereIs) {
    Concern concern;
    concern.account = {TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};
    EXPECT_NE(
        why_market_blocked({.concern = concern, .is_throttled = true})
            ->next.find("`POST /api/demo/strategies/enable`"),
        std::string::npos);
}

// What gate 5 lets pass under each: cancels always, reductions while only entries are held back.
TEST(WhyMarketBlocked, LetsThroughWhatTheGatesLetThrough) {
    for (const std::string code : {"recovering", "recovery_escalated", "risk_stop", "throttled"}) {
        EXPECT_TRUE(lets_through({code, "", ""}, PlanPart::cancels));
        EXPECT_TRUE(lets_through({code, "", ""}, PlanPart::sells));
        EXPECT_FALSE(lets_through({code, "", ""}, PlanPart::buys));
    }
    for (const std::string code :
         {"store_failed",
          "stopped_for_all",
          "stopped",
          "disabled_for_all",
          "disabled",
          "account_disabled",
          "stalled",
          "informational",
          "paused",
          "halted",
          "below_minimum"}) {
        EXPECT_TRUE(lets_through({code, "", ""}, PlanPart::cancels));
        EXPECT_FALSE(lets_through({code, "", ""}, PlanPart::sells));
    }
}

}  // namespace
}  // namespace interlock
