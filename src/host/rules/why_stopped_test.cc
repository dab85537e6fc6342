#include "host/rules/why_stopped.h"

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

TEST(WhyStopped, TellsTheStrongestReasonAlone) {
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

TEST(WhyStopped, ALatchWithoutARecordStopsToo) {
    const KillState on = switched(false, true);
    EXPECT_EQ(code_of(why_stopped({.own = on, .global = on, .is_latched = true})), "stopped");
    EXPECT_EQ(
        code_of(why_stopped(
            {.own = on, .global = on, .is_latched = true, .is_latched_globally = true})),
        "stopped_for_all");
}

TEST(WhyStopped, SaysWhyAndWhatToDo) {
    const KillState on = switched(false, true);
    const KillState stopped = switched(true, false);
    const auto blocked = why_stopped({.own = stopped, .global = on});
    ASSERT_TRUE(blocked.has_value());
    EXPECT_EQ(blocked->reason, "The kill switch is on: smoke");
    EXPECT_NE(blocked->next.find("interlock kill off"), std::string::npos);
}

// The release is refused until the break is accepted, so nobody is sent to ask for it first.
TEST(WhyStopped, ABrokenChainIsToldBeforeTheStopThatCameOfIt) {
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
TEST(WhyStopped, AStoreThatFailedSaysSoUntilTheStopIsOnRecord) {
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

}  // namespace
}  // namespace interlock
