// Seeded noise in whole numbers: what makes the synthetic market move. The same on every machine,
// because nothing here rounds differently anywhere.
#pragma once

#include <cstdint>

namespace interlock {

// Well-spread 64 bits of three numbers.
constexpr std::uint64_t mix_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = seed ^ (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu);
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    return z ^ (z >> 32);
}

// Uniform in [low, high], both included.
constexpr std::int64_t uniform(std::uint64_t bits, std::int64_t low, std::int64_t high) {
    const auto width = static_cast<unsigned __int128>(high - low + 1);
    return low + static_cast<std::int64_t>((width * bits) >> 64);
}

// About normal with mean 0 and the standard deviation asked for; never beyond 3.5 of them.
std::int64_t bell(std::uint64_t bits, std::int64_t deviation);

// How wild a market is at a time: a factor in thousandths for each hour, 1000 in the mean.
std::int64_t regime_permille(std::uint64_t seed, std::int64_t step);

struct PricePath {
    std::uint64_t seed = 0;
    std::int64_t volatility_ppm = 500'000;  // A year's, in millionths: 500,000 is 50 %.
};
// The logarithm of the price against its anchor, times 10^12. Octaves of noise, each twice as long
// and √2 as high as the one before: over minutes it wanders like a random walk of that volatility,
// over months it stays within about a third of the anchor. Knowing a step needs no other step.
std::int64_t log_price_at(const PricePath& path, std::int64_t step);

// value × e^(log / 10^12), rounded down; |log| is at most 10^12.
std::int64_t scale_by_log(std::int64_t value, std::int64_t log);

}  // namespace interlock
