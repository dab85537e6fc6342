// Keeps the write-ahead log of a database bounded without slowing commits.
//
// A thread with its own connection moves committed pages into the database file (a PASSIVE
// checkpoint, which never makes a writer wait) each time the log has grown by `passive_bytes`.
// Under constant load that never catches up, so the log would grow for ever; from `restart_bytes`
// on the committing thread itself finishes the work between two batches and has the log start over.
// Commits wait meanwhile, so it first leaves the other thread as many turns as it needs until
// little is left to move: unordered keys dirty pages all over a large database, and moving some
// hundred of them took as long as the slowest hundredth of the commits. Only at `hard_bytes` it
// does it all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "engine/sqlite/sqlite_db.h"

namespace interlock {

inline constexpr std::int64_t kWalPassiveBytes = 4ll * 1024 * 1024;
inline constexpr std::int64_t kWalRestartBytes = 16ll * 1024 * 1024;
inline constexpr std::int64_t kWalRestBytes =
    512ll * 1024;  // Little enough for the committing one.
inline constexpr std::int64_t kWalHardBytes = 64ll * 1024 * 1024;
// A reader with an old snapshot keeps the log from starting over; commits wait for it this long at
// most, beside the moving itself, then go on and try again once the log has grown by another
// kWalPassiveBytes.
inline constexpr Duration kWalRestartWaitMax = Duration::of_milliseconds(100);

struct WalCheckpointerOptions {
    std::string path = {};
    std::string vfs_name = {};
    bool own_thread = true;  // False: only the restart on the committing thread remains.
    std::int64_t passive_bytes = kWalPassiveBytes;
    std::int64_t restart_bytes = kWalRestartBytes;
    std::int64_t rest_bytes = kWalRestBytes;
    std::int64_t hard_bytes = kWalHardBytes;  // At least restart_bytes.
};

struct WalCounters {
    std::int64_t wal_pages = 0;            // In the log after the last commit.
    std::int64_t passive_checkpoints = 0;  // Run on the own thread.
    std::int64_t restarts = 0;             // Run on the committing thread.
    std::int64_t restarts_refused = 0;     // Because a reader stood in the way.
    std::int64_t failures = 0;             // Checkpoints the disk refused.
    // What restarts cost the committing thread: waiting for a checkpoint of the other thread, and
    // the work itself. The longest, and all together.
    Duration restart_wait = {};
    Duration restart_wait_max = {};
    Duration restart_work = {};
    Duration restart_work_max = {};
    std::int64_t restart_pages = 0;  // That were left to move then.
    Duration passive_work = {};      // Of the own thread.
    Duration passive_work_max = {};
};

class WalCheckpointer {
public:
    // `writer` must be in WAL mode, without automatic checkpoints, and outlive the checkpointer.
    static Result<std::unique_ptr<WalCheckpointer>> attach(
        SqliteDb& writer, const WalCheckpointerOptions& options);
    ~WalCheckpointer();
    WalCheckpointer(const WalCheckpointer&) = delete;
    WalCheckpointer& operator=(const WalCheckpointer&) = delete;

    // Called by the committing thread after each commit, outside any transaction.
    void after_commit();
    // Cuts a log that is too short for its turn to come soon, so that what was deleted does not
    // linger in it; a longer one starts over by itself. Called like after_commit().
    void empty_short_log();
    // After a failed commit nothing may move: only a fresh look at the log tells what is in it.
    void halt();
    WalCounters counters() const;  // Any thread.

private:
    WalCheckpointer(SqliteDb& writer, const WalCheckpointerOptions& options);
    static int on_commit(void* self, sqlite3* db, const char* schema, int wal_pages);
    void run();      // The own thread.
    void request();  // Wakes it.
    bool may_restart(std::int64_t pages);
    void restart();           // On the committing thread.
    void move_all(int mode);  // Likewise.
    void move_passively();    // The own thread.

    SqliteDb& writer_;
    std::int64_t passive_pages_ = 1;
    std::int64_t restart_pages_ = 1;
    std::int64_t rest_pages_ = 1;
    std::int64_t hard_pages_ = 1;

    // Touched by the committing thread only.
    std::int64_t pages_at_request_ = 0;
    std::int64_t pages_at_refusal_ = 0;
    bool is_cut_ = false;  // The file has no byte, not even of what was in it before.

    std::atomic<std::int64_t> wal_pages_ = 0;
    std::atomic<std::int64_t> passive_checkpoints_ = 0;
    std::atomic<std::int64_t> restarts_ = 0;
    std::atomic<std::int64_t> restarts_refused_ = 0;
    std::atomic<std::int64_t> failures_ = 0;
    std::atomic<std::int64_t> moved_pages_ = 0;  // Of the log, by the last checkpoint.
    std::atomic<std::int64_t> left_pages_ = 0;   // What restarts found unmoved, in all.
    struct Spent {
        std::atomic<std::int64_t> all_us = 0;
        std::atomic<std::int64_t> longest_us = 0;

        void add(Duration span);
    };
    Spent restart_wait_;
    Spent restart_work_;
    Spent passive_work_;
    std::atomic<bool> halted_ = false;
    std::atomic<bool> is_moving_ = false;  // Asked of the own thread and not done yet.

    std::mutex checkpoint_mutex_;  // Held while a checkpoint runs, on either thread.
    std::mutex wake_mutex_;        // Guards the two below.
    bool requested_ = false;
    bool stopping_ = false;
    std::condition_variable wake_;
    std::optional<SqliteDb> own_db_;  // Used by the own thread only.
    std::thread thread_;
};

}  // namespace interlock
