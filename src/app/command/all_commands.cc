#include "app/command/all_commands.h"

#include "app/command/account_command.h"
#include "app/command/admin_commands.h"
#include "app/command/approvals_command.h"
#include "app/command/audit_command.h"
#include "app/command/backtest_command.h"
#include "app/command/backup_command.h"
#include "app/command/bench_command.h"
#include "app/command/bot_command.h"
#include "app/command/chat_command.h"
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
#include "app/command/table_command.h"
#include "app/command/trading_command.h"
#include "app/command/vault_command.h"
#include "app/command/version_command.h"
#include "app/demo/demo_command.h"
#include "app/wiring/config.h"
#include "app/wiring/version.h"

namespace interlock {

void add_all_commands(CommandLine& line) {
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
    add_table_commands(line);
}

}  // namespace interlock
