// The engine of a command that works on a data folder while no server runs.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "engine/service/turn_gate.h"
#include "engine/service/turn_runner.h"

namespace interlock {

// Runs turns one after the other on this thread; what a reply asks for comes after its turn.
class TurnLine {
public:
    explicit TurnLine(TurnRunner& runner) : runner_(runner) {}

    SubmitTurn submit() {
        return [this](TurnRequest request) { waiting_.push_back(std::move(request)); };
    }
    void run_all() {
        while (!waiting_.empty()) {
            std::vector<TurnRequest> batch;
            batch.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
            runner_.run_batch(std::move(batch));
        }
    }

private:
    TurnRunner& runner_;
    std::deque<TurnRequest> waiting_;
};

}  // namespace interlock
