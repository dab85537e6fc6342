#include "app/command/sim_command.h"

#include <unistd.h>

#include <memory>

#include "app/command/console.h"
#include "app/wiring/version.h"
#include "sim/sim_command.h"

namespace interlock {

void add_sim_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "sim", "Run the production core on a seeded world that crashes, lies and repeats itself.");
    const auto options = std::make_shared<SimOptions>();
    command->add_option("--seed", options->seed, "One seed.");
    command->add_option("--seeds", options->seeds, "A range of seeds, A..B, both included.");
    command->add_option("--turns", options->turns, "Commands per seed (default 300).");
    command->add_option("--world", options->world, "What is run: trading, relay or all (default).");
    command->add_option("--plant", options->plant, "Break this promise on purpose.");
    command->add_flag("--list-plants", options->list_plants, "Print the plants, one per line.");
    command->add_flag("--trace", options->trace, "Print every step.");
    command->add_flag(
        "--quick", options->quick, "End at the first violation and look for no short trace.");
    command->callback([&line, options] {
        line.run = [&line, options] {
            options->json = line.global.json;
            options->shows_progress = is_screen(STDERR_FILENO);
            options->commit = interlock_commit();
            return static_cast<ExitCode>(run_sim_command(*options));
        };
    });
}

}  // namespace interlock
