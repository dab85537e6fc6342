#include "relay/platforms/common/stoppable_wait.h"

#include <chrono>

namespace interlock {

bool StoppableWait::wait(Duration span) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(
        lock, std::chrono::microseconds(span.microseconds), [this] { return is_stopped_.load(); });
}

void StoppableWait::stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
}

}  // namespace interlock
