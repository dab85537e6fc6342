#include "sim/shrink.h"

#include <algorithm>

#include "base/check.h"

namespace interlock::sim {
namespace {

class Shrinker {
public:
    Shrinker(const RunConfig& config, Shrunk start) : config_(config), best_(std::move(start)) {
        config_.trace = nullptr;
    }

    Shrunk run() {
        bool removed = true;
        while (removed && best_.runs < kShrinkRunsMax) {
            removed = false;
            for (std::size_t chunk = best_.steps.size() / 2; chunk > 0; chunk /= 2) {
                removed = remove_chunks(chunk) || removed;
            }
        }
        return std::move(best_);
    }

private:
    // One pass over the list, leaving out each chunk that does not matter.
    bool remove_chunks(std::size_t chunk) {
        bool removed = false;
        for (std::size_t at = 0; at < best_.steps.size() && best_.runs < kShrinkRunsMax;) {
            std::vector<Step> without = best_.steps;
            const std::size_t end = std::min(at + chunk, without.size());
            without.erase(
                without.begin() + static_cast<std::ptrdiff_t>(at),
                without.begin() + static_cast<std::ptrdiff_t>(end));
            if (still_breaks(std::move(without))) {
                removed = true;
            } else {
                at += chunk;
            }
        }
        return removed;
    }

    bool still_breaks(std::vector<Step> steps) {
        ++best_.runs;
        const RunResult result = run_simulation(config_, steps);
        if (!result.violation || result.violation->invariant != best_.violation.invariant) {
            return false;
        }
        steps.resize(result.steps_done);
        best_.steps = std::move(steps);
        best_.violation = *result.violation;
        return true;
    }

    RunConfig config_;
    Shrunk best_;
};

}  // namespace

Shrunk shrink(const RunConfig& config, std::span<const Step> steps, const RunResult& broken) {
    CHECK(broken.violation.has_value());
    const std::span<const Step> done = steps.first(broken.steps_done);
    return Shrinker(config, {{done.begin(), done.end()}, *broken.violation, 0}).run();
}

}  // namespace interlock::sim
