#include "engine/sqlite/sqlite_ledger_store.h"

#include <algorithm>

#include "base/errors.h"
#include "base/log.h"
#include "engine/sqlite/log_rewrite.h"
#include "engine/sqlite/sqlite_schema.h"
#include "engine/sqlite/turn_sql.h"

namespace interlock {

namespace {

// The smallest text above every text that starts with `prefix`; nothing when there is none.
std::optional<std::string> upper_bound_of(std::string prefix) {
    while (!prefix.empty() && prefix.back() == '\xff') {
        prefix.pop_back();
    }
    if (prefix.empty()) {
        return std::nullopt;
    }
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}

Result<Delivery> delivery_of(std::string_view word) {
    if (word == turn_sql::kAtMostOnce) {
        return Delivery::at_most_once;
    }
    if (word == turn_sql::kRepeatable) {
        return Delivery::repeatable;
    }
    return fail(errors::corrupt_data, "the outbox holds the delivery '" + std::string(word) + "'");
}

Result<OutboxState> outbox_state_of(std::string_view word) {
    if (word == turn_sql::kPending) {
        return OutboxState::pending;
    }
    if (word == turn_sql::kUnknown) {
        return OutboxState::unknown;
    }
    return fail(errors::corrupt_data, "the outbox holds the state '" + std::string(word) + "'");
}

}  // namespace

Result<std::unique_ptr<SqliteLedgerStore>> SqliteLedgerStore::open(
    const SqliteLedgerOptions& options) {
    std::unique_ptr<SqliteLedgerStore> store(new SqliteLedgerStore(options));
    TRY(options.read_only ? store->open_for_reading() : store->open_for_writing());
    return store;
}

SqliteLedgerStore::~SqliteLedgerStore() = default;

Result<void> SqliteLedgerStore::open_for_writing() {
    const bool alone = options_.exclusive_locking;
    TRY(rewrite_left_over_log(options_.path, options_.vfs_name));
    TRY_ASSIGN(db_, SqliteDb::open({.path = options_.path, .vfs_name = options_.vfs_name}));
    if (alone) {
        TRY(db_->read_text("PRAGMA locking_mode = EXCLUSIVE"));
    }
    TRY(configure_writer(*db_));
    TRY(migrate(*db_));
    TRY_ASSIGN(begin_, db_->prepare("BEGIN IMMEDIATE"));
    TRY_ASSIGN(commit_, db_->prepare("COMMIT"));
    TRY_ASSIGN(rollback_, db_->prepare("ROLLBACK"));
    TRY_ASSIGN(writer_, TurnWriter::prepare(*db_));
    TRY(prepare_engine_reads());
    if (!alone) {
        TRY_ASSIGN(
            reading_db_,
            SqliteDb::open(
                {.path = options_.path,
                 .vfs_name = options_.vfs_name,
                 .mode = SqliteOpenOptions::Mode::read_only}));
    }
    TRY(prepare_shared_reads(alone ? *db_ : *reading_db_));
    TRY_ASSIGN(
        checkpointer_,
        WalCheckpointer::attach(
            *db_,
            {.path = options_.path,
             .vfs_name = options_.vfs_name,
             .own_thread = options_.checkpoint_thread && !alone,
             .passive_bytes = options_.wal_passive_bytes,
             .restart_bytes = options_.wal_restart_bytes}));
    return {};
}

Result<void> SqliteLedgerStore::open_for_reading() {
    TRY_ASSIGN(
        db_,
        SqliteDb::open(
            {.path = options_.path,
             .vfs_name = options_.vfs_name,
             .mode = SqliteOpenOptions::Mode::read_only}));
    if (options_.snapshot) {
        TRY(db_->execute("BEGIN"));  // The first read fixes the moment; the close ends it.
    }
    TRY(require_current_schema(*db_));
    TRY(prepare_engine_reads());
    return prepare_shared_reads(*db_);
}

Result<void> SqliteLedgerStore::prepare_engine_reads() {
    TRY_ASSIGN(
        engine_.load_state,
        db_->prepare("SELECT version, json FROM machine_state WHERE machine_key = ?1"));
    TRY_ASSIGN(
        engine_.load_states,
        db_->prepare("SELECT machine_key, version, json FROM machine_state "
                     "WHERE machine_key >= ?1 AND machine_key < ?2 ORDER BY machine_key"));
    TRY_ASSIGN(
        engine_.find_answer,
        db_->prepare("SELECT request_hash, operation_id, body, http_status, expires_at "
                     "FROM answers WHERE tenant_id = ?1 AND function = ?2 AND key = ?3"));
    TRY_ASSIGN(engine_.find_claim, db_->prepare("SELECT holder FROM claims WHERE name = ?1"));
    TRY_ASSIGN(engine_.begin_reading, db_->prepare("BEGIN"));
    TRY_ASSIGN(engine_.end_reading, db_->prepare("COMMIT"));
    TRY_ASSIGN(
        engine_.purge_answers,
        db_->prepare("DELETE FROM answers WHERE (tenant_id, function, key) IN "
                     "(SELECT tenant_id, function, key FROM answers WHERE expires_at < ?1 "
                     "ORDER BY expires_at, tenant_id, function, key LIMIT ?2)"));
    TRY_ASSIGN(
        engine_.load_outbox,
        db_->prepare("SELECT effect_id, tenant_id, kind, json, delivery, state, not_after "
                     "FROM outbox ORDER BY position"));
    TRY_ASSIGN(
        engine_.load_timers,
        db_->prepare("SELECT timer_id, tenant_id, kind, json, due_at FROM timers "
                     "ORDER BY due_at, timer_id"));
    TRY_ASSIGN(engine_.load_heads, db_->prepare("SELECT tenant_id, seq, hash, proof FROM heads"));
    return {};
}

Result<void> SqliteLedgerStore::prepare_shared_reads(SqliteDb& db) {
    TRY_ASSIGN(
        shared_.read_ledger,
        db.prepare("SELECT seq, json, hash FROM ledger WHERE tenant_id = ?1 AND seq > ?2 "
                   "ORDER BY seq LIMIT ?3"));
    TRY_ASSIGN(
        shared_.read_head, db.prepare("SELECT seq, hash, proof FROM heads WHERE tenant_id = ?1"));
    TRY_ASSIGN(
        shared_.read_checkpoints,
        db.prepare("SELECT seq, hash, at, signature FROM checkpoints WHERE tenant_id = ?1 "
                   "ORDER BY seq"));
    TRY_ASSIGN(
        shared_.read_artifact,
        db.prepare("SELECT bytes FROM artifacts WHERE tenant_id = ?1 AND hash = ?2"));
    return {};
}

std::unique_lock<std::mutex> SqliteLedgerStore::lock_shared_reads() {
    return std::unique_lock(reading_db_ ? shared_mutex_ : engine_mutex_);
}

Result<void> SqliteLedgerStore::require_writable() const {
    if (options_.read_only) {
        return fail(errors::io_failed, "the store was opened for reading only");
    }
    if (failed_) {
        return fail(
            errors::io_failed,
            "an earlier commit failed and what it left on the disk is not known",
            "Check the disk, then restart the server: opening the store anew tells.");
    }
    return {};
}

Result<void> SqliteLedgerStore::give_up(Error error) {
    failed_ = true;
    checkpointer_->halt();
    error.kind = &errors::io_failed;
    return std::unexpected(std::move(error));
}

Result<void> SqliteLedgerStore::commit(std::span<const TurnCommit> turns) {
    const std::lock_guard lock(engine_mutex_);
    TRY(require_writable());
    TRY(end_reading());
    if (const int code = begin_.run(); !is_done(code)) {
        Error error = db_->error_of(code);
        error.kind = &errors::io_failed;
        return std::unexpected(std::move(error));
    }
    if (Result<void> written = writer_->write(turns); !written) {
        Error error = std::move(written).error();
        if (error.kind != &errors::conflict) {
            error.kind = &errors::io_failed;
        }
        // Some failures have rolled back already; one that cannot be undone leaves us not knowing.
        if (db_->in_transaction() && !is_done(rollback_.run())) {
            return give_up(std::move(error));
        }
        return std::unexpected(std::move(error));
    }
    if (const int code = commit_.run(); !is_done(code)) {
        Error error = db_->error_of(code);
        (void)rollback_.run();  // Frees the locks; whether it works changes nothing.
        return give_up(std::move(error));
    }
    commits_.fetch_add(1, std::memory_order_relaxed);
    checkpointer_->after_commit();
    return {};
}

// One read transaction from a batch's first question to its commit: each question would otherwise
// lock and unlock the log for itself. Nobody else writes, so nothing gets old meanwhile.
Result<void> SqliteLedgerStore::begin_reading() {
    if (is_reading_ || options_.read_only) {
        return {};
    }
    if (const int code = engine_.begin_reading.run(); !is_done(code)) {
        return std::unexpected(db_->error_of(code));
    }
    is_reading_ = true;
    return {};
}

Result<void> SqliteLedgerStore::end_reading() {
    if (!is_reading_) {
        return {};
    }
    is_reading_ = false;
    if (const int code = engine_.end_reading.run(); !is_done(code)) {
        return std::unexpected(db_->error_of(code));
    }
    return {};
}

Result<std::optional<StoredState>> SqliteLedgerStore::load_state(const std::string& machine_key) {
    const std::lock_guard lock(engine_mutex_);
    TRY(begin_reading());
    SqliteRows rows = engine_.load_state.query(machine_key);
    TRY_ASSIGN(const bool found, rows.next());
    if (!found) {
        return std::nullopt;
    }
    return StoredState{rows.integer(0), rows.text(1)};
}

Result<std::map<std::string, StoredState>> SqliteLedgerStore::load_states(
    const std::string& prefix) {
    const std::lock_guard lock(engine_mutex_);
    std::map<std::string, StoredState> states;
    const std::optional<std::string> end = upper_bound_of(prefix);
    // SQLite orders every blob after every text, so an empty one bounds nothing.
    SqliteRows rows = end ? engine_.load_states.query(prefix, *end)
                          : engine_.load_states.query(prefix, SqliteBlob{});
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return states;
        }
        states.emplace_hint(states.end(), rows.text(0), StoredState{rows.integer(1), rows.text(2)});
    }
}

Result<std::optional<StoredAnswer>> SqliteLedgerStore::find_answer(const AnswerKey& key) {
    const std::lock_guard lock(engine_mutex_);
    return read_answer(key);
}

Result<std::optional<std::string>> SqliteLedgerStore::find_claim(const std::string& name) {
    const std::lock_guard lock(engine_mutex_);
    SqliteRows rows = engine_.find_claim.query(name);
    TRY_ASSIGN(const bool found, rows.next());
    return found ? std::optional(std::string(rows.text(0))) : std::nullopt;
}

Result<std::vector<std::optional<StoredAnswer>>> SqliteLedgerStore::find_answers(
    std::span<const AnswerKey> keys) {
    std::vector<std::optional<StoredAnswer>> answers;
    if (keys.empty()) {
        return answers;
    }
    const std::lock_guard lock(engine_mutex_);
    TRY(begin_reading());
    answers.reserve(keys.size());
    for (const AnswerKey& key : keys) {
        TRY_ASSIGN(std::optional<StoredAnswer> answer, read_answer(key));
        answers.push_back(std::move(answer));
    }
    return answers;
}

Result<std::optional<StoredAnswer>> SqliteLedgerStore::read_answer(const AnswerKey& key) {
    SqliteRows rows = engine_.find_answer.query(key.tenant_id, key.function, key.key);
    TRY_ASSIGN(const bool found, rows.next());
    if (!found) {
        return std::nullopt;
    }
    StoredAnswer answer;
    answer.request_hash = rows.text(0);
    answer.operation_id = OperationId::trusted(rows.text(1));
    answer.http_status = static_cast<int>(rows.integer(3));
    if (!rows.is_null(2)) {
        answer.body = rows.text(2);
    }
    if (!rows.is_null(4)) {
        answer.expires_at = Timestamp{rows.integer(4)};
    }
    return answer;
}

Result<std::int64_t> SqliteLedgerStore::purge_answers(Timestamp now, std::int64_t count_max) {
    const std::lock_guard lock(engine_mutex_);
    TRY(require_writable());
    TRY(end_reading());
    // SQLite reads a negative limit as none.
    const int code = engine_.purge_answers.run(now, std::max<std::int64_t>(0, count_max));
    if (!is_done(code)) {
        return std::unexpected(db_->error_of(code));
    }
    return db_->rows_changed();
}

Result<std::int64_t> SqliteLedgerStore::free_pages(std::int64_t pages_max) {
    const std::lock_guard lock(engine_mutex_);
    TRY(require_writable());
    TRY(end_reading());
    TRY_ASSIGN(const std::int64_t mode, db_->read_integer("PRAGMA auto_vacuum"));
    if (mode != kIncrementalVacuum) {
        return 0;
    }
    const std::string vacuum = "PRAGMA incremental_vacuum(" + std::to_string(pages_max) + ")";
    TRY(db_->execute(vacuum.c_str()));
    checkpointer_->after_commit();
    return db_->read_integer("PRAGMA freelist_count");
}

Result<bool> SqliteLedgerStore::can_shrink() {
    const std::lock_guard lock(engine_mutex_);
    TRY_ASSIGN(const std::int64_t mode, db_->read_integer("PRAGMA auto_vacuum"));
    return mode == kIncrementalVacuum;
}

Result<void> SqliteLedgerStore::rewrite() {
    const std::lock_guard lock(engine_mutex_);
    TRY(require_writable());
    TRY(end_reading());
    TRY(db_->execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM"));
    return db_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

Result<std::vector<OutboxItem>> SqliteLedgerStore::load_outbox() {
    const std::lock_guard lock(engine_mutex_);
    std::vector<OutboxItem> items;
    SqliteRows rows = engine_.load_outbox.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return items;
        }
        TRY_ASSIGN(const Delivery delivery, delivery_of(rows.text(4)));
        TRY_ASSIGN(const OutboxState state, outbox_state_of(rows.text(5)));
        items.push_back(
            {.effect_id = EffectId::trusted(rows.text(0)),
             .tenant_id = TenantId::trusted(rows.text(1)),
             .kind = rows.text(2),
             .json = rows.text(3),
             .delivery = delivery,
             .state = state,
             .not_after = Timestamp{rows.integer(6)}});
    }
}

Result<std::vector<TimerItem>> SqliteLedgerStore::load_timers() {
    const std::lock_guard lock(engine_mutex_);
    std::vector<TimerItem> timers;
    SqliteRows rows = engine_.load_timers.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return timers;
        }
        timers.push_back(
            {.timer_id = TimerId::trusted(rows.text(0)),
             .tenant_id = TenantId::trusted(rows.text(1)),
             .kind = rows.text(2),
             .json = rows.text(3),
             .due_at = Timestamp{rows.integer(4)}});
    }
}

Result<std::map<TenantId, LedgerHead>> SqliteLedgerStore::load_heads() {
    const std::lock_guard lock(engine_mutex_);
    std::map<TenantId, LedgerHead> heads;
    SqliteRows rows = engine_.load_heads.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return heads;
        }
        heads.emplace(
            TenantId::trusted(rows.text(0)),
            LedgerHead{rows.integer(1), rows.text(2), rows.text(3)});
    }
}

Result<std::vector<LedgerEntry>> SqliteLedgerStore::read_ledger(
    const TenantId& tenant_id, std::int64_t after, std::int64_t count_max) {
    const auto lock = lock_shared_reads();
    std::vector<LedgerEntry> entries;
    SqliteRows rows =
        shared_.read_ledger.query(tenant_id, after, std::max<std::int64_t>(0, count_max));
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return entries;
        }
        entries.push_back(
            {.tenant_id = tenant_id,
             .seq = rows.integer(0),
             .canonical_json = rows.text(1),
             .hash = rows.text(2)});
    }
}

Result<LedgerHead> SqliteLedgerStore::read_head(const TenantId& tenant_id) {
    const auto lock = lock_shared_reads();
    SqliteRows rows = shared_.read_head.query(tenant_id);
    TRY_ASSIGN(const bool found, rows.next());
    return found ? LedgerHead{rows.integer(0), rows.text(1), rows.text(2)} : LedgerHead{};
}

Result<std::vector<Checkpoint>> SqliteLedgerStore::read_checkpoints(const TenantId& tenant_id) {
    const auto lock = lock_shared_reads();
    std::vector<Checkpoint> checkpoints;
    SqliteRows rows = shared_.read_checkpoints.query(tenant_id);
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return checkpoints;
        }
        checkpoints.push_back(
            {.tenant_id = tenant_id,
             .seq = rows.integer(0),
             .hash = rows.text(1),
             .at = Timestamp{rows.integer(2)},
             .signature = rows.text(3)});
    }
}

Result<std::optional<std::string>> SqliteLedgerStore::read_artifact(
    const TenantId& tenant_id, const std::string& hash) {
    const auto lock = lock_shared_reads();
    SqliteRows rows = shared_.read_artifact.query(tenant_id, hash);
    TRY_ASSIGN(const bool found, rows.next());
    if (!found) {
        return std::nullopt;
    }
    return rows.text(0);
}

Result<std::vector<std::pair<std::string, std::string>>> SqliteLedgerStore::read_lasting_rows(
    std::string_view kind) {
    const auto lock = lock_shared_reads();
    SqliteDb& db = reading_db_ ? *reading_db_ : *db_;
    TRY_ASSIGN(
        SqliteStatement select,
        db.prepare("SELECT key, json FROM relay_rows WHERE kind = ?1 AND expires_at IS NULL"));
    std::vector<std::pair<std::string, std::string>> found;
    SqliteRows rows = select.query(kind);
    while (true) {
        TRY_ASSIGN(const bool is_row, rows.next());
        if (!is_row) {
            return found;
        }
        found.emplace_back(rows.text(0), rows.text(1));
    }
}

Result<void> SqliteLedgerStore::check_integrity() {
    // A connection of its own where there can be one: the check reads for long and holds no lock.
    std::optional<SqliteDb> own;
    std::unique_lock<std::mutex> lock;
    if (reading_db_) {
        TRY_ASSIGN(
            own,
            SqliteDb::open(
                {.path = options_.path,
                 .vfs_name = options_.vfs_name,
                 .mode = SqliteOpenOptions::Mode::read_only}));
    } else {
        lock = std::unique_lock(engine_mutex_);
    }
    SqliteDb& db = own ? *own : *db_;
    const Result<std::string> verdict = db.read_text("PRAGMA quick_check(1)");
    if (!verdict) {
        return std::unexpected(verdict.error());
    }
    if (std::string_view(*verdict) != "ok") {
        return fail(errors::corrupt_data, "the database is damaged: " + *verdict);
    }
    return {};
}

SqliteLedgerCounters SqliteLedgerStore::counters() const {
    return {.commits = commits_, .wal = checkpointer_ ? checkpointer_->counters() : WalCounters{}};
}

}  // namespace interlock
