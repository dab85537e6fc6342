#include "app/demo/demo_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "app/wiring/data_path.h"
#include "base/errors.h"
#include "engine/system/data_folder.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::size_t kMarkBytesMax = 8192;

// What the mark says: a copy of the folder is no demo's any more.
Result<std::string> mark_of(const std::string& path) {
    std::error_code problem;
    const std::filesystem::path place = std::filesystem::canonical(path, problem);
    if (problem) {
        return fail(errors::io_failed, "cannot find " + path + ": " + problem.message());
    }
    return place.string() + "\nThe demo's own: emptied whenever `interlock demo` starts here.\n";
}

Error not_ours(const std::string& path) {
    return fail(
               errors::conflict,
               path + " holds other data than this demo's, so the demo leaves it alone",
               "Name a new or empty folder with --data, or serve this one: interlock serve.")
        .error();
}

Result<bool> is_ours(const std::string& path) {
    TRY_ASSIGN(const std::string mark, mark_of(path));
    const auto found = read_small_file(demo_mark_path(path), kMarkBytesMax);
    return found && *found == mark;
}

Result<void> empty_folder(const std::string& path) {
    // Held while things go, so that no server begins on a folder that is half there.
    const std::string lock = lock_path(path);
    const FileDescriptor held(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!held.is_open() || flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
        return fail(
            errors::conflict,
            "the demo's folder " + path + " is in use by process " +
                holder_of(path).value_or("(unknown)"),
            "Stop that demo, or give this one a folder of its own with --data.");
    }
    std::error_code problem;
    std::filesystem::directory_iterator entries(path, problem);
    for (; !problem && entries != std::filesystem::directory_iterator();
         entries.increment(problem)) {
        const std::filesystem::path& entry = entries->path();
        if (entry != lock && entry != demo_mark_path(path)) {
            std::filesystem::remove_all(entry, problem);  // A link goes, not what it points to.
        }
        if (problem) {
            break;
        }
    }
    if (problem) {
        return fail(errors::io_failed, "cannot empty " + path + ": " + problem.message());
    }
    return {};
}

}  // namespace

std::string default_demo_folder() {
    return default_data_folder() + "-demo";
}

Result<void> prepare_demo_folder(const std::string& path, DemoBefore before) {
    std::error_code problem;
    std::filesystem::create_directories(path, problem);
    if (problem) {
        return fail(errors::io_failed, "cannot create " + path + ": " + problem.message());
    }
    struct stat found;
    if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid()) {
        return std::unexpected(not_ours(path));
    }
    TRY_ASSIGN(const bool ours, is_ours(path));
    if (ours) {
        return before == DemoBefore::keep ? Result<void>() : empty_folder(path);
    }
    const bool is_empty = std::filesystem::is_empty(path, problem);
    if (problem || !is_empty || chmod(path.c_str(), 0700) != 0) {
        return std::unexpected(not_ours(path));
    }
    TRY_ASSIGN(std::string mark, mark_of(path));
    TRY(create_file_durably(
        {.path = demo_mark_path(path), .bytes = std::move(mark), .mode = 0600}));
    return {};
}

}  // namespace interlock
