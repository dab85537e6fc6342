#include "app/command/trading_command.h"

#include <array>
#include <iostream>

#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/command/kill_call.h"
#include "app/command/table_command.h"
#include "app/wiring/server_client.h"
#include "engine/wire/principal.h"

namespace interlock {
namespace {

enum class Word { on, off, resume };

struct Options {
    std::string tenant;
    bool global = false;
    std::string account;
    std::string reason;
    LoginOptions login;
};

// Whose trading is meant: the one named; else, to turn it on, the one place where it is off, the
// host first, since under it nobody else's counts; else the only tenant.
Result<std::string> place_of(ServerClient& server, const Options& options, Word word) {
    if (options.global) {
        return system_tenant().text();
    }
    if (!options.tenant.empty() || word != Word::on) {
        return chosen_tenant(server, options.tenant);
    }
    TRY_ASSIGN(const KillStatuses statuses, kill_statuses(server, {}));
    std::vector<std::string> off;
    for (const auto& [tenant_id, status] : statuses) {
        const std::string code = blocked_code(status);
        if (code == "disabled_for_all") {
            return system_tenant().text();
        }
        if (code == "disabled" || code == "account_disabled") {
            off.push_back(tenant_id.text());
        }
    }
    return off.size() == 1 ? off.front() : chosen_tenant(server, {});
}

// What still keeps the place, or a tenant of the host, from trading.
void tell_what_is_still_off(ServerClient& server, const std::string& place) {
    KillChoice choice;
    choice.tenant = place == system_tenant().text() ? "" : place;
    const auto statuses = kill_statuses(server, choice);
    if (!statuses) {
        return;
    }
    for (const auto& [tenant_id, status] : *statuses) {
        const Json* const blocked = status.find("blocked");
        if (blocked != nullptr && !blocked->is_null()) {
            std::cout << print_safe(tenant_id.text()) << " does not trade yet. "
                      << print_safe(text_at(*blocked, "reason")) << " "
                      << print_safe(text_at(*blocked, "next")) << "\n";
        }
    }
}

ExitCode run(const GlobalOptions& global, const Options& options, Word word) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto place = place_of(server, options, word);
    if (!place) {
        return report_failure(global, place.error());
    }
    Json fields = Json::object();
    if (word != Word::resume) {
        fields.set("enabled", word == Word::on);
    }
    if (!options.account.empty()) {
        fields.set("account_id", options.account);
    }
    if (!options.reason.empty()) {
        fields.set("reason", options.reason);
    }
    const auto answer = ask_table(
        global,
        {.operation = word == Word::resume ? "resume_recovery" : "set_trading",
         .fields = std::move(fields),
         .tenant = *place,
         .login = options.login,
         .by = TableLogin::always});
    if (!answer) {
        return answer.error();
    }
    const std::string whose = place == system_tenant().text() ? "the host" : print_safe(*place);
    if (global.json) {
        print_json(*answer);
    } else if (word == Word::resume) {
        std::cout << "The account of " << whose
                  << " is compared with its venue again; two clean looks end recovery.\n";
    } else {
        std::cout << "Trading is " << (word == Word::on ? "on" : "off") << " for " << whose
                  << ".\n";
        if (word == Word::on) {
            tell_what_is_still_off(server, *place);
        }
    }
    return ExitCode::ok;
}

struct Verb {
    const char* name;
    Word word;
    const char* help;
};
constexpr std::array kVerbs{
    Verb{
        "on",
        Word::on,
        "Let it trade; needed once after a stop was released. Without a choice: where it is off."},
    Verb{"off", Word::off, "Stop the account's trading at once."},
    Verb{
        "resume",
        Word::resume,
        "Let an account whose recovery was handed to a human compare itself with its venue again."},
};

void add(CLI::App& trading, CommandLine& line, const Verb& verb) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = trading.add_subcommand(verb.name, verb.help);
    CLI::Option* tenant =
        command
            ->add_option(
                "--tenant", options->tenant, "Whose; may be left out when there is one tenant.")
            ->type_name("TENANT");
    if (verb.word != Word::resume) {
        command->add_flag("--global", options->global, "For the host, which all tenants need.")
            ->excludes(tenant);
    }
    command->add_option("--account", options->account, "The account; the main one when left out.")
        ->type_name("ID");
    command->add_option("--reason", options->reason, "A word for the record.")->type_name("TEXT");
    add_login_options(*command, options->login);
    command->callback([&line, options, word = verb.word] {
        line.run = [&line, options, word] { return run(line.global, *options, word); };
    });
}

}  // namespace

void add_trading_command(CommandLine& line) {
    CLI::App* trading = line.app.add_subcommand(
        "trading", "Turn trading of an account on or off, or let it recover, as a human.");
    trading->require_subcommand(1);
    for (const Verb& verb : kVerbs) {
        add(*trading, line, verb);
    }
}

}  // namespace interlock
