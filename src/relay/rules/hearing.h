// Whether a bot hears its platform, judged by looking once a second: deaf after a minute without
// ten good seconds in a row. A connection that comes and goes at once, because we refuse what it
// brings or because it is thrown out, is no hearing; a single reconnect is no deafness.
#pragma once

#include <optional>

#include "base/time.h"

namespace interlock {

inline constexpr Duration kDeafAfter = Duration::of_seconds(60);
inline constexpr Duration kHearsAfter = Duration::of_seconds(10);

class Hearing {
public:
    enum class Change { none, deaf, hears };

    // `now` is a monotonic time and never goes back.
    Change look(Duration now, bool is_well) {
        if (!good_at_) {
            good_at_ = now;  // It has a minute to begin with.
        }
        if (!is_well) {
            well_since_.reset();
        } else if (!well_since_) {
            well_since_ = now;
        }
        if (well_since_ && lasted(*well_since_, now, kHearsAfter)) {
            good_at_ = now;
        }
        const bool was_deaf = is_deaf_;
        is_deaf_ = lasted(*good_at_, now, kDeafAfter);
        return is_deaf_ == was_deaf ? Change::none : is_deaf_ ? Change::deaf : Change::hears;
    }
    bool is_deaf() const { return is_deaf_; }

private:
    static bool lasted(Duration since, Duration now, Duration span) {
        return now.microseconds - since.microseconds >= span.microseconds;
    }

    std::optional<Duration> well_since_;
    std::optional<Duration> good_at_;  // The last look that found it well for long enough.
    bool is_deaf_ = false;
};

}  // namespace interlock
