#include "bots/files/file_pnl_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/errors.h"
#include "engine/system/durable_file.h"

namespace interlock {
namespace {

constexpr std::string_view kOlder = ".1";
constexpr std::string_view kTrades = ".trades";

// What a crash left of a line without its end is nobody's result.
Result<std::size_t> end_of_last_line(int fd, const std::string& path) {
    struct stat found;
    if (fstat(fd, &found) != 0) {
        return system_failure("look at", path);
    }
    auto size = static_cast<std::size_t>(found.st_size);
    while (size > 0) {
        char last = 0;
        if (pread(fd, &last, 1, static_cast<off_t>(size - 1)) != 1) {
            return system_failure("read", path);
        }
        if (last == '\n') {
            break;
        }
        --size;
    }
    return size;
}

Result<std::string> whole_lines_of(const std::string& path, std::size_t bytes_max) {
    auto text = read_small_file(path, bytes_max);
    if (!text && text.error() == errors::not_found) {
        return std::string();
    }
    if (text) {
        text->resize(text->rfind('\n') + 1);  // npos + 1 is 0: not one whole line.
    }
    return text;
}

// Where the newest `lines_max` lines begin.
std::size_t start_of_tail(std::string_view text, std::size_t lines_max) {
    std::size_t at = text.size();
    for (std::size_t lines = 0; at > 0 && lines < lines_max; ++lines) {
        const std::size_t end_before = at < 2 ? std::string_view::npos : text.rfind('\n', at - 2);
        at = end_before == std::string_view::npos ? 0 : end_before + 1;
    }
    return at;
}

}  // namespace

Result<FilePnlLog> FilePnlLog::open(const std::string& folder, std::size_t bytes_max) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_failure("create", folder);
    }
    return FilePnlLog(folder, bytes_max);
}

Result<std::string> FilePnlLog::path_of(const TenantId& tenant_id, std::string_view ending) const {
    if (!is_tenant_text(tenant_id.text())) {
        return fail(errors::invalid_request, "there is no PnL log of such a tenant");
    }
    return folder_ + "/" + tenant_id.text() + std::string(ending);
}

Result<void> FilePnlLog::append(const TenantId& tenant_id, std::string_view line) {
    if (line.size() + 1 > std::min(kPnlLineBytesMax, bytes_max_)) {
        return fail(errors::body_too_large, "a line of the PnL log is too long");
    }
    if (line.find('\n') != std::string_view::npos) {
        return fail(errors::invalid_request, "a line of the PnL log holds a line end");
    }
    TRY_ASSIGN(const std::string path, path_of(tenant_id));
    const std::string bytes = std::string(line) + "\n";
    const std::lock_guard lock(mutex_);
    const auto open_file = [&] {
        return FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    };
    FileDescriptor fd = open_file();
    if (!fd.is_open()) {
        return system_failure("open", path);
    }
    TRY_ASSIGN(std::size_t size, end_of_last_line(fd.get(), path));
    if (size + bytes.size() > bytes_max_) {
        if (std::rename(path.c_str(), (path + std::string(kOlder)).c_str()) != 0) {
            return system_failure("rotate", path);
        }
        fd = open_file();
        size = 0;
        if (!fd.is_open()) {
            return system_failure("open", path);
        }
    }
    const auto end = static_cast<off_t>(size);
    if (ftruncate(fd.get(), end) != 0 ||
        pwrite(fd.get(), bytes.data(), bytes.size(), end) != static_cast<ssize_t>(bytes.size())) {
        return system_failure("write", path);
    }
    return {};
}

Result<std::string> FilePnlLog::tail(const TenantId& tenant_id, std::size_t lines_max) {
    TRY_ASSIGN(const std::string path, path_of(tenant_id));
    const std::size_t wanted = std::min(lines_max, kPnlTailLinesMax);
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(std::string text, whole_lines_of(path, bytes_max_));
    if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < wanted) {
        TRY_ASSIGN(std::string older, whole_lines_of(path + std::string(kOlder), bytes_max_));
        text = std::move(older) + text;
    }
    return text.substr(start_of_tail(text, wanted));
}

Result<std::string> FilePnlLog::read_trades(
    const TenantId& tenant_id, std::size_t offset, std::size_t bytes_max) {
    TRY_ASSIGN(const std::string path, path_of(tenant_id, kTrades));
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open()) {
        return errno == ENOENT ? Result<std::string>(std::string()) : system_failure("open", path);
    }
    std::string text(bytes_max, '\0');
    const ssize_t got = pread(fd.get(), text.data(), text.size(), static_cast<off_t>(offset));
    if (got < 0) {
        return system_failure("read", path);
    }
    text.resize(static_cast<std::size_t>(got));
    return text;
}

Result<void> FilePnlLog::write_trades(
    const TenantId& tenant_id, std::size_t offset, std::string_view text) {
    TRY_ASSIGN(const std::string path, path_of(tenant_id, kTrades));
    const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const auto at = static_cast<off_t>(offset);
    if (!fd.is_open() || ftruncate(fd.get(), at) != 0 ||
        pwrite(fd.get(), text.data(), text.size(), at) != static_cast<ssize_t>(text.size())) {
        return system_failure("write", path);
    }
    return {};
}

}  // namespace interlock
