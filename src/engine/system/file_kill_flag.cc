#include "engine/system/file_kill_flag.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace interlock {

FileKillFlag::FileKillFlag(const std::string& data_folder, CreateFile create)
    : folder_(data_folder),
      path_(data_folder + "/KILL"),
      ballast_path_(data_folder + "/ballast"),
      create_(std::move(create)) {}

Result<void> FileKillFlag::keep_ballast() {
    const std::string bytes(kBallastBytes, 'b');
    TRY(create_({.path = ballast_path_, .bytes = bytes, .mode = 0600}));
    return {};
}

bool FileKillFlag::is_raised() {
    // lstat, so that even a link to nowhere counts; only a clear "no such file" is a no (I5).
    struct stat found;
    return lstat(path_.c_str(), &found) == 0 || errno != ENOENT;
}

std::string FileKillFlag::reason() {
    const FileDescriptor fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.is_open()) {
        return {};
    }
    std::string text(kKillReasonBytesMax, '\0');
    const ssize_t got = read(fd.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    return text.substr(0, text.find('\n'));
}

Result<void> FileKillFlag::raise(std::string_view reason) {
    std::string line(reason.substr(0, kKillReasonBytesMax - 1));
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    Result<bool> created = create_({.path = path_, .bytes = line, .mode = 0600});
    if (!created && unlink(ballast_path_.c_str()) == 0) {
        created = create_({.path = path_, .bytes = line, .mode = 0600});
    }
    if (created) {
        return {};
    }
    // The reason may still not fit, but an empty file stops everything, too.
    const FileDescriptor bare(open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!bare.is_open()) {
        return std::unexpected(created.error());
    }
    return sync_folder(folder_);
}

Result<void> FileKillFlag::lower() {
    if (unlink(path_.c_str()) != 0 && errno != ENOENT) {
        return system_failure("remove", path_);
    }
    TRY(sync_folder(folder_));
    // Without it the next reason may be lost, which is no reason to stay stopped.
    (void)keep_ballast();
    return {};
}

}  // namespace interlock
