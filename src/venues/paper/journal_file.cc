#include "venues/paper/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr std::string_view kLastKey = "last";

std::unexpected<Error> system_failure(std::string_view what, const std::string& path) {
    return fail(
        errors::io_failed,
        "Cannot " + std::string(what) + " " + path + ": " + std::generic_category().message(errno) +
            ".");
}

std::string text_of(std::vector<Json>& batch) {
    batch.back().set(std::string(kLastKey), true);
    std::string text;
    for (const Json& line : batch) {
        text += to_text(line);
        text += '\n';
    }
    return text;
}

Result<void> write_at(int descriptor, std::string_view text, std::int64_t at) {
    while (!text.empty()) {
        const ssize_t put = ::pwrite(descriptor, text.data(), text.size(), at);
        if (put < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail(errors::io_failed, std::generic_category().message(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(put));
        at += put;
    }
    return {};
}

Result<int> open_locked(const std::string& path, int more_flags) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | more_flags, 0600);
    if (descriptor < 0) {
        return system_failure("open", path);
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const bool is_taken = errno == EWOULDBLOCK;
        auto failure = system_failure("lock", path);
        ::close(descriptor);
        if (is_taken) {
            return fail(
                errors::invalid_config,
                "Another process writes the journal " + path + ".",
                "Stop that process, or choose another data folder.");
        }
        return failure;
    }
    return descriptor;
}

Result<void> sync_folder_of(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return system_failure("open", folder);
    }
    const bool synced = ::fsync(descriptor) == 0;
    auto failure = system_failure("sync", folder);
    ::close(descriptor);
    if (!synced) {
        return failure;
    }
    return {};
}

}  // namespace

JournalFile::~JournalFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(
    const std::string& path, const Reader& reader) {
    std::unique_ptr<JournalFile> file(new JournalFile(path));
    TRY_ASSIGN(file->descriptor_, open_locked(path, 0));
    TRY(sync_folder_of(path));
    TRY(file->load(reader));
    return file;
}

Result<void> JournalFile::load(const Reader& reader) {
    std::vector<char> bytes(kReadBytes);
    std::string rest;
    while (true) {
        const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
        if (got < 0) {
            return system_failure("read", path_);
        }
        if (got == 0) {
            break;
        }
        rest.append(bytes.data(), static_cast<std::size_t>(got));
        TRY(take_lines(rest, reader));
    }
    pending_.clear();
    if (::ftruncate(descriptor_, size_) != 0) {
        return system_failure("cut", path_);
    }
    synced_ = 0;
    return {};
}

Result<void> JournalFile::take_lines(std::string& rest, const Reader& reader) {
    const auto broken = [&](const Error& error) {
        return fail(
            errors::corrupt_data,
            "Line " + std::to_string(line_no_) + " of " + path_ + ": " + error.message,
            "Keep the file for inspection and start on an empty journal.");
    };
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos;) {
        ++line_no_;
        auto line = parse_json(std::string_view(rest).substr(begin, end - begin));
        if (!line) {
            return broken(line.error());
        }
        pending_size_ += static_cast<std::int64_t>(end + 1 - begin);
        begin = end + 1;
        const bool is_last = line->find(kLastKey) != nullptr;
        pending_.push_back(*std::move(line));
        if (!is_last) {
            continue;
        }
        for (const Json& whole : pending_) {
            if (const auto taken = reader(whole); !taken) {
                return broken(taken.error());
            }
        }
        pending_.clear();
        size_ += std::exchange(pending_size_, 0);
    }
    rest.erase(0, begin);
    if (rest.size() > kJournalLineBytesMax) {
        ++line_no_;
        return broken(Error{&errors::corrupt_data, "The line has no end.", {}, {}});
    }
    return {};
}

Result<void> JournalFile::append(std::vector<Json>& batch) {
    if (batch.empty()) {
        return {};
    }
    const std::string text = text_of(batch);
    batch.clear();
    if (const auto written = write_at(descriptor_, text, size_); !written) {
        // The next batch would be written over what is there of this one.
        return fail(errors::io_failed, "Cannot write " + path_ + ": " + written.error().message);
    }
    size_ += static_cast<std::int64_t>(text.size());
    return {};
}

Result<void> JournalFile::replace(std::vector<Json>& batch) {
    const std::string fresh = path_ + ".new";
    TRY_ASSIGN(const int descriptor, open_locked(fresh, O_TRUNC));
    const std::string text = batch.empty() ? std::string() : text_of(batch);
    batch.clear();
    const bool written = write_at(descriptor, text, 0).has_value() &&
                         ::fdatasync(descriptor) == 0 &&
                         ::rename(fresh.c_str(), path_.c_str()) == 0;
    if (!written) {
        auto failure = system_failure("rewrite", path_);
        ::close(descriptor);
        return failure;
    }
    const std::lock_guard lock(sync_mutex_);
    ::close(std::exchange(descriptor_, descriptor));
    size_ = static_cast<std::int64_t>(text.size());
    synced_ = size_;
    return sync_folder_of(path_);
}

Result<void> JournalFile::sync(std::int64_t size) {
    const std::lock_guard lock(sync_mutex_);
    if (synced_ >= size) {
        return {};
    }
    // One sync serves everyone whose lines are there by now.
    const std::int64_t written = size_.load();
    if (::fdatasync(descriptor_) != 0) {
        return system_failure("sync", path_);
    }
    synced_ = written;
    return {};
}

}  // namespace interlock
