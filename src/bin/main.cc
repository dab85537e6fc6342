// The command `interlock`: describes all commands to the parser, runs the chosen one.
#include <malloc.h>

#include <iostream>

#include "adapters/system/process_guard.h"
#include "bin/account_command.h"
#include "bin/admin_commands.h"
#include "bin/approvals_command.h"
#include "bin/audit_command.h"
#include "bin/backtest_command.h"
#include "bin/backup_command.h"
#include "bin/bench_command.h"
#include "bin/bot_command.h"
#include "bin/chat_command.h"
#include "bin/command.h"
#include "bin/completion_command.h"
#include "bin/config.h"
#include "bin/decide_command.h"
#include "bin/demo_command.h"
#include "bin/doctor_command.h"
#include "bin/drill_command.h"
#include "bin/kill_command.h"
#include "bin/mcp_command.h"
#include "bin/receipt_command.h"
#include "bin/relay_command.h"
#include "bin/replay_command.h"
#include "bin/serve_command.h"
#include "bin/sim_command.h"
#include "bin/sink_command.h"
#include "bin/strategy_command.h"
#include "bin/supervisor_command.h"
#include "bin/trading_command.h"
#include "bin/vault_command.h"
#include "bin/version_command.h"

namespace interlock {
namespace {

void describe(CommandLine& line) {
    line.app.require_subcommand(1);
    line.app.fallthrough();
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
}

int run(int argc, char** argv) {
    CommandLine line;
    describe(line);
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version print and succeed; anything else is a usage error.
        const int code = line.app.exit(error);
        return code == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(line.run());
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
    return interlock::run(argc, argv);
}
