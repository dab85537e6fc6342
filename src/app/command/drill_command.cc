#include "app/command/drill_command.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace interlock {

ExitCode run_drill_kill_command(const GlobalOptions& global, KillDrillOptions options) {
    options.folder = global.data;
    const auto reports = run_kill_drill(options, [&](const std::string& text) {
        if (!global.json) {
            std::cerr << text << "\n";
        }
    });
    if (!reports) {
        return report(global, reports.error());
    }
    if (global.json) {
        for (const KillPathReport& one : *reports) {
            std::cout << to_text(encode(one)) << "\n";
        }
    } else {
        std::cout << to_table(*reports);
    }
    const bool clean = std::all_of(
        reports->begin(), reports->end(), [](const auto& one) { return one.effects_after == 0; });
    if (!clean && !global.json) {
        std::cerr << "Effects arrived after the switch was recorded as on.\n";
    }
    return clean ? ExitCode::ok : ExitCode::refused;
}

ExitCode run_drill_dos_command(const GlobalOptions& global, DosDrillOptions options) {
    options.folder = global.data;
    const auto report_of = run_dos_drill(options, [&](const std::string& text) {
        if (!global.json) {
            std::cerr << text << "\n";
        }
    });
    if (!report_of) {
        return report(global, report_of.error());
    }
    std::cout << (global.json ? to_text(encode(*report_of)) + "\n" : to_table(*report_of));
    return report_of->is_good() ? ExitCode::ok : ExitCode::refused;
}

namespace {

void add_drill_dos(CommandLine& line, CLI::App& drill) {
    CLI::App* dos = drill.add_subcommand(
        "dos", "Pull the kill switch of a server of its own while strangers crowd it.");
    const auto options = std::make_shared<DosDrillOptions>();
    dos->add_option("--rounds", options->rounds, "Stops on each of the four ways.")
        ->check(CLI::Range(1, 10'000));
    dos->add_option("--silent", options->silent, "Connections that never say a word.")
        ->check(CLI::Range(0, 100'000));
    dos->add_option("--busy", options->busy, "Connections that ask without a pause.")
        ->check(CLI::Range(0, 20'000));
    dos->add_option("--logins", options->logins, "Connections that try passwords.")
        ->check(CLI::Range(0, 1'000));
    dos->add_option("--uploads", options->uploads, "Connections that send long bodies, slowly.")
        ->check(CLI::Range(0, 1'000));
    dos->callback([&line, options] {
        line.run = [&line, options] { return run_drill_dos_command(line.global, *options); };
    });
}

}  // namespace

void add_drill_command(CommandLine& line) {
    CLI::App* drill = line.app.add_subcommand("drill", "Rehearse an emergency.");
    drill->require_subcommand(1);
    add_drill_dos(line, *drill);
    CLI::App* kill = drill->add_subcommand(
        "kill", "Pull the kill switch of a busy server of its own, along every path.");
    const auto options = std::make_shared<KillDrillOptions>();
    kill->add_option("--rounds", options->rounds, "How often, for each path.")
        ->check(CLI::Range(1, 1000));
    kill->add_option("--agents", options->agents, "Agents that keep the server busy.")
        ->check(CLI::Range(1, 256));
    kill->add_option("--path", options->paths, "http, mcp, cli, file; all unless told.")
        ->delimiter(',')
        ->check(CLI::IsMember({"http", "mcp", "cli", "file"}));
    kill->callback([&line, options] {
        line.run = [&line, options] { return run_drill_kill_command(line.global, *options); };
    });
}

}  // namespace interlock
