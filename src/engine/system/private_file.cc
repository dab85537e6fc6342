#include "engine/system/private_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/errors.h"
#include "base/text.h"
#include "engine/system/durable_file.h"

namespace interlock {

namespace {

constexpr mode_t kOthersMask = 077;

}  // namespace

std::unexpected<Error> open_to_others(const std::string& path, const std::string& mode) {
    return fail(
        errors::invalid_config,
        "other users of this machine may touch " + path,
        "Make sure nobody did, then run: chmod " + mode + " " + path);
}

Result<std::optional<SecretString>> read_private_file(const std::string& path) {
    struct stat found;
    if (stat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) {
            return std::nullopt;
        }
        return system_failure("look at", path);
    }
    if ((found.st_mode & kOthersMask) != 0) {
        return open_to_others(path, "600");
    }
    TRY_ASSIGN(std::string bytes, read_small_file(path, kPrivateFileBytesMax));
    SecretString line(std::string(trim(bytes)));
    wipe(bytes);
    return line;
}

Result<bool> create_private_file(const std::string& path, const SecretString& line) {
    std::string bytes(line.reveal());
    bytes += '\n';
    Result<bool> created = create_file_durably({.path = path, .bytes = bytes, .mode = 0600});
    wipe(bytes);
    return created;
}

}  // namespace interlock
