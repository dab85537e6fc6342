// Files of archived segments that live in memory, for tests and the simulator.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "engine/ports/segment_source.h"

namespace interlock {

class HeldSegments final : public SegmentSource {
public:
    Result<std::unique_ptr<std::istream>> open(const ArchivedSegment& segment) override {
        const auto found = files.find(segment.file);
        if (found == files.end()) {
            return std::unique_ptr<std::istream>();
        }
        return std::unique_ptr<std::istream>(std::make_unique<std::istringstream>(found->second));
    }
    std::optional<std::int64_t> bytes_of(const std::string& file) const {
        const auto found = files.find(file);
        return found == files.end() ? std::nullopt
                                    : std::optional<std::int64_t>(std::ssize(found->second));
    }

    std::map<std::string, std::string> files;  // Bytes by name.
};

}  // namespace interlock
