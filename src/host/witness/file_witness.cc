#include "host/witness/file_witness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/errors.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

// The last whole line is in here, if the file holds lines of ours at all.
constexpr off_t kTailBytes = static_cast<off_t>(2 * kHeadLineBytesMax);

Result<std::string> read_tail(int descriptor, const std::string& path) {
    struct stat facts = {};
    if (fstat(descriptor, &facts) != 0) {
        return system_failure("read", path);
    }
    if (!S_ISREG(facts.st_mode)) {
        return fail(errors::io_failed, path + " is not a file");
    }
    const off_t begin = std::max<off_t>(0, facts.st_size - kTailBytes);
    std::string tail(static_cast<std::size_t>(facts.st_size - begin), '\0');
    std::size_t have = 0;
    while (have < tail.size()) {
        const ssize_t count = pread(
            descriptor, tail.data() + have, tail.size() - have, begin + static_cast<off_t>(have));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return system_failure("read", path);
        }
        have += static_cast<std::size_t>(count);
    }
    return tail;
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t count = write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return system_failure("write", path);
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

}  // namespace

Result<std::optional<WitnessedHead>> FileWitness::newest() {
    const FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) {
        if (errno == ENOENT) {
            return std::nullopt;
        }
        return system_failure("read", path_);
    }
    TRY_ASSIGN(std::string tail, read_tail(file.get(), path_));
    // From the end: a line that a crash cut short is none.
    while (!tail.empty()) {
        const std::size_t end = tail.find_last_not_of('\n');
        if (end == std::string::npos) {
            return std::nullopt;
        }
        const std::size_t before = tail.rfind('\n', end);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        auto head = read_head_line(std::string_view(tail).substr(begin, end + 1 - begin));
        if (head) {
            return *std::move(head);
        }
        tail.resize(begin);
    }
    return std::nullopt;
}

Result<void> FileWitness::push(const WitnessedHead& head) {
    const FileDescriptor file(
        open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
    if (!file.is_open()) {
        return system_failure("write", path_);
    }
    TRY_ASSIGN(const std::string tail, read_tail(file.get(), path_));
    // Behind a line that was cut short, which is not ours to remove.
    const bool is_torn = !tail.empty() && tail.back() != '\n';
    TRY(write_all(file.get(), (is_torn ? "\n" : "") + head.line + "\n", path_));
    if (fsync(file.get()) != 0) {
        return system_failure("sync", path_);
    }
    return {};
}

}  // namespace interlock
