// The command `interlock`: describes all commands to the parser, runs the chosen one.
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "app/command/all_commands.h"
#include "app/command/usage_hint.h"
#include "app/wiring/server_client.h"
#include "engine/system/process_guard.h"

namespace interlock {
namespace {

int run(CommandLine& line, std::vector<std::string> words);

void add_help_command(CommandLine& line) {
    CLI::App* command =
        line.app.add_subcommand("help", "Show what there is, or what one command takes.");
    const auto words = std::make_shared<std::vector<std::string>>();
    command->add_option("command", *words, "Which one, such as `kill on`.")->type_name("COMMAND");
    command->callback([&line, words] {
        line.run = [&line, words] {
            std::vector<std::string> asked = *words;
            asked.emplace_back("--help");
            return static_cast<ExitCode>(run(line, std::move(asked)));
        };
    });
}

int run(CommandLine& line, std::vector<std::string> words) {
    try {
        line.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        // Help and version print and succeed; anything else is a usage error.
        if (error.get_exit_code() == 0) {
            return line.app.exit(error);
        }
        if (const auto meant = usage_hint(line.app, words)) {
            line.global.json = std::ranges::count(words, "--json") > 0;
            return static_cast<int>(report_usage(line.global, meant->problem, meant->next_step));
        }
        line.app.exit(error);
        return static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(line.run());
}

int run_program(std::vector<std::string> words) {
    CommandLine line;
    add_all_commands(line);
    add_help_command(line);
    line.app.name(words.front());
    words.erase(words.begin());
    return run(line, std::move(words));
}

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) {
    // What the engine frees after a batch it takes again with the next. By its defaults the library
    // would give the memory back in between and grow a thread's share page by page, one system call
    // each: a tenth of the engine's time. Memory set aside counts only once it is touched.
    constexpr int kSetAsideBytes = 64 << 20;
    ::mallopt(M_TOP_PAD, kSetAsideBytes);
    ::mallopt(M_TRIM_THRESHOLD, 2 * kSetAsideBytes);
    interlock::close_new_files();
    return interlock::run_program({argv, argv + argc});
}
