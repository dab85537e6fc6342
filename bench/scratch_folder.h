// A folder for one measurement, made beside the data it stands for so that both lie on the same
// disk, and removed when it goes.
#pragma once

#include <string>

#include "base/result.h"

namespace interlock {

class ScratchFolder {
public:
    // `parent` empty: the working directory.
    static Result<ScratchFolder> create(const std::string& parent);
    ScratchFolder(ScratchFolder&& other) noexcept;
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    // A new folder inside; its path.
    Result<std::string> make_folder(const std::string& name) const;

private:
    explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;  // Empty: moved from.
};

}  // namespace interlock
