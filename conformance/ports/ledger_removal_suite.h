// What a ledger store promises about records that were archived: they go, and nothing else does.
#pragma once

#include "ledger_store_suite.h"

namespace interlock {

TEST_P(LedgerStoreSuite, WhatIsRemovedIsGoneAndTheHeadStays) {
    using namespace ledger_store_suite;
    TurnCommit turn;
    turn.audit = {entry(kAlice, 1), entry(kAlice, 2), entry(kAlice, 3), entry(kBob, 1)};
    turn.artifacts = {{kAlice, "old", "1"}, {kAlice, "both", "2"}, {kBob, "old", "3"}};
    turn.checkpoints = {{kAlice, 1, "h", kNoon, "s"}};
    commit({turn});
    TurnCommit again;  // In one batch with the removal: what it stores anew stays.
    again.artifacts = {{kAlice, "both", "2"}};
    TurnCommit removal = entry_turn(kAlice, 4);
    removal.removals = {{kAlice, {1, 2, 99}, {"old", "both", "never"}}};
    commit({again, removal});
    reopen();
    const auto left = store().read_ledger(kAlice, 0, 10).value();
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left.front().seq, 3);
    EXPECT_EQ(store().read_ledger(kBob, 0, 10).value().size(), 1u);
    EXPECT_EQ(store().read_head(kAlice).value().seq, 4);
    EXPECT_EQ(store().read_checkpoints(kAlice).value().size(), 1u);
    EXPECT_FALSE(store().read_artifact(kAlice, "old").value().has_value());
    EXPECT_EQ(store().read_artifact(kAlice, "both").value(), "2");
    EXPECT_EQ(store().read_artifact(kBob, "old").value(), "3");
    commit({entry_turn(kAlice, 5)});
}

TEST_P(LedgerStoreSuite, ARefusedBatchRemovesNothing) {
    using namespace ledger_store_suite;
    commit({entry_turn(kAlice, 1), entry_turn(kAlice, 2)});
    TurnCommit removal;
    removal.removals = {{kAlice, {1}, {}}};
    const std::vector<TurnCommit> batch{removal, entry_turn(kAlice, 9)};
    EXPECT_FALSE(store().commit(batch));
    EXPECT_EQ(store().read_ledger(kAlice, 0, 10).value().size(), 2u);
}

}  // namespace interlock
