// The file `KILL` in the data folder: anything of that name stops the plane, whoever put it there
// and however, so that `touch KILL` works when nothing else does (S13).
#pragma once

#include <cstddef>
#include <string>

#include "ports/kill_flag.h"

namespace interlock {

inline constexpr std::size_t kKillReasonBytesMax = 500;

class FileKillFlag final : public KillFlag {
public:
    explicit FileKillFlag(const std::string& data_folder);

    bool is_raised() override;
    std::string reason() override;
    // A flag that is up already keeps its first reason.
    Result<void> raise(std::string_view reason) override;
    Result<void> lower() override;

private:
    std::string folder_;
    std::string path_;
};

}  // namespace interlock
