#include "app/command/completion_command.h"

#include <iostream>

#include "app/command/completion_script.h"
#include "app/command/man_page.h"
#include "app/wiring/version.h"

namespace interlock {

void add_completion_command(CommandLine& line) {
    CLI::App* completion =
        line.app.add_subcommand("completion", "Print a completion script for a shell.");
    const auto shell = std::make_shared<std::string>();
    completion->add_option("shell", *shell, "Which shell.")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([&line, shell] {
        line.run = [&line, shell] {
            const std::vector<CommandEntry> tree = command_tree(line.app);
            std::cout
                << (*shell == "bash"  ? bash_completion(tree)
                    : *shell == "zsh" ? zsh_completion(tree)
                                      : fish_completion(tree));
            return ExitCode::ok;
        };
    });

    CLI::App* man =
        line.app.add_subcommand("man", "Print the manual page: interlock man | man -l -");
    man->callback([&line] {
        line.run = [&line] {
            std::cout << man_page(command_tree(line.app), interlock_version());
            return ExitCode::ok;
        };
    });
}

}  // namespace interlock
