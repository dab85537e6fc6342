#include "app/command/bot_command.h"

#include <iostream>
#include <map>
#include <set>

#include "app/command/bot_words.h"
#include "app/command/console.h"
#include "app/command/human_login.h"
#include "app/wiring/server_client.h"
#include "base/secret_string.h"
#include "base/text.h"

namespace interlock {
namespace {

// Building a bot waits for the exchange; longer than any turn.
constexpr std::chrono::milliseconds kCallWait{120'000};

struct Options {
    std::string tenant;
    std::map<std::string, std::string> typed;  // By field of the request or the query.
    std::set<std::string> flags;               // Fields that are true.
    std::string exchange = "paper";            // Of `keys`.
    bool keys_stdin = false;
    std::string email;  // Of `signup`.
    std::string plan = "trial";
    LoginOptions login;
};
using OptionsPtr = std::shared_ptr<Options>;

struct Request {
    std::string path;                         // Behind /api/{tenant}.
    std::optional<Json> body = std::nullopt;  // Set: a POST.
};

std::expected<Json, ExitCode> ask(
    const GlobalOptions& global, const Options& options, const Request& request) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder, kCallWait);
    const auto tenant = chosen_tenant(server, options.tenant);
    if (!tenant) {
        return std::unexpected(report_failure(global, tenant.error()));
    }
    const std::string target = "/api/" + *tenant + request.path;
    return expect_ok(
        global, request.body ? server.post(target, *request.body) : server.get(target));
}

ExitCode show(
    const GlobalOptions& global,
    const std::expected<Json, ExitCode>& answer,
    std::string (*describe)(const Json&)) {
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe(*answer);
    }
    return ExitCode::ok;
}

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
    return show(global, ask(global, options, {"/update_exchange_keys", *body}), describe_message);
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
    return show(global, answer, describe_config);
}

// What was typed, as the endpoint's request; a usage error otherwise.
Result<Request> request_of(const BotEndpoint& endpoint, const Options& options) {
    Request request{.path = std::string(endpoint.path)};
    const bool is_read = endpoint.method == "GET";
    Json body = Json::object();
    for (const BotOption& option : bot_options(endpoint)) {
        const auto typed = options.typed.find(option.field);
        if (typed != options.typed.end() && !typed->second.empty()) {
            TRY_ASSIGN(Json value, bot_value(option, typed->second));
            if (is_read) {
                request.path += (request.path.contains('?') ? "&" : "?") + option.field + "=" +
                                percent_encode(typed->second);
            }
            body.set(option.field, std::move(value));
        } else if (options.flags.contains(option.field)) {
            body.set(option.field, true);
        }
    }
    if (!is_read) {
        request.body = std::move(body);
    }
    return request;
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

ExitCode show(
    const GlobalOptions& global,
    const BotEndpoint& endpoint,
    const std::expected<Json, ExitCode>& answer) {
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe_answer(endpoint, *answer);
    }
    return ExitCode::ok;
}

// As a human of the tenant, whose own call it is.
ExitCode run_as_human(
    const GlobalOptions& global, const Options& options, const BotEndpoint& endpoint) {
    const auto request = request_of(endpoint, options);
    if (!request) {
        return report_failure(global, request.error());
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto tenant = chosen_tenant(server, options.tenant);
    if (!tenant) {
        return report_failure(global, tenant.error());
    }
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return login.error();
    }
    const std::string target = "/api/" + percent_encode(*tenant) + request->path;
    return show(global, endpoint, expect_ok(global, login->post(target, *request->body)));
}

// Logs in and out again: whether address, password and code are right, and whose they are.
ExitCode run_login(const GlobalOptions& global, const Options& options, const BotEndpoint& login) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    auto human = HumanLogin::start(global, *folder, options.login);
    if (!human) {
        return human.error();
    }
    return show(global, login, expect_ok(global, human->get("/account/session")));
}

ExitCode run_word(
    const GlobalOptions& global, const Options& options, const BotEndpoint& endpoint) {
    if (endpoint.id == "signup") {
        return run_signup(global, options);
    }
    if (endpoint.id == "account_login") {
        return run_login(global, options, endpoint);
    }
    if (endpoint.id == "update_exchange_keys") {
        return run_keys(global, options);
    }
    if (is_human_word(endpoint)) {
        return run_as_human(global, options, endpoint);
    }
    const auto request = request_of(endpoint, options);
    if (!request) {
        return report_failure(global, request.error());
    }
    return show(global, endpoint, ask(global, options, *request));
}

void add_typed_option(CLI::App& command, const OptionsPtr& options, const BotOption& option) {
    if (option.kind == BotOption::Kind::flag) {
        command.add_flag_callback(
            option.flag,
            [options, field = option.field] { options->flags.insert(field); },
            option.help);
        return;
    }
    CLI::Option* const made =
        command.add_option(option.flag, options->typed[option.field], option.help);
    made->required(option.is_required);
    switch (option.kind) {
        case BotOption::Kind::integer:
            made->type_name("NUMBER")->check(CLI::Range(1, 2000));
            break;
        case BotOption::Kind::number:
            made->type_name("NUMBER");
            break;
        case BotOption::Kind::list:
            made->type_name("A,B");
            break;
        case BotOption::Kind::map:
            made->type_name("A=X,B=Y");
            break;
        case BotOption::Kind::text:
        case BotOption::Kind::flag:
            made->type_name("TEXT");
            break;
    }
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

void add_tenant_option(CLI::App& command, const OptionsPtr& options) {
    command
        .add_option("--tenant", options->tenant, "Whose bot; needed when there is more than one.")
        ->type_name("TENANT");
}

void add_word(CLI::App& bot, CommandLine& line, const BotEndpoint& endpoint) {
    const auto options = std::make_shared<Options>();
    CLI::App* const command =
        bot.add_subcommand(bot_word(endpoint), std::string(endpoint.description));
    if (!endpoint.platform_level) {
        add_tenant_option(*command, options);
    }
    if (is_human_word(endpoint)) {
        add_login_options(*command, options->login);
    }
    if (endpoint.id == "signup") {
        add_signup_options(*command, options);
    } else if (endpoint.id == "update_exchange_keys") {
        add_key_options(*command, options);
    } else if (endpoint.id != "account_login") {
        for (const BotOption& option : bot_options(endpoint)) {
            add_typed_option(*command, options, option);
        }
    }
    command->callback([&line, options, &endpoint] {
        line.run = [&line, options, &endpoint] {
            return run_word(line.global, *options, endpoint);
        };
    });
}

// The operator's own, and no endpoint of the platform.
void add_plan_word(CLI::App& bot, CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* const command =
        bot.add_subcommand("plan", "Confirm a plan of the account that signed up.");
    add_tenant_option(*command, options);
    command->add_option("plan", options->plan, "trial, standard or pro.")
        ->required()
        ->check(CLI::IsMember({"trial", "standard", "pro"}));
    command->callback([&line, options] {
        line.run = [&line, options] {
            const Json body = Json::object({{"plan", options->plan}});
            return show(
                line.global, ask(line.global, *options, {"/account/plan", body}), describe_config);
        };
    });
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
    add_plan_word(*bot, line);
}

}  // namespace interlock
