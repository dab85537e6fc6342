#include "app/command/bot_command.h"

#include <iostream>

#include "app/command/bot_words.h"
#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/command/table_command.h"
#include "app/wiring/server_client.h"
#include "base/secret_string.h"

namespace interlock {
namespace {

struct Options {
    std::string tenant;
    std::string exchange = "paper";  // Of `keys`.
    bool keys_stdin = false;
    std::string email;  // Of `signup`.
    std::string plan = "trial";
    LoginOptions login;
};
using OptionsPtr = std::shared_ptr<Options>;

std::string describe_message(const Json& answer) {
    std::string text = text_at(answer, "message") + "\n";
    if (const Json* orders = answer.find("open_orders");
        orders != nullptr && !orders->items().empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const Json& order : orders->items()) {
            rows.push_back(
                {text_at(order, "symbol"),
                 text_at(order, "side"),
                 text_at(order, "price"),
                 text_at(order, "remaining_qty"),
                 text_at(order, "order_client_id")});
        }
        text += render_table({"symbol", "side", "price", "remaining", "order"}, rows);
    }
    return text;
}

std::string describe_config(const Json& config) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& [name, value] : config.members()) {
        fields.emplace_back(name, value.is_string() ? value.as_string() : to_text(value));
    }
    return render_fields(fields);
}

std::string describe_log(const Json& answer) {
    const Json* logs = answer.find("logs");
    logs = logs == nullptr ? answer.find("log") : logs;
    return logs != nullptr && logs->is_string() ? print_safe(logs->as_string(), true) : "";
}

// Two lines of standard input, or two questions: never arguments, which other users can see.
Result<Json> read_keys(const Options& options) {
    SecretString key;
    SecretString secret;
    if (options.keys_stdin) {
        TRY_ASSIGN(key, read_secret_from_stdin());
        TRY_ASSIGN(secret, read_secret_from_stdin());
    } else {
        TRY_ASSIGN(key, ask_secret("API key: "));
        TRY_ASSIGN(secret, ask_secret("API secret: "));
    }
    return Json::object({
        {"exchange", options.exchange},
        {"api_key", std::string(key.reveal())},
        {"api_secret", std::string(secret.reveal())},
    });
}

ExitCode run_keys(const GlobalOptions& global, const Options& options) {
    const auto body = read_keys(options);
    if (!body) {
        return report_failure(global, body.error());
    }
    return show_answer(
        global,
        ask_table(
            global,
            {.operation = "update_exchange_keys", .fields = *body, .tenant = options.tenant}),
        describe_message);
}

ExitCode run_signup(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto answer = expect_ok(
        global,
        server.post(
            "/signup",
            Json::object(
                {{"email", options.email}, {"plan", options.plan}, {"agent_metadata", Json()}})));
    return show_answer(global, answer, describe_config);
}

// What a person sees of an endpoint's answer.
std::string describe_answer(const BotEndpoint& endpoint, const Json& answer) {
    constexpr std::pair<std::string_view, std::string (*)(const Json&)> kOwn[] = {
        {"status", describe_bot_status},
        {"positions", describe_bot_positions},
        {"balances", describe_bot_balances},
        {"logs", describe_log},
        {"pnl_snapshot", describe_log},
    };
    for (const auto& [id, describe] : kOwn) {
        if (endpoint.id == id) {
            return describe(answer);
        }
    }
    return answer.find("message") != nullptr ? describe_message(answer) : describe_config(answer);
}

// Logs in and out again: whether address, password and code are right, and whose they are.
ExitCode run_login(const GlobalOptions& global, const Options& options) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    auto human = HumanLogin::start(global, *folder, options.login);
    if (!human) {
        return human.error();
    }
    return show_answer(global, expect_ok(global, human->get("/account/session")), describe_config);
}

void add_key_options(CLI::App& command, const OptionsPtr& options) {
    command.add_option("--exchange", options->exchange, "Whose keys; paper unless given.")
        ->type_name("NAME");
    command.add_flag(
        "--keys-stdin",
        options->keys_stdin,
        "Read the key and the secret from the first two lines of standard input.");
}

void add_signup_options(CLI::App& command, const OptionsPtr& options) {
    command.add_option("email", options->email, "The owner's address.")->required();
    command.add_option("--plan", options->plan, "trial, standard or pro; trial unless given.")
        ->check(CLI::IsMember({"trial", "standard", "pro"}));
}

// Those with a step of their own before the call.
void add_own_word(CLI::App& bot, CommandLine& line, const BotEndpoint& endpoint) {
    const auto options = std::make_shared<Options>();
    CLI::App* const command =
        bot.add_subcommand(bot_word(endpoint), std::string(endpoint.description));
    ExitCode (*run)(const GlobalOptions&, const Options&) = run_keys;
    if (endpoint.id == "signup") {
        add_signup_options(*command, options);
        run = run_signup;
    } else if (endpoint.id == "account_login") {
        add_login_options(*command, options->login);
        run = run_login;
    } else {
        command
            ->add_option(
                "--tenant", options->tenant, "Whose bot; needed when there is more than one.")
            ->type_name("TENANT");
        add_key_options(*command, options);
    }
    command->callback([&line, options, run] {
        line.run = [&line, options, run] { return run(line.global, *options); };
    });
}

void add_word(CLI::App& bot, CommandLine& line, const BotEndpoint& endpoint) {
    if (endpoint.platform_level || endpoint.id == "update_exchange_keys") {
        add_own_word(bot, line, endpoint);
        return;
    }
    add_table_word(
        line,
        {.operation = endpoint.id,
         .help = endpoint.description,
         .describe =
             [&endpoint](const TableAnswer& shown) {
                 return describe_answer(endpoint, shown.answer);
             },
         .login = is_human_word(endpoint) ? TableLogin::always : TableLogin::never});
}

}  // namespace

std::string describe_bot_status(const Json& status) {
    std::string step = "-";
    if (const Json* hydration = status.find("hydration");
        hydration != nullptr && hydration->is_object()) {
        step = text_at(*hydration, "step");
    }
    const auto truth = [&](std::string_view key) {
        const Json* value = status.find(key);
        return std::string(value != nullptr && value->is_bool() && value->as_bool() ? "yes" : "no");
    };
    const auto number = [&](std::string_view key) {
        const Json* value = status.find(key);
        return value == nullptr ? "-" : to_text(*value);
    };
    std::vector<std::pair<std::string, std::string>> fields{
        {"state", text_at(status, "bot_state")}, {"trades", truth("trading")}};
    for (auto& field : blocked_fields(status)) {
        fields.push_back(std::move(field));
    }
    fields.insert(
        fields.end(),
        {{"warnings", sentences_at(status, "warnings")},
         {"stalled", truth("stalled")},
         {"connected", truth("connected")},
         {"reading", step},
         {"last pulse", text_at(status, "last_pulse_at")},
         {"pulses", number("pulses") + " (" + number("pulses_late") + " late)"},
         {"configuration", "version " + number("config_version")},
         {"trouble", text_at(status, "trouble")}});
    return render_fields(fields);
}

std::string describe_bot_positions(const Json& positions) {
    const Json* list = positions.find("positions");
    if (list == nullptr || list->items().empty()) {
        return "Nothing is held and nothing is open.\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& one : list->items()) {
        const Json* orders = one.find("open_orders");
        rows.push_back(
            {text_at(one, "symbol"),
             text_at(one, "quantity"),
             text_at(one, "average_price"),
             text_at(one, "realized"),
             std::to_string(orders == nullptr ? 0 : orders->items().size())});
    }
    return render_table({"symbol", "quantity", "average price", "realized", "open orders"}, rows);
}

std::string describe_bot_balances(const Json& balances) {
    const Json* all = balances.find("balances");
    if (all == nullptr || all->members().empty()) {
        return "The exchange has not been asked yet.\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& [asset, amounts] : all->members()) {
        rows.push_back({asset, text_at(amounts, "free"), text_at(amounts, "locked")});
    }
    return render_table({"asset", "free", "locked"}, rows) + "as of " +
           text_at(balances, "fetched_at") + "\n";
}

void add_bot_command(CommandLine& line) {
    CLI::App* bot = line.app.add_subcommand(
        "bot", "A tenant's maker bot: look at it, start and stop it, configure it, give it keys.");
    bot->require_subcommand(1);
    for (const BotEndpoint& endpoint : bot_endpoints()) {
        add_word(*bot, line, endpoint);
    }
    // The operator's own, and no endpoint of the platform.
    add_table_word(
        line,
        {.operation = "set_plan",
         .help = "Confirm a plan of the account that signed up.",
         .names = {{.field = "plan", .as = "plan", .help = "trial, standard or pro."}},
         .describe = shown_by(describe_config)});
}

}  // namespace interlock
