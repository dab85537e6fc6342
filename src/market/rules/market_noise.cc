#include "market/rules/market_noise.h"

#include <algorithm>

#include "base/check.h"
#include "market/rules/market_model.h"

namespace interlock {
namespace {

constexpr std::int64_t kLogOne = 1'000'000'000'000;
// The longest octave repeats its noise after 2^24 steps: about 48 days.
constexpr int kOctaves = 25;
// Octaves up to 2^10 steps, about four minutes, are what a regime makes wilder or calmer.
constexpr int kRegimeOctaves = 11;
constexpr std::int64_t kStepsPerHour = 3600 * kStepsPerSecond;

// What a year's volatility is divided by to get the height of the shortest octave: the root of the
// steps in a year, times the root of 16/3, which is what all octaves together add to its variance.
constexpr std::int64_t kYearToOctave = 25'943;

std::int64_t lattice_value(const PricePath& path, int octave, std::int64_t node) {
    const std::int64_t shortest = path.volatility_ppm * 1'000'000 / kYearToOctave;
    std::int64_t deviation = shortest << (octave / 2);
    if (octave % 2 == 1) {
        deviation = deviation * 1'414'214 / 1'000'000;
    }
    if (octave < kRegimeOctaves) {
        deviation = deviation * regime_permille(path.seed, node << octave) / 1000;
    }
    return bell(
        mix_bits(
            path.seed, static_cast<std::uint64_t>(octave) + 1, static_cast<std::uint64_t>(node)),
        deviation);
}

}  // namespace

std::int64_t bell(std::uint64_t bits, std::int64_t deviation) {
    // The sum of four uniform numbers of 16 bits; its deviation is 37,837.
    std::int64_t sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += static_cast<std::int64_t>((bits >> (16 * i)) & 0xFFFF) - 32'768;
    }
    return static_cast<std::int64_t>(static_cast<__int128>(sum) * deviation / 37'837);
}

std::int64_t regime_permille(std::uint64_t seed, std::int64_t step) {
    constexpr std::uint64_t kRegimeWord = 0x5245474D;
    const auto hour = static_cast<std::uint64_t>(step / kStepsPerHour);
    const std::int64_t draw = uniform(mix_bits(seed, kRegimeWord, hour), 0, 99);
    if (draw < 50) {
        return 700;
    }
    return draw < 88 ? 1000 : draw < 98 ? 2000 : 3200;
}

std::int64_t log_price_at(const PricePath& path, std::int64_t step) {
    std::int64_t log = 0;
    for (int octave = 0; octave < kOctaves; ++octave) {
        const std::int64_t node = step >> octave;
        const std::int64_t into = step - (node << octave);
        const std::int64_t from = lattice_value(path, octave, node);
        if (into == 0) {
            log += from;
            continue;
        }
        const std::int64_t to = lattice_value(path, octave, node + 1);
        log +=
            from + static_cast<std::int64_t>((static_cast<__int128>(to - from) * into) >> octave);
    }
    return std::clamp(log, -kLogOne, kLogOne);
}

std::int64_t scale_by_log(std::int64_t value, std::int64_t log) {
    CHECK(log >= -kLogOne && log <= kLogOne);
    // The series of e^x; with |x| at most 1 the terms after the 14th are below the last digit.
    __int128 term = kLogOne;
    __int128 sum = kLogOne;
    for (int i = 1; i <= 15 && term != 0; ++i) {
        term = term * log / kLogOne / i;
        sum += term;
    }
    return static_cast<std::int64_t>(value * sum / kLogOne);
}

}  // namespace interlock
