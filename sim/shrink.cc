#include "sim/shrink.h"

#include <optional>

#include "base/check.h"

namespace interlock::sim {
namespace {

RunResult run_quietly(RunConfig config, std::span<const Step> steps) {
    config.trace = nullptr;
    return run_simulation(config, steps);
}

RelayRunResult run_quietly(RelayRunConfig config, std::span<const RelayStep> steps) {
    config.trace = nullptr;
    return run_relay_simulation(config, steps);
}

template <class Found, class Config, class OneStep, class Ran>
Found shrink_run(const Config& config, std::span<const OneStep> steps, const Ran& broken) {
    CHECK(broken.violation.has_value());
    const std::span<const OneStep> done = steps.first(broken.steps_done);
    Found found{{}, *broken.violation, 0};
    const auto still_breaks = [&](std::vector<OneStep> without) {
        const Ran result = run_quietly(config, without);
        std::optional<std::vector<OneStep>> shorter;
        if (result.violation && result.violation->invariant == found.violation.invariant) {
            found.violation = *result.violation;
            without.resize(result.steps_done);
            shorter = std::move(without);
        }
        return shorter;
    };
    found.steps =
        shrink_steps(std::vector<OneStep>(done.begin(), done.end()), found.runs, still_breaks);
    return found;
}

}  // namespace

Shrunk shrink(const RunConfig& config, std::span<const Step> steps, const RunResult& broken) {
    return shrink_run<Shrunk>(config, steps, broken);
}

RelayShrunk shrink(
    const RelayRunConfig& config, std::span<const RelayStep> steps, const RelayRunResult& broken) {
    return shrink_run<RelayShrunk>(config, steps, broken);
}

}  // namespace interlock::sim
