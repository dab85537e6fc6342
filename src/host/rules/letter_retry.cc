#include "host/rules/letter_retry.h"

#include <algorithm>

namespace interlock {
namespace {

constexpr Duration kFirstRetry = Duration::of_minutes(1);
constexpr Duration kLongestRetry = Duration::of_hours(6);
constexpr std::int64_t kRetryFactor = 5;

}  // namespace

Duration mail_retry_delay(std::int64_t attempt) {
    Duration delay = kFirstRetry;
    for (std::int64_t i = 1; i < attempt && delay < kLongestRetry; ++i) {
        delay.microseconds *= kRetryFactor;
    }
    return std::min(delay, kLongestRetry);
}

}  // namespace interlock
