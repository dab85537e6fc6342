// Writes the frames of a commit to the write-ahead log at once. SQLite writes a header of 24 bytes
// and a page for each, two system calls a page; a small commit then spends as long in them as in
// half its sync.
//
// Frames wait in memory until the one that ends the commit, and never longer: whatever else is
// asked of the file finds everything written. A frame becomes visible to others only after its
// commit, so nobody reads what waits, and a failed write fails the commit as it would have anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {

// Frames that wait at most. SQLite's layer for files takes less than 128 KiB in one call.
inline constexpr std::size_t kJoinedFramesBytesMax = std::size_t{64} * 1024;

class JoinedLog {
public:
    JoinedLog();
    ~JoinedLog();
    JoinedLog(const JoinedLog&) = delete;
    JoinedLog& operator=(const JoinedLog&) = delete;

    // Of a connection that writes and is in WAL mode. The object has to outlive the connection.
    Result<void> attach(SqliteDb& writer);

    // The connection's thread only.
    struct Counters {
        std::int64_t taken = 0;      // Writes that SQLite asked for.
        std::int64_t made = 0;       // Writes that came of them.
        std::size_t peak_bytes = 0;  // That ever waited.
    };
    const Counters& counters() const;

private:
    struct File;
    std::unique_ptr<File> file_;
};

}  // namespace interlock
