#include "sim/crash_disk.h"

#include <algorithm>

namespace interlock::sim {

void CrashDisk::apply(std::string& to, const File::Change& change) {
    if (change.truncates) {
        to.resize(change.offset);
        return;
    }
    if (to.size() < change.offset + change.bytes.size()) {
        to.resize(change.offset + change.bytes.size());
    }
    to.replace(change.offset, change.bytes.size(), change.bytes);
}

CrashDisk::Strike CrashDisk::next_strike(bool is_read) {
    if (armed_.empty() || (is_read && !armed_.front().counts_reads)) {
        return {};
    }
    Armed& armed = armed_.front();
    if (armed.calls_until > 0) {
        --armed.calls_until;
        return {};
    }
    const Strike strike{true, armed.fault};
    fault_random_ = SeededRandom(mix_seeds(armed.seed, armed.calls_hit));
    if (--armed.calls_hit == 0 || armed.fault == DiskFault::power_loss) {
        armed_.clear();
    }
    return strike;
}

bool CrashDisk::exists(const std::string& name) const {
    return names_.contains(name);
}

CrashDisk::FileRef CrashDisk::open(const std::string& name, bool create) {
    if (const auto found = names_.find(name); found != names_.end()) {
        return found->second;
    }
    if (!create || !power_.on) {
        return nullptr;
    }
    return names_[name] = std::make_shared<File>();
}

DiskStatus CrashDisk::remove(const std::string& name, bool synced) {
    const Strike strike = next_strike(false);
    if (strike.hits && strike.fault == DiskFault::power_loss) {
        power_.on = false;
    }
    if (!power_.on || strike.hits) {
        return DiskStatus::io_error;
    }
    names_.erase(name);
    if (synced && durable_names_.erase(name) > 0) {
        ++durable_generation_;
    }
    return DiskStatus::ok;
}

DiskStatus CrashDisk::read(File& file, std::uint64_t offset, std::size_t count, std::string& out) {
    const Strike strike = next_strike(true);
    if (strike.hits && strike.fault == DiskFault::power_loss) {
        power_.on = false;
    }
    if (!power_.on || strike.hits) {
        return DiskStatus::io_error;
    }
    out = offset < file.now.size() ? file.now.substr(offset, count) : std::string();
    return DiskStatus::ok;
}

DiskStatus CrashDisk::write(File& file, std::uint64_t offset, std::string_view bytes) {
    if (!power_.on) {
        return DiskStatus::io_error;
    }
    const Strike strike = next_strike(false);
    File::Change change{offset, std::string(bytes), false};
    if (strike.hits && strike.fault != DiskFault::power_loss) {
        // Part of it got there before the error.
        change.bytes.resize(fault_random_.below(bytes.size() + 1) / kSectorBytes * kSectorBytes);
    }
    apply(file.now, change);
    file.unsynced.push_back(std::move(change));
    if (!strike.hits) {
        return DiskStatus::ok;
    }
    power_.on = strike.fault != DiskFault::power_loss;
    return strike.fault == DiskFault::disk_full ? DiskStatus::full : DiskStatus::io_error;
}

DiskStatus CrashDisk::truncate(File& file, std::uint64_t size) {
    if (!power_.on) {
        return DiskStatus::io_error;
    }
    const Strike strike = next_strike(false);
    if (strike.hits && strike.fault != DiskFault::power_loss) {
        return DiskStatus::io_error;
    }
    File::Change change{size, {}, true};
    apply(file.now, change);
    file.unsynced.push_back(std::move(change));
    power_.on = !strike.hits;
    return strike.hits ? DiskStatus::io_error : DiskStatus::ok;
}

DiskStatus CrashDisk::sync(const FileRef& file) {
    if (!power_.on) {
        return DiskStatus::io_error;
    }
    const Strike strike = next_strike(false);
    if (strike.hits && strike.fault == DiskFault::power_loss) {
        power_.on = false;  // What had reached the disk by then, settle_after_crash() decides.
        return DiskStatus::io_error;
    }
    if (strike.hits) {
        survive(*file, fault_random_);
        ++durable_generation_;
        return DiskStatus::io_error;
    }
    if (lies_) {
        return DiskStatus::ok;
    }
    for (const File::Change& change : file->unsynced) {
        apply(file->durable, change);
    }
    file->unsynced.clear();
    for (const auto& [name, held] : names_) {
        if (held == file) {
            durable_names_[name] = file;
        }
    }
    ++durable_generation_;
    return DiskStatus::ok;
}

void CrashDisk::tear(std::string& to, const File::Change& change, SeededRandom& random) {
    for (std::size_t at = 0; at < change.bytes.size();) {
        // Sectors of the disk, not of the write.
        const std::size_t left = kSectorBytes - (change.offset + at) % kSectorBytes;
        const std::size_t count = std::min(left, change.bytes.size() - at);
        if (random.chance(500)) {
            apply(to, {change.offset + at, change.bytes.substr(at, count), false});
        }
        at += count;
    }
}

// Which unsynced changes of a file reached the disk. Four ways, because each finds other mistakes:
// none, all, a prefix with a torn end, or any of them in any order.
void CrashDisk::survive(File& file, SeededRandom& random) {
    std::vector<File::Change> changes = std::move(file.unsynced);
    file.unsynced.clear();
    const std::uint64_t way = random.below(8);
    if (way == 0 || changes.empty()) {
        return;
    }
    if (way <= 3) {
        const std::size_t whole = way == 1 ? changes.size() : random.below(changes.size());
        for (std::size_t i = 0; i < whole; ++i) {
            apply(file.durable, changes[i]);
        }
        if (whole < changes.size()) {
            tear(file.durable, changes[whole], random);
        }
        return;
    }
    for (std::size_t i = changes.size(); i > 1; --i) {
        std::swap(changes[i - 1], changes[random.below(i)]);
    }
    for (const File::Change& change : changes) {
        switch (random.below(3)) {
            case 0:
                break;  // Lost.
            case 1:
                apply(file.durable, change);
                break;
            default:
                change.truncates ? apply(file.durable, change) : tear(file.durable, change, random);
        }
    }
}

void CrashDisk::settle_after_crash(std::uint64_t seed) {
    SeededRandom random(seed);
    std::map<std::string, FileRef> found = durable_names_;
    for (const auto& [name, file] : names_) {
        if (!found.contains(name) && random.chance(500)) {
            found[name] = file;  // Created, never synced, yet there.
        }
    }
    for (const auto& [name, file] : durable_names_) {
        const auto held = names_.find(name);
        if ((held == names_.end() || held->second != file) && random.chance(500)) {
            found.erase(name);  // Its deletion, or its replacement by a new file, reached the disk.
            if (held != names_.end()) {
                found[name] = held->second;
            }
        }
    }
    names_ = std::move(found);
    for (const auto& [name, file] : names_) {
        survive(*file, random);
        file->now = file->durable;
    }
    durable_names_ = names_;
    armed_.clear();
    ++durable_generation_;
}

CrashDisk CrashDisk::durable_copy(Power& power) const {
    CrashDisk copy(power);
    for (const auto& [name, file] : durable_names_) {
        auto kept = std::make_shared<File>();
        kept->now = file->durable;
        kept->durable = file->durable;
        copy.names_[name] = kept;
        copy.durable_names_[name] = kept;
    }
    return copy;
}

}  // namespace interlock::sim
