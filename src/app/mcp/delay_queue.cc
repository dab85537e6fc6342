#include "app/mcp/delay_queue.h"

#include <algorithm>
#include <map>
#include <utility>

namespace interlock {
namespace {

constexpr std::chrono::microseconds kIdleWait{1'000'000};

}  // namespace

DelayQueue::DelayQueue() : thread_([this] { run(); }) {}

DelayQueue::~DelayQueue() {
    incoming_.close();
    thread_.join();
}

bool DelayQueue::run_after(std::chrono::milliseconds delay, std::function<void()> call) {
    return incoming_.push(Item{Clock::now() + delay, std::move(call)});
}

void DelayQueue::run() {
    std::multimap<Clock::time_point, std::function<void()>> waiting;
    while (!incoming_.is_closed()) {
        std::chrono::microseconds wait = kIdleWait;
        if (!waiting.empty()) {
            const auto until =
                std::chrono::ceil<std::chrono::microseconds>(waiting.begin()->first - Clock::now());
            wait = std::clamp(until, std::chrono::microseconds(0), kIdleWait);
        }
        const std::size_t room = kDelayedCallsMax - waiting.size();
        for (Item& item : incoming_.pop(room, wait)) {
            waiting.emplace(item.due, std::move(item.call));
        }
        while (!waiting.empty() && waiting.begin()->first <= Clock::now()) {
            const auto call = std::move(waiting.begin()->second);
            waiting.erase(waiting.begin());
            call();
        }
    }
}

}  // namespace interlock
