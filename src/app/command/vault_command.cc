#include "app/command/vault_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/wiring/config.h"
#include "app/wiring/server_client.h"
#include "app/wiring/vault_folder.h"

namespace interlock {
namespace {

ExitCode run_status(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (!loaded) {
        return report(global, loaded.error());
    }
    const Config& config = loaded->config;
    const auto status = read_vault(
        config.data_folder, chosen_master_key(config.data_folder, config.vault_master_key_file));
    if (!status) {
        return report_failure(global, status.error());
    }
    if (global.json) {
        print_json(encode(*status));
    } else {
        std::cout << describe(*status) << std::flush;
    }
    return status->ok() ? ExitCode::ok : ExitCode::refused;
}

ExitCode run_rotate(const GlobalOptions& global) {
    const auto loaded = load_config(global);
    if (!loaded) {
        return report(global, loaded.error());
    }
    const Config& config = loaded->config;
    const MasterKeyChoice choice =
        chosen_master_key(config.data_folder, config.vault_master_key_file);
    const auto rotated = rotate_vault(config.data_folder, choice);
    if (!rotated) {
        return report_failure(global, rotated.error());
    }
    if (global.json) {
        print_json(encode(*rotated));
        return ExitCode::ok;
    }
    std::cout << (rotated->resumed ? "The rotation that was cut short is finished.\n" : "")
              << count_text(rotated->resealed, "data key") << " sealed with the master key "
              << rotated->to_id << " in place of " << rotated->from_id << ".\n"
              << (choice.key ? "INTERLOCK_MASTER_KEY_OLD is needed no longer.\n"
                             : "Back up " + print_safe(choice.file) + ".\n")
              << std::flush;
    return ExitCode::ok;
}

}  // namespace

void add_vault_command(CommandLine& line) {
    CLI::App* vault = line.app.add_subcommand(
        "vault", "The sealed exchange keys of tenants, and the master key that seals them.");
    vault->require_subcommand(1);
    CLI::App* status = vault->add_subcommand(
        "status", "Whose keys are kept and whether they open; works beside a running server.");
    status->callback([&line] { line.run = [&line] { return run_status(line.global); }; });
    CLI::App* rotate = vault->add_subcommand(
        "rotate",
        "Replace the master key; goes on where an earlier one was cut short. Stop the "
        "server first.");
    rotate->callback([&line] { line.run = [&line] { return run_rotate(line.global); }; });
}

}  // namespace interlock
