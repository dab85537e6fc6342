// The durable ledger store: one SQLite database in WAL mode, synced once per batch of turns.
//
// The engine thread owns the writing connection. Reads marked "any thread" go to a second, reading
// connection behind a mutex, so a long read never holds up a commit. After a commit whose outcome
// is unknown the store refuses further writes: only opening it anew tells what the disk holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/ports/ledger_store.h"
#include "engine/sqlite/sqlite_db.h"
#include "engine/sqlite/turn_writer.h"
#include "engine/sqlite/wal_checkpointer.h"

namespace interlock {

struct SqliteLedgerOptions {
    std::string path = {};
    std::string vfs_name = {};  // Empty: the default one.
    // One connection for everything and no shared memory, so that WAL works on a VFS without it.
    // Turns the checkpoint thread off.
    bool exclusive_locking = false;
    bool checkpoint_thread = true;
    // For offline tools: works beside a running server, never creates the database.
    bool read_only = false;
    // With read_only: everything is read as it was at the open, however long that takes and
    // whatever a server commits meanwhile.
    bool snapshot = false;
    std::int64_t wal_passive_bytes = kWalPassiveBytes;
    std::int64_t wal_restart_bytes = kWalRestartBytes;
};

struct SqliteLedgerCounters {
    std::int64_t commits = 0;  // Batches made durable.
    WalCounters wal;
};

class SqliteLedgerStore final : public LedgerStore {
public:
    static Result<std::unique_ptr<SqliteLedgerStore>> open(const SqliteLedgerOptions& options);
    ~SqliteLedgerStore() override;

    Result<void> commit(std::span<const TurnCommit> turns) override;
    Result<std::optional<StoredState>> load_state(const std::string& machine_key) override;
    Result<std::map<std::string, StoredState>> load_states(const std::string& prefix) override;
    Result<std::optional<StoredAnswer>> find_answer(const AnswerKey& key) override;
    Result<std::optional<std::string>> find_claim(const std::string& name) override;
    Result<std::vector<std::optional<StoredAnswer>>> find_answers(
        std::span<const AnswerKey> keys) override;
    Result<std::int64_t> purge_answers(Timestamp now, std::int64_t count_max) override;
    Result<std::int64_t> free_pages(std::int64_t pages_max) override;
    Result<std::vector<OutboxItem>> load_outbox() override;
    Result<std::vector<TimerItem>> load_timers() override;
    Result<std::map<TenantId, LedgerHead>> load_heads() override;
    Result<std::vector<LedgerEntry>> read_ledger(
        const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) override;
    Result<LedgerHead> read_head(const TenantId& tenant_id) override;
    Result<std::vector<Checkpoint>> read_checkpoints(const TenantId& tenant_id) override;
    Result<std::optional<std::string>> read_artifact(
        const TenantId& tenant_id, const std::string& hash) override;

    // Rows of a kind in a relay's file that never expire: key and text. Any thread.
    Result<std::vector<std::pair<std::string, std::string>>> read_lasting_rows(
        std::string_view kind);
    // Whether the file gives pages back piece by piece; one from before does not.
    Result<bool> can_shrink();
    // Writes the whole database anew, without empty pages, and so that it can shrink from then on.
    // Needs as much room as what is left; for a command that works alone.
    Result<void> rewrite();
    // Reads every page and says what is damaged (`corrupt_data`). Any thread; takes seconds on a
    // large database.
    Result<void> check_integrity();
    SqliteLedgerCounters counters() const;  // Any thread.
    bool has_failed() const { return failed_; }

private:
    struct EngineReads {  // On the writing connection.
        SqliteStatement load_state;
        SqliteStatement load_states;
        SqliteStatement find_answer;
        SqliteStatement find_claim;
        SqliteStatement begin_reading;
        SqliteStatement end_reading;
        SqliteStatement purge_answers;
        SqliteStatement load_outbox;
        SqliteStatement load_timers;
        SqliteStatement load_heads;
    };
    struct SharedReads {  // On the reading connection, or on the writing one when it is alone.
        SqliteStatement read_ledger;
        SqliteStatement read_head;
        SqliteStatement read_checkpoints;
        SqliteStatement read_artifact;
    };

    explicit SqliteLedgerStore(SqliteLedgerOptions options) : options_(std::move(options)) {}
    Result<void> open_for_writing();
    Result<void> open_for_reading();
    Result<void> prepare_engine_reads();
    Result<void> prepare_shared_reads(SqliteDb& db);
    Result<void> require_writable() const;
    Result<void> begin_reading();
    Result<void> end_reading();
    Result<std::optional<StoredAnswer>> read_answer(const AnswerKey& key);
    Result<void> give_up(Error error);
    std::unique_lock<std::mutex> lock_shared_reads();

    SqliteLedgerOptions options_;
    std::atomic<bool> failed_ = false;
    std::atomic<std::int64_t> commits_ = 0;
    std::mutex engine_mutex_;  // Guards db_ and its statements; contended only when it is alone.
    std::mutex shared_mutex_;  // Guards reading_db_ and its statements.
    // Statements after their connections, so that they go first.
    std::optional<SqliteDb> db_;
    std::optional<SqliteDb> reading_db_;
    bool is_reading_ = false;  // The engine's read transaction is open.
    SqliteStatement begin_;
    SqliteStatement commit_;
    SqliteStatement rollback_;
    EngineReads engine_;
    SharedReads shared_;
    std::unique_ptr<TurnWriter> writer_;  // Null when read-only.
    std::unique_ptr<WalCheckpointer> checkpointer_;
};

}  // namespace interlock
