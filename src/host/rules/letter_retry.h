// When a letter that people wait for is tried again.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace interlock {

// A letter that could not be sent after so many attempts has failed.
inline constexpr std::int64_t kMailAttemptsMax = 6;
// Between two letters that people ask for.
inline constexpr Duration kResendGap = Duration::of_minutes(1);

// How long after this attempt (from 1) the next one is made: a minute, then five times as long each
// time, six hours at most.
Duration mail_retry_delay(std::int64_t attempt);

}  // namespace interlock
