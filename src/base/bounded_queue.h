// The one queue between threads: bounded, many producers, one or more consumers, with a front lane
// for what must not wait (the kill switch) and a middle lane for what goes before ordinary work
// (outcomes of what was already begun). A full lane refuses; it never grows and never blocks a
// producer.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace interlock {

template <class T>
class BoundedQueue {
public:
    // Each lane has its own bound, so a full queue cannot keep an urgent item out.
    BoundedQueue(std::size_t capacity, std::size_t front_capacity, std::size_t middle_capacity = 0)
        : capacity_(capacity), front_capacity_(front_capacity), middle_capacity_(middle_capacity) {}

    // False when full or closed; `item` is then untouched.
    bool push(T&& item) { return push_to(items_, capacity_, std::move(item)); }
    bool push_front_lane(T&& item) { return push_to(front_, front_capacity_, std::move(item)); }
    bool push_middle_lane(T&& item) { return push_to(middle_, middle_capacity_, std::move(item)); }

    // Waits until something is there, the queue is closed, or `wait` has passed. Takes up to `max`
    // items, front lane first.
    std::vector<T> pop(std::size_t max, std::chrono::microseconds wait) {
        std::unique_lock lock(mutex_);
        if (is_empty() && !closed_ && wait.count() > 0) {
            await_item(lock, wait);
        }
        std::vector<T> taken;
        taken.reserve(std::min(max, front_.size() + middle_.size() + items_.size()));
        take(front_, max, taken);
        take(middle_, max, taken);
        take(items_, max, taken);
        return taken;
    }

    // After close() pushes fail; what is inside can still be popped.
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        ready_.notify_all();
    }

    bool is_closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }

    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return items_.size() + middle_.size() + front_.size();
    }

private:
    bool is_empty() const { return items_.empty() && middle_.empty() && front_.empty(); }

    void await_item(std::unique_lock<std::mutex>& lock, std::chrono::microseconds wait) {
        const auto deadline = std::chrono::steady_clock::now() + wait;
        ++waiting_;
        bool in_time = true;
        while (in_time && is_empty() && !closed_) {
            in_time = ready_.wait_until(lock, deadline) == std::cv_status::no_timeout;
            // Whatever ended the wait: counting one waking too few costs a needless one, counting
            // one too many could leave an item lying.
            woken_ = woken_ > 0 ? woken_ - 1 : 0;
        }
        --waiting_;
    }

    bool push_to(std::deque<T>& lane, std::size_t capacity, T&& item) {
        bool wake = false;
        {
            const std::lock_guard lock(mutex_);
            if (closed_ || lane.size() >= capacity) {
                return false;
            }
            lane.push_back(std::move(item));
            // A busy consumer will look by itself, and so will one that was woken already: no
            // system call for them.
            wake = waiting_ > woken_;
            woken_ += wake ? 1 : 0;
        }
        if (wake) {
            ready_.notify_one();
        }
        return true;
    }

    static void take(std::deque<T>& lane, std::size_t max, std::vector<T>& out) {
        while (!lane.empty() && out.size() < max) {
            out.push_back(std::move(lane.front()));
            lane.pop_front();
        }
    }

    const std::size_t capacity_;
    const std::size_t front_capacity_;
    const std::size_t middle_capacity_;
    mutable std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<T> front_;
    std::deque<T> middle_;
    std::deque<T> items_;
    std::size_t waiting_ = 0;  // Consumers inside a wait.
    std::size_t woken_ = 0;    // Of those, at most so many are on their way out.
    bool closed_ = false;
};

}  // namespace interlock
