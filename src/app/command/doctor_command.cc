#include "app/command/doctor_command.h"

#include <unistd.h>

#include <iostream>

#include "app/command/console.h"
#include "app/command/doctor_checks.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

ExitCode run(const GlobalOptions& global) {
    SystemClock clock;
    const std::vector<DoctorFinding> findings = examine(global, clock);
    if (global.json) {
        print_json(encode(findings));
    } else {
        std::cout << describe(findings, wants_colour(STDOUT_FILENO));
    }
    return is_healthy(findings) ? ExitCode::ok : ExitCode::refused;
}

}  // namespace

void add_doctor_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "doctor", "Check configuration, data folder, ledger, server, clock and disk.");
    command->callback([&line] { line.run = [&line] { return run(line.global); }; });
}

}  // namespace interlock
