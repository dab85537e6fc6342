// A few threads for what takes long and must not hold up the engine or the network: hashing
// passwords. Bounded: when all threads are busy and the queue is full, a job is refused and the
// caller answers 429. Each Argon2id job holds 64 MiB, so the number of threads bounds memory too.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"

namespace interlock {

class WorkerPool {
public:
    struct Bounds {
        // None: jobs run at once on the caller's thread, for tests and the simulator.
        std::size_t threads = 2;
        std::size_t waiting_max = 16;
    };

    // The threads begin at once.
    WorkerPool() : WorkerPool(Bounds{}) {}
    explicit WorkerPool(Bounds bounds);
    ~WorkerPool();

    // Takes no new jobs, runs those accepted, then ends the threads.
    void stop();

    // From any thread. False when the queue is full or the pool stopped; the job is then dropped.
    bool try_run(std::function<void()> job);

    std::size_t waiting() const { return queue_.size(); }

private:
    void run();

    const Bounds bounds_;
    BoundedQueue<std::function<void()>> queue_;
    std::vector<std::thread> threads_;
};

}  // namespace interlock
