#include "app/command/relay_words.h"

#include <memory>

#include "app/command/console.h"
#include "app/command/relay_letters.h"
#include "app/command/relay_view.h"
#include "app/command/table_command.h"

namespace interlock {
namespace {

using Need = FieldName::Need;
using Filled = std::optional<ExitCode>;

// Where gateways dial, as the server knows itself; empty when it does not say.
std::string relay_url(ServerClient& server) {
    const auto schema = server.get("/ai/agent-schema.json");
    if (!schema || !schema->ok()) {
        return {};
    }
    const std::string url = text_at(schema->body, "base_url");
    return url.starts_with("http") ? "ws" + url.substr(std::string_view("http").size()) + "/relay"
                                   : "";
}

CLI::App& group(CLI::App& relay, const char* name, const char* help) {
    CLI::App* const app = relay.add_subcommand(name, help);
    app->require_subcommand(1);
    return *app;
}

void add_views(CommandLine& line, CLI::App& relay) {
    add_table_word(
        line, {.operation = "relay_status", .describe = shown_by(describe_relay_status)});
    add_table_word(
        line,
        {.operation = "list_relay_instances", .describe = shown_by(describe_relay_instances)});
    CLI::App* const buffers = relay.add_subcommand(
        "buffers", "What waits: for every instance, or entry by entry for one.");
    const auto instance = std::make_shared<std::string>();
    const auto after = std::make_shared<std::int64_t>(0);
    buffers->add_option("--instance", *instance, "The agent's instance.")->type_name("INSTANCE");
    buffers->add_option("--after", *after, "Only entries behind this one.")->type_name("BUFFER");
    buffers->callback([&line, instance, after] {
        line.run = [&line, instance, after] {
            if (instance->empty()) {
                return show_answer(
                    line.global,
                    ask_table(line.global, {.operation = "list_relay_instances"}),
                    describe_relay_instances);
            }
            const Json fields = Json::object({{"instance_id", *instance}, {"after", *after}});
            return show_answer(
                line.global,
                ask_table(line.global, {.operation = "read_relay_buffer", .fields = fields}),
                describe_relay_buffer);
        };
    });
    add_table_word(
        line,
        {.operation = "get_relay_instance",
         .names = {{.field = "instance_id", .need = Need::always}},
         .describe = shown_by(describe_relay_instance)});
    add_table_word(
        line, {.operation = "list_relay_events", .describe = shown_by(describe_relay_events)});
    add_table_word(
        line,
        {.operation = "explain_relay_event",
         .names =
             {{.field = "event",
               .as = "event",
               .need = Need::always,
               .help = "Its key, platform/bot/id, as `events` shows it."}},
         .describe = shown_by(describe_relay_why)});
}

void add_settling(CommandLine& line, CLI::App& letters, const std::string& name, const char* help) {
    const auto wish = std::make_shared<LettersWish>();
    CLI::App* const command = letters.add_subcommand(name, help);
    command->add_option("--instance", wish->instance, "Of this instance.")->type_name("INSTANCE");
    command->add_option("--buffer-id", wish->buffer_id, "This one, as the list shows it.")
        ->type_name("BUFFER");
    command->add_flag("--all", wish->all, "All of the instance, of the tenant, or of everybody.");
    command->add_option("--tenant", wish->tenant, "Only of this tenant.")->type_name("TENANT");
    command
        ->add_option(
            "--older-than", wish->older_than, "Only those dead for so long: 90s, 45m, 12h, 3d.")
        ->type_name("SPAN");
    command->callback([&line, wish, name] {
        line.run = [&line, wish, name] { return settle_letters(line.global, *wish, name); };
    });
}

void add_messages(CommandLine& line) {
    CLI::App& letters = add_table_word(
        line,
        {.operation = "list_relay_dead_letters",
         .describe = shown_by(describe_relay_dead_letters)});
    add_settling(line, letters, "requeue", "Deliver one after all, or many.");
    add_settling(line, letters, "discard", "Throw one away for good, or many.");
    add_table_word(
        line, {.operation = "list_relay_outbounds", .describe = shown_by(describe_relay_log)});
    add_table_word(
        line,
        {.operation = "replay_relay_outbound",
         .names = {{.field = "outbound_id", .as = "id", .help = "As `log` shows it."}},
         .describe = [](const TableAnswer& shown) {
             return "Sent again as " + print_safe(text_at(shown.answer, "outbound_id")) +
                    "; `interlock relay log` shows what becomes of it.\n";
         }});
    add_table_word(
        line,
        {.operation = "interrupt_relay_session",
         .names = {{.field = "session_key", .as = "--session"}},
         .describe = saying("Told the instance that runs it.")});
}

void add_new_gateway(CommandLine& line) {
    const auto secret = std::make_shared<std::string>();
    const auto is_piped = std::make_shared<bool>(false);
    CLI::App& add = add_table_word(
        line,
        {.operation = "add_relay_gateway",
         .help = "Let a gateway in; shows its secret this once.",
         .names = {{.field = "display_name", .as = "--name"}},
         .describe =
             [](const TableAnswer& shown) {
                 const auto status = shown.server.get("/api/relay/status");
                 return describe_new_gateway(
                     shown.answer,
                     relay_url(shown.server),
                     status && status->ok() ? status->body : Json::object());
             },
         .prepare = [secret, is_piped](const TableTyped& typed) -> Filled {
             if (*is_piped) {
                 const auto read = read_secret_from_stdin();
                 if (!read) {
                     return report_failure(typed.global, read.error());
                 }
                 *secret = read->reveal();
             }
             if (!secret->empty()) {
                 typed.fields.set("secret", *secret);
             }
             return std::nullopt;
         }});
    add.add_option(
           "--secret",
           *secret,
           "Pin it (16 to 512 bytes). Others on this machine can see it; see --secret-stdin.")
        ->type_name("SECRET");
    add.add_flag(
        "--secret-stdin", *is_piped, "Read the secret from the first line of standard input.");
}

void add_gateways(CommandLine& line, CLI::App& relay) {
    group(relay, "gateway", "Gateways and their secrets.");
    add_new_gateway(line);
    add_table_word(
        line, {.operation = "list_relay_gateways", .describe = shown_by(describe_relay_gateways)});
    add_table_word(
        line,
        {.operation = "rotate_relay_secret",
         .names = {{.field = "grace_seconds", .as = "--grace"}},
         .describe = shown_by(describe_rotation)});
    add_table_word(
        line,
        {.operation = "revoke_relay_gateway", .describe = [](const TableAnswer& shown) {
             return "Revoked: " + print_safe(text_at(shown.answer, "revoked")) +
                    ". What waits for the instance stays; `interlock relay gateway add` lets one "
                    "in again.\n";
         }});
    add_table_word(
        line, {.operation = "deprovision_relay_instance", .describe = [](const TableAnswer& shown) {
                   return "Forgotten: gateways, links, channels and mail of " +
                          print_safe(text_at(shown.sent, "instance_id")) + ".\n";
               }});
    group(relay, "enrollment", "One-time tokens for new gateways.");
    add_table_word(
        line, {.operation = "create_relay_enrollment", .describe = [](const TableAnswer& shown) {
                   return describe_enrollment(shown.answer, relay_url(shown.server));
               }});
    group(relay, "token", "Bearers with which a tenant's gateways enrol.");
    add_table_word(
        line, {.operation = "create_relay_token", .describe = shown_by(describe_tenant_token)});
    add_table_word(
        line,
        {.operation = "revoke_relay_token",
         .describe = saying("Ended. Gateways that it let in stay.")});
}

// Fills in what the list of strangers says of the one with this number.
Filled take_stranger(
    const GlobalOptions& global, std::int64_t number, bool needs_chat, Json& fields) {
    const auto answer = ask_table(
        global,
        {.operation = "list_relay_strangers", .fields = Json::object({{"number", number}})});
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
    fields.set("platform", text_at(one, "platform"));
    fields.set("bot_id", text_at(one, "bot_id"));
    if (needs_chat) {
        fields.set("discriminator", text_at(one, "discriminator"));
        return std::nullopt;
    }
    fields.set("user_id", text_at(one, "user_id"));
    if (fields.find("user_name") == nullptr && text_at(one, "user_name") != "-") {
        fields.set("user_name", text_at(one, "user_name"));
    }
    return std::nullopt;
}

void add_for_stranger(CommandLine& line, TableWord word, bool needs_chat) {
    const auto number = std::make_shared<std::int64_t>(0);
    word.prepare = [number, needs_chat](const TableTyped& typed) {
        return *number == 0 ? Filled()
                            : take_stranger(typed.global, *number, needs_chat, typed.fields);
    };
    add_table_word(line, std::move(word))
        .add_option("--stranger", *number, "By the number in `interlock relay strangers` instead.")
        ->check(CLI::PositiveNumber)
        ->type_name("NUMBER");
}

void add_people(CommandLine& line, CLI::App& relay) {
    add_table_word(
        line,
        {.operation = "list_relay_strangers", .describe = shown_by(describe_relay_strangers)});
    group(relay, "link", "Codes with which people link themselves.");
    add_table_word(
        line, {.operation = "create_relay_link", .describe = shown_by(describe_relay_link)});
    add_for_stranger(
        line,
        {.operation = "bind_relay_user",
         .names =
             {{.field = "platform", .need = Need::never},
              {.field = "user_id", .need = Need::never},
              {.field = "user_name", .as = "--name"}},
         .describe =
             [](const TableAnswer& shown) {
                 const bool is_local = text_at(shown.sent, "platform") == "local";
                 return "Their direct messages reach it now." +
                        (is_local ? " Next: interlock chat --tenant TENANT --as " +
                                        print_safe(text_at(shown.sent, "user_id"))
                                  : std::string()) +
                        "\n";
             }},
        false);
    add_table_word(
        line,
        {.operation = "unbind_relay_user", .describe = saying("They do not reach it any more.")});
}

void add_places(CommandLine& line, CLI::App& relay) {
    group(relay, "route", "Whose tenant a guild, chat or number is.");
    add_for_stranger(
        line,
        {.operation = "add_relay_route",
         .names =
             {{.field = "platform", .need = Need::never},
              {.field = "bot_id", .need = Need::never},
              {.field = "discriminator", .need = Need::never}},
         .describe =
             [](const TableAnswer& shown) {
                 return "Routed to " + print_safe(text_at(shown.sent, "tenant_id")) +
                        ". Next: `interlock relay scope claim` gives a channel of it to an "
                        "instance; owners are heard there without.\n";
             }},
        true);
    add_table_word(
        line,
        {.operation = "remove_relay_route",
         .describe = saying("Removed; nothing of it is delivered any more.")});
    add_table_word(
        line, {.operation = "list_relay_routes", .describe = shown_by(describe_relay_routes)});
    group(relay, "scope", "Channels that instances claim.");
    add_table_word(
        line,
        {.operation = "claim_relay_scope",
         .describe = saying(
             "Claimed. Next: `interlock relay principal` says who besides its owners may speak "
             "there.")});
    add_table_word(
        line,
        {.operation = "release_relay_scope", .describe = saying("Released; others may claim it.")});
    add_table_word(
        line, {.operation = "set_relay_principal", .describe = [](const TableAnswer& shown) {
                   return "Set. `interlock relay show --instance " +
                          print_safe(text_at(shown.sent, "instance_id")) + "` shows it.\n";
               }});
}

}  // namespace

void add_relay_words(CommandLine& line, CLI::App& relay) {
    add_views(line, relay);
    add_messages(line);
    add_gateways(line, relay);
    add_people(line, relay);
    add_places(line, relay);
}

}  // namespace interlock
