// A head log that lives with the process.
#pragma once

#include "engine/ports/head_log.h"

namespace interlock {

class MemoryHeadLog final : public HeadLog {
public:
    void append(std::string line) override { lines.push_back(std::move(line)); }
    Result<std::vector<std::string>> read() override { return lines; }

    std::vector<std::string> lines;
};

}  // namespace interlock
