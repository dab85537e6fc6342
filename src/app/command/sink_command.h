// `interlock sink`: the recording sink, a process of its own that outlives servers.
#pragma once

#include <cstdint>
#include <string>

#include "app/command/command.h"

namespace interlock {

struct SinkOptions {
    std::string socket;
    std::string journal;
    bool sync = false;
    std::int64_t delay_ms = 0;
    std::int64_t drop_answers_every = 0;
};
// Serves until SIGINT or SIGTERM.
ExitCode run_sink_command(const GlobalOptions& global, const SinkOptions& options);

void add_sink_command(CommandLine& line);

}  // namespace interlock
