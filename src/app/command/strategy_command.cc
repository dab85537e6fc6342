#include "app/command/strategy_command.h"

#include <iostream>

#include "app/command/console.h"
#include "app/command/strategy_view.h"
#include "app/command/trader_call.h"
#include "base/text.h"
#include "trader/service/strategy_service.h"

namespace interlock {
namespace {

struct Options {
    TraderOptions trader;
    std::string id;
    bool config = false;
    bool state = false;
    bool report = false;
    std::string type;
    std::string market;
    std::string account;
    std::string name;
    std::string config_path;
    std::string state_path;
    std::vector<std::string> pairs;
    std::string mode;
    std::string posture;
    std::int64_t priority = -1;  // Negative: not given.
    std::string expected;
    std::string risk_mode;
    bool override_guards = false;
    std::string concern;
    std::string status;
};
using OptionsPtr = std::shared_ptr<Options>;
using Run = ExitCode (*)(const GlobalOptions&, const Options&);

ExitCode show_answer(
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

ExitCode show_control(const GlobalOptions& global, const std::expected<Json, ExitCode>& answer) {
    const ExitCode shown = show_answer(global, answer, describe_control);
    return shown == ExitCode::ok ? exit_code_of(*answer) : shown;
}

ExitCode run_list(const GlobalOptions& global, const Options& options) {
    return show_answer(
        global, read_trader(global, options.trader, "/instances"), describe_strategies);
}

ExitCode run_concerns(const GlobalOptions& global, const Options& options) {
    return show_answer(global, read_trader(global, options.trader, "/concerns"), describe_concerns);
}

ExitCode run_show(const GlobalOptions& global, const Options& options) {
    const bool report = options.report || (!options.config && !options.state);
    const auto word = [](bool flag) { return std::string(flag ? "true" : "false"); };
    const auto path = instance_path(
        options.id,
        "?include_config=" + word(options.config) + "&include_state=" + word(options.state) +
            "&include_report=" + word(report));
    if (!path) {
        return report_failure(global, path.error());
    }
    return show_answer(global, read_trader(global, options.trader, *path), describe_strategy);
}

// They are of this program, not of a server or a tenant.
ExitCode run_types(const GlobalOptions& global, const Options& options) {
    const Json types = describe_strategy_types();
    const std::string text = describe_types(types, options.type);
    if (text.empty()) {
        return report_usage(
            global,
            "There is no strategy type \"" + options.type + "\".",
            "Run `interlock strategy types` to see which there are.");
    }
    if (global.json) {
        print_json(types);
    } else {
        std::cout << text;
    }
    return ExitCode::ok;
}

// The file's configuration, or `otherwise`, with the pairs of --set in it.
Result<Json> config_of(const Options& options, Json otherwise) {
    Json config = std::move(otherwise);
    if (!options.config_path.empty()) {
        TRY_ASSIGN(config, read_config_file(options.config_path));
    }
    TRY(set_pairs(config, options.pairs));
    return config;
}

void set_policy(Json& policy, const Options& options) {
    if (!options.posture.empty()) {
        policy.set("risk_posture", options.posture);
    }
    if (options.priority >= 0) {
        policy.set("priority", options.priority);
    }
}

ExitCode run_create(const GlobalOptions& global, const Options& options) {
    auto config = config_of(options, Json::object());
    if (!config) {
        return report_failure(global, config.error());
    }
    Json body = Json::object(
        {{"strategy_type", options.type},
         {"market_symbol", options.market},
         {"config", *std::move(config)}});
    const std::pair<const char*, const std::string*> texts[] = {
        {"account_id", &options.account}, {"name", &options.name}, {"mode", &options.mode}};
    for (const auto& [key, value] : texts) {
        if (!value->empty()) {
            body.set(key, *value);
        }
    }
    Json policy = Json::object();
    set_policy(policy, options);
    body.set("policy", std::move(policy));
    return show_answer(
        global,
        change_trader(global, options.trader, {"/instances", std::move(body)}),
        describe_strategy);
}

// The instance as it is now, with its config.
std::expected<Json, ExitCode> current(const GlobalOptions& global, const Options& options) {
    const auto path = instance_path(options.id, "?include_config=true&include_report=false");
    if (!path) {
        return std::unexpected(report_failure(global, path.error()));
    }
    return read_trader(global, options.trader, *path);
}

ExitCode change(
    const GlobalOptions& global, const Options& options, const std::string& rest, Json body) {
    auto path = instance_path(options.id, rest);
    if (!path) {
        return report_failure(global, path.error());
    }
    return show_answer(
        global,
        change_trader(global, options.trader, {*std::move(path), std::move(body)}),
        describe_strategy);
}

ExitCode run_update(const GlobalOptions& global, const Options& options) {
    Json body = Json::object();
    if (!options.pairs.empty() || !options.config_path.empty()) {
        Json before = Json::object();
        if (options.config_path.empty()) {
            // The server takes a whole config; --set alone changes the one there is.
            auto instance = current(global, options);
            if (!instance) {
                return instance.error();
            }
            const Json* config = instance->find("config");
            before = config == nullptr ? Json::object() : *config;
        }
        auto config = config_of(options, std::move(before));
        if (!config) {
            return report_failure(global, config.error());
        }
        body.set("config", *std::move(config));
    }
    if (!options.state_path.empty()) {
        auto state = read_config_file(options.state_path);
        if (!state) {
            return report_failure(global, state.error());
        }
        body.set("state", *std::move(state));
    }
    if (!options.name.empty()) {
        body.set("name", options.name);
    }
    if (!options.mode.empty()) {
        body.set("mode", options.mode);
    }
    return change(global, options, "", std::move(body));
}

ExitCode run_delete(const GlobalOptions& global, const Options& options) {
    return change(global, options, "/delete", Json::object());
}

ExitCode run_policy(const GlobalOptions& global, const Options& options) {
    const auto instance = current(global, options);
    if (!instance) {
        return instance.error();
    }
    const Json* before = instance->find("policy");
    Json policy = before == nullptr ? Json::object() : *before;
    set_policy(policy, options);
    return change(global, options, "/policy", Json::object({{"policy", std::move(policy)}}));
}

ExitCode run_reconcile(const GlobalOptions& global, const Options& options) {
    return change(global, options, "/reconcile", Json::object());
}

ExitCode run_stop(const GlobalOptions& global, const Options& options) {
    return change(global, options, "/control", Json::object({{"action", "stop"}}));
}

ExitCode move(
    const GlobalOptions& global, const Options& options, const std::string& rest, Json body) {
    auto path = instance_path(options.id, rest);
    if (!path) {
        return report_failure(global, path.error());
    }
    return show_control(
        global, change_trader(global, options.trader, {*std::move(path), std::move(body)}));
}

ExitCode run_start(const GlobalOptions& global, const Options& options) {
    return move(global, options, "/control", Json::object({{"action", "start"}}));
}

ExitCode run_pause(const GlobalOptions& global, const Options& options) {
    return move(global, options, "/pause", Json::object());
}

ExitCode run_resume(const GlobalOptions& global, const Options& options) {
    return move(global, options, "/resume", Json::object());
}

ExitCode run_switch(const GlobalOptions& global, const Options& options) {
    Json body = Json::object({{"override", options.override_guards}});
    if (!options.expected.empty()) {
        body.set("expected_active_strategy_id", expected_active(options.expected));
    }
    if (!options.risk_mode.empty()) {
        body.set("risk_mode", options.risk_mode);
    }
    return move(global, options, "/switch", std::move(body));
}

std::string describe_change(const Json& concern) {
    return render_fields(
        {{"concern", text_at(concern, "concern_id")},
         {"status", text_at(concern, "status")},
         {"record", text_at(concern, "audit_ref")}});
}

ExitCode run_set_concern(const GlobalOptions& global, const Options& options) {
    return show_answer(
        global,
        change_trader(
            global,
            options.trader,
            {"/concerns/" + percent_encode(options.concern),
             Json::object({{"status", options.status}})}),
        describe_change);
}

// One command below `parent` that runs `run`.
struct Shape {
    const char* name;
    const char* description;
    Run run;
};
CLI::App& add(CLI::App& parent, CommandLine& line, const OptionsPtr& options, const Shape& shape) {
    CLI::App* command = parent.add_subcommand(shape.name, shape.description);
    command->callback([&line, options, run = shape.run] {
        line.run = [&line, options, run] { return run(line.global, *options); };
    });
    return *command;
}

void add_id(CLI::App& command, Options& options) {
    command
        .add_option("id", options.id, "The strategy's id, as `interlock strategy list` shows it.")
        ->required()
        ->type_name("ID");
}

void add_config_options(CLI::App& command, Options& options) {
    command
        .add_option(
            "--strategy-config,--config",
            options.config_path,
            "Its configuration, a TOML file or a JSON file called .json.")
        ->type_name("FILE");
    command
        .add_option(
            "--set",
            options.pairs,
            "One parameter, such as grid_levels=4; may be given several times.")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

void add_policy_options(CLI::App& command, Options& options) {
    command
        .add_option("--posture", options.posture, "How much risk it takes within its own rules.")
        ->check(CLI::IsMember({"conservative", "balanced", "aggressive"}));
    command
        .add_option(
            "--priority", options.priority, "0 to 10; a higher one ticks more often, 5 is normal.")
        ->check(CLI::Range(0, 10))
        ->type_name("NUMBER");
}

void add_mode(CLI::App& command, Options& options) {
    command
        .add_option(
            "--mode", options.mode, "off, or observe: it plans and reports but sends nothing.")
        ->check(CLI::IsMember({"off", "observe"}));
}

void add_reads(CLI::App& strategy, CommandLine& line, const OptionsPtr& options) {
    CLI::App& list = add(
        strategy, line, options, {"list", "List strategies with their mode and status.", run_list});
    add_trader_tenant(list, options->trader);

    CLI::App& show =
        add(strategy,
            line,
            options,
            {"show",
             "Show one strategy and its report: what it sees, holds and would do, and why.",
             run_show});
    add_id(show, *options);
    add_trader_tenant(show, options->trader);
    show.add_flag("--config", options->config, "Show its configuration.");
    show.add_flag("--state", options->state, "Show what it remembers between ticks.");
    show.add_flag("--report", options->report, "Show its report; so without any of these flags.");

    CLI::App& types =
        add(strategy,
            line,
            options,
            {"types", "List the types there are, or the parameters of one.", run_types});
    types.add_option("type", options->type, "Which type's parameters.")->type_name("TYPE");
}

void add_records(CLI::App& strategy, CommandLine& line, const OptionsPtr& options) {
    CLI::App& create =
        add(strategy,
            line,
            options,
            {"create",
             "Make a strategy for one market of an account. It does not trade yet: `switch` or "
             "`decide` "
             "makes it the active one.",
             run_create});
    create.add_option("--type", options->type, "Which type; see `interlock strategy types`.")
        ->required()
        ->type_name("TYPE");
    create.add_option("--market", options->market, "The market, such as BTCUSDT.")
        ->required()
        ->type_name("SYMBOL");
    create.add_option("--account", options->account, "Which account; the main one otherwise.")
        ->type_name("ACCOUNT");
    create.add_option("--name", options->name, "A name for people.")->type_name("TEXT");
    add_config_options(create, *options);
    add_mode(create, *options);
    add_policy_options(create, *options);
    add_change_options(create, options->trader);

    CLI::App& update =
        add(strategy,
            line,
            options,
            {"update",
             "Change a strategy's name, configuration, state or mode. --set alone changes single "
             "parameters of the configuration there is; --config replaces it.",
             run_update});
    add_id(update, *options);
    update.add_option("--name", options->name, "A new name.")->type_name("TEXT");
    add_config_options(update, *options);
    update
        .add_option("--state", options->state_path, "What it should remember, a TOML or JSON file.")
        ->type_name("FILE");
    add_mode(update, *options);
    add_change_options(update, options->trader);

    CLI::App& policy =
        add(strategy,
            line,
            options,
            {"policy", "Change a strategy's risk posture or priority.", run_policy});
    add_id(policy, *options);
    add_policy_options(policy, *options);
    add_change_options(policy, options->trader);
}

void add_moves(CLI::App& strategy, CommandLine& line, const OptionsPtr& options) {
    const Shape shapes[] = {
        {"start", "Make a strategy the active one where none is.", run_start},
        {"stop", "Take a strategy out of trading and cancel its orders.", run_stop},
        {"pause",
         "Pause the active strategy: no ticks, no new orders, also over a restart.",
         run_pause},
        {"resume", "Let a paused strategy, or one that stopped on errors, go on.", run_resume},
        {"reconcile", "Make the running strategy equal to its stored record.", run_reconcile},
        {"delete", "Delete a strategy that is not active and has no open orders.", run_delete},
    };
    for (const Shape& shape : shapes) {
        CLI::App& command = add(strategy, line, options, shape);
        add_id(command, *options);
        add_change_options(command, options->trader);
    }
    CLI::App& command = add(
        strategy,
        line,
        options,
        {"switch",
         "Make this strategy the active one of its market. The old one's orders are cancelled and "
         "confirmed gone first; otherwise the old one goes on.",
         run_switch});
    add_id(command, *options);
    command
        .add_option(
            "--expect",
            options->expected,
            "Only if this strategy is the active one right now; `none`: if none is.")
        ->type_name("ID");
    command.add_option("--risk-mode", options->risk_mode, "Set this risk mode with it.")
        ->check(CLI::IsMember({"normal", "reduced", "defensive", "reduce_only", "halted"}));
    command.add_flag(
        "--override",
        options->override_guards,
        "Go past the guards that may be gone past; it is recorded.");
    add_change_options(command, options->trader);
}

}  // namespace

void add_strategy_commands(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    CLI::App* strategy = line.app.add_subcommand(
        "strategy",
        "Strategies: make, watch and move them. Reading needs nothing; changing asks for a human's "
        "login.");
    strategy->require_subcommand(1);
    add_reads(*strategy, line, options);
    add_records(*strategy, line, options);
    add_moves(*strategy, line, options);

    CLI::App* concern = line.app.add_subcommand(
        "concern", "Concerns: the markets of accounts on which strategies take turns.");
    concern->require_subcommand(1);
    CLI::App& list =
        add(*concern,
            line,
            options,
            {"list",
             "List concerns with their active strategy, risk mode and execution quality.",
             run_concerns});
    add_trader_tenant(list, options->trader);
    CLI::App& set = add(
        *concern,
        line,
        options,
        {"set",
         "Say whether a concern takes control decisions; an informational one refuses all and does "
         "not trade.",
         run_set_concern});
    set.add_option("concern", options->concern, "Which, such as main:btcusdt.")
        ->required()
        ->type_name("CONCERN");
    set.add_option("status", options->status, "What it becomes.")
        ->required()
        ->check(CLI::IsMember({"active", "paused", "informational"}));
    add_change_options(set, options->trader);
}

}  // namespace interlock
