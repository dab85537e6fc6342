#include "app/command/relay_operator_command.h"

#include "app/command/console.h"
#include "app/command/relay_letters.h"
#include "app/command/relay_people_command.h"
#include "app/command/relay_view.h"
#include "app/command/relay_word.h"

namespace interlock {
namespace {

void add_views(CommandLine& line, CLI::App& relay) {
    RelayWord(line, relay, "status", "How the relay is: bots, sockets, what waits.")
        .runs([](const GlobalOptions& global, const RelayOptions&) {
            return call_relay(global, {"/status"}, shown_by(describe_relay_status));
        });
    RelayWord(line, relay, "instances", "Every instance with its health and what waits for it.")
        .takes("--tenant", &RelayOptions::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/instances", {{"tenant_id", given.tenant}})},
                shown_by(describe_relay_instances));
        });
    RelayWord(line, relay, "buffers", "What waits: for every instance, or entry by entry for one.")
        .takes("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .takes("--after", &RelayOptions::after, "BUFFER", "Only entries behind this one.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            if (given.instance.empty()) {
                return call_relay(global, {"/instances"}, shown_by(describe_relay_instances));
            }
            return call_relay(
                global,
                {relay_query("/buffer", {{"instance_id", given.instance}, {"after", given.after}})},
                shown_by(describe_relay_buffer));
        });
    RelayWord(line, relay, "show", "An instance's owners, channels and policies.")
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/instance", {{"instance_id", given.instance}})},
                shown_by(describe_relay_instance));
        });
    RelayWord(line, relay, "events", "The latest events of platforms and who got them.")
        .counts("--limit", &RelayOptions::limit, 500, "At most this many; 50 unless given.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/events?limit=" + std::to_string(given.limit)},
                shown_by(describe_relay_events));
        });
    RelayWord(line, relay, "why", "Why an event went where it went.")
        .needs(
            "event",
            &RelayOptions::event,
            "EVENT",
            "Its key, platform/bot/id, as `events` shows it.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/why", {{"event", given.event}})},
                shown_by(describe_relay_why));
        });
}

void add_dead_letters(CommandLine& line, CLI::App& relay) {
    CLI::App& letters =
        RelayWord(line, relay, "dead-letters", "Messages that are not delivered any more, and why.")
            .takes("--instance", &RelayOptions::instance, "INSTANCE", "Only of this instance.")
            .runs([](const GlobalOptions& global, const RelayOptions& given) {
                return call_relay(
                    global,
                    {relay_query("/dead_letters", {{"instance_id", given.instance}})},
                    shown_by(describe_relay_dead_letters));
            });
    const auto settle = [&](const char* name, const char* help) {
        RelayWord(line, letters, name, help)
            .takes("--instance", &RelayOptions::instance, "INSTANCE", "Of this instance.")
            .takes(
                "--buffer-id",
                &RelayOptions::buffer_id,
                "BUFFER",
                "This one, as the list shows it.")
            .flags(
                "--all", &RelayOptions::all, "All of the instance, of the tenant, or of everybody.")
            .takes("--tenant", &RelayOptions::tenant, "TENANT", kOnlyTenant)
            .takes(
                "--older-than",
                &RelayOptions::older_than,
                "SPAN",
                "Only those dead for so long: 90s, 45m, 12h, 3d.")
            .runs(
                [word = std::string(name)](const GlobalOptions& global, const RelayOptions& given) {
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
    RelayWord(line, relay, "log", "What instances asked to be sent, newest first.")
        .takes("--instance", &RelayOptions::instance, "INSTANCE", "Only of this instance.")
        .takes("--state", &RelayOptions::state, "STATE", "Only in this state.")
        .among({"pending", "sent", "not_sent", "unknown"})
        .takes("--after", &RelayOptions::after, "PAGE", "Where the page before ended.")
        .counts("--limit", &RelayOptions::limit, 200, "At most this many; 50 unless given.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query(
                    "/outbounds",
                    {{"instance_id", given.instance},
                     {"state", given.state},
                     {"after", given.after},
                     {"limit", std::to_string(given.limit)}})},
                shown_by(describe_relay_log));
        });
    RelayWord(line, relay, "replay", "Send again what was not sent, or may not have been.")
        .needs("id", &RelayOptions::outbound_id, "ID", "As `log` shows it.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/outbounds/replay", relay_body({{"outbound_id", given.outbound_id}})},
                [](const Json& answer, ServerClient&) {
                    return "Sent again as " + print_safe(text_at(answer, "outbound_id")) +
                           "; `interlock relay log` shows what becomes of it.\n";
                });
        });
    RelayWord(line, relay, "interrupt", "Stop the turn that a session is running.")
        .needs("--tenant", &RelayOptions::tenant, "TENANT", "Whose session.")
        .needs("--session", &RelayOptions::session, "KEY", "The session key.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/interrupt",
                 relay_body({{"tenant_id", given.tenant}, {"session_key", given.session}})},
                saying("Told the instance that runs it."));
        });
}

ExitCode run_gateway_add(const GlobalOptions& global, const RelayOptions& given) {
    std::string secret = given.secret;
    if (given.secret_stdin) {
        const auto read = read_secret_from_stdin();
        if (!read) {
            return report_failure(global, read.error());
        }
        secret = read->reveal();
    }
    return call_relay(
        global,
        {"/gateways",
         relay_body(
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
    CLI::App& gateway = relay_group(relay, "gateway", "Gateways and their secrets.");
    RelayWord(line, gateway, "add", "Let a gateway in; shows its secret this once.")
        .needs(
            "--gateway-id",
            &RelayOptions::gateway_id,
            "GATEWAY",
            "Its name, unique on this server.")
        .needs("--tenant", &RelayOptions::tenant, "TENANT", "Whose it is.")
        .takes(
            "--instance",
            &RelayOptions::instance,
            "INSTANCE",
            "The agent's; the gateway's own name "
            "unless given.")
        .takes(
            "--secret",
            &RelayOptions::secret,
            "SECRET",
            "Pin it (16 to 512 bytes). Others on this "
            "machine can see it; see --secret-stdin.")
        .flags(
            "--secret-stdin",
            &RelayOptions::secret_stdin,
            "Read the secret from the first line of "
            "standard input.")
        .takes(
            "--wake-url", &RelayOptions::wake_url, "URL", "Called when mail waits while it sleeps.")
        .takes("--name", &RelayOptions::name, "NAME", "For people.")
        .runs(run_gateway_add);
    RelayWord(line, gateway, "list", "Every gateway; secrets are not shown.")
        .takes("--tenant", &RelayOptions::tenant, "TENANT", kOnlyTenant)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {relay_query("/gateways", {{"tenant_id", given.tenant}})},
                shown_by(describe_relay_gateways));
        });
    RelayWord(line, gateway, "rotate", "Give a gateway a new secret; shows it this once.")
        .needs("--gateway-id", &RelayOptions::gateway_id, "GATEWAY", "Which.")
        .counts(
            "--grace",
            &RelayOptions::grace_seconds,
            30 * 24 * 60 * 60,
            "Seconds that older secrets still count; a day unless given.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            Json body = relay_body({{"gateway_id", given.gateway_id}});
            body.set("grace_seconds", given.grace_seconds);
            return call_relay(
                global, {"/gateways/rotate", std::move(body)}, shown_by(describe_rotation));
        });
}

void add_endings(CommandLine& line, CLI::App& relay) {
    RelayWord(
        line, relay, "revoke", "Shut out a gateway, or all of an instance; closes their sockets.")
        .takes("--gateway-id", &RelayOptions::gateway_id, "GATEWAY", "This one.")
        .takes("--instance", &RelayOptions::instance, "INSTANCE", "All of this instance.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/gateways/revoke",
                 relay_body({{"gateway_id", given.gateway_id}, {"instance_id", given.instance}})},
                [](const Json& answer, ServerClient&) {
                    return "Revoked: " + print_safe(text_at(answer, "revoked")) +
                           ". What waits for the instance stays; `interlock relay gateway add` "
                           "lets one in again.\n";
                });
        });
    RelayWord(line, relay, "deprovision", "Forget an instance with everything that is its.")
        .needs("--instance", &RelayOptions::instance, "INSTANCE", kWhichInstance)
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/deprovision", relay_body({{"instance_id", given.instance}})},
                saying("Forgotten: gateways, links, channels and mail of " + given.instance + "."));
        });
}

void add_tokens(CommandLine& line, CLI::App& relay) {
    CLI::App& enrollment = relay_group(relay, "enrollment", "One-time tokens for new gateways.");
    RelayWord(line, enrollment, "create", "Make one, good for an hour; shows it this once.")
        .needs("--tenant", &RelayOptions::tenant, "TENANT", "Whose gateway may enrol.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/enrollments", relay_body({{"tenant_id", given.tenant}})},
                [](const Json& answer, ServerClient& server) {
                    return describe_enrollment(answer, relay_url(server));
                });
        });
    CLI::App& token = relay_group(relay, "token", "Bearers with which a tenant's gateways enrol.");
    RelayWord(line, token, "create", "Make one; shows it this once.")
        .needs("--tenant", &RelayOptions::tenant, "TENANT", "Whose.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/tokens", relay_body({{"tenant_id", given.tenant}})},
                shown_by(describe_tenant_token));
        });
    RelayWord(line, token, "revoke", "End one.")
        .needs("--token-id", &RelayOptions::token_id, "TOKEN", "As it was told when it was made.")
        .runs([](const GlobalOptions& global, const RelayOptions& given) {
            return call_relay(
                global,
                {"/tokens/revoke", relay_body({{"token_id", given.token_id}})},
                saying("Ended. Gateways that it let in stay."));
        });
}

}  // namespace

void add_relay_operator_commands(CommandLine& line, CLI::App& relay) {
    add_views(line, relay);
    add_dead_letters(line, relay);
    add_sends(line, relay);
    add_gateways(line, relay);
    add_endings(line, relay);
    add_tokens(line, relay);
    add_relay_people_commands(line, relay);
}

}  // namespace interlock
