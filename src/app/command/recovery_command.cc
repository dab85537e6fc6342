#include "app/command/recovery_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/command/table_command.h"
#include "app/wiring/offline_recovery.h"
#include "base/bytes.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

struct Options {
    std::string whom;    // Whose login it is about.
    std::string tenant;  // Empty: the only one.
    std::string reason;
    bool show_code = false;
    std::string code;
    bool password_stdin = false;
};

std::string describe_codes(const Json& answer) {
    std::string text =
        "Recovery codes. Store them apart from the password; they are not shown "
        "again, and each is good once:\n";
    if (const Json* codes = answer.find("recovery_codes"); codes != nullptr && codes->is_array()) {
        for (const Json& code : codes->items()) {
            text += "    " + print_safe(code.as_string()) + "\n";
        }
    }
    return text;
}

// The id of the tenant's human with this address.
Result<std::string> find_human(const Json& humans, const std::string& email) {
    const Json* list = humans.find("humans");
    if (list != nullptr && list->is_array()) {
        for (const Json& human : list->items()) {
            if (equal_ignoring_case(text_at(human, "email"), email)) {
                return text_at(human, "human_id");
            }
        }
    }
    return fail(
        errors::not_found,
        "This tenant has no human with the address " + email + ".",
        "See `interlock human list --tenant TENANT`.");
}

std::string humans_path(const std::string& tenant) {
    return "/api/" + percent_encode(tenant) + "/humans";
}

Json start_fields(const Options& options, const std::string& human_id) {
    Json fields = Json::object({{"human_id", human_id}, {"show_code", options.show_code}});
    if (!options.reason.empty()) {
        fields.set("reason", options.reason);
    }
    return fields;
}

std::string describe_started(const Json& started) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"of", text_at(started, "email")},
        {"good from", text_at(started, "good_from")},
        {"until", text_at(started, "expires_at")}};
    if (text_at(started, "code") != "-") {
        fields.emplace_back("code", text_at(started, "code"));
        fields.emplace_back("in a browser", "/recover");
        fields.emplace_back("or here", "interlock human reset-password EMAIL");
    }
    return "The recovery is started, on the record, and told to everybody of the person's "
           "tenants.\n" +
           render_fields(fields) +
           (text_at(started, "code") == "-"
                ? "The code goes by letter to their address.\n"
                : "This is the only time the code is shown; hand it over safely.\n");
}

// By the operator: through the server, or on the data folder while none runs.
ExitCode run_recover(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto listed = server.get(humans_path(options.tenant));
    if (!listed && listed.error() == errors::server_unreachable) {
        const auto started = recover_offline(
            global, {options.tenant, options.whom, {options.reason, options.show_code}});
        if (!started) {
            return report_failure(global, started.error());
        }
        return show_answer(global, encode(*started), describe_started);
    }
    const auto humans = expect_ok(global, listed);
    if (!humans) {
        return humans.error();
    }
    const auto human_id = find_human(*humans, options.whom);
    if (!human_id) {
        return report_failure(global, human_id.error());
    }
    return show_answer(
        global,
        ask_table(
            global,
            {.operation = "start_recovery",
             .fields = start_fields(options, *human_id),
             .tenant = options.tenant}),
        describe_started);
}

// A call of somebody who logs in about a colleague, whose address stands for the id.
void add_for_colleague(CommandLine& line, TableWord word) {
    word.names = {
        {.field = "human_id", .as = "whom", .help = "The address of the person whose login it is."},
        {.field = "reason", .help = "Told to everybody of the tenant."},
        {.field = "show_code", .help = "Show the code to hand over, instead of a letter."}};
    word.login = TableLogin::always;
    word.prepare = [](const TableTyped& typed) -> std::optional<ExitCode> {
        const auto humans =
            ask_table(typed.global, {.operation = "list_humans", .tenant = typed.tenant});
        if (!humans) {
            return humans.error();
        }
        Json& whom = *typed.fields.find("human_id");
        const auto human_id = find_human(*humans, whom.as_string());
        if (!human_id) {
            return report_failure(typed.global, human_id.error());
        }
        whom = *human_id;
        return std::nullopt;
    };
    add_table_word(line, std::move(word));
}

ExitCode run_reset(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    const auto code = options.code.empty() ? ask_secret("Recovery code: ")
                                           : Result<SecretString>(SecretString(options.code));
    if (!code) {
        return report_failure(global, code.error());
    }
    const auto password = new_password(options.password_stdin);
    if (!password) {
        return report_failure(global, password.error());
    }
    ServerClient server(*folder);
    const auto made = expect_ok(
        global,
        server.post(
            "/account/recover",
            Json::object(
                {{"email", options.whom},
                 {"code", Json(code->reveal())},
                 {"password", Json(password->reveal())},
                 {"want_token", true}})));
    if (!made) {
        return made.error();
    }
    print_new_login(
        global,
        server,
        *made,
        "The new password of " + text_at(*made, "email") + " is set; all sessions have ended. " +
            "The vote rests until " + text_at(*made, "vote_rests_until") + ".");
    return ExitCode::ok;
}

struct Verb {
    std::string name;
    std::string description;
    ExitCode (*run)(const GlobalOptions&, const Options&);
};

CLI::App* add(
    CLI::App& human, CommandLine& line, const std::shared_ptr<Options>& options, const Verb& verb) {
    CLI::App* command = human.add_subcommand(verb.name, verb.description);
    command->callback([&line, options, run = verb.run] {
        line.run = [&line, options, run] { return run(line.global, *options); };
    });
    return command;
}

void add_whom(CLI::App& command, Options& options) {
    command.add_option("whom", options.whom, "The address of the person whose login it is.")
        ->required()
        ->type_name("EMAIL");
}

void add_start_options(CLI::App& command, Options& options) {
    command.add_option("--reason", options.reason, "Told to everybody of the tenant.")
        ->type_name("TEXT");
    command.add_flag(
        "--show-code", options.show_code, "Show the code to hand over, instead of a letter.");
}

}  // namespace

Result<SecretString> new_password(bool from_stdin) {
    if (from_stdin) {
        return read_secret_from_stdin();
    }
    TRY_ASSIGN(SecretString first, ask_secret("New password (at least 12 characters): "));
    TRY_ASSIGN(const SecretString second, ask_secret("The same again: "));
    if (!equal_in_constant_time(first.reveal(), second.reveal())) {
        return fail(errors::invalid_request, "The two passwords differ.", "Type it again.");
    }
    return first;
}

void print_new_login(
    const GlobalOptions& global,
    ServerClient& server,
    const Json& made,
    const std::string& sentence) {
    server.act_as(SecretString(text_at(made, "token")));
    (void)server.post("/account/logout", Json::object());  // Nothing here needs that session.
    if (global.json) {
        Json shown = Json::object(
            {{"human_id", text_at(made, "human_id")}, {"email", text_at(made, "email")}});
        if (const Json* codes = made.find("recovery_codes")) {
            shown.set("recovery_codes", *codes);
        }
        print_json(shown);
    } else {
        std::cout << print_safe(sentence) << "\n" << describe_codes(made);
    }
}

void add_recovery_commands(CLI::App& human, CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* recover =
        add(human,
            line,
            options,
            {"recover",
             "Start, as the operator, the recovery of a login. It waits a day at least, everybody "
             "of the tenant hears of it, and any of them can object. Works without a server, too.",
             run_recover});
    add_whom(*recover, *options);
    recover->add_option("--tenant", options->tenant, "A tenant of that person.")
        ->required()
        ->type_name("TENANT");
    add_start_options(*recover, *options);

    add_for_colleague(
        line,
        {.operation = "start_recovery",
         .command = "human assist",
         .help = "Help a colleague back in, logged in as yourself.",
         .describe = shown_by(describe_started)});
    add_for_colleague(
        line, {.operation = "object_to_recovery", .describe = [](const TableAnswer& shown) {
                   return "The recovery of " + print_safe(text_at(shown.answer, "email")) +
                          " has ended; its code is void.\n";
               }});
    add_table_word(
        line,
        {.operation = "make_recovery_codes",
         .describe = shown_by(describe_codes),
         .login = TableLogin::always});

    CLI::App* reset =
        add(human,
            line,
            options,
            {"reset-password",
             "Set a new password with a recovery code; your vote then rests 72 hours.",
             run_reset});
    add_whom(*reset, *options);
    reset->add_option("--code", options->code, "The recovery code; asked for when left out.")
        ->type_name("CODE");
    reset->add_flag(
        "--password-stdin",
        options->password_stdin,
        "Read the new password from the first line of standard input.");
}

}  // namespace interlock
