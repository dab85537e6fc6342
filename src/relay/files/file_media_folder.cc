#include "relay/files/file_media_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/errors.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::string_view kUnfinished = ".part";

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return system_failure("write", path);
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace

Result<FileMediaFolder> FileMediaFolder::open(std::string folder) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_failure("create", folder);
    }
    return FileMediaFolder(std::move(folder));
}

Result<std::string> FileMediaFolder::path_of(const std::string& id) const {
    if (!is_media_id(id)) {
        return fail(errors::not_found, "there is no such media");
    }
    return folder_ + "/" + id;
}

Result<void> FileMediaFolder::write(const std::string& id, std::string_view bytes) {
    TRY_ASSIGN(const std::string path, path_of(id));
    if (bytes.size() > kMediaBytesMax) {
        return fail(errors::body_too_large, "media is larger than 25 MiB");
    }
    const std::string part = path + std::string(kUnfinished);
    Result<void> done;
    {
        const FileDescriptor fd(
            ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!fd.is_open()) {
            return system_failure("create", part);
        }
        done = write_all(fd.get(), bytes, part);
    }
    if (done && std::rename(part.c_str(), path.c_str()) != 0) {
        done = system_failure("put in place", path);
    }
    if (!done) {
        ::unlink(part.c_str());  // What cannot be removed now goes with the next start.
    }
    return done;
}

Result<std::string> FileMediaFolder::read(const std::string& id) {
    TRY_ASSIGN(const std::string path, path_of(id));
    return read_small_file(path, kMediaBytesMax);
}

Result<void> FileMediaFolder::remove(const std::string& id) {
    TRY_ASSIGN(const std::string path, path_of(id));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        return system_failure("remove", path);
    }
    return {};
}

Result<std::vector<std::string>> FileMediaFolder::list() {
    std::error_code error;
    std::vector<std::string> ids;
    for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (is_media_id(name)) {
            ids.push_back(name);
        } else if (name.ends_with(kUnfinished)) {
            ::unlink(at->path().c_str());  // A crash left it; nobody writes while this is asked.
        }
    }
    if (error) {
        return fail(errors::io_failed, "cannot list " + folder_ + ": " + error.message());
    }
    return ids;
}

}  // namespace interlock
