// The media folder as files of their owner only, named by their id. A file is written beside its
// place and moved there whole, so that nobody reads a half.
#pragma once

#include <string>

#include "relay/ports/media_folder.h"

namespace interlock {

class FileMediaFolder final : public MediaFolder {
public:
    // Makes the folder (0700) when it is missing.
    static Result<FileMediaFolder> open(std::string folder);

    Result<void> write(const std::string& id, std::string_view bytes) override;
    Result<std::string> read(const std::string& id) override;
    Result<void> remove(const std::string& id) override;
    Result<std::vector<std::string>> list() override;

private:
    explicit FileMediaFolder(std::string folder) : folder_(std::move(folder)) {}
    Result<std::string> path_of(const std::string& id) const;

    std::string folder_;
};

}  // namespace interlock
