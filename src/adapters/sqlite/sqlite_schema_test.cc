#include "adapters/sqlite/sqlite_schema.h"

#include <gtest/gtest.h>

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

TEST_F(SqliteSchemaTest, ConcernsOfAnOlderDatabaseMoveToTheirOwnTable) {
    ASSERT_TRUE(migrate(db).has_value());
    ASSERT_TRUE(db.execute("DROP TABLE concern_state; DROP TABLE control_state; "
                           "ALTER TABLE heads DROP COLUMN proof; PRAGMA user_version = 2")
                    .has_value());
    ASSERT_TRUE(db.execute("INSERT INTO machine_state (machine_key, version, json) VALUES "
                           "('concern/t/paper/main:btcusdt', 7, '{}'), ('concern', 1, '{}'), "
                           "('concern0', 1, '{}')")
                    .has_value());
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM machine_state").value(), 2);
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM concern_state").value(), 1);
    EXPECT_EQ(db.read_integer("SELECT version FROM concern_state").value(), 7);
}

TEST_F(SqliteSchemaTest, ConcernsWithoutRowidAreCopiedInTheOrderOfTheirKeys) {
    ASSERT_TRUE(migrate(db).has_value());
    ASSERT_TRUE(db.execute("DROP TABLE concern_state; DROP TABLE control_state; "
                           "ALTER TABLE heads DROP COLUMN proof; PRAGMA user_version = 3;"
                           "CREATE TABLE concern_state (machine_key TEXT PRIMARY KEY,"
                           "version INTEGER NOT NULL, json TEXT NOT NULL) STRICT, WITHOUT ROWID;"
                           "INSERT INTO concern_state VALUES ('concern/b', 2, '{\"b\":1}'),"
                           "('concern/a/x', 3, '{}'), ('concern/a', 7, '{}')")
                    .has_value());
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(
        db.read_text("SELECT group_concat(machine_key || version || json, ' ') FROM "
                     "(SELECT * FROM concern_state ORDER BY rowid)")
            .value(),
        "concern/a7{} concern/a/x3{} concern/b2{\"b\":1}");
    EXPECT_EQ(
        db.read_integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'concern_state_%'")
            .value(),
        0);
}

TEST_F(SqliteSchemaTest, ControlRowsOfAnOlderDatabaseMoveIntoVolumes) {
    ASSERT_TRUE(migrate(db).has_value());
    ASSERT_TRUE(
        db.execute("DROP TABLE control_state; ALTER TABLE heads DROP COLUMN proof; PRAGMA "
                   "user_version = 4;"
                   "INSERT INTO machine_state (machine_key, version, json) VALUES "
                   "('control', 1, '{}'), ('control0', 1, '{}');"
                   "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2050)"
                   "INSERT INTO machine_state (machine_key, version, json) "
                   "SELECT 'control/t/' || (5000 - i), 2, '{\"n\":' || i || '}' FROM n")
            .has_value());
    ASSERT_TRUE(migrate(db).has_value());
    EXPECT_EQ(db.read_integer("SELECT count(*) FROM machine_state").value(), 2);
    EXPECT_EQ(
        db.read_text("SELECT group_concat(volume || ':' || n, ' ') FROM "
                     "(SELECT volume, count(*) AS n FROM control_state GROUP BY volume)")
            .value(),
        "0:1024 1:1024 2:2");
    EXPECT_EQ(
        db.read_text("SELECT machine_key || version || json FROM control_state "
                     "WHERE volume = 2 ORDER BY rowid LIMIT 1")
            .value(),
        "control/t/29512{\"n\":2049}");
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
