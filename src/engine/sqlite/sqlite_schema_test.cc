#include "engine/sqlite/sqlite_schema.h"

#include <gtest/gtest.h>

#include <string>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {

namespace {

struct SqliteSchemaTest : ::testing::Test {
    TempFolder folder;
    SqliteDb db = SqliteDb::open({.path = folder / "test.db"}).value();
};

}  // namespace

TEST_F(SqliteSchemaTest, ANewDatabaseGetsTheCurrentVersion) {
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(db.read_integer("PRAGMA user_version").value(), kSchemaVersion);
    EXPECT_EQ(
        db.read_text("SELECT value FROM meta WHERE key = 'format'").value(), "interlock ledger");
    EXPECT_TRUE(require_current_schema(db).has_value());
}

TEST_F(SqliteSchemaTest, MigratingTwiceChangesNothing) {
    ASSERT_TRUE(migrate(db).has_value());
    const std::int64_t before = db.read_integer("PRAGMA schema_version").value();
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(db.read_integer("PRAGMA schema_version").value(), before);
}

// Some rows have lain in two more tables for a while (versions 3 to 6); each such database comes to
// the same table, with the rows of a version as they were.
class OlderSchema : public SqliteSchemaTest {
protected:
    void SetUp() override { ASSERT_TRUE(migrate(db).has_value()); }
    void make(const char* sql) { ASSERT_TRUE(db.execute(sql).has_value()); }
    std::string machines() {
        return db
            .read_text(
                "SELECT group_concat(machine_key || ' ' || version || ' ' || json, ', ') "
                "FROM (SELECT * FROM machine_state ORDER BY machine_key)")
            .value();
    }
    std::int64_t tables(const char* like) {
        return db
            .read_integer(
                (std::string("SELECT count(*) FROM sqlite_schema WHERE name LIKE '") + like + "'")
                    .c_str())
            .value();
    }
};

TEST_F(OlderSchema, RowsOfTheFirstVersionsStayWhereTheyAre) {
    make(
        "ALTER TABLE heads DROP COLUMN proof; PRAGMA user_version = 2;"
        "INSERT INTO machine_state (machine_key, version, json) VALUES ('concern/t/a', 7, '{}'),"
        "('control/t/d', 1, '{}'), ('control0', 1, '{}')");
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(machines(), "concern/t/a 7 {}, control/t/d 1 {}, control0 1 {}");
}

TEST_F(OlderSchema, ConcernsWithoutRowidComeBack) {
    make(
        "ALTER TABLE heads DROP COLUMN proof; PRAGMA user_version = 3;"
        "CREATE TABLE concern_state (machine_key TEXT PRIMARY KEY, version INTEGER NOT NULL,"
        "json TEXT NOT NULL) STRICT, WITHOUT ROWID;"
        "INSERT INTO concern_state VALUES ('concern/b', 2, '{\"b\":1}'), ('concern/a', 7, '{}')");
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(machines(), "concern/a 7 {}, concern/b 2 {\"b\":1}");
    EXPECT_EQ(tables("concern_state%"), 0);
}

TEST_F(OlderSchema, ControlRowsInVolumesComeBack) {
    make(
        "PRAGMA user_version = 6;"
        "CREATE TABLE concern_state (machine_key TEXT PRIMARY KEY, version INTEGER NOT NULL,"
        "json TEXT NOT NULL) STRICT;"
        "CREATE TABLE control_state (volume INTEGER NOT NULL, machine_key TEXT NOT NULL,"
        "version INTEGER NOT NULL, json TEXT NOT NULL, UNIQUE (volume, machine_key)) STRICT;"
        "INSERT INTO machine_state (machine_key, version, json) VALUES ('control/t/c', 1, '{}');"
        "INSERT INTO concern_state VALUES ('concern/a', 3, '{}');"
        "INSERT INTO control_state VALUES (0, 'control/t/b', 2, '{\"n\":1}'),"
        "(1, 'control/t/a', 1, '{}')");
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(
        machines(), "concern/a 3 {}, control/t/a 1 {}, control/t/b 2 {\"n\":1}, control/t/c 1 {}");
    EXPECT_EQ(tables("con%_state%"), 0);
}

// Volumes could not refuse it by themselves; the one table does.
TEST_F(OlderSchema, ADecisionThatIsThereTwiceKeepsTheDatabaseClosed) {
    make(
        "PRAGMA user_version = 6;"
        "CREATE TABLE concern_state (machine_key TEXT PRIMARY KEY, version INTEGER NOT NULL,"
        "json TEXT NOT NULL) STRICT;"
        "CREATE TABLE control_state (volume INTEGER NOT NULL, machine_key TEXT NOT NULL,"
        "version INTEGER NOT NULL, json TEXT NOT NULL, UNIQUE (volume, machine_key)) STRICT;"
        "INSERT INTO control_state VALUES (0, 'control/t/a', 1, '{}'),"
        "(1, 'control/t/a', 1, '{}')");
    EXPECT_FALSE(migrate(db).has_value());
    EXPECT_EQ(db.read_integer("PRAGMA user_version").value(), 6);
}

TEST_F(SqliteSchemaTest, ANewerDatabaseIsRefused) {
    ASSERT_TRUE(migrate(db).has_value());
    ASSERT_TRUE(db.execute("PRAGMA user_version = 99").has_value());
    const auto migrated = migrate(db);
    ASSERT_FALSE(migrated.has_value());
    EXPECT_EQ(migrated.error(), errors::invalid_config);
    EXPECT_NE(migrated.error().message.find("99"), std::string::npos);
    EXPECT_FALSE(require_current_schema(db).has_value());
    EXPECT_EQ(db.read_integer("PRAGMA user_version").value(), 99);
}

TEST_F(SqliteSchemaTest, ADatabaseOfAnotherProgramIsRefusedUntouched) {
    ASSERT_TRUE(db.execute("CREATE TABLE theirs (x)").has_value());
    EXPECT_EQ(migrate(db).error(), errors::invalid_config);
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM sqlite_schema").value(), 1);
}

TEST_F(SqliteSchemaTest, ADatabaseToBeMigratedCannotBeOpenedForReading) {
    const auto required = require_current_schema(db);
    ASSERT_FALSE(required.has_value());
    EXPECT_EQ(required.error(), errors::invalid_config);
}

TEST_F(SqliteSchemaTest, AWriterSyncsEachCommitAndLeavesCheckpointsToUs) {
    ASSERT_TRUE(configure_writer(db).has_value());
    EXPECT_EQ(db.read_text("PRAGMA journal_mode").value(), "wal");
    EXPECT_GE(db.read_integer("PRAGMA synchronous").value(), 2);  // FULL or stricter.
    EXPECT_EQ(db.read_integer("PRAGMA wal_autocheckpoint").value(), 0);
}

}  // namespace interlock
