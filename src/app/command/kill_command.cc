#include "app/command/kill_command.h"

#include <iostream>

#include "app/command/approval_call.h"
#include "app/command/console.h"
#include "app/command/kill_call.h"
#include "app/wiring/server_client.h"
#include "base/text.h"
#include "engine/system/file_kill_flag.h"

namespace interlock {
namespace {

ExitCode run_on(const GlobalOptions& global, const KillChoice& choice) {
    const auto folder = kill_folder(global);
    if (!folder) {
        return folder.error();
    }
    const StopOutcome outcome = stop({.data_folder = *folder, .choice = choice});
    if (global.json) {
        print_json(encode(outcome));
    } else {
        (outcome.stopped ? std::cout : std::cerr) << describe(outcome);
    }
    return outcome.exit_code;
}

// The approval enables trading; it does not undo what somebody else turned off.
std::string trading_after(const TenantId& place, const Json& payload) {
    if (place == system_tenant()) {
        return "With that approval trading is enabled on the host; a tenant that is off by itself "
               "stays off.\n";
    }
    const Json* const left = payload.find("still_blocked");
    if (left == nullptr || left->is_null()) {
        return "With that approval trading is enabled as well.\n";
    }
    return "With that approval trading is enabled, but something else holds still: " +
           print_safe(text_at(*left, "reason")) + " " + print_safe(text_at(*left, "next")) + "\n";
}

ExitCode run_off(const GlobalOptions& global, KillChoice choice) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto place = place_to_release(global, server, choice);
    if (!place) {
        return place.error();
    }
    if (place->empty()) {
        if (global.json) {
            print_json(Json::object({{"active", false}}));
        } else {
            std::cout << "Nothing is stopped; there is nothing to release.\n";
        }
        return ExitCode::ok;
    }
    Json body = Json::object({{"active", false}});
    if (!choice.reason.empty()) {
        body.set("reason", choice.reason);
    }
    if (choice.enable_trading) {
        body.set("enable_trading", true);
    }
    const auto status = expect_ok(global, server.post(kill_path(*place), body));
    if (!status) {
        return status.error();
    }
    if (global.json) {
        print_json(*status);
        return ExitCode::ok;
    }
    const std::string approval_id = text_at(*status, "release_approval_id");
    if (approval_id == "-") {
        std::cout << "The switch of " << print_safe(place->text())
                  << " is not on; there is nothing to release.\n";
        return ExitCode::ok;
    }
    // A request that waited already may ask for more than this call did.
    const auto approval = find_approval(server, approval_id, place->text());
    const Json* const payload = approval ? approval->find("payload") : nullptr;
    const Json* const enable = payload == nullptr ? nullptr : payload->find("enable_trading");
    const bool trades = enable != nullptr && enable->is_bool() && enable->as_bool();
    std::cout << "Still stopped. The release of " << print_safe(place->text())
              << " waits for a human.\n"
              << render_fields(
                     {{"approval", approval_id},
                      {"approve with", "interlock approvals approve " + approval_id}})
              << (trades ? trading_after(*place, *payload)
                         : "Trading stays off after it until a human runs `interlock trading on`; "
                           "`--enable-trading` asks for both in one approval.\n");
    if (FileKillFlag(*folder).is_raised()) {
        std::cout << "The file " << *folder
                  << "/KILL is there as well; remove it before the release can be approved.\n";
    }
    return ExitCode::ok;
}

ExitCode run_status(const GlobalOptions& global, const KillChoice& choice) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    FileKillFlag flag(*folder);
    const bool file = flag.is_raised();
    ServerClient server(*folder);
    const auto rows = kill_statuses(server, choice);
    if (!rows) {
        if (file && !global.json) {
            std::cout << "The file " << *folder
                      << "/KILL is there: nothing trades. Reason: " << print_safe(flag.reason())
                      << "\n";
        }
        return report_failure(global, rows.error());
    }
    if (global.json) {
        Json list = Json::array();
        for (const auto& [tenant_id, status] : *rows) {
            Json row = status;
            row.set("tenant_id", tenant_id.text());
            list.push(std::move(row));
        }
        print_json(Json::object({{"kill_file", file}, {"switches", std::move(list)}}));
        return ExitCode::ok;
    }
    if (file) {
        std::cout << "The file " << *folder << "/KILL is there: nothing trades.\n";
    }
    std::cout << describe_statuses(*rows);
    for (const auto& [tenant_id, status] : *rows) {
        const bool trades = tenant_id != system_tenant() && blocked_code(status).empty();
        const auto held =
            trades ? held_strategies(server, tenant_id) : Result<std::vector<HeldStrategies>>();
        if (!held) {
            return report_failure(global, held.error());
        }
        for (const HeldStrategies& one : *held) {
            std::cout << print_safe(describe(tenant_id, one)) << " " << print_safe(one.next)
                      << "\n";
        }
    }
    return ExitCode::ok;
}

void add_choice(CLI::App& command, KillChoice& choice) {
    CLI::Option* tenant =
        command.add_option("--tenant", choice.tenant, "Only this tenant.")->type_name("TENANT");
    command.add_flag("--global", choice.global, "Everything on this host.")->excludes(tenant);
}

}  // namespace

void add_kill_command(CommandLine& line) {
    CLI::App* kill = line.app.add_subcommand(
        "kill", "Stop all trading at once, ask for its release, or see what is stopped.");
    kill->require_subcommand(1);
    const auto choice = std::make_shared<KillChoice>();

    CLI::App* on = kill->add_subcommand(
        "on",
        "Stop now. Without a choice everything stops. When the server does not answer, the file "
        "KILL in the data folder stops it.");
    add_choice(*on, *choice);
    on->add_option("--reason", choice->reason, "Why, for the record.")->type_name("TEXT");
    on->callback(
        [&line, choice] { line.run = [&line, choice] { return run_on(line.global, *choice); }; });

    CLI::App* off = kill->add_subcommand("off", "Ask for the release; a human has to approve it.");
    add_choice(*off, *choice);
    off->add_option("--reason", choice->reason, "Why, for the record.")->type_name("TEXT");
    off->add_flag(
        "--enable-trading",
        choice->enable_trading,
        "The same approval lets trading go on; otherwise it stays off until `interlock trading "
        "on`.");
    off->callback(
        [&line, choice] { line.run = [&line, choice] { return run_off(line.global, *choice); }; });

    CLI::App* status = kill->add_subcommand("status", "What is stopped, why and since when.");
    add_choice(*status, *choice);
    status->callback([&line, choice] {
        line.run = [&line, choice] { return run_status(line.global, *choice); };
    });
}

}  // namespace interlock
