#include "bin/relay_operator_command.h"

#include <iostream>
#include <memory>

#include "base/json_list.h"
#include "base/text.h"
#include "bin/console.h"
#include "bin/relay_letters.h"
#include "bin/relay_view.h"
#include "bin/server_client.h"

namespace interlock {
namespace {

// Every value that any of the commands takes; each takes a few of them.
struct Options {
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
using OptionsPtr = std::shared_ptr<Options>;

struct Request {
    std::string path;                         // Behind /api/relay.
    std::optional<Json> body = std::nullopt;  // Set: a POST.
};

// A query of the values that are not empty.
std::string with_query(
    std::string path, const std::vector<std::pair<std::string, std::string>>& values) {
    char separator = '?';
    for (const auto& [name, value] : values) {
        if (!value.empty()) {
            path += separator;
            path += name + "=" + percent_encode(value);
            separator = '&';
        }
    }
    return path;
}

// A body of the values that are not empty.
Json body_of(const std::vector<std::pair<std::string, std::string>>& values) {
    Json body = Json::object();
    for (const auto& [name, value] : values) {
        if (!value.empty()) {
            body.set(name, value);
        }
    }
    return body;
}

// Where gateways dial, as the server knows itself; empty when it does not say.
std::string relay_url(ServerClient& server) {
    const auto schema = server.get("/ai/agent-schema.json");
    if (!schema || !schema->ok()) {
        return {};
    }
    std::string url = text_at(schema->body, "base_url");
    if (!url.starts_with("http")) {
        return {};
    }
    return "ws" + url.substr(std::string_view("http").size()) + "/relay";
}

using Describe = std::function<std::string(const Json& answer, ServerClient& server)>;

ExitCode call(const GlobalOptions& global, const Request& request, const Describe& describe) {
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const std::string target = "/api/relay" + request.path;
    const auto answer =
        expect_ok(global, request.body ? server.post(target, *request.body) : server.get(target));
    if (!answer) {
        return answer.error();
    }
    if (global.json) {
        print_json(*answer);
    } else {
        std::cout << describe(*answer, server);
    }
    return ExitCode::ok;
}

Describe with(std::string (*describe)(const Json&)) {
    return [describe](const Json& answer, ServerClient&) { return describe(answer); };
}

Describe saying(std::string sentence) {
    return [sentence = std::move(sentence)](
               const Json&, ServerClient&) { return print_safe(sentence) + "\n"; };
}

using Run = std::function<ExitCode(const GlobalOptions&, const Options&)>;

// One word below a group, with the options that it takes.
class Word {
public:
    Word(CommandLine& line, CLI::App& group, const char* name, const char* help)
        : app_(group.add_subcommand(name, help)), options_(std::make_shared<Options>()) {
        line_ = &line;
    }

    Word& needs(const char* flag, std::string Options::* into, const char* type, const char* help) {
        takes(flag, into, type, help);
        last_->required();
        return *this;
    }
    Word& takes(const char* flag, std::string Options::* into, const char* type, const char* help) {
        last_ = app_->add_option(flag, (*options_).*into, help)->type_name(type);
        return *this;
    }
    Word& among(const std::vector<std::string>& words) {
        last_->check(CLI::IsMember(words));
        return *this;
    }
    Word& counts(
        const char* flag, std::int64_t Options::* into, std::int64_t max, const char* help) {
        app_->add_option(flag, (*options_).*into, help)->check(CLI::Range(std::int64_t{0}, max));
        return *this;
    }
    Word& lists(const char* flag, std::vector<std::string> Options::* into, const char* help) {
        app_->add_option(flag, (*options_).*into, help)->delimiter(',')->type_name("USERS");
        return *this;
    }
    Word& flags(const char* flag, bool Options::* into, const char* help) {
        app_->add_flag(flag, (*options_).*into, help);
        return *this;
    }
    CLI::App& runs(Run run) {
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
    OptionsPtr options_;
    CLI::Option* last_ = nullptr;
};

CLI::App& group(CLI::App& relay, const char* name, const char* help) {
    CLI::App* const app = relay.add_subcommand(name, help);
    app->require_subcommand(1);
    return *app;
}

constexpr const char* kWhichInstance = "The agent's instance.";
constexpr const char* kWhichPlatform = "discord, telegram, sms, wecom or local.";
constexpr const char* kOnlyTenant = "Only of this tenant.";

void add_views(CommandLine& line, CLI::App& relay) {
    Word(line, relay, "status", "How the relay is: bots, sockets, what waits.")
        .runs([](const GlobalOptions& global, const Options&) {
            return call(global, {"/status"}, with(describe_relay_status));
        });
    Word(line, relay, "instances", "Every instance with its health and what waits for it.")
        .takes("--tenant", &Options::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {with_query("/instances", {{"tenant_id", given.tenant}})},
                with(describe_relay_instances));
        });
    Word(line, relay, "buffers", "What waits: for every instance, or entry by entry for one.")
        .takes("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .takes("--after", &Options::after, "BUFFER", "Only entries behind this one.")
        .runs([](const GlobalOptions& global, const Options& given) {
            if (given.instance.empty()) {
                return call(global, {"/instances"}, with(describe_relay_instances));
            }
            return call(
                global,
                {with_query("/buffer", {{"instance_id", given.instance}, {"after", given.after}})},
                with(describe_relay_buffer));
        });
    Word(line, relay, "show", "An instance's owners, channels and policies.")
        .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {with_query("/instance", {{"instance_id", given.instance}})},
                with(describe_relay_instance));
        });
    Word(line, relay, "events", "The latest events of platforms and who got them.")
        .counts("--limit", &Options::limit, 500, "At most this many; 50 unless given.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/events?limit=" + std::to_string(given.limit)},
                with(describe_relay_events));
        });
    Word(line, relay, "why", "Why an event went where it went.")
        .needs("event", &Options::event, "EVENT", "Its key, platform/bot/id, as `events` shows it.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global, {with_query("/why", {{"event", given.event}})}, with(describe_relay_why));
        });
}

void add_dead_letters(CommandLine& line, CLI::App& relay) {
    CLI::App& letters =
        Word(line, relay, "dead-letters", "Messages that are not delivered any more, and why.")
            .takes("--instance", &Options::instance, "INSTANCE", "Only of this instance.")
            .runs([](const GlobalOptions& global, const Options& given) {
                return call(
                    global,
                    {with_query("/dead_letters", {{"instance_id", given.instance}})},
                    with(describe_relay_dead_letters));
            });
    const auto settle = [&](const char* name, const char* help) {
        Word(line, letters, name, help)
            .takes("--instance", &Options::instance, "INSTANCE", "Of this instance.")
            .takes("--buffer-id", &Options::buffer_id, "BUFFER", "This one, as the list shows it.")
            .flags("--all", &Options::all, "All of the instance, of the tenant, or of everybody.")
            .takes("--tenant", &Options::tenant, "TENANT", kOnlyTenant)
            .takes(
                "--older-than",
                &Options::older_than,
                "SPAN",
                "Only those dead for so long: 90s, 45m, 12h, 3d.")
            .runs([word = std::string(name)](const GlobalOptions& global, const Options& given) {
                return settle_letters(
                    global,
                    {.instance = given.instance,
                     .tenant = given.tenant,
                     .buffer_id = given.buffer_id,
                     .all = given.all,
                     .older_than = given.older_than},
                    word);
            });
    };
    settle("requeue", "Deliver one after all, or many.");
    settle("discard", "Throw one away for good, or many.");
}

void add_sends(CommandLine& line, CLI::App& relay) {
    Word(line, relay, "log", "What instances asked to be sent, newest first.")
        .takes("--instance", &Options::instance, "INSTANCE", "Only of this instance.")
        .takes("--state", &Options::state, "STATE", "Only in this state.")
        .among({"pending", "sent", "not_sent", "unknown"})
        .takes("--after", &Options::after, "PAGE", "Where the page before ended.")
        .counts("--limit", &Options::limit, 200, "At most this many; 50 unless given.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {with_query(
                    "/outbounds",
                    {{"instance_id", given.instance},
                     {"state", given.state},
                     {"after", given.after},
                     {"limit", std::to_string(given.limit)}})},
                with(describe_relay_log));
        });
    Word(line, relay, "replay", "Send again what was not sent, or may not have been.")
        .needs("id", &Options::outbound_id, "ID", "As `log` shows it.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/outbounds/replay", body_of({{"outbound_id", given.outbound_id}})},
                [](const Json& answer, ServerClient&) {
                    return "Sent again as " + print_safe(text_at(answer, "outbound_id")) +
                           "; `interlock relay log` shows what becomes of it.\n";
                });
        });
    Word(line, relay, "interrupt", "Stop the turn that a session is running.")
        .needs("--tenant", &Options::tenant, "TENANT", "Whose session.")
        .needs("--session", &Options::session, "KEY", "The session key.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/interrupt",
                 body_of({{"tenant_id", given.tenant}, {"session_key", given.session}})},
                saying("Told the instance that runs it."));
        });
}

ExitCode run_gateway_add(const GlobalOptions& global, const Options& given) {
    std::string secret = given.secret;
    if (given.secret_stdin) {
        const auto read = read_secret_from_stdin();
        if (!read) {
            return report_failure(global, read.error());
        }
        secret = read->reveal();
    }
    return call(
        global,
        {"/gateways",
         body_of(
             {{"tenant_id", given.tenant},
              {"gateway_id", given.gateway_id},
              {"instance_id", given.instance},
              {"secret", secret},
              {"wake_url", given.wake_url},
              {"display_name", given.name}})},
        [&global](const Json& answer, ServerClient& server) {
            const auto status = expect_ok(global, server.get("/api/relay/status"));
            return describe_new_gateway(
                answer, relay_url(server), status ? *status : Json::object());
        });
}

void add_gateways(CommandLine& line, CLI::App& relay) {
    CLI::App& gateway = group(relay, "gateway", "Gateways and their secrets.");
    Word(line, gateway, "add", "Let a gateway in; shows its secret this once.")
        .needs("--gateway-id", &Options::gateway_id, "GATEWAY", "Its name, unique on this server.")
        .needs("--tenant", &Options::tenant, "TENANT", "Whose it is.")
        .takes(
            "--instance",
            &Options::instance,
            "INSTANCE",
            "The agent's; the gateway's own name "
            "unless given.")
        .takes(
            "--secret",
            &Options::secret,
            "SECRET",
            "Pin it (16 to 512 bytes). Others on this "
            "machine can see it; see --secret-stdin.")
        .flags(
            "--secret-stdin",
            &Options::secret_stdin,
            "Read the secret from the first line of "
            "standard input.")
        .takes("--wake-url", &Options::wake_url, "URL", "Called when mail waits while it sleeps.")
        .takes("--name", &Options::name, "NAME", "For people.")
        .runs(run_gateway_add);
    Word(line, gateway, "list", "Every gateway; secrets are not shown.")
        .takes("--tenant", &Options::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {with_query("/gateways", {{"tenant_id", given.tenant}})},
                with(describe_relay_gateways));
        });
    Word(line, gateway, "rotate", "Give a gateway a new secret; shows it this once.")
        .needs("--gateway-id", &Options::gateway_id, "GATEWAY", "Which.")
        .counts(
            "--grace",
            &Options::grace_seconds,
            30 * 24 * 60 * 60,
            "Seconds that older secrets still count; a day unless given.")
        .runs([](const GlobalOptions& global, const Options& given) {
            Json body = body_of({{"gateway_id", given.gateway_id}});
            body.set("grace_seconds", given.grace_seconds);
            return call(global, {"/gateways/rotate", std::move(body)}, with(describe_rotation));
        });
    Word(line, relay, "revoke", "Shut out a gateway, or all of an instance; closes their sockets.")
        .takes("--gateway-id", &Options::gateway_id, "GATEWAY", "This one.")
        .takes("--instance", &Options::instance, "INSTANCE", "All of this instance.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/gateways/revoke",
                 body_of({{"gateway_id", given.gateway_id}, {"instance_id", given.instance}})},
                [](const Json& answer, ServerClient&) {
                    return "Revoked: " + print_safe(text_at(answer, "revoked")) +
                           ". What waits for the instance stays; `interlock relay gateway add` "
                           "lets one in again.\n";
                });
        });
    Word(line, relay, "deprovision", "Forget an instance with everything that is its.")
        .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/deprovision", body_of({{"instance_id", given.instance}})},
                saying("Forgotten: gateways, links, channels and mail of " + given.instance + "."));
        });
}

void add_tokens(CommandLine& line, CLI::App& relay) {
    CLI::App& enrollment = group(relay, "enrollment", "One-time tokens for new gateways.");
    Word(line, enrollment, "create", "Make one, good for an hour; shows it this once.")
        .needs("--tenant", &Options::tenant, "TENANT", "Whose gateway may enrol.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/enrollments", body_of({{"tenant_id", given.tenant}})},
                [](const Json& answer, ServerClient& server) {
                    return describe_enrollment(answer, relay_url(server));
                });
        });
    CLI::App& token = group(relay, "token", "Bearers with which a tenant's gateways enrol.");
    Word(line, token, "create", "Make one; shows it this once.")
        .needs("--tenant", &Options::tenant, "TENANT", "Whose.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/tokens", body_of({{"tenant_id", given.tenant}})},
                with(describe_tenant_token));
        });
    Word(line, token, "revoke", "End one.")
        .needs("--token-id", &Options::token_id, "TOKEN", "As it was told when it was made.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/tokens/revoke", body_of({{"token_id", given.token_id}})},
                saying("Ended. Gateways that it let in stay."));
        });
}

Json route_of(const Options& given) {
    return body_of(
        {{"platform", given.platform},
         {"bot_id", given.bot_id},
         {"discriminator", given.discriminator},
         {"tenant_id", given.tenant}});
}

void add_routes(CommandLine& line, CLI::App& relay) {
    constexpr const char* kWhichPlace = "The guild, chat, number or room.";
    CLI::App& route = group(relay, "route", "Whose tenant a guild, chat or number is.");
    Word(line, route, "add", "Route one to a tenant.")
        .needs("--platform", &Options::platform, "PLATFORM", kWhichPlatform)
        .needs("--bot-id", &Options::bot_id, "BOT", "The bot as configured.")
        .needs("--discriminator", &Options::discriminator, "ID", kWhichPlace)
        .needs("--tenant", &Options::tenant, "TENANT", "Whose it is.")
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/routes", route_of(given)},
                saying(
                    "Routed to " + given.tenant +
                    ". Next: `interlock relay scope claim` gives a channel of it to an instance; "
                    "owners are heard there without."));
        });
    Word(line, route, "remove", "Take one away.")
        .needs("--platform", &Options::platform, "PLATFORM", kWhichPlatform)
        .needs("--bot-id", &Options::bot_id, "BOT", "The bot as configured.")
        .needs("--discriminator", &Options::discriminator, "ID", kWhichPlace)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/routes/remove", route_of(given)},
                saying("Removed; nothing of it is delivered any more."));
        });
    Word(line, route, "list", "Every route.")
        .takes("--tenant", &Options::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {with_query("/routes", {{"tenant_id", given.tenant}})},
                with(describe_relay_routes));
        });
}

Json binding_of(const Options& given) {
    return body_of(
        {{"platform", given.platform},
         {"user_id", given.user},
         {"instance_id", given.instance},
         {"user_name", given.name}});
}

void add_bindings(CommandLine& line, CLI::App& relay) {
    Word(line, relay, "bind", "Link a user to an instance, who owns it there.")
        .needs("--platform", &Options::platform, "PLATFORM", kWhichPlatform)
        .needs("--user", &Options::user, "USER", "The id on the platform.")
        .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .takes("--name", &Options::name, "NAME", "For people.")
        .runs([](const GlobalOptions& global, const Options& given) {
            std::string next = "Their direct messages reach it now.";
            if (given.platform == "local") {
                next += " Next: interlock chat --tenant TENANT --as " + given.user;
            }
            return call(global, {"/bindings", binding_of(given)}, saying(next));
        });
    Word(line, relay, "unbind", "End the link of a user to an instance.")
        .needs("--platform", &Options::platform, "PLATFORM", kWhichPlatform)
        .needs("--user", &Options::user, "USER", "The id on the platform.")
        .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .runs([](const GlobalOptions& global, const Options& given) {
            return call(
                global,
                {"/bindings/remove", binding_of(given)},
                saying("They do not reach it any more."));
        });
}

void add_scopes(CommandLine& line, CLI::App& relay) {
    CLI::App& scope = group(relay, "scope", "Channels that instances claim.");
    const auto word = [&](const char* name, const char* help, const char* path, const char* done) {
        Word(line, scope, name, help)
            .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
            .needs("--platform", &Options::platform, "PLATFORM", kWhichPlatform)
            .needs(
                "--guild", &Options::guild, "GUILD", "The guild or workspace; of a room the room.")
            .needs("--channel", &Options::channel, "CHANNEL", "The channel.")
            .runs([path, done](const GlobalOptions& global, const Options& given) {
                return call(
                    global,
                    {path,
                     body_of(
                         {{"instance_id", given.instance},
                          {"platform", given.platform},
                          {"guild_id", given.guild},
                          {"channel_id", given.channel}})},
                    saying(done));
            });
    };
    word(
        "claim",
        "Give a channel to an instance.",
        "/scopes",
        "Claimed. Next: `interlock relay principal` says who besides its owners may speak there.");
    word(
        "release",
        "Take a channel from an instance.",
        "/scopes/release",
        "Released; others may claim it.");
}

ExitCode run_principal(const GlobalOptions& global, const Options& given) {
    Json body = body_of(
        {{"instance_id", given.instance}, {"platform", given.platform}, {"policy", given.policy}});
    if (!given.allow.empty()) {
        body.set("allow", json_list(given.allow));
    }
    return call(
        global,
        {"/principal", std::move(body)},
        saying("Set. `interlock relay show --instance " + given.instance + "` shows it."));
}

void add_principal(CommandLine& line, CLI::App& relay) {
    Word(line, relay, "principal", "Who may speak to an instance in its channels.")
        .needs("--instance", &Options::instance, "INSTANCE", kWhichInstance)
        .needs("--policy", &Options::policy, "POLICY", "`any` means any linked user of the tenant.")
        .among({"owner-only", "allow-list", "any"})
        .lists("--allow", &Options::allow, "Who, with allow-list; ids with commas between them.")
        .takes("--platform", &Options::platform, "PLATFORM", "There only; everywhere unless given.")
        .runs(run_principal);
}

}  // namespace

void add_relay_operator_commands(CommandLine& line, CLI::App& relay) {
    add_views(line, relay);
    add_dead_letters(line, relay);
    add_sends(line, relay);
    add_gateways(line, relay);
    add_tokens(line, relay);
    add_routes(line, relay);
    add_bindings(line, relay);
    add_scopes(line, relay);
    add_principal(line, relay);
}

}  // namespace interlock
