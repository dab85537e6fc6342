// Runs callbacks after a while, on one thread of its own. Serves the conformance fixtures, whose
// tools pause between messages; network threads must not.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "base/bounded_queue.h"

namespace interlock {

inline constexpr std::size_t kDelayedCallsMax = 1024;

class DelayQueue {
public:
    DelayQueue();
    ~DelayQueue();  // Drops what is still waiting.
    DelayQueue(const DelayQueue&) = delete;
    DelayQueue& operator=(const DelayQueue&) = delete;

    // False when too many wait; the callback is then dropped.
    bool run_after(std::chrono::milliseconds delay, std::function<void()> call);

private:
    using Clock = std::chrono::steady_clock;
    struct Item {
        Clock::time_point due;
        std::function<void()> call;
    };
    void run();

    BoundedQueue<Item> incoming_{kDelayedCallsMax, 0};
    std::thread thread_;  // Last: starts when all else is there.
};

}  // namespace interlock
