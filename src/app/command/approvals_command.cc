#include "app/command/approvals_command.h"

#include <iostream>

#include "app/command/approval_call.h"
#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/wiring/server_client.h"
#include "base/text.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string state;
    std::string approval_id;
    std::string comment;
    bool yes = false;
    LoginOptions login;
};

ExitCode run_list(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto approvals = list_approvals(server, {options.tenant, options.state});
    if (!approvals) {
        return report_failure(global, approvals.error());
    }
    if (global.json) {
        Json list = Json::array();
        for (const Json& approval : *approvals) {
            list.push(approval);
        }
        print_json(Json::object({{"approvals", std::move(list)}}));
    } else if (approvals->empty()) {
        std::cout << "No approvals" << (options.state.empty() ? "" : " in this state") << ".\n";
    } else {
        std::cout << describe_approvals(*approvals);
    }
    return ExitCode::ok;
}

ExitCode run_show(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto approval = find_approval(server, options.approval_id, options.tenant);
    if (!approval) {
        return report_failure(global, approval.error());
    }
    if (global.json) {
        print_json(*approval);
    } else {
        std::cout << describe_approval(*approval);
    }
    return ExitCode::ok;
}

// True when the human said yes, or --yes was given.
Result<bool> confirm(
    const GlobalOptions& global,
    const Options& options,
    const Json& approval,
    std::string_view verb) {
    // Nobody is asked about something they were not shown.
    if (!global.json || !options.yes) {
        (global.json ? std::cerr : std::cout) << describe_approval(approval) << std::endl;
    }
    if (options.yes) {
        return true;
    }
    TRY_ASSIGN(const std::string answer, ask_line(std::string(verb) + "? [y/N] "));
    return equal_ignoring_case(answer, "y") || equal_ignoring_case(answer, "yes");
}

// A release alone lets nobody trade: what is still off, and who turns it on.
void tell_what_is_still_off(ServerClient& server, const Json& approval, const Json& decided) {
    if (text_at(approval, "kind") != "kill_release" || text_at(decided, "state") != "consumed") {
        return;
    }
    const auto status =
        server.get("/api/" + percent_encode(text_at(approval, "tenant_id")) + "/kill");
    const Json* const blocked = status && status->ok() ? status->body.find("blocked") : nullptr;
    if (blocked != nullptr && !blocked->is_null()) {
        std::cout << "Nothing trades yet. " << print_safe(text_at(*blocked, "reason")) << " "
                  << print_safe(text_at(*blocked, "next")) << "\n";
    }
}

ExitCode decide(const GlobalOptions& global, const Options& options, const std::string& verb) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto approval = find_approval(server, options.approval_id, options.tenant);
    if (!approval) {
        return report_failure(global, approval.error());
    }
    if (const auto sound = require_decidable(*approval); !sound) {
        return report_failure(global, sound.error());
    }
    const auto confirmed =
        confirm(global, options, *approval, verb == "approve" ? "Approve" : "Reject");
    if (!confirmed) {
        return report_failure(global, confirmed.error());
    }
    if (!*confirmed) {
        std::cerr << "Nothing was decided.\n";
        return ExitCode::refused;
    }
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return login.error();
    }
    Json body = Json::object({{"subject_hash", text_at(*approval, "subject_hash")}});
    if (!options.comment.empty()) {
        body.set("comment", options.comment);
    }
    const auto decided =
        expect_ok(global, login->post(approval_path(*approval) + "/" + verb, body));
    if (!decided) {
        return decided.error();
    }
    if (global.json) {
        print_json(*decided);
    } else {
        std::cout << describe_decision(*approval, *decided);
        tell_what_is_still_off(server, *approval, *decided);
    }
    return ExitCode::ok;
}

void add_tenant_option(CLI::App& command, Options& options) {
    command.add_option("--tenant", options.tenant, "Look only at this tenant (_system: the host).")
        ->type_name("TENANT");
}

void add_id_option(CLI::App& command, Options& options) {
    command.add_option("id", options.approval_id, "The approval's id (apr_...).")
        ->required()
        ->type_name("ID");
}

}  // namespace

void add_approvals_command(CommandLine& line) {
    CLI::App* approvals =
        line.app.add_subcommand("approvals", "What waits for a human, and the human's word on it.");
    approvals->require_subcommand(1);
    const auto options = std::make_shared<Options>();

    CLI::App* list = approvals->add_subcommand("list", "List approvals, newest first.");
    add_tenant_option(*list, *options);
    list->add_option("--state", options->state, "Only approvals in this state.")
        ->check(CLI::IsMember({"pending", "approved", "rejected", "expired", "consumed"}));
    list->callback([&line, options] {
        line.run = [&line, options] { return run_list(line.global, *options); };
    });

    CLI::App* show = approvals->add_subcommand("show", "Show one approval with its payload.");
    add_tenant_option(*show, *options);
    add_id_option(*show, *options);
    show->callback([&line, options] {
        line.run = [&line, options] { return run_show(line.global, *options); };
    });

    for (const std::string verb : {"approve", "reject"}) {
        CLI::App* command = approvals->add_subcommand(
            verb,
            verb == "approve" ? "Approve as a human: shows the payload, asks, logs in, approves."
                              : "Reject as a human.");
        add_tenant_option(*command, *options);
        add_id_option(*command, *options);
        command->add_option("--comment", options->comment, "A word for the record.")
            ->type_name("TEXT");
        command->add_flag("--yes", options->yes, "Do not ask for confirmation.");
        add_login_options(*command, options->login);
        command->callback([&line, options, verb] {
            line.run = [&line, options, verb] { return decide(line.global, *options, verb); };
        });
    }
}

}  // namespace interlock
