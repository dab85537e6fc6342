#include "app/wiring/data_path.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/errors.h"

namespace interlock {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::string home_folder() {
    if (std::string home = variable("HOME"); !home.empty()) {
        return home;
    }
    // Services are often started without HOME.
    const passwd* user = getpwuid(getuid());
    return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : ".";
}

}  // namespace

std::string data_folder_of(const GlobalOptions& global) {
    if (!global.data.empty()) {
        return global.data;
    }
    if (std::string named = variable("INTERLOCK_DATA"); !named.empty()) {
        return named;
    }
    return default_data_folder();
}

std::string default_data_folder() {
    // The XDG rules say to ignore a relative path.
    if (const std::string data_home = variable("XDG_DATA_HOME"); data_home.starts_with('/')) {
        return data_home + "/interlock";
    }
    return home_folder() + "/.local/share/interlock";
}

bool is_demo_folder(const std::string& data_folder) {
    return !data_folder.empty() && access(demo_mark_path(data_folder).c_str(), F_OK) == 0;
}

Result<void> require_readable(
    const ErrorKind& kind, const std::string& what, const std::string& path) {
    if (access(path.c_str(), R_OK) == 0) {
        return {};
    }
    const int problem = errno;
    return fail(
        kind,
        what + " " + path + " cannot be read: " + std::strerror(problem) + ".",
        problem == ENOENT ? "Check its name." : "Check who may read it.");
}

}  // namespace interlock
