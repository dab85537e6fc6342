// A file that gets each line appended and synced: best on another machine's disk, or with the
// append-only attribute. Opened anew for each line, so that a mount may come and go. The folder it
// lies in must be there: a name on a mount that is missing is a failure, not a new file elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/ports/witness.h"

namespace interlock {

// A file of lines is read no further than this; longer ones are refused.
inline constexpr std::size_t kWitnessBytesMax = std::size_t{256} * 1024 * 1024;

class FileWitness final : public Witness {
public:
    explicit FileWitness(std::string path) : path_(std::move(path)) {}

    std::string name() const override { return "file " + path_; }
    Result<std::optional<WitnessedHead>> newest() override;
    Result<void> push(const WitnessedHead& head) override;

private:
    const std::string path_;
};

}  // namespace interlock
