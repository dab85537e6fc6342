// The left-over log of a killed server, on the real file layer.
#include "engine/sqlite/log_rewrite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/sqlite/sqlite_db.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A database whose process died with a log longer than SQLite's file layer takes in one write.
void leave_log_behind(const TempFolder& folder) {
    auto db = SqliteDb::open({.path = folder / "live.db", .vfs_name = ""});
    ASSERT_TRUE(db);
    ASSERT_TRUE(db->read_text("PRAGMA journal_mode = WAL"));
    ASSERT_TRUE(
        db->execute("CREATE TABLE t (x BLOB); "
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
                    "INSERT INTO t SELECT zeroblob(4000) FROM n"));
    std::filesystem::copy_file(folder / "live.db", folder / "ledger.db");
    std::filesystem::copy_file(folder / "live.db-wal", folder / "ledger.db-wal");
}

TEST(LogRewrite, LeavesEveryByteOfALongLogAsItWas) {
    const TempFolder folder;
    leave_log_behind(folder);
    const std::string before = bytes_of(folder / "ledger.db-wal");
    ASSERT_GT(before.size(), 300'000u);
    const auto rewritten = rewrite_left_over_log(folder / "ledger.db", "");
    ASSERT_TRUE(rewritten) << rewritten.error().message;
    EXPECT_EQ(bytes_of(folder / "ledger.db-wal"), before);
    auto db = SqliteDb::open({.path = folder / "ledger.db", .vfs_name = ""});
    ASSERT_TRUE(db);
    EXPECT_EQ(*db->read_integer("SELECT count(*) FROM t"), 100);
}

TEST(LogRewrite, HasNothingToDoWithoutALog) {
    const TempFolder folder;
    EXPECT_TRUE(rewrite_left_over_log(folder / "ledger.db", ""));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LogRewrite, RefusesAFileLayerThatIsNotThere) {
    EXPECT_EQ(rewrite_left_over_log("ledger.db", "no_such_layer").error().code(), "io_failed");
}

}  // namespace
}  // namespace interlock
