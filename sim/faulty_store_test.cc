// Each fault of the store does what its name says, once.
#include "sim/faulty_store.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/memory/memory_ledger_store.h"

namespace interlock::sim {
namespace {

struct Fixture {
    Power power;
    MemoryLedgerStore memory;
    FaultyStore store{memory, power};

    Result<void> commit() {
        TurnCommit turn;
        turn.states.push_back({"m", 0, "{}"});
        return store.commit(std::vector{turn});
    }
    bool is_written() { return memory.load_state("m")->has_value(); }
};

TEST(FaultyStore, CrashesBeforeACommit) {
    Fixture at;
    at.store.arm(StoreFault::crash_before_commit, 0);
    EXPECT_FALSE(at.commit());
    EXPECT_FALSE(at.power.on);
    EXPECT_FALSE(at.is_written());
}

TEST(FaultyStore, CrashesAfterACommitThatNobodyHearsOf) {
    Fixture at;
    at.store.arm(StoreFault::crash_after_commit, 0);
    EXPECT_FALSE(at.commit());
    EXPECT_FALSE(at.power.on);
    EXPECT_TRUE(at.is_written());
}

TEST(FaultyStore, FailsBeforeACommitAndGoesOn) {
    Fixture at;
    at.store.arm(StoreFault::fail_before_commit, 0);
    EXPECT_EQ(at.commit().error(), errors::io_failed);
    EXPECT_FALSE(at.is_written());
    EXPECT_TRUE(at.commit());
}

TEST(FaultyStore, RefusesEverythingAfterACommitItCannotTell) {
    Fixture at;
    at.store.arm(StoreFault::fail_after_commit, 0);
    EXPECT_EQ(at.commit().error(), errors::io_failed);
    EXPECT_TRUE(at.is_written());
    EXPECT_EQ(at.commit().error(), errors::io_failed);
    EXPECT_FALSE(at.store.load_state("m"));
}

TEST(FaultyStore, MeetsAConflictThatWroteNothing) {
    Fixture at;
    at.store.arm(StoreFault::conflict_on_commit, 0);
    EXPECT_EQ(at.commit().error(), errors::conflict);
    EXPECT_FALSE(at.is_written());
}

TEST(FaultyStore, FailsTheReadItWasArmedForAndNoOther) {
    Fixture at;
    at.store.arm(StoreFault::fail_read, 1);
    EXPECT_TRUE(at.store.load_state("m"));
    EXPECT_FALSE(at.store.load_state("m"));
    EXPECT_TRUE(at.store.load_state("m"));
}

}  // namespace
}  // namespace interlock::sim
