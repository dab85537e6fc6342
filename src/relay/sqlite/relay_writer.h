// Writes the rows of a relay batch inside a transaction that someone else opened. This is the hot
// path of the relay: statements are prepared once, texts are bound in place and nothing is
// allocated per row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "engine/sqlite/sqlite_db.h"
#include "engine/sqlite/turn_writer.h"
#include "relay/ports/relay_store.h"
#include "relay/sqlite/buffer_places.h"

namespace interlock {

class RelayWriter {
public:
    // `db` and `places` must outlive the writer.
    static Result<std::unique_ptr<RelayWriter>> prepare(SqliteDb& db, BufferPlaces& places);

    // Everything in the batch. On an Error the caller rolls back, the places too.
    Result<void> write(const RelayCommit& batch);

private:
    RelayWriter(SqliteDb& db, BufferPlaces& places) : db_(db), places_(places) {}
    Result<void> prepare_statements();
    Result<void> write_rows(std::span<const RelayRowWrite> rows);
    Result<void> write_events(std::span<const RelayEventRow> events);
    Result<void> append(std::span<const BufferEntry> entries);
    Result<void> acknowledge(std::span<const BufferKey> keys);
    Result<void> write_attempts(std::span<const AttemptsWrite> writes);
    Result<void> lay_aside(const DeadLetter& letter);
    Result<void> remove_letters(std::span<const BufferKey> keys);

    SqliteDb& db_;
    BufferPlaces& places_;
    // Of the last appended entry. One that is rolled back leaves a gap, which harms nobody.
    std::int64_t last_place_ = 0;
    std::unique_ptr<TurnWriter> chains_;
    SqliteStatement put_row_;
    SqliteStatement insert_row_;
    SqliteStatement delete_row_;
    SqliteStatement insert_event_;
    SqliteStatement insert_entry_;
    SqliteStatement delete_entry_;
    SqliteStatement update_attempts_;
    SqliteStatement insert_letter_;
    SqliteStatement move_letter_;
    SqliteStatement delete_letter_;
};

}  // namespace interlock
