#include "engine/system/file_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/sha256_stream.h"

namespace interlock {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Result<void> write_all(int file, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(file, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return system_failure("write", path);
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

// Reads what is wanted, hashes it and, with a file to write to, writes it.
Result<FileDigest> pass(const FilePart& from, int to, const std::string& to_path) {
    std::vector<char> piece(kPieceBytes);
    Sha256Stream hash;
    FileDigest digest;
    while (digest.bytes < from.bytes) {
        const auto wanted = std::min<std::int64_t>(
            from.bytes - digest.bytes, static_cast<std::int64_t>(piece.size()));
        const ssize_t got =
            pread(from.descriptor, piece.data(), static_cast<std::size_t>(wanted), digest.bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return system_failure("read", from.name);
        }
        if (got == 0) {
            break;
        }
        const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
        hash.add(bytes);
        if (to >= 0) {
            TRY(write_all(to, bytes, to_path));
        }
        digest.bytes += got;
    }
    digest.sha256 = hash.finish_hex();
    return digest;
}

Result<FileDescriptor> open_to_read(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
        return system_failure("read", path);
    }
    return file;
}

}  // namespace

Result<FileDigest> digest_file(const std::string& path) {
    TRY_ASSIGN(const FileDescriptor file, open_to_read(path));
    return pass({.descriptor = file.get(), .name = path}, -1, {});
}

Result<FileDigest> copy_part(const FilePart& from, const std::string& to) {
    const FileDescriptor copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!copy.is_open()) {
        return system_failure("create", to);
    }
    TRY_ASSIGN(FileDigest digest, pass(from, copy.get(), to));
    if (fsync(copy.get()) != 0) {
        return system_failure("sync", to);
    }
    return digest;
}

Result<FileDigest> copy_whole(const std::string& from, const std::string& to) {
    TRY_ASSIGN(const FileDescriptor file, open_to_read(from));
    return copy_part({.descriptor = file.get(), .name = from}, to);
}

}  // namespace interlock
