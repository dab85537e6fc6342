#include "engine/sqlite/db_snapshot.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/temp_folder.h"

namespace interlock {
namespace {

class DbSnapshotTest : public ::testing::Test {
protected:
    void SetUp() override {
        writer_.emplace(SqliteDb::open({.path = path_}).value());
        ASSERT_EQ(writer_->read_text("PRAGMA journal_mode = WAL").value(), "wal");
        ASSERT_TRUE(writer_->execute("CREATE TABLE numbers (n INTEGER)"));
        add(1'000);
    }
    void add(int count) {
        ASSERT_TRUE(writer_->execute(
            ("WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT " +
             std::to_string(count) + ") INSERT INTO numbers SELECT n FROM up")
                .c_str()));
    }
    static std::int64_t count_in(const std::string& path) {
        return SqliteDb::open({.path = path, .mode = SqliteOpenOptions::Mode::read_only})
            .value()
            .read_integer("SELECT count(*) FROM numbers")
            .value();
    }

    TempFolder folder_;
    std::string path_ = folder_ / "live.db";
    std::string copy_ = folder_ / "copy.db";
    std::optional<SqliteDb> writer_;
};

TEST_F(DbSnapshotTest, CopiesTheMomentOfItsOpenWhateverIsWrittenSince) {
    DbSnapshot snapshot = DbSnapshot::open(path_).value();
    add(5'000);
    EXPECT_EQ(snapshot.read_integer("SELECT count(*) FROM numbers").value(), 1'000);
    ASSERT_TRUE(snapshot.copy_to(copy_, [this](std::int64_t) { add(100); }));
    EXPECT_EQ(count_in(copy_), 1'000);
    EXPECT_GE(count_in(path_), 6'100);
}

TEST_F(DbSnapshotTest, LeavesOneFileThatNeedsNoLog) {
    ASSERT_TRUE(DbSnapshot::open(path_).value().copy_to(copy_));
    EXPECT_FALSE(std::filesystem::exists(copy_ + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(copy_ + "-shm"));
    EXPECT_EQ(count_in(copy_), 1'000);
    EXPECT_FALSE(std::filesystem::exists(copy_ + "-wal"));
}

TEST_F(DbSnapshotTest, CopiesForItsOwnerAloneAndOverNothing) {
    namespace fs = std::filesystem;
    ASSERT_TRUE(DbSnapshot::open(path_).value().copy_to(copy_));
    EXPECT_EQ(fs::status(copy_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_FALSE(DbSnapshot::open(path_).value().copy_to(copy_));
}

TEST_F(DbSnapshotTest, DoesNotHoldUpTheWriter) {
    const DbSnapshot snapshot = DbSnapshot::open(path_).value();
    add(10);  // Would fail as locked.
    EXPECT_EQ(count_in(path_), 1'010);
}

TEST_F(DbSnapshotTest, FailsWhereThereIsNoDatabase) {
    EXPECT_FALSE(DbSnapshot::open(folder_ / "none.db"));
}

}  // namespace
}  // namespace interlock
