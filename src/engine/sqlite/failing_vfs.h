// A disk that fails on command, for tests: SQLite's own file layer with faults switched in front.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "base/check.h"

namespace interlock {

class FailingVfs {
public:
    // The codes that the calls answer instead of doing their work; 0 works.
    struct Faults {
        std::atomic<int> on_read = SQLITE_OK;
        std::atomic<int> on_write = SQLITE_OK;
        std::atomic<int> on_sync = SQLITE_OK;
        // The write or sync that fails alone, counted from 1; 0: none. A torn write leaves the
        // first half of its bytes.
        std::atomic<int> fail_at = 0;
        std::atomic<int> fail_code = SQLITE_IOERR_WRITE;
        std::atomic<bool> is_torn = false;
        std::atomic<int> seen = 0;  // Writes and syncs so far.
        // While true, writes to the database itself, not to its log, do not come back.
        std::atomic<bool> holds_database = false;
    };

    explicit FailingVfs(std::string name) : name_(std::move(name)) {
        sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);
        CHECK(real != nullptr);
        vfs_ = *real;
        vfs_.zName = name_.c_str();
        vfs_.pNext = nullptr;
        vfs_.szOsFile = real->szOsFile + static_cast<int>(sizeof(Wrapping));
        vfs_.pAppData = this;
        vfs_.xOpen = &FailingVfs::open;
        real_ = real;
        // The real layer keeps its choice of locking in its own pAppData, so calls go to it.
        vfs_.xDelete = [](sqlite3_vfs*, const char* path, int sync) {
            sqlite3_vfs* const to = sqlite3_vfs_find(nullptr);
            return to->xDelete(to, path, sync);
        };
        CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
    }
    ~FailingVfs() { sqlite3_vfs_unregister(&vfs_); }
    FailingVfs(const FailingVfs&) = delete;
    FailingVfs& operator=(const FailingVfs&) = delete;

    const std::string& name() const { return name_; }
    Faults faults;

private:
    // Lies behind the real layer's own file object and replaces its method table.
    struct Wrapping {
        const sqlite3_io_methods* real = nullptr;
        sqlite3_io_methods methods{};
        FailingVfs* owner = nullptr;
        bool is_database = false;
    };

    bool is_turn() { return ++faults.seen == faults.fail_at; }

    static Wrapping& wrapping_of(sqlite3_file* file) {
        const auto offset = static_cast<std::size_t>(sqlite3_vfs_find(nullptr)->szOsFile);
        return *reinterpret_cast<Wrapping*>(reinterpret_cast<char*>(file) + offset);
    }

    static int open(sqlite3_vfs* vfs, sqlite3_filename path, sqlite3_file* file, int in, int* out) {
        auto* const owner = static_cast<FailingVfs*>(vfs->pAppData);
        const int code = owner->real_->xOpen(owner->real_, path, file, in, out);
        if (code != SQLITE_OK || file->pMethods == nullptr) {
            return code;
        }
        auto* const wrapping = new (&wrapping_of(file))
            Wrapping{file->pMethods, *file->pMethods, owner, (in & SQLITE_OPEN_MAIN_DB) != 0};
        wrapping->methods.xRead = &FailingVfs::read;
        wrapping->methods.xWrite = &FailingVfs::write;
        wrapping->methods.xSync = &FailingVfs::sync;
        wrapping->methods.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** at) {
            *at = nullptr;  // No memory maps: every read passes by.
            return SQLITE_OK;
        };
        file->pMethods = &wrapping->methods;
        return SQLITE_OK;
    }

    static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
        const Wrapping& wrapping = wrapping_of(file);
        const int fault = wrapping.owner->faults.on_read;
        return fault != SQLITE_OK ? fault : wrapping.real->xRead(file, to, size, at);
    }
    static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
        const Wrapping& wrapping = wrapping_of(file);
        while (wrapping.is_database && wrapping.owner->faults.holds_database) {
            std::this_thread::yield();
        }
        const int fault = wrapping.owner->faults.on_write;
        if (fault == SQLITE_OK && wrapping.owner->is_turn()) {
            if (wrapping.owner->faults.is_torn) {
                wrapping.real->xWrite(file, from, size / 2, at);
            }
            return wrapping.owner->faults.fail_code;
        }
        return fault != SQLITE_OK ? fault : wrapping.real->xWrite(file, from, size, at);
    }
    static int sync(sqlite3_file* file, int flags) {
        const Wrapping& wrapping = wrapping_of(file);
        const int fault = wrapping.owner->faults.on_sync;
        if (fault == SQLITE_OK && wrapping.owner->is_turn()) {
            return SQLITE_IOERR_FSYNC;
        }
        return fault != SQLITE_OK ? fault : wrapping.real->xSync(file, flags);
    }

    std::string name_;
    sqlite3_vfs vfs_{};
    sqlite3_vfs* real_ = nullptr;
};

}  // namespace interlock
