// Latencies of one run and what is said about them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace interlock {

struct LatencySummary {
    std::int64_t p50_us = 0;
    std::int64_t p99_us = 0;
    std::int64_t max_us = 0;
};

// The value below or at which `share` (0 to 1) of the sorted values lie; 0 without values.
inline std::int64_t percentile_of(const std::vector<std::int64_t>& sorted, double share) {
    if (sorted.empty()) {
        return 0;
    }
    const auto rank =
        static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
    return sorted[std::min(rank, sorted.size() - 1)];
}

inline LatencySummary summarize(std::vector<std::int64_t> latencies_us) {
    std::sort(latencies_us.begin(), latencies_us.end());
    return {
        .p50_us = percentile_of(latencies_us, 0.50),
        .p99_us = percentile_of(latencies_us, 0.99),
        .max_us = latencies_us.empty() ? 0 : latencies_us.back()};
}

// Of an even number the mean of the two in the middle; nothing is 0.
template <class T>
T median_of(std::vector<T> values) {
    if (values.empty()) {
        return T{};
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) {
        return *middle;
    }
    const T below = *std::max_element(values.begin(), middle);
    return below + (*middle - below) / 2;
}

}  // namespace interlock
