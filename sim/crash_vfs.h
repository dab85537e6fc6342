// SQLite's view of a CrashDisk: a VFS registered under a name of its own for as long as this lives.
//
// It offers no shared memory, so write-ahead logging works on it in exclusive locking mode only,
// and it never sleeps, reads a clock or draws chance. The same disk may be given to several of
// these, one after the other: each is the same machine, started again.
#pragma once

#include <memory>
#include <string>

#include "sim/crash_disk.h"

struct sqlite3_vfs;

namespace interlock::sim {

class CrashVfs {
public:
    explicit CrashVfs(CrashDisk& disk);
    ~CrashVfs();
    CrashVfs(const CrashVfs&) = delete;
    CrashVfs& operator=(const CrashVfs&) = delete;

    const std::string& name() const { return name_; }

    // SQLite salts its log with numbers of its own; this makes them follow from a seed as well.
    static void seed_sqlite(std::uint64_t seed);

private:
    std::string name_;
    std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace interlock::sim
