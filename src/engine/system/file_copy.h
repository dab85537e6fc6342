// Copies files for backups: hashed on the way, durable at the end, readable by their owner alone.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/system/durable_file.h"

namespace interlock {

struct FileDigest {
    std::int64_t bytes = 0;
    std::string sha256;  // Hex.
    friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

Result<FileDigest> digest_file(const std::string& path);

// The first `bytes` of an open file, or all that there is when it is shorter.
struct FilePart {
    int descriptor = -1;
    std::int64_t bytes = INT64_MAX;
    std::string name;  // For messages.
};
// `to` must not exist. Mode 0600.
Result<FileDigest> copy_part(const FilePart& from, const std::string& to);
Result<FileDigest> copy_whole(const std::string& from, const std::string& to);

}  // namespace interlock
