// `interlock relay echo`: a small gateway of our own. It dials as the real clients do, acknowledges
// every message and answers it with its text. For the demo, the documents and end-to-end tests.
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_relay_echo_command(CommandLine& line, CLI::App& relay);

// How long it waits before it dials again: a second, doubled with each failure up to 30 seconds.
class RedialPause {
public:
    std::int64_t next_seconds() {
        const std::int64_t now = seconds_;
        constexpr std::int64_t kMax = 30;
        seconds_ = seconds_ * 2 > kMax ? kMax : seconds_ * 2;
        return now;
    }
    void reset() { seconds_ = 1; }

private:
    std::int64_t seconds_ = 1;
};

}  // namespace interlock
