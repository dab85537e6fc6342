#include "engine/sqlite/wal_checkpointer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "engine/sqlite/failing_vfs.h"
#include "engine/sqlite/sqlite_schema.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

constexpr std::int64_t kKiB = 1024;

struct WalCheckpointerTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "test.db";
    SqliteDb db = SqliteDb::open({.path = path}).value();

    void SetUp() override {
        ASSERT_TRUE(configure_writer(db).has_value());
        ASSERT_TRUE(db.execute("CREATE TABLE t (x TEXT)").has_value());
    }
    std::unique_ptr<WalCheckpointer> attach(WalCheckpointerOptions options) {
        options.path = path;
        return WalCheckpointer::attach(db, options).value();
    }
    // One commit of a few pages in the log.
    void commit(WalCheckpointer& checkpointer) {
        ASSERT_TRUE(db.execute("INSERT INTO t VALUES (hex(zeroblob(2000)))").has_value());
        checkpointer.after_commit();
    }
    std::int64_t wal_bytes() const {
        return static_cast<std::int64_t>(std::filesystem::file_size(path + "-wal"));
    }
};

}  // namespace

TEST_F(WalCheckpointerTest, TheLogStartsOverAtItsHardBound) {
    const auto checkpointer =
        attach({.own_thread = false, .passive_bytes = 32 * kKiB, .restart_bytes = 256 * kKiB});
    for (int n = 0; n < 400; ++n) {
        commit(*checkpointer);
    }
    EXPECT_GE(checkpointer->counters().restarts, 5);
    // The bound is looked at between batches, so the log may pass it by the last one.
    EXPECT_LE(wal_bytes(), 256 * kKiB + 32 * kKiB);
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t").value(), 400);
}

TEST_F(WalCheckpointerTest, AReaderInTheWayOnlyDefersTheRestart) {
    const auto checkpointer =
        attach({.own_thread = false, .passive_bytes = 128 * kKiB, .restart_bytes = 128 * kKiB});
    SqliteDb reader = SqliteDb::open({.path = path}).value();
    ASSERT_TRUE(reader.execute("BEGIN").has_value());
    ASSERT_EQ(reader.read_integer("SELECT count(*) FROM t").value(), 0);
    for (int n = 0; n < 40; ++n) {
        commit(*checkpointer);
    }
    EXPECT_EQ(checkpointer->counters().restarts, 0);
    // Not at each commit past the bound, for each try makes one wait for the reader.
    EXPECT_GE(checkpointer->counters().restarts_refused, 1);
    EXPECT_LE(checkpointer->counters().restarts_refused, 5);

    ASSERT_TRUE(reader.execute("COMMIT").has_value());
    for (int n = 0; n < 20; ++n) {
        commit(*checkpointer);
    }
    EXPECT_GE(checkpointer->counters().restarts, 1);
    EXPECT_EQ(checkpointer->counters().failures, 0);
}

TEST_F(WalCheckpointerTest, TheOwnThreadMovesPagesWhenTheLogHasGrown) {
    const auto checkpointer = attach({.own_thread = true, .passive_bytes = 32 * kKiB});
    for (int n = 0; n < 8; ++n) {
        commit(*checkpointer);
    }
    while (checkpointer->counters().passive_checkpoints == 0) {
        std::this_thread::yield();  // The request was made, so it comes; ctest bounds the wait.
    }
    EXPECT_GT(std::filesystem::file_size(path), 20u * kKiB);
}

TEST_F(WalCheckpointerTest, ASmallLogIsLeftAlone) {
    const auto checkpointer = attach({.own_thread = false});
    commit(*checkpointer);
    EXPECT_EQ(checkpointer->counters().restarts, 0);
    EXPECT_GT(checkpointer->counters().wal_pages, 0);
}

TEST_F(WalCheckpointerTest, AShortLogIsCutOnDemandAndOnlyOnce) {
    const auto checkpointer = attach({.own_thread = false});
    commit(*checkpointer);
    checkpointer->empty_short_log();
    EXPECT_EQ(wal_bytes(), 0);
    EXPECT_EQ(checkpointer->counters().restarts, 1);
    checkpointer->empty_short_log();
    EXPECT_EQ(checkpointer->counters().restarts, 1);
    commit(*checkpointer);
    checkpointer->empty_short_log();
    EXPECT_EQ(wal_bytes(), 0);
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t").value(), 2);
}

TEST_F(WalCheckpointerTest, WhatALogThatStartedOverStillHoldsIsCutToo) {
    const auto checkpointer =
        attach({.own_thread = false, .passive_bytes = 32 * kKiB, .restart_bytes = 32 * kKiB});
    while (checkpointer->counters().restarts == 0) {
        commit(*checkpointer);
    }
    ASSERT_GT(wal_bytes(), 0);
    checkpointer->empty_short_log();
    EXPECT_EQ(wal_bytes(), 0);
}

TEST_F(WalCheckpointerTest, ALongLogIsNotCutOnDemand) {
    const auto checkpointer = attach({.own_thread = false, .passive_bytes = 16 * kKiB});
    for (int n = 0; n < 10; ++n) {
        commit(*checkpointer);
    }
    checkpointer->empty_short_log();
    EXPECT_GT(wal_bytes(), 0);
    EXPECT_EQ(checkpointer->counters().restarts, 0);
}

TEST_F(WalCheckpointerTest, HaltedItMovesNothing) {
    const auto checkpointer =
        attach({.own_thread = false, .passive_bytes = 32 * kKiB, .restart_bytes = 64 * kKiB});
    checkpointer->halt();
    for (int n = 0; n < 30; ++n) {
        commit(*checkpointer);
    }
    EXPECT_EQ(checkpointer->counters().restarts, 0);
}

// The database lies on a disk that writes slowly, its log on one that does not.
TEST(WalCheckpointer, ACommitDoesNotWaitForACheckpointOfTheOtherThread) {
    FailingVfs vfs("slow_database");
    const TempFolder folder;
    const std::string path = folder / "test.db";
    SqliteDb db = SqliteDb::open({.path = path, .vfs_name = vfs.name()}).value();
    ASSERT_TRUE(configure_writer(db).has_value());
    ASSERT_TRUE(db.execute("CREATE TABLE t (x TEXT)").has_value());
    const auto checkpointer = WalCheckpointer::attach(
                                  db,
                                  {.path = path,
                                   .vfs_name = vfs.name(),
                                   .passive_bytes = 16 * kKiB,
                                   .restart_bytes = 64 * kKiB,
                                   .rest_bytes = 16 * kKiB})
                                  .value();
    const auto commit = [&] {
        ASSERT_TRUE(db.execute("INSERT INTO t VALUES (hex(zeroblob(2000)))").has_value());
        checkpointer->after_commit();
    };
    vfs.faults.holds_database = true;
    for (int n = 0; n < 100; ++n) {
        commit();  // Would not come back if it moved anything, or waited for who does.
    }
    EXPECT_EQ(checkpointer->counters().restarts, 0);
    EXPECT_GT(checkpointer->counters().wal_pages * 4 * kKiB, 256 * kKiB);

    vfs.faults.holds_database = false;
    // The other thread catches up in between, and the log starts over: by a restart of ours, or by
    // itself where nothing at all was left. ctest bounds the wait.
    while (checkpointer->counters().wal_pages * 4 * kKiB > 64 * kKiB) {
        commit();
        const std::int64_t moved = checkpointer->counters().passive_checkpoints;
        for (int n = 0; n < 10'000 && checkpointer->counters().passive_checkpoints == moved; ++n) {
            std::this_thread::yield();
        }
    }
    EXPECT_EQ(checkpointer->counters().failures, 0);
    // What it had moved was not left to the commits.
    EXPECT_LE(checkpointer->counters().restart_pages, 4);
}

TEST_F(WalCheckpointerTest, AtTheHardBoundItIsDoneAtOnce) {
    const auto checkpointer = attach(
        {.passive_bytes = 1024 * kKiB,
         .restart_bytes = 64 * kKiB,
         .rest_bytes = 0,
         .hard_bytes = 64 * kKiB});
    for (int n = 0; n < 100; ++n) {
        commit(*checkpointer);
    }
    EXPECT_GE(checkpointer->counters().restarts, 3);
    EXPECT_LE(wal_bytes(), 64 * kKiB + 32 * kKiB);
    EXPECT_GT(checkpointer->counters().restart_pages, 0);
}

}  // namespace interlock
