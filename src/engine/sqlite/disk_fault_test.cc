// The disk fails at every single write and sync of a commit, one after the other, in each way a
// disk fails: nothing was written, half of it was, there was no room. Whatever happens, no success
// is told that is not there after a restart, no batch is there by half, and what was there stays.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/errors.h"
#include "engine/sqlite/failing_vfs.h"
#include "engine/sqlite/sqlite_ledger_store.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

const TenantId kTenant = TenantId::trusted("alice");
constexpr std::int64_t kTurnsInBatch = 24;
constexpr std::int64_t kTurnsBefore = 8;
constexpr int kWritesMax = 2000;

// Every kind of row that a turn can write, in sizes that need several pages.
TurnCommit whole_turn(std::int64_t seq) {
    const std::string number = std::to_string(seq);
    TurnCommit made;
    made.audit.push_back({kTenant, seq, std::string(1500, 'j'), std::string(64, 'a')});
    made.states.push_back({"m/alice", seq - 1, number});
    made.states.push_back({"other/" + number, 0, std::string(700, 's')});
    made.answers.push_back(
        {.key = {kTenant, "f", IdempotencyKey::trusted("k" + number)},
         .answer = {
             .request_hash = "h",
             .operation_id = {},
             .body = std::string(300, 'b'),
             .expires_at = {}}});
    made.outbox.push_back(
        {.effect_id = EffectId::trusted("eff_" + number),
         .tenant_id = kTenant,
         .kind = "probe",
         .json = "{}",
         .not_after = {}});
    made.timers.push_back({TimerId::trusted("t" + number), kTenant, "k", "{}", {}});
    made.claims_taken.push_back({"claim/" + number, "x"});
    made.artifacts.push_back({kTenant, std::string(60, 'f') + number, std::string(2000, 'x')});
    return made;
}

std::vector<TurnCommit> turns(std::int64_t first, std::int64_t count) {
    std::vector<TurnCommit> made;
    for (std::int64_t seq = first; seq < first + count; ++seq) {
        made.push_back(whole_turn(seq));
    }
    return made;
}

// How many turns the store has; fails when one of their rows is missing or one is there too many.
std::int64_t whole_turns_of(SqliteLedgerStore& store) {
    const std::int64_t seq = store.read_head(kTenant).value().seq;
    const auto count = static_cast<std::size_t>(seq);
    EXPECT_EQ(store.read_ledger(kTenant, 0, 10'000).value().size(), count);
    EXPECT_EQ(store.load_state("m/alice").value()->version, seq);
    EXPECT_EQ(store.load_states("other/").value().size(), count);
    EXPECT_EQ(store.load_outbox().value().size(), count);
    EXPECT_EQ(store.load_timers().value().size(), count);
    for (std::int64_t one = 1; one <= kTurnsBefore + kTurnsInBatch; ++one) {
        const std::string number = std::to_string(one);
        const AnswerKey key{kTenant, "f", IdempotencyKey::trusted("k" + number)};
        EXPECT_EQ(store.find_answer(key).value().has_value(), one <= seq) << one;
        EXPECT_EQ(store.find_claim("claim/" + number).value().has_value(), one <= seq) << one;
        EXPECT_EQ(
            store.read_artifact(kTenant, std::string(60, 'f') + number).value().has_value(),
            one <= seq)
            << one;
    }
    return seq;
}

struct DiskKind {
    const char* name;
    int code;
    bool is_torn;
};

class DiskFault : public ::testing::TestWithParam<DiskKind> {};

TEST_P(DiskFault, AtAnyWriteOfACommitLeavesAllOfItOrNothing) {
    const TempFolder folder;
    FailingVfs vfs(std::string("fault_") + GetParam().name);
    vfs.faults.fail_code = GetParam().code;
    vfs.faults.is_torn = GetParam().is_torn;
    int failed = 0;
    for (int at = 1;; ++at) {
        ASSERT_LT(at, kWritesMax);
        const SqliteLedgerOptions options{
            .path = folder / ("ledger" + std::to_string(at) + ".db"),
            .vfs_name = vfs.name(),
            .checkpoint_thread = false};
        vfs.faults.fail_at = 0;
        auto store = SqliteLedgerStore::open(options).value();
        ASSERT_TRUE(store->commit(turns(1, kTurnsBefore)).has_value());
        vfs.faults.seen = 0;
        vfs.faults.fail_at = at;
        const auto done = store->commit(turns(kTurnsBefore + 1, kTurnsInBatch));
        const bool was_hit = vfs.faults.seen >= at;
        vfs.faults.fail_at = 0;
        if (!done) {
            EXPECT_EQ(done.error(), errors::io_failed) << at;
            ++failed;
        }
        store.reset();
        store = SqliteLedgerStore::open(options).value();
        const std::int64_t kept = whole_turns_of(*store);
        if (done) {
            EXPECT_EQ(kept, kTurnsBefore + kTurnsInBatch) << "told as done, and gone, at " << at;
        } else {
            EXPECT_TRUE(kept == kTurnsBefore || kept == kTurnsBefore + kTurnsInBatch) << at;
        }
        EXPECT_TRUE(store->commit({turns(kept + 1, 1)}).has_value()) << "it goes on, at " << at;
        store.reset();
        std::filesystem::remove(options.path);
        std::filesystem::remove(options.path + "-wal");
        if (!was_hit) {
            break;  // The commit has no such write: all were tried.
        }
    }
    EXPECT_GT(failed, 3) << "a commit writes more often than that";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    DiskFault,
    ::testing::Values(
        DiskKind{"nothing", SQLITE_IOERR_WRITE, false},
        DiskKind{"torn", SQLITE_IOERR_WRITE, true},
        DiskKind{"full", SQLITE_FULL, false}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace interlock
