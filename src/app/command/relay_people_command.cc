#include "app/command/relay_people_command.h"

#include "app/command/console.h"
#include "app/command/relay_view.h"
#include "app/command/relay_word.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr const char* kInPlaceOfThose = "By the number in `interlock relay strangers` instead.";
constexpr const char* kWhichBot = "Which bot; not needed where it can be only one.";

void add_newcomers(CommandLine& line, CLI::App& relay) {
    RelayWord(
        line, relay, "strangers", "Who wrote and reached nobody: whom to link, what to route.")
        .takes("--tenant", &RelayOptions::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/strangers", {{"tenant_id", given.tenant}})},
                shown_by(describe_relay_strangers));
        });
    CLI::App& link = relay_group(relay, "link", "Codes with which people link themselves.");
    RelayWord(line, link, "create", "Make one, good once and for ten minutes.")
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .needs("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
        .takes("--bot-id", &RelayOptions::bot_id, "BOT", "At this bot only.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/links",
                 relay_body(
                     {{"instance_id", given.instance},
                      {"platform", given.platform},
                      {"bot_id", given.bot_id}})},
                shown_by(describe_relay_link));
        });
}

// Fills in what the list of strangers says of the one that was named by his number.
std::optional<ExitCode> take_stranger(
    const GlobalOptions& global, RelayOptions& given, bool needs_chat) {
    if (given.stranger == 0) {
        return std::nullopt;
    }
    const auto folder = chosen_data_folder(global);
    if (!folder) {
        return folder.error();
    }
    ServerClient server(*folder);
    const auto answer = expect_ok(
        global, server.get("/api/relay/strangers?number=" + std::to_string(given.stranger)));
    if (!answer) {
        return answer.error();
    }
    const Json* const found = answer->find("strangers");
    if (found == nullptr || found->items().empty()) {
        return report_usage(
            global,
            "There is no stranger of this number any more.",
            "`interlock relay strangers` shows who is there.");
    }
    const Json& one = found->items().front();
    if (is_unrouted_chat(one) != needs_chat) {
        return report_usage(
            global,
            needs_chat ? "This is a user; a route is for a chat." : "This is a chat.",
            needs_chat ? "Link the user with `interlock relay bind`."
                       : "Route it with `interlock relay route add`.");
    }
    given.platform = text_at(one, "platform");
    given.bot_id = text_at(one, "bot_id");
    given.user = text_at(one, "user_id");
    given.discriminator = text_at(one, "discriminator");
    if (given.name.empty() && text_at(one, "user_name") != "-") {
        given.name = text_at(one, "user_name");
    }
    return std::nullopt;
}

Json route_of(const RelayOptions& given) {
    return relay_body(
        {{"platform", given.platform},
         {"bot_id", given.bot_id},
         {"discriminator", given.discriminator},
         {"tenant_id", given.tenant}});
}

void add_routes(CommandLine& line, CLI::App& relay) {
    constexpr const char* kWhichPlace = "The guild, chat, number or room.";
    CLI::App& route = relay_group(relay, "route", "Whose tenant a guild, chat or number is.");
    RelayWord(line, route, "add", "Route one to a tenant.")
        .takes("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
        .takes("--bot-id", &RelayOptions::bot_id, "BOT", "The bot as configured.")
        .takes("--discriminator", &RelayOptions::discriminator, "ID", kWhichPlace)
        .numbers("--stranger", &RelayOptions::stranger, kInPlaceOfThose)
        .needs("--tenant", &RelayOptions::tenant, "TENANT", "Whose it is.")
        .runs([](const GlobalOptions& global, RelayOptions given) {
            if (const auto failed = take_stranger(global, given, true)) {
                return *failed;
            }
            return call_relay(
                global,
                {"/routes", route_of(given)},
                saying(
                    "Routed to " + given.tenant +
                    ". Next: `interlock relay scope claim` gives a channel of it to an instance; "
                    "owners are heard there without."));
        });
    RelayWord(line, route, "remove", "Take one away.")
        .needs("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
        .needs("--bot-id", &RelayOptions::bot_id, "BOT", "The bot as configured.")
        .needs("--discriminator", &RelayOptions::discriminator, "ID", kWhichPlace)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/routes/remove", route_of(given)},
                saying("Removed; nothing of it is delivered any more."));
        });
    RelayWord(line, route, "list", "Every route.")
        .takes("--tenant", &RelayOptions::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/routes", {{"tenant_id", given.tenant}})},
                shown_by(describe_relay_routes));
        });
}

Json binding_of(const RelayOptions& given) {
    return relay_body(
        {{"platform", given.platform},
         {"bot_id", given.bot_id},
         {"user_id", given.user},
         {"instance_id", given.instance},
         {"user_name", given.name}});
}

void add_bindings(CommandLine& line, CLI::App& relay) {
    RelayWord(line, relay, "bind", "Link a user to an instance, who owns it there.")
        .takes("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
        .takes("--user", &RelayOptions::user, "USER", "The id on the platform.")
        .numbers("--stranger", &RelayOptions::stranger, kInPlaceOfThose)
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .takes("--bot-id", &RelayOptions::bot_id, "BOT", kWhichBot)
        .takes("--name", &RelayOptions::name, "NAME", "For people.")
        .runs([](const GlobalOptions& global, RelayOptions given) {
            if (const auto failed = take_stranger(global, given, false)) {
                return *failed;
            }
            std::string next = "Their direct messages reach it now.";
            if (given.platform == "local") {
                next += " Next: interlock chat --tenant TENANT --as " + given.user;
            }
            return call_relay(global, {"/bindings", binding_of(given)}, saying(next));
        });
    RelayWord(line, relay, "unbind", "End the link of a user to an instance.")
        .needs("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
        .needs("--user", &RelayOptions::user, "USER", "The id on the platform.")
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .takes("--bot-id", &RelayOptions::bot_id, "BOT", "At this bot only; at all unless given.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/bindings/remove", binding_of(given)},
                saying("They do not reach it any more."));
        });
}

void add_scopes(CommandLine& line, CLI::App& relay) {
    CLI::App& scope = relay_group(relay, "scope", "Channels that instances claim.");
    const auto word = [&](const char* name, const char* help, const char* path, const char* done) {
        RelayWord(line, scope, name, help)
            .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
            .needs("--platform", &RelayOptions::platform, "PLATFORM", kWhichPlatform)
            .needs(
                "--guild",
                &RelayOptions::guild,
                "GUILD",
                "The guild or workspace; of a room the room.")
            .needs("--channel", &RelayOptions::channel, "CHANNEL", "The channel.")
            .runs([path, done](const GlobalOptions& global, const RelayOptions& given) {
                return call_relay(
                    global,
                    {path,
                     relay_body(
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

ExitCode run_principal(const GlobalOptions& global, const RelayOptions& given) {
    Json body = relay_body(
        {{"instance_id", given.instance}, {"platform", given.platform}, {"policy", given.policy}});
    if (!given.allow.empty()) {
        body.set("allow", json_list(given.allow));
    }
    return call_relay(
        global,
        {"/principal", std::move(body)},
        saying("Set. `interlock relay show --instance " + given.instance + "` shows it."));
}

void add_principal(CommandLine& line, CLI::App& relay) {
    RelayWord(line, relay, "principal", "Who may speak to an instance in its channels.")
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .needs(
            "--policy",
            &RelayOptions::policy,
            "POLICY",
            "`any` means any linked user of the tenant.")
        .among({"owner-only", "allow-list", "any"})
        .lists(
            "--allow", &RelayOptions::allow, "Who, with allow-list; ids with commas between them.")
        .takes(
            "--platform",
            &RelayOptions::platform,
            "PLATFORM",
            "There only; everywhere unless given.")
        .runs(run_principal);
}

}  // namespace

void add_relay_people_commands(CommandLine& line, CLI::App& relay) {
    add_newcomers(line, relay);
    add_routes(line, relay);
    add_bindings(line, relay);
    add_scopes(line, relay);
    add_principal(line, relay);
}

}  // namespace interlock
