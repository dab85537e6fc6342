#include "host/mail/file_mailer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "host/mail/mail_message.h"

namespace interlock {
namespace {

constexpr std::string_view kSuffix = ".eml";

std::unexpected<Error> cannot(std::string_view what, const std::string& path, int reason) {
    return fail(
        errors::io_failed,
        "cannot " + std::string(what) + " " + path + ": " +
            std::generic_category().message(reason));
}

// 0, or why it failed.
int write_and_sync(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
    }
    return ::fsync(fd) == 0 ? 0 : errno;
}

Result<void> sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && ::fsync(fd) == 0;
    const int reason = errno;
    if (fd >= 0) {
        ::close(fd);
    }
    if (!synced) {
        return cannot("sync", folder, reason);
    }
    return {};
}

// Beside its place first, so that a reader of the folder never finds half a letter.
Result<void> write_letter(const std::string& path, std::string_view bytes) {
    const std::string beside = path + ".part";
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return cannot("create", beside, errno);
    }
    int reason = write_and_sync(fd, bytes);
    ::close(fd);
    if (reason == 0 && std::rename(beside.c_str(), path.c_str()) != 0) {
        reason = errno;
    }
    if (reason != 0) {
        ::unlink(beside.c_str());
        return cannot("write", path, reason);
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<FileMailer>> FileMailer::open(Parts parts) {
    if (!is_mail_address(parts.from)) {
        return fail(errors::invalid_config, "mail.from must be one plain e-mail address");
    }
    if (::mkdir(parts.folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return cannot("create", parts.folder, errno);
    }
    return std::unique_ptr<FileMailer>(new FileMailer(std::move(parts)));
}

Result<std::size_t> FileMailer::count_files() const {
    std::size_t count = 0;
    std::error_code problem;
    std::filesystem::directory_iterator files(parts_.folder, problem);
    for (; !problem && files != std::filesystem::directory_iterator(); files.increment(problem)) {
        ++count;
    }
    if (problem) {
        return cannot("list", parts_.folder, problem.value());
    }
    return count;
}

Result<void> FileMailer::send(const Mail& mail) {
    TRY(check_mail(mail));
    const Timestamp now = parts_.clock.now();
    const std::string id = parts_.ids.new_id("mail");
    std::string name = to_text(now) + "_" + id + std::string(kSuffix);
    std::replace(name.begin(), name.end(), ':', '-');
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(const std::size_t files, count_files());
    if (files >= parts_.files_max) {
        return fail(
            errors::mail_unavailable,
            "the outbox " + parts_.folder + " is full",
            "Read or forward the letters in the outbox folder and remove them.");
    }
    TRY(write_letter(
        parts_.folder + "/" + name,
        compose_mail(mail, {.from = parts_.from, .id = id, .at = now})));
    return sync_folder(parts_.folder);
}

}  // namespace interlock
