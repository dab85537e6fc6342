#include "bench/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {

Result<ScratchFolder> ScratchFolder::create(const std::string& parent) {
    std::string name = (parent.empty() ? "." : parent) + "/interlock_bench_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        return fail(
            errors::io_failed,
            "Cannot make a folder under " + (parent.empty() ? "." : parent) + ": " +
                std::generic_category().message(errno) + ".",
            "Name a folder that can be written with --data.");
    }
    // Absolute, because children that are started get it too.
    std::error_code ignored;
    const auto absolute = std::filesystem::canonical(name, ignored);
    return ScratchFolder(ignored ? name : absolute.string());
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

Result<std::string> ScratchFolder::make_folder(const std::string& name) const {
    std::string path = file(name);
    std::error_code error;
    std::filesystem::create_directory(path, error);
    if (error) {
        return fail(errors::io_failed, "Cannot make " + path + ": " + error.message() + ".");
    }
    return path;
}

ScratchFolder::~ScratchFolder() {
    if (!path_.empty()) {
        std::error_code ignored;  // What is left behind harms nobody.
        std::filesystem::remove_all(path_, ignored);
    }
}

}  // namespace interlock
