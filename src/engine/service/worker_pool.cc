#include "engine/service/worker_pool.h"

#include <chrono>

namespace interlock {
namespace {

// Only how often an idle worker goes round; close() wakes it at once.
constexpr std::chrono::seconds kIdleWait{60};

}  // namespace

WorkerPool::WorkerPool(Bounds bounds) : bounds_(bounds), queue_(bounds.waiting_max, 0) {
    for (std::size_t i = 0; i < bounds_.threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

WorkerPool::~WorkerPool() {
    stop();
}

void WorkerPool::stop() {
    queue_.close();
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

bool WorkerPool::try_run(std::function<void()> job) {
    if (bounds_.threads == 0 && !queue_.is_closed()) {
        job();
        return true;
    }
    return queue_.push(std::move(job));
}

void WorkerPool::run() {
    while (true) {
        // Closed is asked first: what was pushed before the close is then still seen by the pop.
        const bool closed = queue_.is_closed();
        const auto jobs = queue_.pop(1, kIdleWait);
        for (const auto& job : jobs) {
            job();
        }
        if (jobs.empty() && closed) {
            return;
        }
    }
}

}  // namespace interlock
