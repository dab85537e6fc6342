// A database as it was at one moment, and a copy of it in a file of its own, while whoever writes
// it goes on writing.
//
// The moment is the open. Until the snapshot is closed the write-ahead log keeps what was there
// then; nobody waits for it. The copy is one plain file without a log beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/sqlite/sqlite_db.h"

namespace interlock {

class DbSnapshot {
public:
    static Result<DbSnapshot> open(const std::string& path);

    // The first column of the first row, as it was then.
    Result<std::int64_t> read_integer(std::string_view sql) { return db_.read_integer(sql); }
    // Durable when this returns. `path` must not exist.
    Result<void> copy_to(
        const std::string& path, const std::function<void(std::int64_t bytes)>& on_progress = {});

private:
    explicit DbSnapshot(SqliteDb db) : db_(std::move(db)) {}
    SqliteDb db_;
};

}  // namespace interlock
