#include "engine/sqlite/joined_log.h"

#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr int kFrameHeaderBytes = 24;
constexpr int kCommitMarkAt = 4;  // Four bytes: the database's size after the commit, or zeros.
constexpr int kCommitMarkBytes = 4;

}  // namespace

// SQLite's own file object gets this method table in place of its layer's, which still does the
// work. The table comes first, so that a file leads back to this.
struct JoinedLog::File {
    sqlite3_io_methods methods{};
    const sqlite3_io_methods* real = nullptr;
    std::string waiting;
    sqlite3_int64 waiting_at = 0;
    bool ends_commit = false;  // What comes next is a commit's last page.
    Counters counters;

    static File& of(sqlite3_file* file) {
        return *reinterpret_cast<File*>(const_cast<sqlite3_io_methods*>(file->pMethods));
    }

    int flush(sqlite3_file* file) {
        if (waiting.empty()) {
            return SQLITE_OK;
        }
        ++counters.made;
        const int code =
            real->xWrite(file, waiting.data(), static_cast<int>(waiting.size()), waiting_at);
        // Also when it failed: the commit is then over, and its rest must not follow later.
        waiting.clear();
        return code;
    }

    int write(sqlite3_file* file, const char* from, int size, sqlite3_int64 at) {
        ++counters.taken;
        const auto bytes = static_cast<std::size_t>(size);
        const bool follows = at == waiting_at + static_cast<sqlite3_int64>(waiting.size());
        if (!follows || waiting.size() + bytes > kJoinedFramesBytesMax) {
            if (const int code = flush(file); code != SQLITE_OK) {
                return code;
            }
        }
        if (bytes > kJoinedFramesBytesMax) {
            ++counters.made;
            return real->xWrite(file, from, size, at);
        }
        waiting_at = waiting.empty() ? at : waiting_at;
        waiting.append(from, bytes);
        counters.peak_bytes = std::max(counters.peak_bytes, waiting.size());
        // The mark goes out at once, because checksums are also mended with headers alone; the page
        // after it is the commit's last.
        const bool has_mark =
            size == kFrameHeaderBytes && !std::all_of(
                                             from + kCommitMarkAt,
                                             from + kCommitMarkAt + kCommitMarkBytes,
                                             [](char byte) { return byte == 0; });
        return std::exchange(ends_commit, has_mark) || has_mark ? flush(file) : SQLITE_OK;
    }

    void install();
};

// Whatever is not listed here does not look at the file's contents.
void JoinedLog::File::install() {
    methods = *real;
    methods.xWrite = [](sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
        return of(file).write(file, static_cast<const char*>(from), size, at);
    };
    methods.xRead = [](sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
        const int code = of(file).flush(file);
        return code != SQLITE_OK ? code : of(file).real->xRead(file, to, size, at);
    };
    methods.xTruncate = [](sqlite3_file* file, sqlite3_int64 size) {
        const int code = of(file).flush(file);
        return code != SQLITE_OK ? code : of(file).real->xTruncate(file, size);
    };
    methods.xSync = [](sqlite3_file* file, int flags) {
        const int code = of(file).flush(file);
        return code != SQLITE_OK ? code : of(file).real->xSync(file, flags);
    };
    methods.xFileSize = [](sqlite3_file* file, sqlite3_int64* size) {
        const int code = of(file).flush(file);
        return code != SQLITE_OK ? code : of(file).real->xFileSize(file, size);
    };
    methods.xClose = [](sqlite3_file* file) {
        File& self = of(file);
        const int code = self.flush(file);
        file->pMethods = self.real;
        const int closed = self.real->xClose(file);
        return code != SQLITE_OK ? code : closed;
    };
    methods.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** at) {
        *at = nullptr;  // No memory maps: every read passes by.
        return SQLITE_OK;
    };
}

JoinedLog::JoinedLog() : file_(std::make_unique<File>()) {
    static_assert(std::is_standard_layout_v<sqlite3_io_methods>);
}

JoinedLog::~JoinedLog() = default;

const JoinedLog::Counters& JoinedLog::counters() const {
    return file_->counters;
}

Result<void> JoinedLog::attach(SqliteDb& writer) {
    CHECK(file_->real == nullptr);
    sqlite3_file* log = nullptr;
    const int code =
        sqlite3_file_control(writer.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code != SQLITE_OK || log == nullptr || log->pMethods == nullptr) {
        return fail(errors::io_failed, "the database has no write-ahead log open");
    }
    file_->real = log->pMethods;
    file_->install();
    log->pMethods = &file_->methods;
    return {};
}

}  // namespace interlock
