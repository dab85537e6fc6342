// The command `interlock`: describes all commands to the parser, runs the chosen one.
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "app/command/account_command.h"
#include "app/command/admin_commands.h"
#include "app/command/approvals_command.h"
#include "app/command/audit_command.h"
#include "app/command/backtest_command.h"
#include "app/command/backup_command.h"
#include "app/command/bench_command.h"
#include "app/command/bot_command.h"
#include "app/command/chat_command.h"
#include "app/command/command.h"
#include "app/command/completion_command.h"
#include "app/command/decide_command.h"
#include "app/command/doctor_command.h"
#include "app/command/drill_command.h"
#include "app/command/kill_command.h"
#include "app/command/mcp_command.h"
#include "app/command/notices_command.h"
#include "app/command/receipt_command.h"
#include "app/command/relay_command.h"
#include "app/command/replay_command.h"
#include "app/command/serve_command.h"
#include "app/command/sim_command.h"
#include "app/command/sink_command.h"
#include "app/command/strategy_command.h"
#include "app/command/supervisor_command.h"
#include "app/command/trading_command.h"
#include "app/command/usage_hint.h"
#include "app/command/vault_command.h"
#include "app/command/version_command.h"
#include "app/demo/demo_command.h"
#include "app/wiring/config.h"
#include "app/wiring/server_client.h"
#include "app/wiring/version.h"
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

void describe(CommandLine& line) {
    line.app.require_subcommand(1);
    line.app.fallthrough();
    line.app.set_version_flag(
        "--version",
        "interlock " + std::string(interlock_version()) + " (" + std::string(interlock_commit()) +
            ")",
        "Print the version and end.");
    line.app.add_option("--data", line.global.data, "Data folder (default: XDG data home).");
    line.app.add_option("--config", line.global.config_path, "Configuration file (TOML).");
    line.app.add_flag("--json", line.global.json, "Print JSON instead of text.");
    add_serve_command(line);
    add_demo_command(line);
    add_mcp_command(line);
    add_kill_command(line);
    add_approvals_command(line);
    add_audit_command(line);
    add_account_commands(line);
    add_trading_command(line);
    add_notices_command(line);
    add_strategy_commands(line);
    add_decide_command(line);
    add_supervisor_command(line);
    add_relay_command(line);
    add_chat_command(line);
    add_replay_command(line);
    add_receipt_command(line);
    add_admin_commands(line);
    add_bot_command(line);
    add_vault_command(line);
    add_backup_commands(line);
    add_doctor_command(line);
    add_drill_command(line);
    add_config_command(line);
    add_backtest_command(line);
    add_bench_command(line);
    add_sim_command(line);
    add_sink_command(line);
    add_completion_command(line);
    add_version_command(line);
    add_help_command(line);
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
    describe(line);
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
