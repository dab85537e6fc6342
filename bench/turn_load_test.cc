// Tests of the benchmark's own parts: it must drive what it says it drives, and its baseline must
// write the same rows.
#include "bench/turn_load.h"

#include <gtest/gtest.h>

#include "bench/disk_sync.h"
#include "bench/turns_bench.h"
#include "engine/memory/memory_ledger_store.h"
#include "engine/sqlite/raw_turn_writer.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

TEST(TurnLoad, DrivesExactlyAsManyTurnsAsAsked) {
    const TempFolder folder;
    const auto bench = BenchPlane::open({.folder = folder / "data"});
    ASSERT_TRUE(bench.has_value());
    const TurnLoadReport report = run_turn_load(
        **bench, {.callers = 8, .turns_max = 50, .duration = std::chrono::minutes(1)});
    EXPECT_EQ(report.turns, 50);
    EXPECT_EQ(report.refused, 0);
    EXPECT_EQ((*bench)->counts().turns, 50);
    EXPECT_GE((*bench)->counts().commits, 7);  // At most eight can be in one.
    EXPECT_GT((*bench)->counts().wal_pages, 0);
}

TEST(TurnLoad, TheBareLoopWritesWhatThePlaneCommitted) {
    const TempFolder folder;
    std::vector<TurnCommit> turns;
    {
        const auto bench = BenchPlane::open({.folder = folder / "data", .record = true});
        ASSERT_TRUE(bench.has_value());
        run_turn_load(
            **bench, {.callers = 4, .turns_max = 20, .duration = std::chrono::minutes(1)});
        turns = (*bench)->take_recorded();
    }
    ASSERT_EQ(turns.size(), 20u);
    SystemClock clock;
    const auto report =
        write_turns_raw({.path = folder / "raw.db", .turns_per_batch = 4}, turns, clock);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->batches, 5);
    SqliteLedgerOptions options;
    options.path = folder / "raw.db";
    const auto raw = SqliteLedgerStore::open(options);
    options.path = folder / "data/ledger.db";
    const auto real = SqliteLedgerStore::open(options);
    ASSERT_TRUE(raw && real);
    const TenantId tenant = TenantId::trusted("bench");
    EXPECT_EQ(
        (*raw)->read_ledger(tenant, 0, 100).value_or(std::vector<LedgerEntry>{}),
        (*real)->read_ledger(tenant, 0, 100).value_or(std::vector<LedgerEntry>{LedgerEntry{}}));
}

TEST(RecordingStore, KeepsNothingOfACommitThatFailed) {
    MemoryLedgerStore memory;
    RecordingStore store(memory);
    TurnCommit good;
    good.states.push_back({"machine", 0, "{}"});
    ASSERT_TRUE(store.commit(std::span(&good, 1)).has_value());
    EXPECT_FALSE(store.commit(std::span(&good, 1)).has_value());
    EXPECT_EQ(store.turns().size(), 1u);
}

TEST(RecordingStore, StopsKeepingAtItsBound) {
    MemoryLedgerStore memory;
    RecordingStore store(memory);
    const std::vector<TurnCommit> many(kRecordedTurnsMax + 1);
    ASSERT_TRUE(store.commit(many).has_value());
    EXPECT_EQ(store.turns().size(), kRecordedTurnsMax);
    ASSERT_TRUE(store.commit(std::span(many).first(1)).has_value());
    EXPECT_EQ(store.turns().size(), kRecordedTurnsMax);
}

TEST(DiskSync, MeasuresAtLeastOneSync) {
    const TempFolder folder;
    const auto report = measure_disk_sync(
        {.path = folder / "sync", .append_bytes = 100, .duration = std::chrono::milliseconds(1)});
    ASSERT_TRUE(report.has_value());
    EXPECT_GT(report->syncs_per_s, 0);
}

TEST(DiskSync, SaysWhyItCannotWrite) {
    const TempFolder folder;
    const auto report = measure_disk_sync({.path = folder / "missing/sync"});
    EXPECT_FALSE(report.has_value());
}

TEST(TurnsBench, GivesARowForEachNumberOfCallers) {
    const TempFolder folder;
    TurnsBenchOptions options;
    options.folder = folder.path().string();
    options.callers = {1, 3};
    options.http = false;
    options.seconds = 0.05;
    options.rounds = 1;
    std::vector<TurnsRow> rows;
    ASSERT_TRUE(run_turns_bench(options, [&](const TurnsRow& row) { rows.push_back(row); }));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].callers, 3);
    EXPECT_GT(rows[1].turns_per_s, 0);
    EXPECT_GT(rows[1].raw_turns_per_s, 0);
    EXPECT_GT(rows[1].fdatasync_per_s, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // Nothing is left behind.
}

}  // namespace
}  // namespace interlock
