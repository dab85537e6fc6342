// Where the files of archived segments are (ADR 0025).
#pragma once

#include <istream>
#include <memory>

#include "base/result.h"
#include "engine/rules/segment.h"

namespace interlock {

class SegmentSource {
public:
    virtual ~SegmentSource() = default;
    // Read from its beginning; null when it is not at hand.
    virtual Result<std::unique_ptr<std::istream>> open(const ArchivedSegment& segment) = 0;
};

}  // namespace interlock
