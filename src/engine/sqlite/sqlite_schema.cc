#include "engine/sqlite/sqlite_schema.h"

#include <array>
#include <string>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {

namespace {

// Tables with small rows found by their whole key have no rowid: one tree instead of two. The
// ledger and the answers keep theirs on purpose: their wide rows then fill pages one after the
// other and only the narrow index is written out of order, which halves the log and the time of a
// batch.
constexpr const char* kVersion1 = R"(
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE machine_state (
        machine_key TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        json TEXT NOT NULL
    ) STRICT;

    CREATE TABLE ledger (
        tenant_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        json TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (tenant_id, seq)
    ) STRICT;

    CREATE TABLE heads (
        tenant_id TEXT PRIMARY KEY,
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE answers (
        tenant_id TEXT NOT NULL,
        function TEXT NOT NULL,
        key TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        operation_id TEXT NOT NULL,
        body TEXT,
        http_status INTEGER NOT NULL,
        expires_at INTEGER,
        PRIMARY KEY (tenant_id, function, key)
    ) STRICT;
    CREATE INDEX answers_by_expiry ON answers (expires_at) WHERE expires_at IS NOT NULL;

    CREATE TABLE outbox (
        position INTEGER PRIMARY KEY,
        effect_id TEXT NOT NULL UNIQUE,
        tenant_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        json TEXT NOT NULL,
        delivery TEXT NOT NULL,
        state TEXT NOT NULL,
        not_after INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE timers (
        timer_id TEXT PRIMARY KEY,
        tenant_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        json TEXT NOT NULL,
        due_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE artifacts (
        tenant_id TEXT NOT NULL,
        hash TEXT NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (tenant_id, hash)
    ) STRICT;

    CREATE TABLE checkpoints (
        tenant_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL,
        at INTEGER NOT NULL,
        signature TEXT NOT NULL,
        PRIMARY KEY (tenant_id, seq)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO meta (key, value) VALUES ('format', 'interlock ledger');
)";

constexpr const char* kVersion2 = R"(
    CREATE TABLE claims (
        name TEXT PRIMARY KEY,
        holder TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
)";

// Concerns and what control decisions change of their strategies lie side by side in the order of
// their keys: a decision writes two or three of these rows, which then share a page, and no other
// rows are on it. Everything else stays where wide rows do not spill over.
constexpr const char* kVersion3 = R"(
    CREATE TABLE concern_state (
        machine_key TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        json TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO concern_state SELECT machine_key, version, json FROM machine_state
        WHERE machine_key >= 'concern/' AND machine_key < 'concern0';
    DELETE FROM machine_state WHERE machine_key >= 'concern/' AND machine_key < 'concern0';
)";

// With a rowid a row that keeps its length is overwritten where it lies; without one it is taken
// out of its page and put in again. What stood side by side stays so.
constexpr const char* kVersion4 = R"(
    ALTER TABLE concern_state RENAME TO concern_state_3;
    CREATE TABLE concern_state (
        machine_key TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        json TEXT NOT NULL
    ) STRICT;
    INSERT INTO concern_state SELECT machine_key, version, json FROM concern_state_3
        ORDER BY machine_key;
    DROP TABLE concern_state_3;
)";

// In volumes of 1,024, which kVersion7 gives up. The rows keep the order in which they came.
constexpr const char* kVersion5 = R"(
    CREATE TABLE control_state (
        volume INTEGER NOT NULL,
        machine_key TEXT NOT NULL,
        version INTEGER NOT NULL,
        json TEXT NOT NULL,
        UNIQUE (volume, machine_key)
    ) STRICT;
    INSERT INTO control_state
        SELECT (row_number() OVER (ORDER BY rowid) - 1) / 1024, machine_key, version, json
        FROM machine_state WHERE machine_key >= 'control/' AND machine_key < 'control0'
        ORDER BY rowid;
    DELETE FROM machine_state WHERE machine_key >= 'control/' AND machine_key < 'control0';
)";

// What vouches for a head behind the last seal.
constexpr const char* kVersion6 = R"(
    ALTER TABLE heads ADD COLUMN proof TEXT NOT NULL DEFAULT '';
)";

// One table again for all machines, whose key is unique by its constraint (I2; ADR 0029).
constexpr const char* kVersion7 = R"(
    INSERT INTO machine_state SELECT machine_key, version, json FROM concern_state;
    INSERT INTO machine_state SELECT machine_key, version, json FROM control_state ORDER BY rowid;
    DROP TABLE concern_state;
    DROP TABLE control_state;
)";

// kSteps[n] leads from version n to n + 1.
constexpr std::array<const char*, kSchemaVersion> kSteps{
    kVersion1, kVersion2, kVersion3, kVersion4, kVersion5, kVersion6, kVersion7};

Result<std::int64_t> read_version(SqliteDb& db) {
    TRY_ASSIGN(const std::int64_t version, db.read_integer("PRAGMA user_version"));
    TRY_ASSIGN(const std::int64_t application_id, db.read_integer("PRAGMA application_id"));
    TRY_ASSIGN(const std::int64_t tables, db.read_integer("SELECT count(*) FROM sqlite_schema"));
    if (version > kSchemaVersion) {
        return fail(
            errors::invalid_config,
            "the database has schema version " + std::to_string(version) +
                ", this program knows up to " + std::to_string(kSchemaVersion),
            "Use the newer interlock that wrote this data folder.");
    }
    if (version < 0 || (tables > 0 && application_id != kApplicationId)) {
        return fail(
            errors::invalid_config,
            "the file is a database of some other program",
            "Point the data folder somewhere else.");
    }
    return version;
}

}  // namespace

Result<void> migrate(SqliteDb& db) {
    TRY_ASSIGN(std::int64_t version, read_version(db));
    for (; version < kSchemaVersion; ++version) {
        TRY_ASSIGN(SqliteTransaction transaction, SqliteTransaction::begin(db));
        TRY(db.execute(kSteps.at(static_cast<std::size_t>(version))));
        const std::string stamps = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                                   "; PRAGMA user_version = " + std::to_string(version + 1);
        TRY(db.execute(stamps.c_str()));
        TRY(transaction.commit());
    }
    return {};
}

Result<void> require_current_schema(SqliteDb& db) {
    TRY_ASSIGN(const std::int64_t version, read_version(db));
    if (version != kSchemaVersion) {
        return fail(
            errors::invalid_config,
            "the database has schema version " + std::to_string(version) + ", version " +
                std::to_string(kSchemaVersion) + " is needed",
            "Start the server on this data folder once; it brings the database up to date.");
    }
    return {};
}

Result<void> configure_writer(SqliteDb& db) {
    // A new database turns to WAL through a rollback journal, which is then deleted. EXTRA syncs
    // that deletion: a journal that came back after a crash would roll back everything since. In
    // WAL mode it means the same as FULL.
    TRY(db.execute("PRAGMA synchronous = EXTRA"));
    // Counts for a database that has no table yet: what archives leave empty goes back to the disk.
    TRY(db.execute("PRAGMA auto_vacuum = INCREMENTAL"));
    TRY_ASSIGN(const std::string mode, db.read_text("PRAGMA journal_mode = WAL"));
    if (mode != "wal") {
        return fail(
            errors::io_failed,
            "the file system of the database bears no write-ahead log (it stays in mode '" + mode +
                "')",
            "Put the data folder on a local disk.");
    }
    // A batch whose dirty pages outgrow the cache would write some of them to the log twice.
    return db.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384;");
}

}  // namespace interlock
