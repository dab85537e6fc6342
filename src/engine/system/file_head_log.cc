#include "engine/system/file_head_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

// What stands behind the last newline was never whole.
Result<std::string> whole_part(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return fail(errors::not_found, path + " does not exist");
    }
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (file.bad()) {
        return system_failure("read", path);
    }
    std::string text = std::move(bytes).str();
    const std::size_t end = text.rfind('\n');
    text.resize(end == std::string::npos ? 0 : end + 1);
    return text;
}

}  // namespace

Result<std::unique_ptr<FileHeadLog>> FileHeadLog::open(
    const std::string& path, FileThread& thread) {
    std::unique_ptr<FileHeadLog> log(new FileHeadLog(path, thread));
    log->file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!log->file_.is_open()) {
        return system_failure("open", path);
    }
    TRY_ASSIGN(const std::string whole, whole_part(path));
    if (ftruncate(log->file_.get(), static_cast<off_t>(whole.size())) != 0 ||
        lseek(log->file_.get(), 0, SEEK_END) < 0) {
        return system_failure("open", path);
    }
    TRY(sync_folder(std::filesystem::path(path).parent_path().string()));
    return log;
}

void FileHeadLog::append(std::string line) {
    line += '\n';
    thread_.run([this, line = std::move(line)] {
        const auto written = write(file_.get(), line.data(), line.size());
        if (written != static_cast<ssize_t>(line.size()) || fdatasync(file_.get()) != 0) {
            const auto error = system_failure("write", path_).error();
            log_error("head_log_failed", {{"message", error.message}});
        }
    });
}

Result<std::vector<std::string>> FileHeadLog::read() {
    thread_.drain();
    return read_head_log(path_);
}

Result<std::vector<std::string>> read_head_log(const std::string& path) {
    auto text = whole_part(path);
    if (!text && text.error() == errors::not_found) {
        return std::vector<std::string>();
    }
    if (!text) {
        return std::unexpected(text.error());
    }
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = text->find('\n', begin);
        lines.push_back(text->substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace interlock
