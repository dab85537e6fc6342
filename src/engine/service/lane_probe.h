// Whether a lane moves: once a second a piece of work that does nothing is sent along with the
// others, and a lane that has not come to it for a while is stuck, whatever it is busy with. One is
// on its way at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/time.h"

namespace interlock {

// Longer than any commit on a disk that still works.
inline constexpr Duration kLaneStuckAfter = Duration::of_seconds(20);
inline constexpr Duration kLaneProbePeriod = Duration::of_seconds(1);

// One thread, but for what it sends along.
class LaneProbe {
public:
    // Puts work at the end of the lane's queue. False: there is no room, which is no progress.
    using Submit = std::function<bool(std::function<void()>)>;
    explicit LaneProbe(Submit submit) : submit_(std::move(submit)) {}

    // `now` is a monotonic time. True while the lane is stuck.
    bool look(Duration now) {
        if (is_waiting_ && !is_back_->load()) {
            if (is_refused_) {
                send();
            }
            return now.microseconds - asked_at_.microseconds >= kLaneStuckAfter.microseconds;
        }
        if (!is_waiting_ ||
            now.microseconds - asked_at_.microseconds >= kLaneProbePeriod.microseconds) {
            asked_at_ = now;
            is_waiting_ = true;
            send();
        }
        return false;
    }

private:
    void send() {
        is_back_->store(false);
        is_refused_ = !submit_([is_back = is_back_] { is_back->store(true); });
    }

    const Submit submit_;
    // The work may outlive the probe.
    const std::shared_ptr<std::atomic<bool>> is_back_ = std::make_shared<std::atomic<bool>>(false);
    bool is_waiting_ = false;
    bool is_refused_ = false;
    Duration asked_at_{};
};

}  // namespace interlock
