#include "engine/system/durable_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/errors.h"

namespace interlock {

namespace {

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

std::unexpected<Error> system_failure(std::string_view what, const std::string& path) {
    const std::string why = std::strerror(errno);
    return fail(errors::io_failed, "cannot " + std::string(what) + " " + path + ": " + why);
}

Result<void> sync_folder(const std::string& folder) {
    const FileDescriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.is_open() || fsync(fd.get()) != 0) {
        return system_failure("sync", folder);
    }
    return {};
}

Result<bool> create_file_durably(const NewFile& file) {
    std::string beside = file.path + ".XXXXXX";
    const FileDescriptor fd(mkostemp(beside.data(), O_CLOEXEC));  // Mode 0600.
    if (!fd.is_open()) {
        return system_failure("create", file.path);
    }
    bool whole = write_all(fd.get(), file.bytes) && fchmod(fd.get(), file.mode) == 0;
    whole = whole && fsync(fd.get()) == 0;
    // Unlike a rename, a link never replaces what someone else put there in the meantime.
    const bool placed = whole && link(beside.c_str(), file.path.c_str()) == 0;
    const int why = errno;
    unlink(beside.c_str());
    errno = why;
    if (!placed && !(whole && why == EEXIST)) {
        return system_failure("write", file.path);
    }
    TRY(sync_folder(std::filesystem::path(file.path).parent_path().string()));
    return placed;
}

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
    // Not blocking: a pipe put in the file's place must not hold us.
    const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.is_open()) {
        if (errno == ENOENT) {
            return fail(errors::not_found, path + " does not exist");
        }
        return system_failure("open", path);
    }
    std::string bytes(bytes_max + 1, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t got = read(fd.get(), bytes.data() + size, bytes.size() - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return system_failure("read", path);
        }
        if (got == 0) {
            break;
        }
        size += static_cast<std::size_t>(got);
    }
    if (size > bytes_max) {
        return fail(
            errors::corrupt_data, path + " is longer than " + std::to_string(bytes_max) + " bytes");
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace interlock
