// One reason at a time, the strongest first, for every switch that can be off.
#include "core/kill/trading_state.h"

#include <gtest/gtest.h>

#include "contracts/loop/loop_tools.h"

namespace interlock {
namespace {

std::string code_of(const std::optional<Blocked>& blocked) {
    return blocked ? blocked->code : "";
}

KillState switched(bool active, bool trading_enabled) {
    KillState state;
    state.active = active;
    state.trading_enabled = trading_enabled;
    state.reason = active ? "smoke" : "";
    return state;
}

TEST(TradingState, TellsTheStrongestReasonAlone) {
    const KillState on = switched(false, true);
    const KillState off = switched(false, false);
    const KillState stopped = switched(true, false);
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = on})), "");
    EXPECT_EQ(code_of(why_stopped({.own = off, .global = on})), "disabled");
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = off})), "disabled_for_all");
    EXPECT_EQ(code_of(why_stopped({.own = off, .global = off})), "disabled_for_all");
    EXPECT_EQ(code_of(why_stopped({.own = stopped, .global = off})), "stopped");
    EXPECT_EQ(code_of(why_stopped({.own = stopped, .global = stopped})), "stopped_for_all");
}

TEST(TradingState, ALatchWithoutARecordStopsToo) {
    const KillState on = switched(false, true);
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = on, .is_latched = true})), "stopped");
    EXPECT_EQ(
        code_of(why_stopped(
            {.own = on, .global = on, .is_latched = true, .is_latched_globally = true})),
        "stopped_for_all");
}

TEST(TradingState, SaysWhyAndWhatToDo) {
    const KillState on = switched(false, true);
    const KillState stopped = switched(true, false);
    const auto blocked = why_stopped({.own = stopped, .global = on});
    ASSERT_TRUE(blocked.has_value());
    EXPECT_EQ(blocked->reason, "The kill switch is on: smoke");
    EXPECT_NE(blocked->next.find("interlock kill off"), std::string::npos);
}

// The release is refused until the break is accepted, so nobody is sent to ask for it first.
TEST(TradingState, ABrokenChainIsToldBeforeTheStopThatCameOfIt) {
    const KillState on = switched(false, true);
    const KillState stopped = switched(true, false);
    const std::string broken = "changed_row at record 4, not accepted by a human yet";
    const auto own = why_stopped({.own = stopped, .global = on, .own_break = broken});
    EXPECT_EQ(code_of(own), "chain_broken");
    EXPECT_EQ(own->reason, "The audit chain does not hold: " + broken);
    EXPECT_LT(own->next.find("audit accept-break"), own->next.find("kill off"));
    // Before its stop is on record, too; a stop of everybody is the stronger one.
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = on, .own_break = broken})), "chain_broken");
    EXPECT_EQ(
        code_of(why_stopped({.own = stopped, .global = stopped, .own_break = broken})),
        "stopped_for_all");
    const auto host = why_stopped({.own = stopped, .global = stopped, .global_break = broken});
    EXPECT_EQ(code_of(host), "chain_broken");
    EXPECT_NE(host->next.find("--tenant _system"), std::string::npos);
    EXPECT_EQ(
        code_of(why_stopped(
            {.own = on,
             .global = on,
             .is_latched_globally = true,
             .store_failure = "disk",
             .global_break = broken})),
        "store_failed");
}

// A commit that failed has no record that could say why, so the failure itself does.
TEST(TradingState, AStoreThatFailedSaysSoUntilTheStopIsOnRecord) {
    const KillState on = switched(false, true);
    const KillState stopped = switched(true, false);
    const auto failed = why_stopped(
        {.own = on,
         .global = on,
         .is_latched = true,
         .is_latched_globally = true,
         .store_failure = "the disk is full"});
    EXPECT_EQ(code_of(failed), "store_failed");
    EXPECT_NE(failed->reason.find("the disk is full"), std::string::npos);
    EXPECT_EQ(
        code_of(why_stopped(
            {.own = on,
             .global = stopped,
             .is_latched = true,
             .is_latched_globally = true,
             .store_failure = "the disk is full"})),
        "stopped_for_all");
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = on, .store_failure = "long ago"})), "");
}

TEST(TradingState, AnAccountHasReasonsOfItsOwn) {
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

TEST(TradingState, AMarketHasReasonsOfItsOwn) {
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

// There is no command and no button for these two; what is said can be called as it is written.
TEST(TradingState, WhatIsToBeDoneNamesARouteThatThereIs) {
    Account account;
    account.key = {TenantId::trusted("demo"), default_account_id(), TradeMode::paper};
    account.trading_enabled = true;
    account.tier.tier = Tier::stop;
    EXPECT_NE(
        why_account_blocked(account)->next.find("`POST /api/demo/recovery/reset_drawdown`"),
        std::string::npos);
    Concern concern;
    concern.account = account.key;
    EXPECT_NE(
        why_market_blocked({.concern = concern, .is_throttled = true})
            ->next.find("`POST /api/demo/strategies/enable`"),
        std::string::npos);
}

// What gate 5 lets pass under each: cancels always, reductions while only entries are held back.
TEST(TradingState, LetsThroughWhatTheGatesLetThrough) {
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
