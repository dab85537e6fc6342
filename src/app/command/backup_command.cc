#include "app/command/backup_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/wiring/backup_cut.h"
#include "app/wiring/backup_restore.h"
#include "app/wiring/server_client.h"
#include "app/wiring/version.h"
#include "base/errors.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

struct Options {
    std::string folder;
    std::string public_key;
    std::string lost;
    bool check = false;
    bool knows_breaks = false;
    bool skip_artifacts = false;
};

std::string size_text(std::int64_t bytes) {
    constexpr std::int64_t kKilo = 1024;
    return bytes < kKilo * kKilo ? std::to_string(bytes / kKilo) + " KiB"
                                 : std::to_string(bytes / (kKilo * kKilo)) + " MiB";
}

Result<BackupSeal> ask_server(const std::string& data_folder, const SealBackup& request) {
    ServerClient server(data_folder);
    TRY_ASSIGN(const ServerAnswer answer, server.post("/backups", encode(request)));
    if (!answer.ok()) {
        return fail(
            errors::unavailable,
            "The server did not vouch for the backup: " + to_text(answer.body),
            "Run `interlock doctor`, then try again.");
    }
    return decode_backup_seal(answer.body);
}

ExitCode run_backup(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ProgressLine progress(global.json);
    const auto taken = take_backup(
        {.data_folder = *folder,
         .out_folder = options.folder,
         .program = std::string(interlock_version()),
         .ask_server = [&](const SealBackup& request) { return ask_server(*folder, request); },
         .on_progress =
             [&](const std::string& what, std::int64_t bytes) {
                 progress.show("copying " + what + " " + size_text(bytes));
             }});
    progress.clear();
    if (!taken) {
        return report_failure(global, taken.error());
    }
    const BackupManifest& manifest = taken->sealed.manifest;
    if (global.json) {
        print_json(Json::object({
            {"folder", options.folder},
            {"created_at", to_text(manifest.created_at)},
            {"files", manifest.files.size()},
            {"bytes", taken->bytes()},
            {"chains", manifest.chains.size()},
            {"sealed_by", taken->is_sealed_by_server ? "server" : "folder"},
            {"left_out", json_list(taken->left_out)},
        }));
        return ExitCode::ok;
    }
    std::cout << "Backup of " << to_text(manifest.created_at) << " in "
              << print_safe(options.folder) << ": "
              << count_text(std::ssize(manifest.files), "file") << ", " << size_text(taken->bytes())
              << ", " << count_text(std::ssize(manifest.chains), "chain") << ", sealed by the "
              << (taken->is_sealed_by_server ? "server" : "folder's key (no server runs)")
              << ".\nNot in it, on purpose: the sealing key, the operator's token, files and "
                 "letters on their way, and master.key.\nKeep master.key apart from the backup: "
                 "without it the exchange keys and gateway secrets are lost.\n";
    for (const std::string& name : taken->left_out) {
        std::cout << "Left out, its name is none of ours: " << print_safe(name) << "\n";
    }
    return ExitCode::ok;
}

void print_restored(const Options& options, const RestoreReport& report, const std::string& data) {
    const BackupManifest& manifest = report.sealed.manifest;
    std::cout << "The backup of " << to_text(manifest.created_at)
              << " holds: " << count_text(std::ssize(manifest.files), "file")
              << " are what was sealed, " << count_text(std::ssize(manifest.chains), "chain")
              << " and " << count_text(report.folder.records(), "record") << " verify.\n";
    for (const std::string& warning : report.folder.warnings) {
        std::cout << "Note: " << print_safe(warning) << "\n";
    }
    if (options.check) {
        return;
    }
    std::cout << "It is in " << print_safe(data) << ".";
    for (const std::string& name : report.from_lost) {
        std::cout << " " << name << " is the lost server's.";
    }
    std::cout << "\nMake sure that the old server is gone for good. Put master.key into the "
                 "folder, then start:\n  interlock serve --data "
              << print_safe(data)
              << "\nIt opens stopped. A human accepts the break (`interlock audit accept-break "
                 "--tenant _system`),\nconfirms the access keys (`interlock key confirm`) and "
                 "releases the stop; docs/operations.md has the order.\n";
}

ExitCode run_restore(const GlobalOptions& global, const Options& options) {
    if (!options.check && global.data.empty()) {
        return report_usage(
            global,
            "A restore needs the folder to restore into.",
            "Name a new folder with --data, or give --check.");
    }
    RestoreWish wish{
        .backup_folder = options.folder,
        .data_folder = options.check ? std::string() : global.data,
        .lost_folder = options.lost,
        .check_artifacts = !options.skip_artifacts,
        .knows_breaks = options.knows_breaks,
    };
    if (!options.public_key.empty()) {
        auto key = parse_public_key(options.public_key);
        if (!key) {
            return report_failure(global, key.error());
        }
        wish.public_key = *std::move(key);
    }
    ProgressLine progress(global.json);
    wish.on_progress = [&](const std::string& what) { progress.show(what); };
    const auto report = restore_backup(wish);
    progress.clear();
    if (!report) {
        return report_failure(global, report.error());
    }
    if (!global.json) {
        print_restored(options, *report, global.data);
        return ExitCode::ok;
    }
    print_json(Json::object({
        {"created_at", to_text(report->sealed.manifest.created_at)},
        {"files", report->sealed.manifest.files.size()},
        {"records", report->folder.records()},
        {"restored_to", options.check ? Json() : Json(global.data)},
        {"from_lost", json_list(report->from_lost)},
        {"warnings", json_list(report->folder.warnings)},
    }));
    return ExitCode::ok;
}

}  // namespace

void add_backup_commands(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* backup = line.app.add_subcommand(
        "backup",
        "Take one consistent, sealed copy of the data folder; works beside a running server.");
    backup->add_option("folder", options->folder, "A new folder for the backup.")
        ->required()
        ->type_name("OUT");
    backup->callback([&line, options] {
        line.run = [&line, options] { return run_backup(line.global, *options); };
    });

    CLI::App* restore = line.app.add_subcommand(
        "restore", "Check a backup and put it into a new data folder; it opens stopped.");
    restore->add_option("folder", options->folder, "The backup.")->required()->type_name("BACKUP");
    restore
        ->add_option(
            "--public-key",
            options->public_key,
            "Whose backup it must be: 64 hex digits or a file (ledger.pub).")
        ->type_name("KEY");
    restore
        ->add_option(
            "--lost",
            options->lost,
            "The lost server's folder, if it can be read: venue journals and heads.log from there.")
        ->type_name("DIR");
    restore->add_flag(
        "--accept-known-breaks",
        options->knows_breaks,
        "Take a backup whose chains have breaks on record; an earlier restore is one.");
    restore->add_flag("--check", options->check, "Only check the backup; restore nothing.");
    restore->add_flag(
        "--skip-artifacts",
        options->skip_artifacts,
        "Do not hash again what records refer to; the records themselves are always checked.");
    restore->callback([&line, options] {
        line.run = [&line, options] { return run_restore(line.global, *options); };
    });
}

}  // namespace interlock
