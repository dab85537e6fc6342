// Runs committed effects and brings back what they came to.
//
// run_one() and settle() are synchronous: the server calls them from its outbox threads, the
// simulator directly. Right before the send stand the kill latch, the KILL file and the effect's
// not_after (I6; turns.md#3-effects). An effect whose fate is not known becomes `unknown` and is
// settled by asking the sink, never by sending again (I4).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "engine/ports/clock.h"
#include "engine/ports/effect_sink.h"
#include "engine/ports/kill_flag.h"
#include "engine/service/kill_latch.h"
#include "engine/service/turn_runner.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind effect_expired{
    "effect_expired", 409, false, "Decide again on current facts; the effect was not sent."};
}  // namespace errors

inline constexpr std::string_view kCancelAllKind = "cancel_all";
inline constexpr std::string_view kCancelKind = "cancel";
inline constexpr std::string_view kReportKind = "venue_report";

// Cancels and questions add no exposure: they pass the kill switch and never grow too old.
inline bool adds_no_exposure(std::string_view kind) {
    return kind == kCancelAllKind || kind == kCancelKind || kind == kReportKind;
}

class OutboxRunner {
public:
    struct Parts {
        EffectSink& sink;
        KillLatch& latch;
        KillFlag& flag;
        Clock& clock;
    };
    explicit OutboxRunner(Parts parts) : parts_(parts) {}

    // Sends the effect if nothing forbids it.
    EffectOutcome run_one(const OutboxItem& effect);

    // Asks the sink what became of an effect whose fate is open. The fate stays `unknown` when the
    // sink cannot tell now.
    EffectOutcome settle(const OutboxItem& effect);

    // The outcome of an effect that is not sent.
    EffectOutcome refuse(const OutboxItem& effect, const ErrorKind& kind, std::string message);

private:
    Parts parts_;
};

// The threads around an OutboxRunner.
class OutboxThreads {
public:
    static constexpr std::size_t kQueueMax = 8192;
    static constexpr Duration kSettleEvery = Duration::of_seconds(1);

    // `report` takes each outcome to the engine; called from these threads.
    OutboxThreads(OutboxRunner& runner, Clock& clock, std::function<void(EffectOutcome)> report);
    ~OutboxThreads();

    void start();
    // Ends after the effect being sent; the rest stays in the store and is settled at start-up.
    void stop();

    // One round on the caller's thread: sends one effect that is waiting, for which it waits no
    // longer than `wait`, and asks about the unsettled ones when that is due. The thread does
    // nothing else; the simulator calls this instead of start(). False once the queue is closed.
    bool run_round(std::chrono::milliseconds wait);

    void enqueue(std::vector<OutboxItem> effects);
    // Effects left open by a crash or a lost answer.
    void enqueue_unsettled(std::vector<OutboxItem> effects);
    std::size_t waiting() const { return queue_.size(); }

private:
    struct Job {
        OutboxItem effect;
        bool settle = false;
        Duration
            send_until{};  // Monotonic: a wall clock that steps back makes nothing young again.
    };
    EffectOutcome send(const Job& job);
    void settle_open_ones();

    OutboxRunner& runner_;
    Clock& clock_;
    std::function<void(EffectOutcome)> report_;
    BoundedQueue<Job> queue_;
    // Only the sending thread touches these two.
    std::vector<OutboxItem> unsettled_;
    Duration next_settle_;
    std::thread thread_;
};

}  // namespace interlock
