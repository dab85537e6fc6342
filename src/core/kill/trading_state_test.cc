// One reason at a time, the strongest first, for every switch that can be off.
#include "core/kill/trading_state.h"

#include <gtest/gtest.h>

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

TEST(TradingState, AnAccountHasReasonsOfItsOwn) {
    StateFacts facts;
    facts.account_id = AccountId::trusted("main");
    EXPECT_EQ(code_of(why_account_blocked(true, facts)), "");
    facts.entries_halted = true;
    facts.entries_halted_reason = "drift";
    EXPECT_EQ(code_of(why_account_blocked(true, facts)), "entries_halted");
    facts.risk_mode = RiskMode::halted;
    EXPECT_EQ(code_of(why_account_blocked(true, facts)), "halted");
    EXPECT_EQ(code_of(why_account_blocked(false, facts)), "account_disabled");
}

}  // namespace
}  // namespace interlock
