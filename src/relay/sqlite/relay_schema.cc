#include "relay/sqlite/relay_schema.h"

#include <array>
#include <charconv>
#include <string>

#include "base/errors.h"

namespace interlock {

namespace {

// Measured at 256 messages of 600 bytes per batch: platforms number their events upwards, so an
// index on the plain key grows at a few ends, while one on a hash of it is written all over and
// triples the log (6.8 against 2.3 kB for each message at 300,000 events). The buffer has no index
// at all: where an entry lies is in memory (buffer_places.h), which saves another third when many
// wait.
constexpr const char* kVersion1 = R"(
    CREATE TABLE relay_rows (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        json TEXT NOT NULL,
        expires_at INTEGER,
        PRIMARY KEY (kind, key)
    ) STRICT;
    CREATE INDEX relay_rows_by_expiry ON relay_rows (expires_at) WHERE expires_at IS NOT NULL;

    CREATE TABLE relay_events (
        position INTEGER PRIMARY KEY,
        event_key TEXT NOT NULL UNIQUE,
        tenant_id TEXT NOT NULL,
        at INTEGER NOT NULL,
        digest TEXT NOT NULL,
        why TEXT NOT NULL,
        expires_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX relay_events_by_expiry ON relay_events (expires_at);

    CREATE TABLE relay_buffer (
        place INTEGER PRIMARY KEY,
        instance_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        event_key TEXT NOT NULL,
        at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        text TEXT NOT NULL
    ) STRICT;

    CREATE TABLE relay_dead_letters (
        position INTEGER PRIMARY KEY,
        instance_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        event_key TEXT NOT NULL,
        at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        tenant_id TEXT NOT NULL,
        reason TEXT NOT NULL,
        dead_at INTEGER NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (instance_id, seq)
    ) STRICT;
    CREATE INDEX relay_dead_letters_by_death ON relay_dead_letters (dead_at);
)";

// kSteps[n] leads from version n to n + 1.
constexpr std::array<const char*, kRelaySchemaVersion> kSteps{kVersion1};

Result<std::int64_t> read_relay_version(SqliteDb& db) {
    TRY_ASSIGN(
        const std::string text, db.read_text("SELECT value FROM meta WHERE key = 'relay_version'"));
    std::int64_t version = 0;
    if (!text.empty()) {
        const char* const end = text.data() + text.size();
        const auto [stop, code] = std::from_chars(text.data(), end, version);
        if (code != std::errc{} || stop != end || version < 0) {
            return fail(errors::corrupt_data, "the relay's tables have the version '" + text + "'");
        }
    }
    if (version > kRelaySchemaVersion) {
        return fail(
            errors::invalid_config,
            "the relay's tables have version " + std::to_string(version) +
                ", this program knows up to " + std::to_string(kRelaySchemaVersion),
            "Use the newer interlock that wrote this data folder.");
    }
    return version;
}

}  // namespace

Result<void> migrate_relay(SqliteDb& db) {
    TRY_ASSIGN(std::int64_t version, read_relay_version(db));
    for (; version < kRelaySchemaVersion; ++version) {
        TRY_ASSIGN(SqliteTransaction transaction, SqliteTransaction::begin(db));
        TRY(db.execute(kSteps.at(static_cast<std::size_t>(version))));
        const std::string stamp = "REPLACE INTO meta (key, value) VALUES ('relay_version', '" +
                                  std::to_string(version + 1) + "')";
        TRY(db.execute(stamp.c_str()));
        TRY(transaction.commit());
    }
    return {};
}

Result<void> configure_relay_writer(SqliteDb& db) {
    TRY_ASSIGN(const std::int64_t is_on, db.read_integer("PRAGMA secure_delete = ON"));
    if (is_on != 1) {
        return fail(errors::io_failed, "this SQLite cannot overwrite what it deletes");
    }
    return {};
}

}  // namespace interlock
