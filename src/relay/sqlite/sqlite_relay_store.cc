#include "relay/sqlite/sqlite_relay_store.h"

#include <algorithm>

#include "base/errors.h"
#include "engine/sqlite/log_rewrite.h"
#include "engine/sqlite/sqlite_schema.h"
#include "relay/sqlite/relay_schema.h"

namespace interlock {

namespace {

EntryKind kind_of(std::int64_t number) {
    return number == 0 ? EntryKind::inbound : EntryKind::passthrough;
}

RelayEventRow event_of(const SqliteRows& rows) {
    return {
        .event_key = rows.text(0),
        .tenant_id = TenantId::trusted(rows.text(1)),
        .at = Timestamp{rows.integer(2)},
        .digest = rows.text(3),
        .why = rows.text(4),
        .expires_at = Timestamp{rows.integer(5)}};
}

BufferEntry entry_of(const SqliteRows& rows) {
    return {
        .instance_id = rows.text(0),
        .seq = rows.integer(1),
        .kind = kind_of(rows.integer(2)),
        .event_key = rows.text(3),
        .at = Timestamp{rows.integer(4)},
        .attempts = static_cast<int>(rows.integer(5)),
        .text = rows.text(6)};
}

RelayRow row_of(const SqliteRows& rows) {
    return {
        .key = rows.text(0),
        .json = rows.text(1),
        .expires_at = rows.is_null(2) ? std::nullopt : std::optional(Timestamp{rows.integer(2)})};
}

}  // namespace

Result<std::unique_ptr<SqliteRelayStore>> SqliteRelayStore::open(
    const SqliteRelayOptions& options) {
    std::unique_ptr<SqliteRelayStore> store(new SqliteRelayStore(options));
    TRY(store->open_database());
    return store;
}

SqliteRelayStore::~SqliteRelayStore() = default;

Result<void> SqliteRelayStore::open_database() {
    TRY(rewrite_left_over_log(options_.path, options_.vfs_name));
    TRY_ASSIGN(db_, SqliteDb::open({.path = options_.path, .vfs_name = options_.vfs_name}));
    TRY(configure_writer(*db_));
    TRY(configure_relay_writer(*db_));
    TRY(migrate(*db_));
    TRY(migrate_relay(*db_));
    TRY(log_.attach(*db_));
    TRY_ASSIGN(begin_, db_->prepare("BEGIN IMMEDIATE"));
    TRY_ASSIGN(begin_reading_, db_->prepare("BEGIN"));
    TRY_ASSIGN(commit_, db_->prepare("COMMIT"));
    TRY_ASSIGN(rollback_, db_->prepare("ROLLBACK"));
    TRY(prepare_reads());
    TRY(prepare_purges());
    TRY(load_places());
    TRY_ASSIGN(writer_, RelayWriter::prepare(*db_, places_));
    TRY_ASSIGN(
        checkpointer_,
        WalCheckpointer::attach(
            *db_,
            {.path = options_.path,
             .vfs_name = options_.vfs_name,
             .own_thread = options_.checkpoint_thread,
             .passive_bytes = options_.wal_passive_bytes,
             .restart_bytes = options_.wal_restart_bytes}));
    return {};
}

Result<void> SqliteRelayStore::load_places() {
    TRY_ASSIGN(
        SqliteStatement statement,
        db_->prepare("SELECT instance_id, seq, place FROM relay_buffer ORDER BY place"));
    SqliteRows rows = statement.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            places_.keep();
            return {};
        }
        const std::string instance_id = rows.text(0);
        if (!places_.add(instance_id, {.seq = rows.integer(1), .place = rows.integer(2)})) {
            return fail(errors::corrupt_data, "an entry of " + instance_id + " is there twice");
        }
    }
}

Result<void> SqliteRelayStore::prepare_reads() {
    TRY_ASSIGN(
        reads_.find_row,
        db_->prepare("SELECT key, json, expires_at FROM relay_rows WHERE kind = ?1 AND key = ?2"));
    // The plus keeps the second bound from being the one that is sought by.
    TRY_ASSIGN(
        reads_.read_rows,
        db_->prepare("SELECT key, json, expires_at FROM relay_rows "
                     "WHERE kind = ?1 AND key >= ?2 AND +key > ?3 ORDER BY key LIMIT ?4"));
    TRY_ASSIGN(reads_.is_known, db_->prepare("SELECT 1 FROM relay_events WHERE event_key = ?1"));
    TRY_ASSIGN(
        reads_.find_event,
        db_->prepare("SELECT event_key, tenant_id, at, digest, why, expires_at FROM relay_events "
                     "WHERE event_key = ?1"));
    TRY_ASSIGN(
        reads_.read_events,
        db_->prepare("SELECT event_key, tenant_id, at, digest, why, expires_at FROM relay_events "
                     "ORDER BY position DESC LIMIT ?1"));
    TRY_ASSIGN(
        reads_.load_buffer_heads,
        db_->prepare("SELECT instance_id, seq, kind, at, attempts, length(CAST(text AS BLOB)) "
                     "FROM relay_buffer ORDER BY place"));
    TRY_ASSIGN(
        reads_.read_entry,
        db_->prepare("SELECT instance_id, seq, kind, event_key, at, attempts, text "
                     "FROM relay_buffer WHERE place = ?1"));
    TRY_ASSIGN(
        reads_.read_letters_of_all,
        db_->prepare("SELECT instance_id, seq, kind, event_key, at, attempts, text, tenant_id, "
                     "reason, dead_at FROM relay_dead_letters "
                     "WHERE (instance_id, seq) > (?1, ?2) ORDER BY instance_id, seq LIMIT ?3"));
    TRY_ASSIGN(
        reads_.read_letters,
        db_->prepare("SELECT instance_id, seq, kind, event_key, at, attempts, text, tenant_id, "
                     "reason, dead_at FROM relay_dead_letters "
                     "WHERE instance_id = ?1 AND (instance_id, seq) > (?2, ?3) "
                     "ORDER BY seq LIMIT ?4"));
    TRY_ASSIGN(
        reads_.load_letters,
        db_->prepare("SELECT instance_id, seq, length(CAST(text AS BLOB)), dead_at "
                     "FROM relay_dead_letters ORDER BY dead_at, position"));
    TRY_ASSIGN(reads_.load_heads, db_->prepare("SELECT tenant_id, seq, hash, proof FROM heads"));
    return {};
}

Result<void> SqliteRelayStore::prepare_purges() {
    TRY_ASSIGN(
        purges_.rows,
        db_->prepare("DELETE FROM relay_rows WHERE rowid IN (SELECT rowid FROM relay_rows "
                     "WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)"));
    TRY_ASSIGN(
        purges_.events,
        db_->prepare("DELETE FROM relay_events WHERE position IN (SELECT position FROM "
                     "relay_events WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)"));
    return {};
}

std::unexpected<Error> SqliteRelayStore::give_up(Error error) {
    failed_ = true;
    checkpointer_->halt();
    error.kind = &errors::io_failed;
    return std::unexpected(std::move(error));
}

Result<void> SqliteRelayStore::begin() {
    if (failed_) {
        return fail(
            errors::io_failed,
            "an earlier commit failed and what it left on the disk is not known",
            "Check the disk, then restart the server: opening the store anew tells.");
    }
    if (const int code = begin_.run(); !is_done(code)) {
        return give_up(db_->error_of(code));
    }
    return {};
}

// Ends what begin() opened: for good when everything was written, else without a trace.
Result<void> SqliteRelayStore::finish(Result<void> written) {
    if (!written) {
        places_.undo();
        Error error = std::move(written).error();
        // Some failures have rolled back already; one that cannot be undone leaves us not knowing.
        const bool is_undone = !db_->in_transaction() || is_done(rollback_.run());
        if (is_undone && error.kind == &errors::conflict) {
            return std::unexpected(std::move(error));
        }
        return give_up(std::move(error));
    }
    if (const int code = commit_.run(); !is_done(code)) {
        Error error = db_->error_of(code);
        places_.undo();
        (void)rollback_.run();  // Frees the locks; whether it works changes nothing.
        return give_up(std::move(error));
    }
    places_.keep();
    commits_.fetch_add(1, std::memory_order_relaxed);
    checkpointer_->after_commit();
    return {};
}

Result<void> SqliteRelayStore::commit(const RelayCommit& batch) {
    TRY(begin());
    return finish(writer_->write(batch));
}

Result<std::optional<RelayRow>> SqliteRelayStore::find_row(
    std::string_view kind, std::string_view key) {
    SqliteRows rows = reads_.find_row.query(kind, key);
    TRY_ASSIGN(const bool found, rows.next());
    return found ? std::optional(row_of(rows)) : std::nullopt;
}

Result<std::vector<RelayRow>> SqliteRelayStore::read_rows(
    std::string_view kind,
    std::string_view prefix,
    std::string_view after,
    std::int64_t count_max) {
    std::vector<RelayRow> found;
    SqliteRows rows = reads_.read_rows.query(
        kind, std::max(prefix, after), after, std::max<std::int64_t>(0, count_max));
    while (true) {
        TRY_ASSIGN(const bool is_row, rows.next());
        if (!is_row) {
            return found;
        }
        RelayRow row = row_of(rows);
        if (!row.key.starts_with(prefix)) {
            return found;
        }
        found.push_back(std::move(row));
    }
}

Result<std::vector<std::string>> SqliteRelayStore::known_events(
    const std::vector<std::string>& event_keys) {
    std::vector<std::string> known;
    // One read transaction for all: each question would otherwise lock and unlock the log.
    if (const int code = begin_reading_.run(); !is_done(code)) {
        return std::unexpected(db_->error_of(code));
    }
    Result<bool> found = false;
    for (const std::string& event_key : event_keys) {
        SqliteRows rows = reads_.is_known.query(event_key);
        found = rows.next();
        if (!found) {
            break;
        }
        if (*found) {
            known.push_back(event_key);
        }
    }
    const int code = commit_.run();
    if (!found) {
        return std::unexpected(std::move(found).error());
    }
    if (!is_done(code)) {
        return std::unexpected(db_->error_of(code));
    }
    return known;
}

Result<std::optional<RelayEventRow>> SqliteRelayStore::find_event(const std::string& event_key) {
    SqliteRows rows = reads_.find_event.query(event_key);
    TRY_ASSIGN(const bool found, rows.next());
    return found ? std::optional(event_of(rows)) : std::nullopt;
}

Result<std::vector<RelayEventRow>> SqliteRelayStore::read_events(std::int64_t count_max) {
    std::vector<RelayEventRow> events;
    SqliteRows rows = reads_.read_events.query(std::max<std::int64_t>(0, count_max));
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return events;
        }
        events.push_back(event_of(rows));
    }
}

Result<std::vector<BufferEntryHead>> SqliteRelayStore::load_buffer_heads() {
    std::vector<BufferEntryHead> heads;
    SqliteRows rows = reads_.load_buffer_heads.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            break;
        }
        heads.push_back(
            {.instance_id = rows.text(0),
             .seq = rows.integer(1),
             .kind = kind_of(rows.integer(2)),
             .at = Timestamp{rows.integer(3)},
             .attempts = static_cast<int>(rows.integer(4)),
             .bytes = rows.integer(5)});
    }
    std::sort(heads.begin(), heads.end(), [](const BufferEntryHead& a, const BufferEntryHead& b) {
        const int order = a.instance_id.compare(b.instance_id);
        return order < 0 || (order == 0 && a.seq < b.seq);
    });
    return heads;
}

Result<std::vector<BufferEntry>> SqliteRelayStore::read_entries(
    const std::string& instance_id,
    std::int64_t after,
    std::int64_t count_max,
    std::int64_t bytes_max) {
    std::vector<BufferEntry> entries;
    const std::deque<BufferPlaces::Slot>* const slots = places_.of(instance_id);
    if (slots == nullptr) {
        return entries;
    }
    std::int64_t bytes = 0;
    for (auto slot = BufferPlaces::after(*slots, after); slot != slots->end(); ++slot) {
        if (std::cmp_greater_equal(entries.size(), count_max)) {
            break;
        }
        SqliteRows rows = reads_.read_entry.query(slot->place);
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return fail(errors::corrupt_data, "an entry of " + instance_id + " has gone");
        }
        BufferEntry entry = entry_of(rows);
        bytes += static_cast<std::int64_t>(entry.text.size());
        if (!entries.empty() && bytes > bytes_max) {
            break;
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

Result<std::vector<DeadLetter>> SqliteRelayStore::read_dead_letters(
    const std::string& instance_id, const BufferKey& after, std::int64_t count_max) {
    std::vector<DeadLetter> letters;
    const std::int64_t limit = std::max<std::int64_t>(0, count_max);
    SqliteRows rows =
        instance_id.empty()
            ? reads_.read_letters_of_all.query(after.instance_id, after.seq, limit)
            : reads_.read_letters.query(instance_id, after.instance_id, after.seq, limit);
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return letters;
        }
        letters.push_back(
            {.entry = entry_of(rows),
             .tenant_id = TenantId::trusted(rows.text(7)),
             .reason = rows.text(8),
             .dead_at = Timestamp{rows.integer(9)}});
    }
}

Result<std::vector<StoredDeadLetter>> SqliteRelayStore::load_dead_letters() {
    std::vector<StoredDeadLetter> letters;
    SqliteRows rows = reads_.load_letters.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return letters;
        }
        letters.push_back(
            {.instance_id = rows.text(0),
             .head = {
                 .seq = rows.integer(1),
                 .bytes = rows.integer(2),
                 .dead_at = Timestamp{rows.integer(3)}}});
    }
}

Result<std::int64_t> SqliteRelayStore::delete_expired(Timestamp now, std::int64_t count_max) {
    const std::int64_t limit = std::max<std::int64_t>(0, count_max);
    std::int64_t count = 0;
    for (SqliteStatement* const statement : {&purges_.rows, &purges_.events}) {
        if (const int code = statement->run(now, limit); !is_done(code)) {
            return std::unexpected(db_->error_of(code));
        }
        count += db_->rows_changed();
    }
    return count;
}

Result<std::int64_t> SqliteRelayStore::purge(Timestamp now, std::int64_t count_max) {
    TRY(begin());
    const Result<std::int64_t> count = delete_expired(now, count_max);
    TRY(finish(count ? Result<void>() : std::unexpected(count.error())));
    checkpointer_->empty_short_log();
    return count;
}

Result<std::map<TenantId, LedgerHead>> SqliteRelayStore::load_heads() {
    std::map<TenantId, LedgerHead> heads;
    SqliteRows rows = reads_.load_heads.query();
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

SqliteRelayCounters SqliteRelayStore::counters() const {
    return {.commits = commits_, .wal = checkpointer_ ? checkpointer_->counters() : WalCounters{}};
}

}  // namespace interlock
