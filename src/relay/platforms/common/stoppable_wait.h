// Waiting that ends early when a platform is stopped: for rate limits and for pauses after
// failures.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/time.h"

namespace interlock {

// Waits for that long; false when it was stopped before. Tests give one that turns their clock.
using PlatformWait = std::function<bool(Duration)>;

// Thread-safe.
class StoppableWait {
public:
    bool wait(Duration span);
    void stop();
    bool is_stopped() const { return is_stopped_; }
    const std::atomic<bool>& stopped() const { return is_stopped_; }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace interlock
