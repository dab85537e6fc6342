#include "engine/sqlite/sqlite_db.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

struct SqliteDbTest : ::testing::Test {
    TempFolder folder;
    std::string path = folder / "test.db";
    SqliteDb db = SqliteDb::open({.path = path}).value();
};

}  // namespace

TEST_F(SqliteDbTest, AFolderThatDoesNotExistIsAnError) {
    const auto opened = SqliteDb::open({.path = folder / "none/test.db"});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error(), errors::io_failed);
}

TEST_F(SqliteDbTest, OpeningForReadingDoesNotCreateTheFile) {
    const auto opened =
        SqliteDb::open({.path = folder / "none.db", .mode = SqliteOpenOptions::Mode::read_only});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error(), errors::io_failed);
    EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
}

TEST_F(SqliteDbTest, TextKeepsEveryByte) {
    ASSERT_TRUE(db.execute("CREATE TABLE t (x TEXT)").has_value());
    const std::string text("a\0b\xff", 4);
    auto insert = db.prepare("INSERT INTO t VALUES (?1)").value();
    ASSERT_TRUE(is_done(insert.run(text)));
    EXPECT_EQ(db.read_text("SELECT x FROM t").value(), text);
}

TEST_F(SqliteDbTest, NothingIsNullAndTheEmptyTextIsNot) {
    ASSERT_TRUE(db.execute("CREATE TABLE t (x TEXT)").has_value());
    auto insert = db.prepare("INSERT INTO t VALUES (?1)").value();
    ASSERT_TRUE(is_done(insert.run(std::optional<std::string>())));
    ASSERT_TRUE(is_done(insert.run(std::optional<std::string>(""))));
    ASSERT_TRUE(is_done(insert.run(std::string_view())));
    ASSERT_TRUE(is_done(insert.run(std::optional<Timestamp>())));
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t WHERE x IS NULL").value(), 2);
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t WHERE x = ''").value(), 2);
}

TEST_F(SqliteDbTest, AStatementThatBreaksAConstraintSaysSo) {
    ASSERT_TRUE(db.execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").has_value());
    auto insert = db.prepare("INSERT INTO t VALUES (?1)").value();
    ASSERT_TRUE(is_done(insert.run(std::int64_t{1})));
    const int code = insert.run(std::int64_t{1});
    EXPECT_TRUE(is_constraint(code));
    EXPECT_EQ(db.error_of(code), errors::conflict);
    EXPECT_TRUE(is_done(insert.run(std::int64_t{2})));
}

TEST_F(SqliteDbTest, ATransactionRollsBackUnlessCommitted) {
    ASSERT_TRUE(db.execute("CREATE TABLE t (x)").has_value());
    {
        auto transaction = SqliteTransaction::begin(db);
        ASSERT_TRUE(transaction.has_value());
        ASSERT_TRUE(db.execute("INSERT INTO t VALUES (1)").has_value());
    }
    EXPECT_FALSE(db.in_transaction());
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t").value(), 0);
}

TEST_F(SqliteDbTest, ACommittedTransactionStays) {
    ASSERT_TRUE(db.execute("CREATE TABLE t (x)").has_value());
    {
        auto transaction = SqliteTransaction::begin(db);
        ASSERT_TRUE(transaction.has_value());
        ASSERT_TRUE(db.execute("INSERT INTO t VALUES (1)").has_value());
        ASSERT_TRUE(transaction->commit().has_value());
    }
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM t").value(), 1);
}

TEST_F(SqliteDbTest, BadSqlIsAnError) {
    EXPECT_FALSE(db.execute("CREATE NONSENSE").has_value());
    EXPECT_FALSE(db.prepare("SELECT * FROM nowhere").has_value());
}

TEST_F(SqliteDbTest, AFileThatIsNoDatabaseIsDamage) {
    std::ofstream(folder / "text.db") << std::string(5000, 'x');
    SqliteDb text = SqliteDb::open({.path = folder / "text.db"}).value();
    EXPECT_EQ(text.execute("CREATE TABLE t (x)").error(), errors::corrupt_data);
}

}  // namespace interlock
