// The engine of a test, without a thread: turns run in the order in which they were submitted, on
// the caller's thread, one turn per batch. What a reply submits is run after its turn, never inside
// it, as in the server.
//
// hold() collects turns instead; release() runs them as one batch, for tests about group commit.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"

namespace interlock {

class InlineEngine {
public:
    explicit InlineEngine(TurnRunner& runner) : runner_(runner) {}

    SubmitTurn submit_turn() {
        return [this](TurnRequest request) {
            if (refuse_after && (*refuse_after)-- <= 0) {
                request.reply(fail(errors::overloaded, "The engine of this test is full."));
                return;
            }
            if (holding_) {
                held_.push_back(std::move(request));
                return;
            }
            enqueue([this, request = std::move(request)]() mutable {
                std::vector<TurnRequest> batch;
                batch.push_back(std::move(request));
                runner_.run_batch(std::move(batch));
            });
        };
    }

    // Set: so many turns are taken, and every later one is refused as by a full queue.
    std::optional<int> refuse_after;

    void hold() { holding_ = true; }
    void release() {
        holding_ = false;
        enqueue([this] { runner_.run_batch(std::exchange(held_, {})); });
    }

private:
    void enqueue(std::function<void()> step) {
        steps_.push_back(std::move(step));
        if (running_) {
            return;
        }
        running_ = true;
        while (!steps_.empty()) {
            std::function<void()> next = std::move(steps_.front());
            steps_.pop_front();
            next();
        }
        running_ = false;
    }

    TurnRunner& runner_;
    std::deque<std::function<void()>> steps_;
    std::vector<TurnRequest> held_;
    bool running_ = false;
    bool holding_ = false;
};

}  // namespace interlock
