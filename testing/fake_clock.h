// A clock that a test turns by hand. It starts at a fixed Sunday noon, so that times in
// expectations can be written down.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/ports/clock.h"

namespace interlock {

class FakeClock final : public Clock {
public:
    // 2026-11-15T12:00:00Z.
    static constexpr Timestamp kNoon{1'794'744'000'000'000};

    explicit FakeClock(Timestamp start = kNoon) : now_us_(start.microseconds) {}

    Timestamp now() override { return {now_us_.load()}; }
    Duration monotonic() override { return {monotonic_us_.load()}; }

    void advance(Duration span) {
        now_us_ += span.microseconds;
        monotonic_us_ += span.microseconds;
    }
    // Steps the wall clock, as an operator or NTP may; the monotonic one goes on unmoved.
    void step_to(Timestamp at) { now_us_ = at.microseconds; }

private:
    std::atomic<std::int64_t> now_us_;
    std::atomic<std::int64_t> monotonic_us_{0};
};

}  // namespace interlock
