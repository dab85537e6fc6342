// Small files that must be there, whole, after a crash: keys, tokens, flags. Written beside their
// place, synced, then put there in one step.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace interlock {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor();

    bool is_open() const { return fd_ >= 0; }
    int get() const { return fd_; }

private:
    int fd_ = -1;
};

// "cannot <what> <path>: <the system's reason>", from errno.
std::unexpected<Error> system_failure(std::string_view what, const std::string& path);

// Makes a rename, link or unlink inside `folder` last.
Result<void> sync_folder(const std::string& folder);

struct NewFile {
    std::string path;
    std::string_view bytes;
    mode_t mode = 0600;
};

// False when a file was there already; it is left as it is.
Result<bool> create_file_durably(const NewFile& file);

// The whole of a file of at most `bytes_max` bytes; `not_found` when there is none.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace interlock
