// How the commands around strategies reach the server: reads over the operator's socket, changes as
// a human who logs in, each under an idempotency key of its own, so that a call whose answer was
// lost can be made again without being done twice.
#pragma once

#include <string>

#include "app/command/human_login.h"
#include "app/wiring/server_client.h"

namespace interlock {

struct TraderOptions {
    std::string tenant;
    std::string key;  // Empty: one is made.
    std::string reason;
    LoginOptions login;
};
void add_trader_tenant(CLI::App& command, TraderOptions& options);
// What every change takes: tenant, reason, key and login.
void add_change_options(CLI::App& command, TraderOptions& options);

// The answer to GET /api/{tenant}{path}; what went wrong has been printed.
std::expected<Json, ExitCode> read_trader(
    const GlobalOptions& global, const TraderOptions& options, const std::string& path);

// The answer to POST /api/{tenant}{path} as a human; key and reason are added to the body.
struct TraderChange {
    std::string path;
    Json body = Json::object();
};
std::expected<Json, ExitCode> change_trader(
    const GlobalOptions& global, const TraderOptions& options, TraderChange change);

// A control decision, as it is, by the agent whose key INTERLOCK_ACCESS_KEY holds or, without one
// or with an email, by a human.
std::expected<Json, ExitCode> send_decision(
    const GlobalOptions& global, const TraderOptions& options, const Json& payload);

// What `--expect` says is active: `none` is null, which no instance's id can be mistaken for.
Json expected_active(const std::string& word);

// An id for a call or decision of this command line.
std::string new_call_id();

// "/instances/ID" and what follows it; fails on a text that is no id.
Result<std::string> instance_path(const std::string& strategy_id, const std::string& rest = "");

// A strategy's configuration from a file, JSON when it is called .json and TOML otherwise.
Result<Json> read_config_file(const std::string& path);
// Sets KEY=VALUE pairs; numbers and booleans are taken as such.
Result<void> set_pairs(Json& config, const std::vector<std::string>& pairs);

}  // namespace interlock
