// The seals of `_system`, once more, outside the store: one line each, append-only. A store that
// was put back alone does not know the last of them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace interlock {

class HeadLog {
public:
    virtual ~HeadLog() = default;
    // Soon durable; never waits for a disk. A line that cannot be written is logged.
    virtual void append(std::string line) = 0;
    // All whole lines; one that a crash cut short is left out.
    virtual Result<std::vector<std::string>> read() = 0;
};

}  // namespace interlock
