#include "engine/system/system_clock.h"

#include <chrono>

namespace interlock {

namespace {

template <class TimePoint>
std::int64_t microseconds_of(TimePoint at) {
    return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

}  // namespace

Timestamp SystemClock::now() {
    return {microseconds_of(std::chrono::system_clock::now())};
}

Duration SystemClock::monotonic() {
    return {microseconds_of(std::chrono::steady_clock::now())};
}

}  // namespace interlock
