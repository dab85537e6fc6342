#include "app/command/strategy_command.h"

#include <iostream>
#include <memory>

#include "app/command/console.h"
#include "app/command/strategy_view.h"
#include "app/command/table_command.h"
#include "app/command/trader_call.h"
#include "app/wiring/server_client.h"
#include "trader/service/strategy_service.h"

namespace interlock {
namespace {

using Need = FieldName::Need;
using Filled = std::optional<ExitCode>;

constexpr FieldName kId{
    .field = "strategy_id",
    .as = "id",
    .help = "The strategy's id, as `interlock strategy list` shows it."};
constexpr std::string_view kMode = "off, or observe: it plans and reports but sends nothing.";

// They are of this program, not of a server or a tenant.
ExitCode run_types(const GlobalOptions& global, const std::string& type) {
    const Json types = describe_strategy_types();
    const std::string text = describe_types(types, type);
    if (text.empty()) {
        return report_usage(
            global,
            "There is no strategy type "
            " + type + "
            ".",
            "Run `interlock strategy types` to see which there are.");
    }
    if (global.json) {
        print_json(types);
    } else {
        std::cout << text;
    }
    return ExitCode::ok;
}

void add_show(CommandLine& line) {
    struct Wanted {
        bool config = false;
        bool state = false;
        bool report = false;
    };
    const auto parts = std::make_shared<Wanted>();
    CLI::App& show = add_table_word(
        line,
        {.operation = "get_strategy",
         .help = "Show one strategy and its report: what it sees, holds and would do, and why.",
         .names =
             {kId,
              {.field = "include_config", .need = Need::hidden},
              {.field = "include_state", .need = Need::hidden},
              {.field = "include_report", .need = Need::hidden}},
         .describe = shown_by(describe_strategy),
         .prepare = [parts](const TableTyped& typed) -> Filled {
             const auto word = [](bool flag) { return flag ? "true" : "false"; };
             typed.fields.set("include_config", word(parts->config));
             typed.fields.set("include_state", word(parts->state));
             const bool is_plain = !parts->config && !parts->state;
             typed.fields.set("include_report", word(parts->report || is_plain));
             return std::nullopt;
         }});
    show.add_flag("--config", parts->config, "Show its configuration.");
    show.add_flag("--state", parts->state, "Show what it remembers between ticks.");
    show.add_flag("--report", parts->report, "Show its report; so without any of these flags.");
}

void add_reads(CLI::App& strategy, CommandLine& line) {
    add_table_word(
        line, {.operation = "list_strategies", .describe = shown_by(describe_strategies)});
    add_show(line);
    CLI::App* const types =
        strategy.add_subcommand("types", "List the types there are, or the parameters of one.");
    const auto type = std::make_shared<std::string>();
    types->add_option("type", *type, "Which type's parameters.")->type_name("TYPE");
    types->callback(
        [&line, type] { line.run = [&line, type] { return run_types(line.global, *type); }; });
}

// What becomes a config, a state or a policy, and is typed otherwise.
struct Parts {
    std::string config_path;
    std::string state_path;
    std::vector<std::string> pairs;
    std::string posture;
    std::int64_t priority = -1;  // Negative: not given.
};
using PartsPtr = std::shared_ptr<Parts>;

// The file's configuration, or `otherwise`, with the pairs of --set in it.
Result<Json> config_of(const Parts& parts, Json otherwise) {
    Json config = std::move(otherwise);
    if (!parts.config_path.empty()) {
        TRY_ASSIGN(config, read_config_file(parts.config_path));
    }
    TRY(set_pairs(config, parts.pairs));
    return config;
}

void set_policy(Json& policy, const Parts& parts) {
    if (!parts.posture.empty()) {
        policy.set("risk_posture", parts.posture);
    }
    if (parts.priority >= 0) {
        policy.set("priority", parts.priority);
    }
}

// The instance as it is now, with its config.
std::expected<Json, ExitCode> current(const TableTyped& typed) {
    return ask_table(
        typed.global,
        {.operation = "get_strategy",
         .fields = Json::object(
             {{"strategy_id", *typed.fields.find("strategy_id")},
              {"include_config", "true"},
              {"include_report", "false"}}),
         .tenant = typed.tenant});
}

Filled fill_new(const TableTyped& typed, const Parts& parts) {
    auto config = config_of(parts, Json::object());
    if (!config) {
        return report_failure(typed.global, config.error());
    }
    Json policy = Json::object();
    set_policy(policy, parts);
    typed.fields.set("config", *std::move(config));
    typed.fields.set("policy", std::move(policy));
    return std::nullopt;
}

Filled fill_update(const TableTyped& typed, const Parts& parts) {
    if (!parts.pairs.empty() || !parts.config_path.empty()) {
        Json before = Json::object();
        if (parts.config_path.empty()) {
            // The server takes a whole config; --set alone changes the one there is.
            const auto instance = current(typed);
            if (!instance) {
                return instance.error();
            }
            const Json* const config = instance->find("config");
            before = config == nullptr ? Json::object() : *config;
        }
        auto config = config_of(parts, std::move(before));
        if (!config) {
            return report_failure(typed.global, config.error());
        }
        typed.fields.set("config", *std::move(config));
    }
    if (!parts.state_path.empty()) {
        auto state = read_config_file(parts.state_path);
        if (!state) {
            return report_failure(typed.global, state.error());
        }
        typed.fields.set("state", *std::move(state));
    }
    return std::nullopt;
}

Filled fill_policy(const TableTyped& typed, const Parts& parts) {
    const auto instance = current(typed);
    if (!instance) {
        return instance.error();
    }
    const Json* const before = instance->find("policy");
    Json policy = before == nullptr ? Json::object() : *before;
    set_policy(policy, parts);
    typed.fields.set("policy", std::move(policy));
    return std::nullopt;
}

// A command whose config, state or policy is filled in by `fill`.
CLI::App& add_filled(
    CommandLine& line,
    TableWord word,
    const PartsPtr& parts,
    Filled (*fill)(const TableTyped&, const Parts&)) {
    word.describe = shown_by(describe_strategy);
    word.prepare = [parts, fill](const TableTyped& typed) { return fill(typed, *parts); };
    for (const std::string_view field : {"config", "state", "policy"}) {
        word.names.push_back({.field = field, .need = Need::hidden});
    }
    return add_table_word(line, std::move(word));
}

void add_config_options(CLI::App& command, Parts& parts) {
    command
        .add_option(
            "--strategy-config,--config",
            parts.config_path,
            "Its configuration, a TOML file or a JSON file called .json.")
        ->type_name("FILE");
    command
        .add_option(
            "--set",
            parts.pairs,
            "One parameter, such as grid_levels=4; may be given several times.")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

void add_policy_options(CLI::App& command, Parts& parts) {
    command.add_option("--posture", parts.posture, "How much risk it takes within its own rules.")
        ->check(CLI::IsMember({"conservative", "balanced", "aggressive"}));
    command
        .add_option(
            "--priority", parts.priority, "0 to 10; a higher one ticks more often, 5 is normal.")
        ->check(CLI::Range(0, 10))
        ->type_name("NUMBER");
}

void add_records(CommandLine& line) {
    const auto parts = std::make_shared<Parts>();
    CLI::App& create = add_filled(
        line,
        {.operation = "create_strategy",
         .help = "Make a strategy for one market of an account. It does not trade yet: `switch` or "
                 "`decide` makes it the active one.",
         .names =
             {{.field = "strategy_type",
               .as = "--type",
               .help = "Which type; see `interlock strategy types`."},
              {.field = "market_symbol", .as = "--market", .help = "The market, such as BTCUSDT."},
              {.field = "account_id", .help = "Which account; the main one otherwise."},
              {.field = "name", .help = "A name for people."},
              {.field = "mode", .help = kMode}}},
        parts,
        fill_new);
    add_config_options(create, *parts);
    add_policy_options(create, *parts);
    CLI::App& update = add_filled(
        line,
        {.operation = "update_strategy",
         .help = "Change a strategy's name, configuration, state or mode. --set alone changes "
                 "single parameters of the configuration there is; --config replaces it.",
         .names =
             {kId, {.field = "name", .help = "A new name."}, {.field = "mode", .help = kMode}}},
        parts,
        fill_update);
    add_config_options(update, *parts);
    update
        .add_option("--state", parts->state_path, "What it should remember, a TOML or JSON file.")
        ->type_name("FILE");
    CLI::App& policy =
        add_filled(line, {.operation = "set_strategy_policy", .names = {kId}}, parts, fill_policy);
    add_policy_options(policy, *parts);
}

// A call that moves the strategy; its answer may be a refusal.
TableWord move_word(std::string_view operation, std::string_view help = {}) {
    return {
        .operation = operation,
        .help = help,
        .names = {kId},
        .describe = shown_by(describe_control),
        .judge = exit_code_of};
}

void add_moves(CommandLine& line) {
    const auto act = [](TableWord word, std::string_view command) {
        word.command = command;
        word.names.push_back({.field = "action", .need = Need::hidden});
        word.prepare = [action = std::string(command.substr(command.rfind(' ') + 1))](
                           const TableTyped& typed) -> Filled {
            typed.fields.set("action", action);
            return std::nullopt;
        };
        return word;
    };
    TableWord stop =
        move_word("control_strategy", "Take a strategy out of trading and cancel its orders.");
    stop.describe = shown_by(describe_strategy);
    stop.judge = nullptr;
    add_table_word(
        line,
        act(move_word("control_strategy", "Make a strategy the active one where none is."),
            "strategy start"));
    add_table_word(line, act(std::move(stop), "strategy stop"));
    add_table_word(line, move_word("pause_strategy"));
    add_table_word(line, move_word("resume_strategy"));
    for (const char* operation : {"reconcile_instance", "delete_strategy"}) {
        add_table_word(
            line,
            {.operation = operation, .names = {kId}, .describe = shown_by(describe_strategy)});
    }
}

void add_switch(CommandLine& line) {
    TableWord word = move_word("switch_strategy");
    word.names.push_back(
        {.field = "expected_active_strategy_id",
         .as = "--expect",
         .help = "Only if this strategy is the active one right now; `none`: if none is."});
    word.names.push_back({.field = "risk_mode", .help = "Set this risk mode with it."});
    word.names.push_back(
        {.field = "override", .help = "Go past the guards that may be gone past; it is recorded."});
    word.prepare = [](const TableTyped& typed) -> Filled {
        if (Json* const expected = typed.fields.find("expected_active_strategy_id")) {
            *expected = expected_active(expected->as_string());
        }
        return std::nullopt;
    };
    add_table_word(line, std::move(word));
}

std::string describe_change(const Json& concern) {
    return render_fields(
        {{"concern", text_at(concern, "concern_id")},
         {"status", text_at(concern, "status")},
         {"record", text_at(concern, "audit_ref")}});
}

}  // namespace

void add_strategy_commands(CommandLine& line) {
    CLI::App* strategy = line.app.add_subcommand(
        "strategy",
        "Strategies: make, watch and move them. Reading needs nothing; changing asks for a human's "
        "login.");
    strategy->require_subcommand(1);
    add_reads(*strategy, line);
    add_records(line);
    add_moves(line);
    add_switch(line);

    CLI::App* concern = line.app.add_subcommand(
        "concern", "Concerns: the markets of accounts on which strategies take turns.");
    concern->require_subcommand(1);
    add_table_word(line, {.operation = "list_concerns", .describe = shown_by(describe_concerns)});
    add_table_word(
        line,
        {.operation = "set_concern",
         .names =
             {{.field = "concern_id", .as = "concern", .help = "Which, such as main:btcusdt."},
              {.field = "status", .as = "status", .help = "What it becomes."}},
         .describe = shown_by(describe_change)});
}

}  // namespace interlock
