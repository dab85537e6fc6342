// A turn observer that looks away; for tests that are not about metrics.
#pragma once

#include "engine/service/turn_runner.h"

namespace interlock {

class NullTurnObserver final : public TurnObserver {
public:
    void on_commit(std::size_t, Duration) override {}
    void on_refusal(std::string_view) override {}
    void on_commit_failure(const Error&) override {}
};

}  // namespace interlock
