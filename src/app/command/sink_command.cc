#include "app/command/sink_command.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/errors.h"
#include "engine/sink/sink_server.h"
#include "engine/system/durable_file.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

Result<void> serve(const SinkOptions& options) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    const FileDescriptor stop(::signalfd(-1, &signals, SFD_CLOEXEC));
    if (!stop.is_open()) {
        return system_failure("wait for", "signals");
    }
    SystemClock clock;
    TRY_ASSIGN(
        const auto server,
        SinkServer::open(
            {.socket_path = options.socket,
             .journal = {.path = options.journal, .sync = options.sync},
             .answer_delay = Duration::of_milliseconds(options.delay_ms),
             .drop_answers_every = options.drop_answers_every},
            clock));
    // Scripts wait for this line.
    std::cout << "ready " << options.socket << std::endl;
    return server->run(stop.get());
}

}  // namespace

ExitCode run_sink_command(const GlobalOptions& global, const SinkOptions& options) {
    const auto served = serve(options);
    return served ? ExitCode::ok : report(global, served.error());
}

void add_sink_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "sink", "Record effects in a process of its own (for drills and crash tests).");
    const auto options = std::make_shared<SinkOptions>();
    command->add_option("--socket", options->socket, "Unix socket to listen on.")->required();
    command->add_option("--journal", options->journal, "File that keeps every arrival.")
        ->required();
    command->add_flag("--sync", options->sync, "Sync the journal after every line.");
    command->add_option("--delay-ms", options->delay_ms, "Answer a perform this much later.")
        ->check(CLI::Range(0, 60'000));
    command
        ->add_option(
            "--drop-answers-every",
            options->drop_answers_every,
            "Never answer every n-th perform (0: answer all).")
        ->check(CLI::NonNegativeNumber);
    command->callback([&line, options] {
        line.run = [&line, options] { return run_sink_command(line.global, *options); };
    });
}

}  // namespace interlock
