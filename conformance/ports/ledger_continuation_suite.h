// What a ledger store promises about chains that go on behind a break: numbers above the stored
// head, unless that is one that no chain can have.
#pragma once

#include <limits>

#include "engine/wire/chain_bounds.h"
#include "ledger_store_suite.h"

namespace interlock {

TEST_P(LedgerStoreSuite, AContinuationLeavesAGapAndNeverGoesBack) {
    using namespace ledger_store_suite;
    const auto anew = [](std::int64_t seq) {
        TurnCommit turn = entry_turn(kAlice, seq);
        turn.audit.front().begins_anew = true;
        return turn;
    };
    commit({entry_turn(kAlice, 1), entry_turn(kAlice, 2)});
    commit({anew(9)});
    EXPECT_EQ(store().read_head(kAlice).value().seq, 9);
    expect_conflict({anew(5)});
    commit({anew(kHeadSeqMax)});
    expect_conflict({anew(11)});
    commit({entry_turn(kAlice, kHeadSeqMax + 1)});
    reopen();
    EXPECT_EQ(store().read_head(kAlice).value().seq, kHeadSeqMax + 1);
}

// Whoever writes such a number into the head row must not keep the break from being put on record.
TEST_P(LedgerStoreSuite, AContinuationTakesThePlaceOfAHeadThatNoChainCanHave) {
    using namespace ledger_store_suite;
    for (const std::int64_t absurd : {kHeadSeqMax + 1, std::numeric_limits<std::int64_t>::max()}) {
        TurnCommit turn = entry_turn(kAlice, absurd);
        turn.audit.front().begins_anew = true;
        commit({turn});
        turn = entry_turn(kAlice, absurd == kHeadSeqMax + 1 ? 3 : 5);
        turn.audit.front().begins_anew = true;
        commit({turn});
        commit({entry_turn(kAlice, turn.audit.front().seq + 1)});
        reopen();
        EXPECT_EQ(store().read_head(kAlice).value().seq, turn.audit.front().seq + 1);
    }
}

}  // namespace interlock
