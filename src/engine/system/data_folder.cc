#include "engine/system/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"
#include "engine/system/private_file.h"

namespace interlock {

namespace {

constexpr std::size_t kSmallFileBytesMax = kPrivateFileBytesMax;
constexpr mode_t kOthersMask = 077;

Result<void> make_folder(const std::string& path) {
    std::error_code problem;
    const auto parent = std::filesystem::absolute(path, problem).parent_path();
    if (!problem) {
        std::filesystem::create_directories(parent, problem);
    }
    if (problem) {
        return fail(
            errors::io_failed, "cannot create " + parent.string() + ": " + problem.message());
    }
    if (mkdir(path.c_str(), 0700) == 0) {
        return sync_folder(parent.string());
    }
    return errno == EEXIST ? Result<void>() : system_failure("create", path);
}

Result<void> require_private_folder(const std::string& path) {
    struct stat found;
    if (stat(path.c_str(), &found) != 0) {
        return system_failure("look at", path);
    }
    if (!S_ISDIR(found.st_mode)) {
        return fail(errors::invalid_config, path + " is not a folder");
    }
    if ((found.st_mode & kOthersMask) == 0) {
        return {};
    }
    // An empty folder holds nothing that anyone could have seen yet, so it is simply closed.
    std::error_code problem;
    const bool empty = std::filesystem::is_empty(path, problem);
    if (!problem && empty && chmod(path.c_str(), 0700) == 0) {
        return {};
    }
    return open_to_others(path, "700");
}

Result<FileDescriptor> take_lock(const std::string& folder) {
    const std::string path = folder + "/LOCK";
    FileDescriptor fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.is_open()) {
        return system_failure("open", path);
    }
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return system_failure("lock", path);
        }
        const Result<std::string> holder = read_small_file(path, kSmallFileBytesMax);
        const std::string pid(holder ? trim(*holder) : std::string_view());
        return fail(
            errors::conflict,
            "the data folder " + folder + " is in use by process " +
                (pid.empty() ? "(starting)" : pid),
            "Stop that server, or choose another folder with --data.");
    }
    const std::string pid = std::to_string(getpid()) + "\n";
    const auto size = static_cast<ssize_t>(pid.size());
    if (ftruncate(fd.get(), 0) != 0 || pwrite(fd.get(), pid.data(), pid.size(), 0) != size) {
        return system_failure("write", path);
    }
    return fd;
}

Result<SecretString> load_or_create_operator_token(const std::string& folder, IdSource& ids) {
    const std::string path = folder + "/operator.token";
    TRY_ASSIGN(std::optional<SecretString> token, read_private_file(path));
    if (token && !token->reveal().starts_with("ilo_")) {
        return fail(
            errors::invalid_config,
            path + " does not hold an operator token",
            "Remove the file; the next start makes a new one.");
    }
    if (!token) {
        token = ids.new_secret("ilo");
        TRY(create_private_file(path, *token));
    }
    return *std::move(token);
}

// Databases, journals and heads hold password hashes and sealed keys; a copy keeps the mode it
// finds. The public key is for everybody. What belongs to another user (a KILL put there by root)
// is left.
Result<void> close_files(const std::string& folder) {
    constexpr int kDepthMax = 3;
    std::error_code problem;
    std::filesystem::recursive_directory_iterator files(folder, problem);
    for (; !problem && files != std::filesystem::recursive_directory_iterator();
         files.increment(problem)) {
        if (files.depth() >= kDepthMax) {
            files.disable_recursion_pending();
        }
        const std::string path = files->path().string();
        struct stat found;
        if (lstat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
            (found.st_mode & kOthersMask) == 0 || found.st_uid != geteuid() ||
            path == folder + "/ledger.pub") {
            continue;
        }
        if (chmod(path.c_str(), found.st_mode & ~kOthersMask & 07777) != 0) {
            return system_failure("close to other users", path);
        }
    }
    if (problem) {
        return fail(errors::io_failed, "cannot look into " + folder + ": " + problem.message());
    }
    return {};
}

}  // namespace

Result<DataFolder> DataFolder::open(const std::string& path, IdSource& ids) {
    DataFolder folder;
    folder.path_ = path;
    TRY(make_folder(path));
    TRY(require_private_folder(path));
    TRY_ASSIGN(folder.lock_, take_lock(path));
    folder.thread_ = std::make_unique<FileThread>();
    TRY_ASSIGN(folder.seal_keys_, FileSealKeys::open(path, *folder.thread_));
    TRY_ASSIGN(folder.head_log_, FileHeadLog::open(path + "/heads.log", *folder.thread_));
    TRY_ASSIGN(folder.operator_token_, load_or_create_operator_token(path, ids));
    TRY(close_files(path));  // After the keys: one that others could read is refused, not mended.
    return folder;
}

std::optional<std::string> holder_of(const std::string& data_folder) {
    const std::string path = data_folder + "/LOCK";
    const FileDescriptor lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock.is_open() || flock(lock.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        return std::nullopt;
    }
    const Result<std::string> holder = read_small_file(path, kSmallFileBytesMax);
    return std::string(holder ? trim(*holder) : std::string_view("unknown"));
}

Result<SecretString> read_operator_token(const std::string& data_folder) {
    const std::string path = data_folder + "/operator.token";
    TRY_ASSIGN(std::optional<SecretString> token, read_private_file(path));
    if (!token) {
        return fail(
            errors::not_found,
            path + " does not exist",
            "Start the server on this data folder once; it makes the token.");
    }
    return *std::move(token);
}

}  // namespace interlock
