// The file `KILL` in the data folder: anything of that name stops the plane, whoever put it there
// and however, so that `touch KILL` works when nothing else does.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/ports/kill_flag.h"
#include "engine/system/durable_file.h"

namespace interlock {

inline constexpr std::size_t kKillReasonBytesMax = 500;
inline constexpr std::size_t kBallastBytes = std::size_t{1} << 20;

class FileKillFlag final : public KillFlag {
public:
    using CreateFile = std::function<Result<bool>(const NewFile&)>;
    explicit FileKillFlag(const std::string& data_folder, CreateFile create = create_file_durably);

    // Sets room aside that a full disk cannot take: it is given up when the flag is raised and its
    // reason finds no place otherwise, and taken again when the flag is lowered.
    Result<void> keep_ballast();

    bool is_raised() override;
    std::string reason() override;
    // A flag that is up already keeps its first reason.
    Result<void> raise(std::string_view reason) override;
    Result<void> lower() override;

private:
    std::string folder_;
    std::string path_;
    std::string ballast_path_;
    CreateFile create_;
};

}  // namespace interlock
