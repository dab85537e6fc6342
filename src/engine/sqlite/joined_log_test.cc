#include "engine/sqlite/joined_log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sqlite3.h>

#include <filesystem>

#include "engine/sqlite/failing_vfs.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

// A connection in WAL mode whose log is joined, with a table of numbered texts.
struct Writer {
    explicit Writer(
        const std::string& path_in, std::string_view sync = "FULL", std::string vfs = {})
        : path(path_in), db(SqliteDb::open({.path = path_in, .vfs_name = std::move(vfs)}).value()) {
        EXPECT_EQ(db.read_text("PRAGMA journal_mode = WAL").value(), "wal");
        run("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = " + std::string(sync));
        run("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, x TEXT NOT NULL)");
        EXPECT_TRUE(log.attach(db));
    }
    void run(const std::string& sql) { EXPECT_TRUE(db.execute(sql.c_str())) << sql; }
    // `bytes` of text in each of `count` rows.
    void insert(int count, int bytes) {
        run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
            std::to_string(count) + ") INSERT INTO t (x) SELECT hex(zeroblob(" +
            std::to_string(bytes / 2) + ")) FROM n");
    }

    std::string path;
    JoinedLog log;
    SqliteDb db;
};

std::int64_t count_in(SqliteDb& db) {
    return db.read_integer("SELECT count(*) FROM t").value();
}

// What a start after a loss of power would find: the files as they are, without their writer.
std::int64_t count_in_copy(const std::string& path) {
    const std::string copy = path + ".copy";
    for (const char* const suffix : {"", "-wal"}) {
        std::filesystem::copy_file(
            path + suffix, copy + suffix, std::filesystem::copy_options::overwrite_existing);
    }
    auto db = SqliteDb::open({.path = copy});
    EXPECT_EQ(db->read_text("PRAGMA integrity_check").value(), "ok");
    const std::int64_t count = count_in(*db);
    std::filesystem::remove(copy + "-shm");
    return count;
}

struct JoinedLogTest : ::testing::Test {
    TempFolder folder;
    const std::string path = folder / "log.db";
};

TEST_F(JoinedLogTest, ACommitOfManyPagesIsTwoWrites) {
    Writer writer(path);
    const auto before = writer.log.counters();
    writer.insert(8, 4000);
    const auto after = writer.log.counters();
    EXPECT_GE(after.taken - before.taken, 16);
    EXPECT_EQ(after.made - before.made, 2);  // The last page follows its mark.
}

TEST_F(JoinedLogTest, WhatIsCommittedIsInTheFileHoweverOftenItIsSynced) {
    for (const char* const sync : {"OFF", "NORMAL", "FULL", "EXTRA"}) {
        const std::string file = path + sync;
        Writer writer(file, sync);
        for (int i = 1; i <= 5; ++i) {
            writer.insert(1, 3000);
            EXPECT_EQ(count_in_copy(file), i) << sync;
        }
    }
}

TEST_F(JoinedLogTest, AnotherConnectionSeesACommitAtOnce) {
    Writer writer(path, "OFF");
    auto reader = SqliteDb::open({.path = path});
    for (int i = 1; i <= 5; ++i) {
        writer.insert(3, 3000);
        EXPECT_EQ(count_in(*reader), 3 * i);
    }
}

TEST_F(JoinedLogTest, NoMoreThanTheBoundEverWaits) {
    Writer writer(path);
    writer.insert(200, 4000);
    EXPECT_GT(writer.log.counters().peak_bytes, kJoinedFramesBytesMax / 2);
    EXPECT_LE(writer.log.counters().peak_bytes, kJoinedFramesBytesMax);
    EXPECT_EQ(count_in_copy(path), 200);
}

TEST_F(JoinedLogTest, ATransactionReadsItsOwnPagesThatWentToTheLogEarly) {
    Writer writer(path);
    writer.run("PRAGMA cache_size = 5; PRAGMA cache_spill = 1; BEGIN");
    writer.insert(100, 4000);
    EXPECT_EQ(count_in(writer.db), 100);
    writer.run("UPDATE t SET x = x || 'y'");
    writer.run("COMMIT");
    EXPECT_EQ(writer.db.read_integer("SELECT count(*) FROM t WHERE x LIKE '%y'").value(), 100);
    EXPECT_EQ(count_in_copy(path), 100);
}

TEST_F(JoinedLogTest, WhatWasRolledBackLeavesNoTrace) {
    Writer writer(path);
    writer.run("PRAGMA cache_size = 5; PRAGMA cache_spill = 1");
    writer.insert(3, 4000);
    writer.run("BEGIN");
    writer.insert(100, 4000);
    writer.run("ROLLBACK");
    writer.insert(4, 4000);
    EXPECT_EQ(count_in(writer.db), 7);
    EXPECT_EQ(count_in_copy(path), 7);
}

TEST_F(JoinedLogTest, ACommitWhoseWriteFailsIsNone) {
    FailingVfs vfs("joined_log_failing");
    {
        Writer writer(path, "FULL", vfs.name());
        writer.insert(1, 4000);
        vfs.faults.on_write = SQLITE_IOERR_WRITE;
        EXPECT_FALSE(writer.db.execute("INSERT INTO t (x) VALUES ('lost')"));
        vfs.faults.on_write = SQLITE_OK;
        EXPECT_EQ(count_in_copy(path), 1);
        writer.insert(1, 4000);
        EXPECT_EQ(count_in(writer.db), 2);
    }
    auto again = SqliteDb::open({.path = path});
    EXPECT_EQ(count_in(*again), 2);
}

TEST_F(JoinedLogTest, ADatabaseWithoutALogIsRefused) {
    auto db = SqliteDb::open({.path = path});
    ASSERT_TRUE(db->execute("CREATE TABLE t (x)"));
    JoinedLog log;
    EXPECT_FALSE(log.attach(*db));
}

// Whatever is done, the files show the same as the connection, and after a checkpoint, too.
TEST_F(JoinedLogTest, TheFilesAlwaysShowWhatWasCommitted) {
    int run = 0;
    EXPECT_TRUE(rc::check([&] {
        const std::string file = path + std::to_string(++run);
        Writer writer(file, *rc::gen::element("OFF", "NORMAL", "FULL"));
        writer.run("PRAGMA cache_size = 8; PRAGMA cache_spill = 1");
        const int steps = *rc::gen::inRange(1, 12);
        for (int i = 0; i < steps; ++i) {
            const int count = *rc::gen::inRange(1, 40);
            switch (*rc::gen::inRange(0, 5)) {
                case 0:
                    writer.run("BEGIN");
                    writer.insert(count, 3000);
                    writer.run("ROLLBACK");
                    break;
                case 1:
                    writer.run("PRAGMA wal_checkpoint(RESTART)");
                    break;
                case 2:
                    writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
                    break;
                case 3:
                    writer.run("DELETE FROM t WHERE id % 3 = 0");
                    break;
                default:
                    writer.insert(count, 3000);
            }
            RC_ASSERT(count_in_copy(file) == count_in(writer.db));
        }
    }));
}

}  // namespace
}  // namespace interlock
