#include "engine/sqlite/log_rewrite.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/errors.h"

namespace interlock {
namespace {

// SQLite's layer for files writes at most 128 KiB in one call and calls more than that a full disk.
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 16;

std::unexpected<Error> failed(std::string_view what, int code) {
    return fail(
        errors::io_failed,
        "the write-ahead log cannot be " + std::string(what) + ": " + sqlite3_errstr(code));
}

// A file opened through SQLite's own layer, so that it works wherever the database does.
class LogFile {
public:
    explicit LogFile(sqlite3_vfs& vfs)
        : vfs_(vfs), memory_(static_cast<std::size_t>(vfs.szOsFile), '\0') {}
    ~LogFile() {
        if (file()->pMethods != nullptr) {
            file()->pMethods->xClose(file());
        }
    }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    int open(const char* name) {
        return vfs_.xOpen(&vfs_, name, file(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, nullptr);
    }

    Result<void> rewrite() {
        const sqlite3_io_methods& methods = *file()->pMethods;
        sqlite3_int64 size = 0;
        if (const int code = methods.xFileSize(file(), &size); code != SQLITE_OK) {
            return failed("measured", code);
        }
        std::vector<char> chunk(
            static_cast<std::size_t>(std::min<sqlite3_int64>(size, kChunkBytes)));
        for (sqlite3_int64 at = 0; at < size; at += kChunkBytes) {
            const int count = static_cast<int>(std::min<sqlite3_int64>(size - at, kChunkBytes));
            if (const int code = methods.xRead(file(), chunk.data(), count, at);
                code != SQLITE_OK) {
                return failed("read", code);
            }
            if (const int code = methods.xWrite(file(), chunk.data(), count, at);
                code != SQLITE_OK) {
                return failed("written", code);
            }
        }
        if (const int code = methods.xSync(file(), SQLITE_SYNC_NORMAL); code != SQLITE_OK) {
            return failed("synced", code);
        }
        return {};
    }

private:
    sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

    sqlite3_vfs& vfs_;
    std::vector<char> memory_;  // SQLite keeps an open file in memory that its caller provides.
};

struct FreeFilename {
    void operator()(const char* name) const { sqlite3_free_filename(const_cast<char*>(name)); }
};

}  // namespace

Result<void> rewrite_left_over_log(const std::string& path, const std::string& vfs_name) {
    sqlite3_vfs* const vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
    if (vfs == nullptr) {
        return fail(errors::io_failed, "SQLite knows no file layer named " + vfs_name);
    }
    // SQLite's layer wants absolute paths in its own form.
    std::string full(static_cast<std::size_t>(vfs->mxPathname) + 1, '\0');
    if (const int code = vfs->xFullPathname(vfs, path.c_str(), vfs->mxPathname, full.data());
        code != SQLITE_OK && code != SQLITE_OK_SYMLINK) {
        return failed("found", code);
    }
    full.resize(full.find('\0'));
    const std::string journal = full + "-journal";
    const std::string log = full + "-wal";
    int exists = 0;
    if (const int code = vfs->xAccess(vfs, log.c_str(), SQLITE_ACCESS_EXISTS, &exists);
        code != SQLITE_OK) {
        return failed("found", code);
    }
    if (exists == 0) {
        return {};
    }
    const std::unique_ptr<const char, FreeFilename> name(
        sqlite3_create_filename(full.c_str(), journal.c_str(), log.c_str(), 0, nullptr));
    LogFile file(*vfs);
    if (const int code = file.open(sqlite3_filename_wal(name.get())); code != SQLITE_OK) {
        return failed("opened", code);
    }
    return file.rewrite();
}

}  // namespace interlock
