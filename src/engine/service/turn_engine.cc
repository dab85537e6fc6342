#include "engine/service/turn_engine.h"

#include <chrono>

#include "base/errors.h"

namespace interlock {
namespace {

// How long an idle engine waits before it looks at its timers again.
constexpr std::chrono::microseconds kIdleWait{20'000};
constexpr std::size_t kTimersPerRound = 64;

}  // namespace

TurnEngine::TurnEngine(TurnRunner& runner, Bounds bounds)
    : runner_(runner),
      bounds_(bounds),
      queue_(bounds.waiting_turns_max, bounds.waiting_urgent_max, bounds.waiting_internal_max) {}

TurnEngine::~TurnEngine() {
    stop();
}

void TurnEngine::start() {
    thread_ = std::thread([this] {
        while (run_round(bounds_.batch_turns_max, kIdleWait)) {
        }
    });
}

void TurnEngine::stop() {
    queue_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void TurnEngine::submit(TurnRequest request) {
    const bool urgent = request.urgent;
    const bool taken =
        urgent ? queue_.push_front_lane(std::move(request)) : queue_.push(std::move(request));
    if (!taken && request.reply) {
        auto refusal =
            queue_.is_closed()
                ? fail(errors::unavailable, "The server is shutting down.")
                : fail(errors::overloaded, "The server has more waiting turns than it accepts.");
        refusal.error().retry_after_seconds = 1;
        request.reply(std::move(refusal));
    }
}

void TurnEngine::submit_internal(TurnRequest request) {
    queue_.push_middle_lane(std::move(request));
}

void TurnEngine::set_clock(Clock& clock) {
    clock_ = &clock;
    last_round_us_.store(clock.monotonic().microseconds);
}

bool TurnEngine::is_alive(Duration now_monotonic, Duration limit) const {
    return now_monotonic.microseconds - last_round_us_.load() <= limit.microseconds;
}

bool TurnEngine::run_round(std::size_t turns_max, std::chrono::microseconds wait) {
    if (clock_ != nullptr) {
        last_round_us_.store(clock_->monotonic().microseconds);
    }
    if (duty_) {
        duty_();
    }
    runner_.fire_timers(kTimersPerRound);
    runner_.release_overdue_waiters();
    std::vector<TurnRequest> batch = queue_.pop(turns_max, wait);
    if (!batch.empty()) {
        runner_.run_batch(std::move(batch));
        return true;
    }
    return !queue_.is_closed();
}

}  // namespace interlock
