#include "app/command/trader_call.h"

#include <cstdlib>

#include "app/command/backtest_command.h"
#include "base/text.h"
#include "engine/system/durable_file.h"
#include "engine/system/random_id_source.h"
#include "trader/wire/strategy_requests.h"

namespace interlock {
namespace {

constexpr const char* kKeyVariable = "INTERLOCK_ACCESS_KEY";

// An answer that was lost leaves open whether the change was made; the same id settles it.
Error with_way_to_repeat(Error error, const std::string& flag, const std::string& id) {
    error.message += " It is not known whether the change was made.";
    error.next_step = "Run the same command again with " + flag + " " + id +
                      ": what was done already is not done again.";
    return error;
}

std::expected<std::string, ExitCode> tenant_path(
    const GlobalOptions& global, ServerClient& server, const TraderOptions& options) {
    const auto tenant = chosen_tenant(server, options.tenant);
    if (!tenant) {
        return std::unexpected(report_failure(global, tenant.error()));
    }
    return "/api/" + *tenant;
}

}  // namespace

void add_trader_tenant(CLI::App& command, TraderOptions& options) {
    command
        .add_option("--tenant", options.tenant, "Whose; may be left out when there is one tenant.")
        ->type_name("TENANT");
}

void add_change_options(CLI::App& command, TraderOptions& options) {
    add_trader_tenant(command, options);
    command.add_option("--reason", options.reason, "Why, for the record.")->type_name("TEXT");
    command
        .add_option(
            "--key",
            options.key,
            "Idempotency key; made anew when left out. Give the one of a call whose answer was "
            "lost to repeat it safely.")
        ->type_name("KEY");
    add_login_options(command, options.login);
}

std::expected<Json, ExitCode> read_trader(
    const GlobalOptions& global, const TraderOptions& options, const std::string& path) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder);
    const auto root = tenant_path(global, server, options);
    if (!root) {
        return std::unexpected(root.error());
    }
    return expect_ok(global, server.get(*root + path));
}

std::expected<Json, ExitCode> change_trader(
    const GlobalOptions& global, const TraderOptions& options, TraderChange change) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder);
    const auto root = tenant_path(global, server, options);
    if (!root) {
        return std::unexpected(root.error());
    }
    const std::string key = options.key.empty() ? new_call_id() : options.key;
    change.body.set("idempotency_key", key);
    if (!options.reason.empty()) {
        change.body.set("reason", options.reason);
    }
    auto login = HumanLogin::start(global, *folder, options.login);
    if (!login) {
        return std::unexpected(login.error());
    }
    auto answer = login->post(*root + change.path, change.body);
    if (!answer) {
        return std::unexpected(
            report_failure(global, with_way_to_repeat(answer.error(), "--key", key)));
    }
    return expect_ok(global, answer);
}

std::expected<Json, ExitCode> send_decision(
    const GlobalOptions& global, const TraderOptions& options, const Json& payload) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return std::unexpected(folder.error());
    }
    ServerClient server(*folder);
    const auto root = tenant_path(global, server, options);
    if (!root) {
        return std::unexpected(root.error());
    }
    const std::string path = *root + "/control_decisions";
    const char* agent_key = std::getenv(kKeyVariable);
    const bool is_human = !options.login.email.empty() || options.login.password_stdin;
    Result<ServerAnswer> answer = ServerAnswer();
    if (agent_key != nullptr && *agent_key != '\0' && !is_human) {
        server.act_as(SecretString(std::string(agent_key)));
        answer = server.post(path, payload);
    } else {
        auto login = HumanLogin::start(global, *folder, options.login);
        if (!login) {
            return std::unexpected(login.error());
        }
        answer = login->post(path, payload);
    }
    if (!answer) {
        const Json* id = payload.find("decision_id");
        const std::string text = id != nullptr && id->is_string() ? id->as_string() : "";
        return std::unexpected(
            report_failure(global, with_way_to_repeat(answer.error(), "--id", text)));
    }
    return expect_ok(global, answer);
}

Json expected_active(const std::string& word) {
    return word == "none" ? Json() : Json(word);
}

std::string new_call_id() {
    return RandomIdSource().new_id("cli");
}

Result<std::string> instance_path(const std::string& strategy_id, const std::string& rest) {
    TRY_ASSIGN(const StrategyId id, StrategyId::parse(strategy_id));
    return "/instances/" + percent_encode(id.text()) + rest;
}

Result<Json> read_config_file(const std::string& path) {
    if (!path.ends_with(".json")) {
        return read_strategy_config(path);
    }
    TRY_ASSIGN(const std::string text, read_small_file(path, kConfigBytesMax));
    auto config = parse_json(text);
    if (!config || !config->is_object()) {
        return fail(
            errors::bad_usage,
            path + " does not hold a JSON object" + (config ? "." : ": " + config.error().message));
    }
    return config;
}

Result<void> set_pairs(Json& config, const std::vector<std::string>& pairs) {
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(errors::bad_usage, "--set takes KEY=VALUE, found \"" + pair + "\".");
        }
        const std::string key = pair.substr(0, equals);
        const std::string value = pair.substr(equals + 1);
        if (value == "true" || value == "false") {
            config.set(key, value == "true");
        } else if (is_json_number(value)) {
            config.set(key, Json::number(value));
        } else {
            config.set(key, value);
        }
    }
    return {};
}

}  // namespace interlock
