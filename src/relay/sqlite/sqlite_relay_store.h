// The relay's durable store: one SQLite database in WAL mode, synced once per batch.
//
// It holds the ledger's tables too, so a SqliteLedgerStore opened for reading on the same file
// shows and verifies its chains, also while this one writes. After a commit that failed the store
// refuses further writes: only opening it anew tells what the disk holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/sqlite/joined_log.h"
#include "engine/sqlite/sqlite_db.h"
#include "engine/sqlite/wal_checkpointer.h"
#include "relay/ports/relay_store.h"
#include "relay/sqlite/buffer_places.h"
#include "relay/sqlite/relay_writer.h"

namespace interlock {

// Smaller than the ledger's: a log that grows costs every sync more than half as much again as one
// that is written over, and this one is cut whenever the relay is quiet.
inline constexpr std::int64_t kRelayWalRestartBytes = 16ll * 1024 * 1024;

struct SqliteRelayOptions {
    std::string path = {};
    std::string vfs_name = {};  // Empty: the default one.
    bool checkpoint_thread = true;
    std::int64_t wal_passive_bytes = kWalPassiveBytes;
    std::int64_t wal_restart_bytes = kRelayWalRestartBytes;
};

struct SqliteRelayCounters {
    std::int64_t commits = 0;  // Batches made durable.
    WalCounters wal;
};

class SqliteRelayStore final : public RelayStore {
public:
    static Result<std::unique_ptr<SqliteRelayStore>> open(const SqliteRelayOptions& options);
    ~SqliteRelayStore() override;

    Result<void> commit(const RelayCommit& batch) override;
    Result<std::optional<RelayRow>> find_row(std::string_view kind, std::string_view key) override;
    Result<std::vector<RelayRow>> read_rows(
        std::string_view kind,
        std::string_view prefix,
        std::string_view after,
        std::int64_t count_max) override;
    Result<std::vector<std::string>> known_events(
        const std::vector<std::string>& event_keys) override;
    Result<std::optional<RelayEventRow>> find_event(const std::string& event_key) override;
    Result<std::vector<RelayEventRow>> read_events(std::int64_t count_max) override;
    Result<std::vector<BufferEntryHead>> load_buffer_heads() override;
    Result<std::vector<BufferEntry>> read_entries(
        const std::string& instance_id,
        std::int64_t after,
        std::int64_t count_max,
        std::int64_t bytes_max) override;
    Result<std::vector<DeadLetter>> read_dead_letters(
        const std::string& instance_id, const BufferKey& after, std::int64_t count_max) override;
    Result<std::vector<StoredDeadLetter>> load_dead_letters() override;
    // Also empties a short log, so that the texts of what was deleted leave the disk in quiet
    // times.
    Result<std::int64_t> purge(Timestamp now, std::int64_t count_max) override;
    Result<std::map<TenantId, LedgerHead>> load_heads() override;

    SqliteRelayCounters counters() const;  // Any thread.
    bool has_failed() const { return failed_; }

private:
    struct Reads {
        SqliteStatement find_row;
        SqliteStatement read_rows;
        SqliteStatement is_known;
        SqliteStatement find_event;
        SqliteStatement read_events;
        SqliteStatement load_buffer_heads;
        SqliteStatement read_entry;
        SqliteStatement read_letters_of_all;
        SqliteStatement read_letters;
        SqliteStatement load_letters;
        SqliteStatement load_heads;
    };
    struct Purges {
        SqliteStatement rows;
        SqliteStatement events;
    };

    explicit SqliteRelayStore(SqliteRelayOptions options) : options_(std::move(options)) {}
    Result<void> open_database();
    Result<void> load_places();
    Result<void> prepare_reads();
    Result<void> prepare_purges();
    Result<void> begin();
    Result<void> finish(Result<void> written);
    Result<std::int64_t> delete_expired(Timestamp now, std::int64_t count_max);
    std::unexpected<Error> give_up(Error error);

    SqliteRelayOptions options_;
    std::atomic<bool> failed_ = false;
    std::atomic<std::int64_t> commits_ = 0;
    BufferPlaces places_;
    JoinedLog log_;  // Before the connection, which writes through it until its end.
    // Statements after their connection, so that they go first.
    std::optional<SqliteDb> db_;
    SqliteStatement begin_;
    SqliteStatement begin_reading_;
    SqliteStatement commit_;
    SqliteStatement rollback_;
    Reads reads_;
    Purges purges_;
    std::unique_ptr<RelayWriter> writer_;
    std::unique_ptr<WalCheckpointer> checkpointer_;
};

}  // namespace interlock
