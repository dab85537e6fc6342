#include "bench/disk_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "engine/system/durable_file.h"

namespace interlock {

Result<DiskSyncReport> measure_disk_sync(const DiskSyncOptions& options) {
    using SteadyClock = std::chrono::steady_clock;
    const FileDescriptor file(
        ::open(options.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.is_open()) {
        return system_failure("create", options.path);
    }
    const std::string bytes(options.append_bytes, 'x');
    std::vector<std::int64_t> latencies_us;
    const SteadyClock::time_point begin = SteadyClock::now();
    SteadyClock::time_point last = begin;
    while (last - begin < options.duration) {
        if (::write(file.get(), bytes.data(), bytes.size()) != std::ssize(bytes) ||
            ::fdatasync(file.get()) != 0) {
            return system_failure("write", options.path);
        }
        const SteadyClock::time_point now = SteadyClock::now();
        latencies_us.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(now - last).count());
        last = now;
    }
    const double seconds = std::chrono::duration<double>(last - begin).count();
    const double count = static_cast<double>(latencies_us.size());
    return DiskSyncReport{
        .latency = summarize(std::move(latencies_us)), .syncs_per_s = count / seconds};
}

}  // namespace interlock
