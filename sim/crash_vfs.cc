#include "sim/crash_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <new>

#include "base/check.h"

namespace interlock::sim {
namespace {

constexpr int kPathBytesMax = 256;
constexpr int kUnixSectorBytes = 4096;  // What SQLite's own unix VFS answers.

// SQLite allocates szOsFile bytes and keeps its own head at the front.
struct VfsFile {
    sqlite3_file head;
    CrashDisk* disk;
    CrashDisk::FileRef* file;
    std::string* delete_on_close;  // Its name; null: stays.
};

VfsFile& of(sqlite3_file* file) {
    return *reinterpret_cast<VfsFile*>(file);
}

CrashDisk& disk_of(sqlite3_vfs* vfs) {
    return *static_cast<CrashDisk*>(vfs->pAppData);
}

int code_of(DiskStatus status, int io_error) {
    switch (status) {
        case DiskStatus::ok:
            return SQLITE_OK;
        case DiskStatus::full:
            return SQLITE_FULL;
        case DiskStatus::io_error:
            break;
    }
    return io_error;
}

int close_file(sqlite3_file* file) {
    VfsFile& held = of(file);
    if (held.delete_on_close != nullptr) {
        (void)held.disk->remove(*held.delete_on_close, false);
    }
    delete held.delete_on_close;
    delete held.file;
    return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
    VfsFile& held = of(file);
    std::string bytes;
    const DiskStatus status = held.disk->read(
        **held.file, static_cast<std::uint64_t>(offset), static_cast<std::size_t>(count), bytes);
    if (status != DiskStatus::ok) {
        return SQLITE_IOERR_READ;
    }
    std::memcpy(to, bytes.data(), bytes.size());
    const std::size_t missing = static_cast<std::size_t>(count) - bytes.size();
    // SQLite demands zeros behind a short read.
    std::memset(static_cast<char*>(to) + bytes.size(), 0, missing);
    return missing == 0 ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
    VfsFile& held = of(file);
    const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(count));
    return code_of(
        held.disk->write(**held.file, static_cast<std::uint64_t>(offset), bytes),
        SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    VfsFile& held = of(file);
    return code_of(
        held.disk->truncate(**held.file, static_cast<std::uint64_t>(size)), SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
    VfsFile& held = of(file);
    return code_of(held.disk->sync(*held.file), SQLITE_IOERR_FSYNC);
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>((*of(file).file)->now.size());
    return SQLITE_OK;
}

// One process, one connection: every lock is granted.
int lock_file(sqlite3_file*, int) {
    return SQLITE_OK;
}

int check_reserved_lock(sqlite3_file*, int* held) {
    *held = 0;
    return SQLITE_OK;
}

int control_file(sqlite3_file*, int, void*) {
    return SQLITE_NOTFOUND;
}

int sector_bytes(sqlite3_file*) {
    return kUnixSectorBytes;
}

int device_characteristics(sqlite3_file*) {
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

constexpr sqlite3_io_methods kFileMethods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_bytes,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    VfsFile& held = of(file);
    std::memset(static_cast<void*>(&held), 0, sizeof(VfsFile));  // No methods: nothing to close.
    CrashDisk& disk = disk_of(vfs);
    CrashDisk::FileRef opened = name == nullptr
                                    ? CrashDisk::open_unnamed()
                                    : disk.open(name, (flags & SQLITE_OPEN_CREATE) != 0);
    if (opened == nullptr) {
        return SQLITE_CANTOPEN;
    }
    held.disk = &disk;
    held.file = new CrashDisk::FileRef(std::move(opened));
    if (name != nullptr && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0) {
        held.delete_on_close = new std::string(name);
    }
    held.head.pMethods = &kFileMethods;
    if (out_flags != nullptr) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    CrashDisk& disk = disk_of(vfs);
    if (!disk.exists(name)) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    return code_of(disk.remove(name, sync_folder != 0), SQLITE_IOERR_DELETE);
}

int access_file(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
    CrashDisk& disk = disk_of(vfs);
    *answer = disk.exists(name) ? 1 : 0;
    if (*answer != 0 && flags == SQLITE_ACCESS_EXISTS && disk.open(name, false)->now.empty()) {
        *answer = 0;  // As on unix: an empty file is no journal.
    }
    return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    if (std::strlen(name) >= static_cast<std::size_t>(size)) {
        return SQLITE_CANTOPEN;
    }
    std::strcpy(out, name);
    return SQLITE_OK;
}

int fill_with_zeros(sqlite3_vfs*, int size, char* out) {
    std::memset(out, 0, static_cast<std::size_t>(size));
    return size;
}

int no_sleep(sqlite3_vfs*, int microseconds) {
    return microseconds;
}

int fixed_time(sqlite3_vfs*, double* julian_day) {
    *julian_day = 2461055.5;  // Nothing of ours asks SQLite for the time.
    return SQLITE_OK;
}

int no_last_error(sqlite3_vfs*, int, char*) {
    return 0;
}

}  // namespace

CrashVfs::CrashVfs(CrashDisk& disk) : vfs_(std::make_unique<sqlite3_vfs>()) {
    // Its own address makes the name unique among those that live at the same time.
    name_ = "interlock_sim_" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
    std::memset(vfs_.get(), 0, sizeof(sqlite3_vfs));
    vfs_->iVersion = 1;
    vfs_->szOsFile = sizeof(VfsFile);
    vfs_->mxPathname = kPathBytesMax;
    vfs_->zName = name_.c_str();
    vfs_->pAppData = &disk;
    vfs_->xOpen = open_file;
    vfs_->xDelete = delete_file;
    vfs_->xAccess = access_file;
    vfs_->xFullPathname = full_path;
    vfs_->xRandomness = fill_with_zeros;
    vfs_->xSleep = no_sleep;
    vfs_->xCurrentTime = fixed_time;
    vfs_->xGetLastError = no_last_error;
    CHECK(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK);
}

CrashVfs::~CrashVfs() {
    sqlite3_vfs_unregister(vfs_.get());
}

void CrashVfs::seed_sqlite(std::uint64_t seed) {
    // SQLite takes an int and reads 0 as "from the operating system".
    const int number = static_cast<int>(seed % 0x7fffffff) + 1;
    CHECK(
        sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, number, static_cast<sqlite3*>(nullptr)) ==
        SQLITE_OK);
}

}  // namespace interlock::sim
