#include "engine/sqlite/db_snapshot.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/errors.h"

namespace interlock {
namespace {

// Pages copied between two looks at the progress: 16 MiB or so.
constexpr int kPagesPerStep = 4096;

struct BackupEnd {
    void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
};

// SQLite takes an empty file for a new database, and would make one that others may read.
Result<void> create_closed_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return fail(errors::io_failed, "cannot create " + path);
    }
    close(file);
    return {};
}

Result<void> sync_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = file >= 0 && fsync(file) == 0;
    if (file >= 0) {
        close(file);
    }
    return synced ? Result<void>() : fail(errors::io_failed, "cannot sync " + path);
}

}  // namespace

Result<DbSnapshot> DbSnapshot::open(const std::string& path) {
    TRY_ASSIGN(
        SqliteDb db, SqliteDb::open({.path = path, .mode = SqliteOpenOptions::Mode::read_only}));
    TRY(db.execute("BEGIN"));
    // A transaction begins with its first read.
    if (auto began = db.read_integer("SELECT count(*) FROM sqlite_master"); !began) {
        began.error().message = "cannot read " + path + ": " + began.error().message;
        return std::unexpected(std::move(began).error());
    }
    return DbSnapshot(std::move(db));
}

Result<void> DbSnapshot::copy_to(
    const std::string& path, const std::function<void(std::int64_t bytes)>& on_progress) {
    TRY_ASSIGN(const std::int64_t page_size, db_.read_integer("PRAGMA page_size"));
    TRY(create_closed_file(path));
    {
        TRY_ASSIGN(SqliteDb copy, SqliteDb::open({.path = path}));
        // Nobody knows the file before it is whole, so nothing of it has to survive a crash.
        TRY(copy.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"));
        const std::unique_ptr<sqlite3_backup, BackupEnd> backup(
            sqlite3_backup_init(copy.handle(), "main", db_.handle(), "main"));
        if (backup == nullptr) {
            return std::unexpected(copy.error_of(sqlite3_errcode(copy.handle())));
        }
        int code = SQLITE_OK;
        while (code == SQLITE_OK) {
            // In the transaction that is open, so that every page is of the same moment.
            code = sqlite3_backup_step(backup.get(), kPagesPerStep);
            if (on_progress) {
                const std::int64_t done =
                    sqlite3_backup_pagecount(backup.get()) - sqlite3_backup_remaining(backup.get());
                on_progress(done * page_size);
            }
        }
        if (code != SQLITE_DONE) {
            Error error = copy.error_of(code);
            // The connections do not know yet what their copy failed of.
            error.message =
                "cannot copy the database to " + path + ": " + std::string(sqlite3_errstr(code));
            return std::unexpected(std::move(error));
        }
    }
    // The pages say that there is a log beside them; a copy that is carried about has none.
    TRY_ASSIGN(SqliteDb copy, SqliteDb::open({.path = path}));
    const auto mode = copy.read_text("PRAGMA journal_mode = DELETE");
    if (!mode || *mode != "delete") {
        return fail(
            errors::io_failed,
            "cannot copy the database to " + path + ": " +
                (mode ? "it keeps its write-ahead log" : mode.error().message));
    }
    return sync_file(path);
}

}  // namespace interlock
