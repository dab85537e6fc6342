// Small files that only their owner may read: keys and tokens, one line of text each.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret_string.h"

namespace interlock {

inline constexpr std::size_t kPrivateFileBytesMax = 4096;

// That other users may touch it; `mode` is what it should have.
std::unexpected<Error> open_to_others(const std::string& path, const std::string& mode);

// The line without its end; nothing when there is no such file. Refuses one that others may touch.
Result<std::optional<SecretString>> read_private_file(const std::string& path);

// Durable and whole, mode 0600. False when a file was there already; it is left as it is.
Result<bool> create_private_file(const std::string& path, const SecretString& line);

}  // namespace interlock
