// `heads.log`: the seals of `_system`, one JSON line each, appended and synced on a thread of its
// own. A line that a crash cut short is cut off at the next open.
#pragma once

#include <memory>
#include <string>

#include "engine/ports/head_log.h"
#include "engine/system/durable_file.h"
#include "engine/system/file_thread.h"

namespace interlock {

class FileHeadLog final : public HeadLog {
public:
    // `thread` outlives it.
    static Result<std::unique_ptr<FileHeadLog>> open(const std::string& path, FileThread& thread);

    void append(std::string line) override;
    Result<std::vector<std::string>> read() override;

private:
    FileHeadLog(std::string path, FileThread& thread) : path_(std::move(path)), thread_(thread) {}

    std::string path_;
    FileThread& thread_;
    FileDescriptor file_;
};

// The whole lines of a head log; none when there is no file.
Result<std::vector<std::string>> read_head_log(const std::string& path);

}  // namespace interlock
