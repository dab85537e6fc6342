// How the words below `interlock relay` are put together: the options that one takes, the one call
// to the running server, and what is printed of its answer. For the relay's command files alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command/command.h"
#include "app/wiring/server_client.h"
#include "base/json.h"

namespace interlock {

inline constexpr const char* kWhichInstance = "The agent's instance.";
inline constexpr const char* kWhichPlatform = "discord, telegram, sms, wecom or local.";
inline constexpr const char* kOnlyTenant = "Only of this tenant.";

// Every value that any of the commands takes; each takes a few of them.
struct RelayOptions {
    std::string tenant;
    std::string gateway_id;
    std::string instance;
    std::string secret;
    bool secret_stdin = false;
    std::string wake_url;
    std::string name;
    std::string platform;
    std::string bot_id;
    std::string discriminator;
    std::string user;
    std::int64_t stranger = 0;  // 0: not given.
    std::string guild;
    std::string channel;
    std::string policy;
    std::vector<std::string> allow;
    std::string buffer_id;
    std::string event;
    std::string outbound_id;
    std::string session;
    std::string state;
    std::string after;
    std::string token_id;
    bool all = false;
    std::string older_than;
    std::int64_t limit = 50;
    std::int64_t grace_seconds = 24 * 60 * 60;
};
using RelayOptionsPtr = std::shared_ptr<RelayOptions>;

struct RelayRequest {
    std::string path;                         // Behind /api/relay.
    std::optional<Json> body = std::nullopt;  // Set: a POST.
};

// A query, and a body, of the values that are not empty.
std::string relay_query(
    std::string path, const std::vector<std::pair<std::string, std::string>>& values);
Json relay_body(const std::vector<std::pair<std::string, std::string>>& values);

// Where gateways dial, as the server knows itself; empty when it does not say.
std::string relay_url(ServerClient& server);

using DescribeAnswer = std::function<std::string(const Json& answer, ServerClient& server)>;

ExitCode call_relay(
    const GlobalOptions& global, const RelayRequest& request, const DescribeAnswer& describe);
DescribeAnswer shown_by(std::string (*describe)(const Json&));
DescribeAnswer saying(std::string sentence);

using RunRelayWord = std::function<ExitCode(const GlobalOptions&, const RelayOptions&)>;

// One word below a group, with the options that it takes.
class RelayWord {
public:
    RelayWord(CommandLine& line, CLI::App& group, const char* name, const char* help)
        : app_(group.add_subcommand(name, help)), options_(std::make_shared<RelayOptions>()) {
        line_ = &line;
    }

    RelayWord& needs(
        const char* flag, std::string RelayOptions::* into, const char* type, const char* help) {
        takes(flag, into, type, help);
        last_->required();
        return *this;
    }
    RelayWord& takes(
        const char* flag, std::string RelayOptions::* into, const char* type, const char* help) {
        last_ = app_->add_option(flag, (*options_).*into, help)->type_name(type);
        return *this;
    }
    RelayWord& among(const std::vector<std::string>& words) {
        last_->check(CLI::IsMember(words));
        return *this;
    }
    RelayWord& counts(
        const char* flag, std::int64_t RelayOptions::* into, std::int64_t max, const char* help) {
        app_->add_option(flag, (*options_).*into, help)->check(CLI::Range(std::int64_t{0}, max));
        return *this;
    }
    RelayWord& numbers(const char* flag, std::int64_t RelayOptions::* into, const char* help) {
        app_->add_option(flag, (*options_).*into, help)
            ->check(CLI::PositiveNumber)
            ->type_name("NUMBER");
        return *this;
    }
    RelayWord& lists(
        const char* flag, std::vector<std::string> RelayOptions::* into, const char* help) {
        app_->add_option(flag, (*options_).*into, help)->delimiter(',')->type_name("USERS");
        return *this;
    }
    RelayWord& flags(const char* flag, bool RelayOptions::* into, const char* help) {
        app_->add_flag(flag, (*options_).*into, help);
        return *this;
    }
    CLI::App& runs(RunRelayWord run) {
        CLI::App* const app = app_;
        app->callback([app, line = line_, options = options_, run = std::move(run)] {
            if (app->get_subcommands().empty()) {  // Else a word below it was chosen.
                line->run = [line, options, run] { return run(line->global, *options); };
            }
        });
        return *app;
    }

private:
    CommandLine* line_ = nullptr;
    CLI::App* app_;
    RelayOptionsPtr options_;
    CLI::Option* last_ = nullptr;
};

CLI::App& relay_group(CLI::App& relay, const char* name, const char* help);

}  // namespace interlock
