// The engine thread: takes whatever turns are waiting (bounded), runs them as one batch, and looks
// after timers in between. Kill-switch turns have a lane of their own in front.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/bounded_queue.h"
#include "engine/service/turn_runner.h"

namespace interlock {

class TurnEngine {
public:
    struct Bounds {
        std::size_t waiting_turns_max = 4096;
        std::size_t waiting_urgent_max = 1024;
        // Outcomes of effects; services keep fewer effects than this in flight.
        std::size_t waiting_internal_max = 16'384;
        std::size_t batch_turns_max = 256;
    };

    TurnEngine(TurnRunner& runner, Bounds bounds);
    ~TurnEngine();

    void start();
    // Takes no new turns, runs those accepted, then ends the thread.
    void stop();

    // From any thread. When the queue is full or closed the request's reply is called at once, on
    // this thread, with `overloaded`.
    void submit(TurnRequest request);

    // One round on the caller's thread: duties, timers, then the turns that are waiting, at most
    // `turns_max`, for which it waits no longer than `wait`. The engine's thread does nothing else;
    // the simulator calls this instead of start(). False once the queue is closed and empty.
    bool run_round(std::size_t turns_max, std::chrono::microseconds wait);

    // Turns the program itself must not lose (effect outcomes); refused only after stop().
    void submit_internal(TurnRequest request);

    std::size_t waiting() const { return queue_.size(); }
    // False once the engine has not gone round for `limit`; the dead-man's view.
    bool is_alive(Duration now_monotonic, Duration limit) const;
    // Before start(): read at every round, for the heartbeat. Until the first one, which a busy
    // machine may keep waiting, the engine counts as having gone round now.
    void set_clock(Clock& clock);
    // Called once a round on the engine thread, before turns are taken: periodic duties.
    void set_round_duty(std::function<void()> duty) { duty_ = std::move(duty); }

private:
    TurnRunner& runner_;
    const Bounds bounds_;
    BoundedQueue<TurnRequest> queue_;
    std::function<void()> duty_;
    Clock* clock_ = nullptr;
    std::atomic<std::int64_t> last_round_us_{0};
    std::thread thread_;
};

}  // namespace interlock
