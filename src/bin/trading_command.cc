#include "bin/trading_command.h"

#include <iostream>

#include "adapters/system/random_id_source.h"
#include "base/text.h"
#include "bin/console.h"
#include "bin/human_login.h"
#include "bin/server_client.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string account;
    std::string reason;
    LoginOptions login;
};

struct Step {
    std::string path;  // Behind the tenant.
    Json body;
    std::string done;  // What to say afterwards.
};

ExitCode run(const GlobalOptions& global, const Options& options, const Step& step) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return login.error();
    }
    Json body = step.body;
    body.set("idempotency_key", RandomIdSource().new_id("cmd"));
    if (!options.account.empty()) {
        body.set("account_id", options.account);
    }
    if (!options.reason.empty()) {
        body.set("reason", options.reason);
    }
    const auto answer =
        expect_ok(global, login->post("/api/" + percent_encode(options.tenant) + step.path, body));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << step.done << "\n";
    }
    return ExitCode::ok;
}

void add(CLI::App& trading, CommandLine& line, const std::string& name, const std::string& help) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = trading.add_subcommand(name, help);
    command->add_option("--tenant", options->tenant, "The tenant.")
        ->required()
        ->type_name("TENANT");
    command->add_option("--account", options->account, "The account; the main one when left out.")
        ->type_name("ID");
    command->add_option("--reason", options->reason, "A word for the record.")->type_name("TEXT");
    add_login_options(*command, options->login);
    Step step{.path = "/trading", .body = Json::object(), .done = {}};
    if (name == "resume") {
        step.path = "/recovery/resume";
        step.done = "The account is compared with its venue again; two clean looks end recovery.";
    } else {
        step.body.set("enabled", name == "on");
        step.done = name == "on" ? "Trading is on." : "Trading is off.";
    }
    command->callback([&line, options, step] {
        line.run = [&line, options, step] { return run(line.global, *options, step); };
    });
}

}  // namespace

void add_trading_command(CommandLine& line) {
    CLI::App* trading = line.app.add_subcommand(
        "trading", "Turn trading of an account on or off, or let it recover, as a human.");
    trading->require_subcommand(1);
    add(*trading, line, "on", "Let the account trade; needed once after a stop was released.");
    add(*trading, line, "off", "Stop the account's trading at once.");
    add(*trading,
        line,
        "resume",
        "Let an account whose recovery was handed to a human compare itself with its venue again.");
}

}  // namespace interlock
