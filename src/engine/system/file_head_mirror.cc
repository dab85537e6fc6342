#include "engine/system/file_head_mirror.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {

namespace {

constexpr std::size_t kSeqDigits = 19;  // As many as the largest seq has.
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kHeadBytes = kSeqDigits + 1 + kHashDigits + 1;
constexpr std::string_view kSuffix = ".head";

std::optional<LedgerHead> parse_head(std::string_view text) {
    if (text.size() != kHeadBytes || text[kSeqDigits] != ' ' || text.back() != '\n') {
        return std::nullopt;
    }
    LedgerHead head;
    const char* const end = text.data() + kSeqDigits;
    const auto [stopped, problem] = std::from_chars(text.data(), end, head.seq);
    if (problem != std::errc() || stopped != end || head.seq < 1) {
        return std::nullopt;
    }
    head.hash = text.substr(kSeqDigits + 1, kHashDigits);
    const bool hex = head.hash.find_first_not_of("0123456789abcdef") == std::string::npos;
    return hex ? std::optional(head) : std::nullopt;
}

// What a power cut leaves of a file that was never synced.
bool is_blank(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\0'; });
}

}  // namespace

Result<FileHeadMirror> FileHeadMirror::open(const std::string& folder) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_failure("create", folder);
    }
    return FileHeadMirror(folder);
}

void FileHeadMirror::publish(const std::map<TenantId, LedgerHead>& changed) {
    for (const auto& [tenant_id, head] : changed) {
        if (write_head(tenant_id, head)) {
            failing_ = false;
        } else if (!failing_) {
            failing_ = true;
            log_warn("head_mirror_failed", {{"why", Json(std::strerror(errno))}});
        }
    }
}

bool FileHeadMirror::write_head(const TenantId& tenant_id, const LedgerHead& head) {
    if (head.seq < 1 || head.hash.size() != kHashDigits) {
        errno = EINVAL;  // No head of a record; the file keeps what it had.
        return false;
    }
    auto file = files_.find(tenant_id);
    if (file == files_.end()) {
        const std::string path = folder_ + "/" + tenant_id.text() + std::string(kSuffix);
        FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        if (!fd.is_open()) {
            return false;
        }
        if (files_.size() >= kHeadFilesOpenMax) {
            files_.erase(files_.begin());
        }
        file = files_.emplace(tenant_id, std::move(fd)).first;
    }
    std::array<char, kHeadBytes + 1> text;  // And the terminator that snprintf writes.
    std::snprintf(
        text.data(),
        text.size(),
        "%0*lld %s\n",
        static_cast<int>(kSeqDigits),
        static_cast<long long>(head.seq),
        head.hash.c_str());
    const ssize_t written = pwrite(file->second.get(), text.data(), kHeadBytes, 0);
    return written == static_cast<ssize_t>(kHeadBytes);
}

Result<std::map<TenantId, LedgerHead>> FileHeadMirror::load() {
    std::map<TenantId, LedgerHead> heads;
    std::error_code problem;
    std::filesystem::directory_iterator files(folder_, problem);
    for (; !problem && files != std::filesystem::directory_iterator(); files.increment(problem)) {
        const std::string name = files->path().filename().string();
        if (!name.ends_with(kSuffix)) {
            continue;
        }
        TRY_ASSIGN(const std::string text, read_small_file(files->path().string(), kHeadBytes));
        if (is_blank(text)) {
            continue;
        }
        // One tenant's file must not keep the server of all from starting.
        heads.emplace(
            TenantId::trusted(name.substr(0, name.size() - kSuffix.size())),
            parse_head(text).value_or(LedgerHead{kUnreadableHead, {}}));
    }
    if (problem) {
        return fail(errors::io_failed, "cannot list " + folder_ + ": " + problem.message());
    }
    return heads;
}

}  // namespace interlock
