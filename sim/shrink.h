// Finds a short list of steps that breaks the same promise as a long one.
#pragma once

#include <span>
#include <vector>

#include "sim/relay_simulation.h"
#include "sim/shrink_steps.h"
#include "sim/simulation.h"

namespace interlock::sim {

struct Shrunk {
    std::vector<Step> steps;
    Violation violation;
    std::uint64_t runs = 0;
};
struct RelayShrunk {
    std::vector<RelayStep> steps;
    Violation violation;
    std::uint64_t runs = 0;
};

// `broken` is the result of running `steps`; it must hold a violation.
Shrunk shrink(const RunConfig& config, std::span<const Step> steps, const RunResult& broken);
RelayShrunk shrink(
    const RelayRunConfig& config, std::span<const RelayStep> steps, const RelayRunResult& broken);

}  // namespace interlock::sim
