// Leaves out of a list of steps whatever does not matter to a failure: chunks of them, large ones
// first, as long as it stays. Faults are steps like any other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace interlock::sim {

// Runs at most this many simulations; what there is then is good enough.
inline constexpr std::uint64_t kShrinkRunsMax = 400;

// `run` takes a list and gives back a shorter or equal one that still fails, or nothing. The number
// of runs is added to `runs`.
template <class Step, class Run>
std::vector<Step> shrink_steps(std::vector<Step> best, std::uint64_t& runs, Run&& run) {
    const auto remove_chunks = [&](std::size_t chunk) {
        bool removed = false;
        for (std::size_t at = 0; at < best.size() && runs < kShrinkRunsMax;) {
            std::vector<Step> without = best;
            const std::size_t end = std::min(at + chunk, without.size());
            without.erase(
                without.begin() + static_cast<std::ptrdiff_t>(at),
                without.begin() + static_cast<std::ptrdiff_t>(end));
            ++runs;
            if (auto shorter = run(std::move(without))) {
                best = *std::move(shorter);
                removed = true;
            } else {
                at += chunk;
            }
        }
        return removed;
    };
    bool removed = true;
    while (removed && runs < kShrinkRunsMax) {
        removed = false;
        for (std::size_t chunk = best.size() / 2; chunk > 0; chunk /= 2) {
            removed = remove_chunks(chunk) || removed;
        }
    }
    return best;
}

}  // namespace interlock::sim
