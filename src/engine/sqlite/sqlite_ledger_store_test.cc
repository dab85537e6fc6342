// What only the SQLite store can show: crashes, failing disks, several connections. The port's own
// promises are tested in conformance/ports.
#include "engine/sqlite/sqlite_ledger_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/errors.h"
#include "engine/sqlite/failing_vfs.h"
#include "engine/sqlite/sqlite_schema.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

const TenantId kAlice = TenantId::trusted("alice");

TurnCommit turn(std::int64_t seq, std::size_t json_bytes = 200) {
    TurnCommit made;
    made.audit.push_back({kAlice, seq, std::string(json_bytes, 'j'), std::string(64, 'a')});
    made.states.push_back({"m/alice", seq - 1, std::to_string(seq)});
    return made;
}

struct SqliteLedgerStoreTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "ledger.db";

    std::unique_ptr<SqliteLedgerStore> open(SqliteLedgerOptions options = {}) {
        options.path = path;
        auto opened = SqliteLedgerStore::open(options);
        EXPECT_TRUE(opened.has_value()) << opened.error().message;
        return std::move(opened).value();
    }
    static Result<void> commit(SqliteLedgerStore& store, std::int64_t seq) {
        return store.commit(std::vector{turn(seq)});
    }
};

}  // namespace

TEST_F(SqliteLedgerStoreTest, ACommitIsOnTheDiskBeforeTheStoreIsClosed) {
    const auto store = open();
    ASSERT_TRUE(commit(*store, 1).has_value());
    ASSERT_TRUE(commit(*store, 2).has_value());
    // What a crash would leave: the files as they are, without an orderly close.
    const std::string copy = folder / "copy.db";
    std::filesystem::copy_file(path, copy);
    std::filesystem::copy_file(path + "-wal", copy + "-wal");
    const auto found = SqliteLedgerStore::open({.path = copy}).value();
    EXPECT_EQ(found->read_head(kAlice).value().seq, 2);
    EXPECT_EQ(found->load_state("m/alice").value()->json, "2");
}

// Only of the head that it came with; whoever reads the file beside the server sees it, too.
TEST_F(SqliteLedgerStoreTest, AHeadKeepsTheProofThatCameWithIt) {
    const auto store = open();
    TurnCommit proven = turn(1);
    proven.proofs = {{kAlice, "proof of one"}};
    ASSERT_TRUE(store->commit(std::vector{proven}).has_value());
    EXPECT_EQ(store->read_head(kAlice).value().proof, "proof of one");
    EXPECT_EQ(store->load_heads().value().at(kAlice).proof, "proof of one");
    TurnCommit failing = turn(9);
    failing.proofs = {{kAlice, "proof of nine"}};
    ASSERT_FALSE(store->commit(std::vector{failing}).has_value());
    EXPECT_EQ(store->read_head(kAlice).value().proof, "proof of one");
    TurnCommit more = turn(2);
    more.proofs = {{kAlice, "proof of two"}};
    ASSERT_TRUE(store->commit(std::vector{more}).has_value());
    EXPECT_EQ(store->read_head(kAlice).value().proof, "proof of two");
    ASSERT_TRUE(commit(*store, 3).has_value());
    EXPECT_EQ(store->read_head(kAlice).value().proof, "");
}

TEST_F(SqliteLedgerStoreTest, ATornBatchAtTheEndOfTheLogIsDroppedWhole) {
    const auto store = open({.checkpoint_thread = false});
    ASSERT_TRUE(commit(*store, 1).has_value());
    const auto before = std::filesystem::file_size(path + "-wal");
    ASSERT_TRUE(store->commit(std::vector{turn(2), turn(3), turn(4)}).has_value());
    const auto after = std::filesystem::file_size(path + "-wal");
    ASSERT_GT(after, before + 2);
    for (const auto size : {before, before + 100, (before + after) / 2, after - 1}) {
        const std::string copy = folder / ("torn" + std::to_string(size) + ".db");
        std::filesystem::copy_file(path, copy);
        std::filesystem::copy_file(path + "-wal", copy + "-wal");
        std::filesystem::resize_file(copy + "-wal", size);
        const auto found = SqliteLedgerStore::open({.path = copy}).value();
        EXPECT_EQ(found->read_head(kAlice).value().seq, 1) << "cut at " << size;
        EXPECT_EQ(found->read_ledger(kAlice, 0, 10).value().size(), 1u) << "cut at " << size;
        EXPECT_EQ(found->load_state("m/alice").value()->version, 1) << "cut at " << size;
    }
}

TEST_F(SqliteLedgerStoreTest, AFailedSyncClosesTheStoreForWriting) {
    FailingVfs vfs("failing_sync");
    auto store = open({.vfs_name = vfs.name()});
    ASSERT_TRUE(commit(*store, 1).has_value());

    vfs.faults.on_sync = SQLITE_IOERR_FSYNC;
    const auto failed = commit(*store, 2);
    ASSERT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error(), errors::io_failed);
    EXPECT_TRUE(store->has_failed());

    // A disk that works again does not reopen it: what the failed batch left is still unknown.
    vfs.faults.on_sync = SQLITE_OK;
    EXPECT_EQ(commit(*store, 2).error(), errors::io_failed);
    EXPECT_EQ(store->purge_answers(Timestamp{0}, 1).error(), errors::io_failed);
    EXPECT_EQ(store->load_state("m/alice").value()->version, 1);

    store.reset();
    store = open({.vfs_name = vfs.name()});
    const std::int64_t seq = store->read_head(kAlice).value().seq;
    EXPECT_TRUE(seq == 1 || seq == 2) << seq;
    EXPECT_EQ(store->load_state("m/alice").value()->version, seq) << "half a batch was kept";
    EXPECT_TRUE(commit(*store, seq + 1).has_value());
}

TEST_F(SqliteLedgerStoreTest, AMachineIsFoundHoweverItCameIntoTheFile) {
    {
        const auto store = open();
        ASSERT_TRUE(commit(*store, 1).has_value());
    }
    const auto store = open();
    EXPECT_EQ(store->load_state("m/alice").value()->version, 1);
    EXPECT_FALSE(store->load_state("m/bob").value().has_value());
    TurnCommit second;
    second.states = {{"m/bob", 0, "{}"}, {"m/alice", 0, "{}"}};
    EXPECT_EQ(store->commit(std::vector{second}).error(), errors::conflict);
    EXPECT_FALSE(store->load_state("m/bob").value().has_value()) << "rolled back";
    second.states.pop_back();
    ASSERT_TRUE(store->commit(std::vector{second}).has_value());
    EXPECT_EQ(store->load_state("m/bob").value()->version, 1);
}

TEST_F(SqliteLedgerStoreTest, AFullDiskIsAnIoFailure) {
    FailingVfs vfs("failing_write");
    auto store = open({.vfs_name = vfs.name()});
    ASSERT_TRUE(commit(*store, 1).has_value());
    vfs.faults.on_write = SQLITE_FULL;
    EXPECT_EQ(commit(*store, 2).error(), errors::io_failed);
    vfs.faults.on_write = SQLITE_OK;
    store.reset();
    store = open({.vfs_name = vfs.name()});
    EXPECT_EQ(store->read_head(kAlice).value().seq, 1);
    EXPECT_TRUE(commit(*store, 2).has_value());
}

TEST_F(SqliteLedgerStoreTest, AFailureBeforeTheCommitIsUndoneAndTheStoreGoesOn) {
    FailingVfs vfs("failing_read");
    ASSERT_TRUE(commit(*open({.vfs_name = vfs.name()}), 1).has_value());
    const auto store = open({.vfs_name = vfs.name()});  // With a cold cache, so that it must read.
    vfs.faults.on_read = SQLITE_IOERR_READ;
    EXPECT_EQ(commit(*store, 2).error(), errors::io_failed);
    EXPECT_FALSE(store->has_failed());
    vfs.faults.on_read = SQLITE_OK;
    EXPECT_TRUE(commit(*store, 2).has_value());
    EXPECT_EQ(store->read_head(kAlice).value().seq, 2);
}

TEST_F(SqliteLedgerStoreTest, ReadsReportAFailingDisk) {
    FailingVfs vfs("failing_reads");
    ASSERT_TRUE(commit(*open({.vfs_name = vfs.name()}), 1).has_value());
    const auto store = open({.vfs_name = vfs.name()});
    vfs.faults.on_read = SQLITE_IOERR_READ;
    EXPECT_EQ(store->load_state("m/alice").error(), errors::io_failed);
    EXPECT_EQ(store->read_head(kAlice).error(), errors::io_failed);
    vfs.faults.on_read = SQLITE_OK;
}

TEST_F(SqliteLedgerStoreTest, ANewerDatabaseIsRefused) {
    open().reset();
    {
        SqliteDb db = SqliteDb::open({.path = path}).value();
        ASSERT_TRUE(db.execute("PRAGMA user_version = 99").has_value());
    }
    EXPECT_EQ(SqliteLedgerStore::open({.path = path}).error(), errors::invalid_config);
    EXPECT_EQ(
        SqliteLedgerStore::open({.path = path, .read_only = true}).error(), errors::invalid_config);
}

TEST_F(SqliteLedgerStoreTest, IsReadWhileAnotherWrites) {
    const auto writing = open();
    ASSERT_TRUE(commit(*writing, 1).has_value());
    const auto reading = open({.read_only = true});
    EXPECT_EQ(reading->read_head(kAlice).value().seq, 1);
    ASSERT_TRUE(commit(*writing, 2).has_value());
    EXPECT_EQ(reading->read_head(kAlice).value().seq, 2);
    EXPECT_EQ(reading->load_heads().value().size(), 1u);
    EXPECT_TRUE(reading->check_integrity().has_value());
}

TEST_F(SqliteLedgerStoreTest, IsReadAfterTheWriterHasGone) {
    ASSERT_TRUE(commit(*open(), 1).has_value());
    EXPECT_EQ(open({.read_only = true})->read_head(kAlice).value().seq, 1);
}

TEST_F(SqliteLedgerStoreTest, OpenedForReadingItRefusesToWrite) {
    open().reset();
    const auto reading = open({.read_only = true});
    EXPECT_EQ(commit(*reading, 1).error(), errors::io_failed);
    EXPECT_EQ(reading->purge_answers(Timestamp{0}, 1).error(), errors::io_failed);
}

TEST_F(SqliteLedgerStoreTest, OpeningAMissingDatabaseForReadingCreatesNothing) {
    EXPECT_FALSE(SqliteLedgerStore::open({.path = path, .read_only = true}).has_value());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SqliteLedgerStoreTest, OtherThreadsReadWholeBatchesWhileTheEngineCommits) {
    const auto store = open({.wal_passive_bytes = 64 * 1024, .wal_restart_bytes = 256 * 1024});
    std::atomic<bool> done = false;
    std::atomic<std::int64_t> reads = 0;
    std::thread reader([&] {
        while (!done || reads == 0) {
            const std::int64_t head = store->read_head(kAlice).value().seq;
            const auto entries = store->read_ledger(kAlice, 0, 100'000).value();
            EXPECT_EQ(head % 3, 0);  // Each batch carries three entries.
            EXPECT_EQ(entries.size() % 3, 0u);
            EXPECT_GE(static_cast<std::int64_t>(entries.size()), head);
            ++reads;
        }
    });
    for (std::int64_t seq = 1; seq < 300; seq += 3) {
        const std::vector batch{turn(seq, 2000), turn(seq + 1, 2000), turn(seq + 2, 2000)};
        EXPECT_TRUE(store->commit(batch).has_value());
    }
    done = true;
    reader.join();
    EXPECT_EQ(store->read_head(kAlice).value().seq, 300);
}

TEST_F(SqliteLedgerStoreTest, TheLogStaysWithinItsHardBound) {
    const std::int64_t bound = 256 * 1024;
    const auto store = open({.checkpoint_thread = false, .wal_restart_bytes = bound});
    for (std::int64_t seq = 1; seq <= 200; ++seq) {
        ASSERT_TRUE(store->commit(std::vector{turn(seq, 3000)}).has_value());
    }
    EXPECT_GE(store->counters().wal.restarts, 2);
    EXPECT_LE(static_cast<std::int64_t>(std::filesystem::file_size(path + "-wal")), bound + 65536);
    EXPECT_EQ(store->counters().commits, 200);
}

TEST_F(SqliteLedgerStoreTest, AloneItNeedsNoSharedMemory) {
    const auto store = open({.exclusive_locking = true});
    ASSERT_TRUE(commit(*store, 1).has_value());
    EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
    EXPECT_EQ(store->read_head(kAlice).value().seq, 1);
    EXPECT_TRUE(store->check_integrity().has_value());
}

TEST_F(SqliteLedgerStoreTest, DamageIsFoundByTheIntegrityCheck) {
    {
        const auto store = open();
        for (std::int64_t seq = 1; seq <= 100; ++seq) {
            ASSERT_TRUE(store->commit(std::vector{turn(seq, 1000)}).has_value());
        }
    }
    EXPECT_TRUE(open()->check_integrity().has_value());
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(path);
    for (std::uintmax_t at = 4096 * 24; at + 8 < size; at += 4096) {  // Past the schema.
        file.seekp(static_cast<std::streamoff>(at));
        file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    }
    file.close();
    const auto checked = open()->check_integrity();
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error(), errors::corrupt_data);
}

namespace {

constexpr std::int64_t kOldRecords = 3000;

void remove_all_but_the_last(SqliteLedgerStore& store) {
    TurnCommit removal;
    removal.removals.push_back({kAlice, {}, {}});
    for (std::int64_t seq = 1; seq < kOldRecords; ++seq) {
        removal.removals.back().seqs.push_back(seq);
    }
    ASSERT_TRUE(store.commit(std::vector{removal}).has_value());
}

}  // namespace

TEST_F(SqliteLedgerStoreTest, WhatWasRemovedGoesBackToTheFileSystem) {
    {
        const auto store = open();
        for (std::int64_t seq = 1; seq <= kOldRecords; ++seq) {
            ASSERT_TRUE(store->commit(std::vector{turn(seq, 1000)}).has_value());
        }
    }
    const auto before = std::filesystem::file_size(path);
    {
        const auto store = open();
        EXPECT_TRUE(store->can_shrink().value());
        remove_all_but_the_last(*store);
        std::int64_t left = store->free_pages(10).value();
        EXPECT_GT(left, 100);  // In pieces.
        while (left > 0) {
            left = store->free_pages(256).value();
        }
    }
    EXPECT_LT(std::filesystem::file_size(path), before / 5);
    EXPECT_TRUE(open()->check_integrity().has_value());
    EXPECT_EQ(open()->read_ledger(kAlice, 0, 10).value().size(), 1u);
}

TEST_F(SqliteLedgerStoreTest, ADatabaseFromBeforeIsTurnedOver) {
    {
        auto db = SqliteDb::open({.path = path}).value();
        // As an older version made it.
        ASSERT_TRUE(db.execute("PRAGMA auto_vacuum = NONE; CREATE TABLE x (y); DROP TABLE x"));
    }
    {
        const auto store = open();
        EXPECT_FALSE(store->can_shrink().value());
        for (std::int64_t seq = 1; seq <= kOldRecords; ++seq) {
            ASSERT_TRUE(store->commit(std::vector{turn(seq, 1000)}).has_value());
        }
        remove_all_but_the_last(*store);
        EXPECT_EQ(store->free_pages(256).value(), 0);
        ASSERT_TRUE(store->rewrite().has_value());
        EXPECT_TRUE(store->can_shrink().value());
    }
    EXPECT_LT(std::filesystem::file_size(path), 500'000u);
    EXPECT_EQ(open()->read_head(kAlice).value().seq, kOldRecords);
}

}  // namespace interlock
