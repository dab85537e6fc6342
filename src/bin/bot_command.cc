#include "bin/bot_command.h"

#include <iostream>

#include "base/secret_string.h"
#include "bin/console.h"
#include "bin/server_client.h"

namespace interlock {
namespace {

// Building a bot waits for the exchange; longer than any turn.
constexpr std::chrono::milliseconds kCallWait{120'000};

struct Options {
    std::string tenant;
    std::int64_t lines = 100;
    bool cancel_orders = false;
    std::string exchange = "paper";
    bool keys_stdin = false;
    std::string email;
    std::string plan = "trial";
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

struct Word {
    const char* name;
    const char* help;
    ExitCode (*run)(const GlobalOptions&, const Options&);
};

constexpr Word kWords[] = {
    {"status",
     "The bot's state, its last pulse and what troubles it.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/status"}), describe_bot_status);
     }},
    {"config",
     "The configuration in effect.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/config"}), describe_config);
     }},
    {"positions",
     "What it holds and has open.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/positions"}), describe_bot_positions);
     }},
    {"balances",
     "What the exchange says it has.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/balances"}), describe_bot_balances);
     }},
    {"logs",
     "The latest lines of its log.",
     [](const GlobalOptions& global, const Options& options) {
         const std::string path = "/logs?lines=" + std::to_string(options.lines);
         return show(global, ask(global, options, {path}), describe_log);
     }},
    {"initialize",
     "Build it from its configuration and keys.",
     [](const GlobalOptions& global, const Options& options) {
         return show(
             global, ask(global, options, {"/initialize_bot", Json::object()}), describe_message);
     }},
    {"start",
     "Begin to trade.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/start", Json::object()}), describe_message);
     }},
    {"stop",
     "End the pulses; open orders stay unless --cancel-orders is given or the policy says so.",
     [](const GlobalOptions& global, const Options& options) {
         Json body = Json::object();
         if (options.cancel_orders) {
             body.set("cancel_orders", true);
         }
         return show(global, ask(global, options, {"/stop", body}), describe_message);
     }},
    {"restart",
     "Build anew and trade on.",
     [](const GlobalOptions& global, const Options& options) {
         return show(global, ask(global, options, {"/restart", Json::object()}), describe_message);
     }},
    {"keys", "Put exchange keys into the vault; asks for them.", run_keys},
    {"plan",
     "Confirm a plan of the account that signed up.",
     [](const GlobalOptions& global, const Options& options) {
         return show(
             global,
             ask(global, options, {"/account/plan", Json::object({{"plan", options.plan}})}),
             describe_config);
     }},
};

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
        "bot", "A tenant's maker bot: look at it, start and stop it, give it keys.");
    bot->require_subcommand(1);
    for (const Word& word : kWords) {
        const auto options = std::make_shared<Options>();
        CLI::App* command = bot->add_subcommand(word.name, word.help);
        command
            ->add_option(
                "--tenant", options->tenant, "Whose bot; needed when there is more than one.")
            ->type_name("TENANT");
        const std::string name = word.name;
        if (name == "logs") {
            command->add_option("--lines", options->lines, "How many of the latest; 1 to 2000.")
                ->check(CLI::Range(1, 2000));
        } else if (name == "stop") {
            command->add_flag(
                "--cancel-orders", options->cancel_orders, "Cancel the orders it has open.");
        } else if (name == "keys") {
            command->add_option("--exchange", options->exchange, "Whose keys; paper unless given.")
                ->type_name("NAME");
            command->add_flag(
                "--keys-stdin",
                options->keys_stdin,
                "Read the key and the secret from the first two lines of standard input.");
        } else if (name == "plan") {
            command->add_option("plan", options->plan, "trial, standard or pro.")
                ->required()
                ->check(CLI::IsMember({"trial", "standard", "pro"}));
        }
        command->callback([&line, options, run = word.run] {
            line.run = [&line, options, run] { return run(line.global, *options); };
        });
    }
    const auto options = std::make_shared<Options>();
    CLI::App* signup = bot->add_subcommand(
        "signup", "Make a tenant for an owner and mail them; shows the access key this once.");
    signup->add_option("email", options->email, "The owner's address.")->required();
    signup->add_option("--plan", options->plan, "trial, standard or pro; trial unless given.")
        ->check(CLI::IsMember({"trial", "standard", "pro"}));
    signup->callback([&line, options] {
        line.run = [&line, options] { return run_signup(line.global, *options); };
    });
}

}  // namespace interlock
