// Where all chance, time and names of a simulation come from: numbers that follow from a seed.
//
// A SeededRandom made from the same number gives the same sequence on every machine; nothing here
// reads a clock or the operating system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_string.h"
#include "base/time.h"
#include "engine/ports/clock.h"
#include "engine/ports/id_source.h"

namespace interlock::sim {

// SplitMix64: tiny, fast, and good enough to choose faults with.
class SeededRandom {
public:
    explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next();
    // In [0, bound); `bound` must not be 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    bool chance(std::uint64_t in_thousand) { return below(1000) < in_thousand; }
    template <class T>
    const T& pick(const std::vector<T>& items) {
        return items[below(items.size())];
    }

private:
    std::uint64_t state_;
};

// One number out of two, for seeds that depend on a place as well.
std::uint64_t mix_seeds(std::uint64_t a, std::uint64_t b);

// Ids in the shape of production's. They belong to the world, not to one life of the server, so
// that no id comes twice after a crash.
class SeededIds final : public IdSource {
public:
    explicit SeededIds(std::uint64_t seed) : random_(seed) {}
    std::string new_id(std::string_view prefix) override;
    SecretString new_secret(std::string_view prefix) override;

private:
    std::string letters(std::size_t count);
    SeededRandom random_;
};

// A clock that moves only when it is told to. The wall clock may be stepped back, the monotonic one
// never is.
class SimClock final : public Clock {
public:
    static constexpr Timestamp kStart{1'800'000'000'000'000};  // 2027-01-15T08:00:00Z.

    Timestamp now() override { return now_; }
    Duration monotonic() override { return monotonic_; }

    void advance(Duration span);
    void step_back(Duration span) { now_ = now_ - span; }

private:
    Timestamp now_ = kStart;
    Duration monotonic_{1'000'000};
};

}  // namespace interlock::sim
