// `interlock serve` and what `demo` shares with it.
#pragma once

#include <functional>
#include <vector>

#include "app/command/command.h"
#include "app/wiring/config.h"
#include "app/wiring/server.h"

namespace interlock {

void add_serve_command(CommandLine& line);

// The options of both: --port, --address, --allow-plaintext, --sink, --config.
struct ServeOptions {
    std::string port;
    std::string address;
    std::string sink;
    bool allow_plaintext = false;
    bool conformance_fixtures = false;
};
void add_serve_options(CLI::App& command, ServeOptions& options);
std::vector<ConfigFlag> config_flags(const ServeOptions& options);

// Runs a server until SIGINT or SIGTERM; SIGHUP, where it is blocked, reloads it. `on_ready` is
// called once it answers. Signals must have been blocked with block_stop_signals() before the
// server was opened.
void block_stop_signals();
void run_until_stopped(Server& server, const std::function<void()>& on_ready);
void wait_for_stop_signal();

}  // namespace interlock
