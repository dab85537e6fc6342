// A disk in memory that forgets what was not synced.
//
// For every file it keeps what programs read (`now`), what a crash cannot take (`durable`) and the
// writes between the two. When the power goes, a seeded subset of those writes survives: whole,
// torn at sector boundaries, in any order, or not at all. Names of files obey the same rule: a file
// that was created and never synced may be gone, one that was deleted may be back.
//
// A fault can be armed to strike at the n-th call from now: loss of power in the middle of that
// call, an I/O error, or a full disk. A failed sync follows the worst kernels: part of the data is
// lost for good although reads still show it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/power.h"
#include "sim/seeded.h"

namespace interlock::sim {

enum class DiskFault { power_loss, io_error, disk_full };
enum class DiskStatus { ok, io_error, full };

class CrashDisk {
public:
    static constexpr std::size_t kSectorBytes = 512;

    // An open file; it lives on after its name is deleted.
    struct File {
        struct Change {
            std::uint64_t offset = 0;
            std::string bytes;
            bool truncates = false;  // To `offset` bytes.
        };
        std::string now;
        std::string durable;
        std::vector<Change> unsynced;
    };
    using FileRef = std::shared_ptr<File>;

    explicit CrashDisk(Power& power) : power_(power) {}

    struct Armed {
        DiskFault fault = DiskFault::io_error;
        std::uint64_t calls_until = 0;  // 0: the next call.
        std::uint64_t calls_hit = 1;    // An error may last for several calls.
        bool counts_reads = false;
        std::uint64_t seed = 0;
    };
    // Replaces what was armed before.
    void arm(const Armed& armed) { armed_ = {armed}; }
    void disarm() { armed_.clear(); }
    // For looks of ours at a disk with a fault armed: what was armed, to be put back afterwards.
    std::vector<Armed> set_aside() { return std::exchange(armed_, {}); }
    void put_back(std::vector<Armed> armed) { armed_ = std::move(armed); }

    bool exists(const std::string& name) const;
    // The file of that name; null when there is none and `create` is false.
    FileRef open(const std::string& name, bool create);
    static FileRef open_unnamed() { return std::make_shared<File>(); }
    DiskStatus remove(const std::string& name, bool synced);

    // Reads up to `count` bytes; fewer at the end of the file.
    DiskStatus read(File& file, std::uint64_t offset, std::size_t count, std::string& out);
    DiskStatus write(File& file, std::uint64_t offset, std::string_view bytes);
    DiskStatus truncate(File& file, std::uint64_t size);
    DiskStatus sync(const FileRef& file);

    // What is found when the power comes back: decides the fate of every unsynced change.
    void settle_after_crash(std::uint64_t seed);

    // A disk that holds only what no crash can take. `power` is the copy's own.
    CrashDisk durable_copy(Power& power) const;
    // Changes whenever something becomes durable.
    std::uint64_t durable_generation() const { return durable_generation_; }

    // A disk that says "synced" and did nothing; for the plant ack_before_sync.
    void lie_about_sync() { lies_ = true; }

private:
    // The fault that strikes this call, if any.
    struct Strike {
        bool hits = false;
        DiskFault fault = DiskFault::io_error;
    };
    Strike next_strike(bool is_read);
    static void apply(std::string& to, const File::Change& change);
    static void survive(File& file, SeededRandom& random);
    static void tear(std::string& to, const File::Change& change, SeededRandom& random);

    Power& power_;
    std::map<std::string, FileRef> names_;
    std::map<std::string, FileRef> durable_names_;
    std::vector<Armed> armed_;  // At most one.
    SeededRandom fault_random_{0};
    std::uint64_t durable_generation_ = 0;
    bool lies_ = false;
};

}  // namespace interlock::sim
