// Finds a short list of steps that breaks the same promise as a long one.
//
// Chunks of steps are left out, large ones first, as long as the violation stays; faults are steps
// like any other, so those that do not matter go the same way.
#pragma once

#include <span>
#include <vector>

#include "sim/simulation.h"

namespace interlock::sim {

struct Shrunk {
    std::vector<Step> steps;
    Violation violation;
    std::uint64_t runs = 0;
};

// Runs at most this many simulations; what it has then is good enough.
inline constexpr std::uint64_t kShrinkRunsMax = 400;

// `broken` is the result of running `steps`; it must hold a violation.
Shrunk shrink(const RunConfig& config, std::span<const Step> steps, const RunResult& broken);

}  // namespace interlock::sim
