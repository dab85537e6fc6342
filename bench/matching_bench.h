// How fast the matching engine is by itself: seeded streams of orders, one thread, events counted
// and thrown away.
//
// Rates come from passes over the whole stream with two readings of the clock in all. Times of
// single calls come from one more pass with two readings around each call, whose own cost is given
// beside them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "bench/matching_flow.h"
#include "bench/spread.h"

namespace interlock {

struct MatchingBenchOptions {
    std::vector<MatchingMix> mixes{kMatchingMixes.begin(), kMatchingMixes.end()};
    std::size_t calls = 1'000'000;
    int rounds = 5;  // The median is reported.
    std::uint64_t seed = 1;
};

inline constexpr std::size_t kMatchingCallKinds = 3;  // As in MatchingCall::Kind.
inline constexpr std::size_t kBookRefusals = static_cast<std::size_t>(BookRefusal::levels_full) + 1;

// How often each kind of call was refused for each reason. A sender that cancels what was filled
// meanwhile is refused, as at a venue; such a call is cheaper than one that finds its order.
using RefusalCounts = std::array<std::array<std::int64_t, kBookRefusals>, kMatchingCallKinds>;

struct MatchingRow {
    std::string_view mix;
    std::int64_t calls = 0;
    double calls_per_s = 0;  // Refused ones are among them.
    std::int64_t p50_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t p999_ns = 0;
    std::int64_t max_ns = 0;
    std::int64_t clock_ns = 0;  // What two readings of the clock cost; part of the four above.
    std::int64_t trades = 0;
    std::int64_t refused = 0;
    RefusalCounts refusals = {};
    std::int64_t resting_most = 0;
    std::int64_t levels_most = 0;
    // Of all events: equal for equal mix, calls and seed, whatever the machine.
    std::uint64_t fingerprint = 0;
    Spreads spreads = {};
};

// Calls `done` with each row as it is ready.
void run_matching_bench(
    const MatchingBenchOptions& options, const std::function<void(const MatchingRow&)>& done);

Json encode(const MatchingRow& row);
std::string to_table(const std::vector<MatchingRow>& rows);

}  // namespace interlock
