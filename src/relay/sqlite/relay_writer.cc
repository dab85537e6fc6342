#include "relay/sqlite/relay_writer.h"

#include <optional>
#include <string>

#include "base/errors.h"

namespace interlock {

Result<std::unique_ptr<RelayWriter>> RelayWriter::prepare(SqliteDb& db, BufferPlaces& places) {
    std::unique_ptr<RelayWriter> made(new RelayWriter(db, places));
    TRY(made->prepare_statements());
    TRY_ASSIGN(made->chains_, TurnWriter::prepare(db));
    TRY_ASSIGN(made->last_place_, db.read_integer("SELECT max(place) FROM relay_buffer"));
    return made;
}

Result<void> RelayWriter::prepare_statements() {
    TRY_ASSIGN(
        put_row_,
        db_.prepare("INSERT INTO relay_rows (kind, key, json, expires_at) VALUES (?1, ?2, ?3, ?4) "
                    "ON CONFLICT (kind, key) DO UPDATE SET json = excluded.json, "
                    "expires_at = excluded.expires_at"));
    TRY_ASSIGN(
        insert_row_,
        db_.prepare(
            "INSERT INTO relay_rows (kind, key, json, expires_at) VALUES (?1, ?2, ?3, ?4)"));
    TRY_ASSIGN(delete_row_, db_.prepare("DELETE FROM relay_rows WHERE kind = ?1 AND key = ?2"));
    TRY_ASSIGN(
        insert_event_,
        db_.prepare("INSERT INTO relay_events (event_key, tenant_id, at, digest, why, expires_at) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
    TRY_ASSIGN(
        insert_entry_,
        db_.prepare("INSERT INTO relay_buffer (place, instance_id, seq, kind, event_key, at, "
                    "attempts, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
    TRY_ASSIGN(delete_entry_, db_.prepare("DELETE FROM relay_buffer WHERE place = ?1"));
    TRY_ASSIGN(
        update_attempts_, db_.prepare("UPDATE relay_buffer SET attempts = ?2 WHERE place = ?1"));
    TRY_ASSIGN(
        insert_letter_,
        db_.prepare("INSERT INTO relay_dead_letters (instance_id, seq, kind, at, attempts, "
                    "tenant_id, reason, dead_at, event_key, text) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
    TRY_ASSIGN(
        move_letter_,
        db_.prepare("INSERT INTO relay_dead_letters (instance_id, seq, kind, at, attempts, "
                    "tenant_id, reason, dead_at, event_key, text) "
                    "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, event_key, text "
                    "FROM relay_buffer WHERE place = ?9"));
    TRY_ASSIGN(
        delete_letter_,
        db_.prepare("DELETE FROM relay_dead_letters WHERE instance_id = ?1 AND seq = ?2"));
    return {};
}

Result<void> RelayWriter::write(const RelayCommit& batch) {
    TRY(write_rows(batch.rows));
    TRY(write_events(batch.events));
    TRY(append(batch.appended));
    TRY(acknowledge(batch.acknowledged));
    TRY(write_attempts(batch.attempts));
    for (const DeadLetter& letter : batch.dead) {
        TRY(lay_aside(letter));
    }
    TRY(remove_letters(batch.dead_removed));
    return chains_->write_chains(batch.audit, batch.checkpoints, batch.proofs);
}

Result<void> RelayWriter::write_rows(std::span<const RelayRowWrite> rows) {
    for (const RelayRowWrite& row : rows) {
        int code = 0;
        if (row.json) {
            SqliteStatement& statement = row.must_be_new ? insert_row_ : put_row_;
            code = statement.run(row.kind, row.key, *row.json, row.expires_at);
        } else {
            code = delete_row_.run(row.kind, row.key);
        }
        if (is_constraint(code)) {
            return fail(errors::conflict, "the " + row.kind + " " + row.key + " exists already");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> RelayWriter::write_events(std::span<const RelayEventRow> events) {
    for (const RelayEventRow& event : events) {
        const int code = insert_event_.run(
            event.event_key, event.tenant_id, event.at, event.digest, event.why, event.expires_at);
        if (is_constraint(code)) {
            return fail(errors::conflict, "the event " + event.event_key + " came already");
        }
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> RelayWriter::append(std::span<const BufferEntry> entries) {
    for (const BufferEntry& entry : entries) {
        if (!places_.add(entry.instance_id, {.seq = entry.seq, .place = ++last_place_})) {
            return fail(
                errors::conflict,
                "the entry " + std::to_string(entry.seq) + " of " + entry.instance_id +
                    " exists already");
        }
        const int code = insert_entry_.run(
            last_place_,
            entry.instance_id,
            entry.seq,
            std::int64_t{entry.kind == EntryKind::passthrough},
            entry.event_key,
            entry.at,
            std::int64_t{entry.attempts},
            entry.text);
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> RelayWriter::acknowledge(std::span<const BufferKey> keys) {
    for (const BufferKey& key : keys) {
        const std::optional<std::int64_t> place = places_.remove(key);
        if (!place) {
            continue;
        }
        if (const int code = delete_entry_.run(*place); !is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> RelayWriter::write_attempts(std::span<const AttemptsWrite> writes) {
    for (const AttemptsWrite& write : writes) {
        const std::optional<std::int64_t> place = places_.find(write.key);
        if (!place) {
            continue;
        }
        const int code = update_attempts_.run(*place, std::int64_t{write.attempts});
        if (!is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

Result<void> RelayWriter::lay_aside(const DeadLetter& letter) {
    const BufferEntry& entry = letter.entry;
    const std::optional<std::int64_t> place = places_.remove({entry.instance_id, entry.seq});
    const bool is_moved = entry.text.empty();
    if (is_moved && !place) {
        return {};
    }
    const auto write = [&](SqliteStatement& statement, const auto&... rest) {
        return statement.run(
            entry.instance_id,
            entry.seq,
            std::int64_t{entry.kind == EntryKind::passthrough},
            entry.at,
            std::int64_t{entry.attempts},
            letter.tenant_id,
            letter.reason,
            letter.dead_at,
            rest...);
    };
    int code =
        is_moved ? write(move_letter_, *place) : write(insert_letter_, entry.event_key, entry.text);
    if (is_constraint(code)) {
        return fail(
            errors::conflict,
            "the dead letter " + std::to_string(entry.seq) + " of " + entry.instance_id +
                " exists already");
    }
    if (is_done(code) && place) {
        code = delete_entry_.run(*place);
    }
    if (!is_done(code)) {
        return std::unexpected(db_.error_of(code));
    }
    return {};
}

Result<void> RelayWriter::remove_letters(std::span<const BufferKey> keys) {
    for (const BufferKey& key : keys) {
        if (const int code = delete_letter_.run(key.instance_id, key.seq); !is_done(code)) {
            return std::unexpected(db_.error_of(code));
        }
    }
    return {};
}

}  // namespace interlock
