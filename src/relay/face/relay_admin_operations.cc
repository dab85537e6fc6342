// What the operator sets: gateways and their secrets, tokens, routes, links, channels, policies.
#include "host/face/call_arguments.h"
#include "relay/face/relay_registrar.h"
#include "relay/face/relay_schemas.h"

namespace interlock {
namespace {

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
constexpr std::int64_t kStrangerNumberMax = std::int64_t{1} << 53U;

Result<RelayCredentials::NewGateway> decode_gateway(const ApiCall& call) {
    FieldReader in(call.body);
    RelayCredentials::NewGateway gateway;
    gateway.tenant_id = in.required<TenantId>("tenant_id");
    gateway.gateway_id = needed_id(in, "gateway_id");
    gateway.instance_id = optional_id(in, "instance_id");
    gateway.secret = SecretString(
        in.optional_text(
              "secret", {.length_min = kPinnedSecretBytesMin, .length_max = kPinnedSecretBytesMax})
            .value_or(""));
    gateway.wake_url = in.optional_text("wake_url").value_or("");
    gateway.display_name =
        in.optional_text("display_name", {.length_min = 0, .length_max = kDisplayNameBytesMax})
            .value_or("");
    return finish(in, std::move(gateway));
}

// Reads whom a call names: a gateway or an instance, exactly one of the two.
Result<RelayCredentials::Named> decode_named(const ApiCall& call) {
    FieldReader in(call.body);
    RelayCredentials::Named named;
    named.gateway_id = optional_id(in, "gateway_id");
    named.instance_id = optional_id(in, "instance_id");
    if (named.gateway_id.empty() == named.instance_id.empty()) {
        in.add_problem("gateway_id", "give either this or instance_id");
    }
    return finish(in, std::move(named));
}

void add_gateways(RelayRegistrar& to, RelayCredentials& credentials) {
    to.add(
        {.id = "add_relay_gateway",
         .method = "POST",
         .path = "/api/relay/gateways",
         .summary = "Let a gateway in, with a secret that is shown this once.",
         .description =
             "A gateway id and an instance id belong to the tenant that had them first. Without "
             "`secret` one is made. A revoked gateway may be added again.",
         .request = relay_request_schema(
             {{"tenant_id", true},
              {"gateway_id", true},
              {"instance_id", false},
              {"secret", false},
              {"wake_url", false},
              {"display_name", false}}),
         .answer = relay_new_gateway_schema(),
         .status = 201},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayCredentials::NewGateway gateway, decode_gateway(call));
            credentials.add_gateway(to_text(call.principal), std::move(gateway), reply);
            return {};
        });
    to.add(
        {.id = "list_relay_gateways",
         .method = "GET",
         .path = "/api/relay/gateways",
         .summary = "List gateways; secrets are not shown.",
         .description = "At most 1,000; `is_cut` says that there are more.",
         .query = {tenant_query()},
         .answer = relay_cut_list_schema("gateways", relay_gateway_schema())},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, query_tenant(call));
            credentials.list(std::move(tenant_id), reply);
            return {};
        });
    to.add(
        {.id = "rotate_relay_secret",
         .method = "POST",
         .path = "/api/relay/gateways/rotate",
         .summary = "Give a gateway a new secret, shown this once.",
         .description = "The older ones count for `grace_seconds` more; a day unless told, at most "
                        "thirty. Live sockets stay.",
         .request = relay_request_schema({{"gateway_id", true}, {"grace_seconds", false}}),
         .answer = relay_rotation_schema()},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            const std::string gateway_id = needed_id(in, "gateway_id");
            const std::int64_t grace = in.optional_integer_or(
                "grace_seconds",
                0,
                kSecretGraceMax.microseconds / kMicrosecondsPerSecond,
                kSecretGrace.microseconds / kMicrosecondsPerSecond);
            TRY(finish(in, true));
            credentials.rotate_secret(
                to_text(call.principal),
                {.tenant_id = {}, .gateway_id = gateway_id, .instance_id = {}},
                Duration::of_seconds(grace),
                reply);
            return {};
        });
}

void add_endings(RelayRegistrar& to, RelayCredentials& credentials) {
    to.add(
        {.id = "revoke_relay_gateway",
         .method = "POST",
         .path = "/api/relay/gateways/revoke",
         .summary = "Shut a gateway out, or all gateways of an instance.",
         .description = "Their live sockets close with 4401. What waits for the instance stays.",
         .request = relay_request_schema({{"gateway_id", false}, {"instance_id", false}}),
         .answer = relay_revoked_schema()},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayCredentials::Named named, decode_named(call));
            credentials.revoke(to_text(call.principal), std::move(named), reply);
            return {};
        });
    to.add(
        {.id = "deprovision_relay_instance",
         .method = "POST",
         .path = "/api/relay/deprovision",
         .summary = "Forget an instance with its gateways, links, channels and mail.",
         .description = "Nothing of it can be had back; the audit ledger keeps that it was there.",
         .request = relay_request_schema({{"instance_id", true}}),
         .answer = relay_ok_schema()},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            TRY_ASSIGN(std::string id, finish(in, needed_id(in, "instance_id")));
            credentials.deprovision_instance(
                to_text(call.principal),
                {.tenant_id = {}, .gateway_id = {}, .instance_id = std::move(id)},
                reply);
            return {};
        });
}

Result<TenantId> decode_tenant(const ApiCall& call) {
    FieldReader in(call.body);
    return finish(in, in.required<TenantId>("tenant_id"));
}

void add_tokens(RelayRegistrar& to, RelayCredentials& credentials) {
    to.add(
        {.id = "create_relay_enrollment",
         .method = "POST",
         .path = "/api/relay/enrollments",
         .summary = "Make a token with which one gateway may enrol, shown this once.",
         .description = "Good for one use within an hour.",
         .request = relay_request_schema({{"tenant_id", true}}),
         .answer = relay_enrollment_schema(),
         .status = 201},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, decode_tenant(call));
            credentials.mint_enrollment(to_text(call.principal), std::move(tenant_id), reply);
            return {};
        });
    to.add(
        {.id = "create_relay_token",
         .method = "POST",
         .path = "/api/relay/tokens",
         .summary = "Make a bearer with which a tenant's gateways enrol and provision.",
         .description = "Shown this once; good until revoked by its `token_id`.",
         .request = relay_request_schema({{"tenant_id", true}}),
         .answer = relay_token_schema(),
         .status = 201},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, decode_tenant(call));
            credentials.mint_tenant_token(to_text(call.principal), std::move(tenant_id), reply);
            return {};
        });
    to.add(
        {.id = "revoke_relay_token",
         .method = "POST",
         .path = "/api/relay/tokens/revoke",
         .summary = "End a tenant's bearer.",
         .description = "Gateways that it let in stay.",
         .request = relay_request_schema({{"token_id", true}}),
         .answer = relay_ok_schema()},
        [&credentials](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            TRY_ASSIGN(std::string id, finish(in, needed_id(in, "token_id")));
            credentials.revoke_tenant_token(to_text(call.principal), std::move(id), reply);
            return {};
        });
}

// A route to be removed may be named without its tenant.
Result<RelayManagement::Route> decode_route(const ApiCall& call, bool needs_tenant) {
    FieldReader in(call.body);
    RelayManagement::Route route;
    route.bot.platform = needed_id(in, "platform");
    route.bot.bot_id = needed_id(in, "bot_id");
    route.discriminator = needed_id(in, "discriminator");
    route.tenant_id = needs_tenant ? in.required<TenantId>("tenant_id")
                                   : in.optional<TenantId>("tenant_id").value_or(TenantId());
    return finish(in, std::move(route));
}

void add_routes(RelayRegistrar& to, RelayManagement& management) {
    to.add(
        {.id = "add_relay_route",
         .method = "POST",
         .path = "/api/relay/routes",
         .summary = "Say whose tenant a guild, chat or number of a bot is.",
         .description = "One tenant each. Repeating it changes nothing.",
         .request = relay_request_schema(
             {{"platform", true}, {"bot_id", true}, {"discriminator", true}, {"tenant_id", true}}),
         .answer = relay_route_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::Route route, decode_route(call, true));
            management.add_route(to_text(call.principal), std::move(route), reply);
            return {};
        });
    to.add(
        {.id = "list_relay_routes",
         .method = "GET",
         .path = "/api/relay/routes",
         .summary = "List routes.",
         .description = "At most 1,000; `is_cut` says that there are more.",
         .query = {tenant_query()},
         .answer = relay_cut_list_schema("routes", relay_route_schema())},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, query_tenant(call));
            management.list_routes(std::move(tenant_id), reply);
            return {};
        });
    to.add(
        {.id = "remove_relay_route",
         .method = "POST",
         .path = "/api/relay/routes/remove",
         .summary = "Take a route away.",
         .description = "Nothing of that place is delivered any more.",
         .request = relay_request_schema(
             {{"platform", true}, {"bot_id", true}, {"discriminator", true}, {"tenant_id", false}}),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::Route route, decode_route(call, false));
            management.remove_route(to_text(call.principal), std::move(route), reply);
            return {};
        });
}

Result<RelayManagement::Binding> decode_binding(const ApiCall& call, bool takes_name) {
    FieldReader in(call.body);
    RelayManagement::Binding binding;
    binding.platform = needed_id(in, "platform");
    binding.bot_id = optional_id(in, "bot_id");
    binding.user_id = needed_id(in, "user_id");
    binding.instance_id = needed_id(in, "instance_id");
    if (takes_name) {
        binding.user_name = optional_id(in, "user_name");
    }
    return finish(in, std::move(binding));
}

void add_bindings(RelayRegistrar& to, RelayManagement& management) {
    to.add(
        {.id = "bind_relay_user",
         .method = "POST",
         .path = "/api/relay/bindings",
         .summary = "Link a user of a platform to an instance.",
         .description =
             "Who owns it at one bot: direct messages of this user to that bot reach it. Without "
             "`bot_id` the bot is the only one of the platform that it can be. It gives no right "
             "to approve anything.",
         .request = relay_request_schema(
             {{"platform", true},
              {"bot_id", false},
              {"user_id", true},
              {"instance_id", true},
              {"user_name", false}}),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::Binding binding, decode_binding(call, true));
            management.bind(to_text(call.principal), std::move(binding), reply);
            return {};
        });
    to.add(
        {.id = "unbind_relay_user",
         .method = "POST",
         .path = "/api/relay/bindings/remove",
         .summary = "End the link of a user to an instance.",
         .description = "From the next message on; without `bot_id` at every bot of the platform.",
         .request = relay_request_schema(
             {{"platform", true}, {"bot_id", false}, {"user_id", true}, {"instance_id", true}}),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::Binding binding, decode_binding(call, false));
            management.unbind(to_text(call.principal), std::move(binding), reply);
            return {};
        });
}

// Operations that let somebody in whom nobody knows yet.
void add_newcomers(RelayRegistrar& to, RelayManagement& management) {
    to.add(
        {.id = "list_relay_strangers",
         .method = "GET",
         .path = "/api/relay/strangers",
         .summary = "List who wrote and reached nobody, for want of a link or a route.",
         .description =
             "Ids and names, never what was said; last seen first, kept for 7 days, at most 500 of "
             "a tenant and 500 of chats and users of none. `number` is never given twice. An entry "
             "of a chat without a tenant names the `discriminator` to route; every other names the "
             "`user_id` to link.",
         .query =
             {tenant_query(),
              {"number",
               "Only this one.",
               Json::object(
                   {{"type", "integer"}, {"minimum", 1}, {"maximum", kStrangerNumberMax}})}},
         .answer = relay_cut_list_schema("strangers", relay_stranger_schema())},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(TenantId tenant_id, query_tenant(call));
            management.list_strangers(
                std::move(tenant_id), query_integer(call, "number", 0), reply);
            return {};
        });
    to.add(
        {.id = "create_relay_link",
         .method = "POST",
         .path = "/api/relay/links",
         .summary = "Make a code with which one person links himself to an instance.",
         .description = "He sends `/link CODE` to the bot in a direct message within 10 minutes; "
                        "the code works once. Without `bot_id` at any bot that the instance speaks "
                        "as.",
         .request =
             relay_request_schema({{"instance_id", true}, {"platform", true}, {"bot_id", false}}),
         .answer = relay_link_schema(),
         .status = 201},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            FieldReader in(call.body);
            RelayManagement::InstanceLink which;
            which.instance_id = needed_id(in, "instance_id");
            which.link.platform = needed_id(in, "platform");
            which.link.bot_id = optional_id(in, "bot_id");
            TRY_ASSIGN(which, finish(in, std::move(which)));
            management.link_for(to_text(call.principal), std::move(which), reply);
            return {};
        });
}

Result<RelayManagement::InstanceScope> decode_scope(const ApiCall& call) {
    FieldReader in(call.body);
    RelayManagement::InstanceScope which;
    which.instance_id = needed_id(in, "instance_id");
    which.scope.platform = needed_id(in, "platform");
    which.scope.guild_id = needed_id(in, "guild_id");
    which.scope.channel_id = needed_id(in, "channel_id");
    return finish(in, std::move(which));
}

void add_scopes(RelayRegistrar& to, RelayManagement& management) {
    const auto request = [] {
        return relay_request_schema(
            {{"instance_id", true}, {"platform", true}, {"guild_id", true}, {"channel_id", true}});
    };
    to.add(
        {.id = "claim_relay_scope",
         .method = "POST",
         .path = "/api/relay/scopes",
         .summary = "Give a channel to an instance.",
         .description = "A channel has one owner, and its guild must be routed to the instance's "
                        "tenant. Whether the owner sees it is asked for every message.",
         .request = request(),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::InstanceScope which, decode_scope(call));
            management.claim_scope_for(to_text(call.principal), std::move(which), reply);
            return {};
        });
    to.add(
        {.id = "release_relay_scope",
         .method = "POST",
         .path = "/api/relay/scopes/release",
         .summary = "Take a channel from an instance.",
         .description = "Others may claim it from then on.",
         .request = request(),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::InstanceScope which, decode_scope(call));
            management.release_scope_for(to_text(call.principal), std::move(which), reply);
            return {};
        });
}

// The codec of the management route ignores unknown keys; an operator hears of his mistake.
Result<RelayManagement::InstancePrincipal> decode_principal(const ApiCall& call) {
    FieldReader in(call.body);
    RelayManagement::InstancePrincipal which;
    which.instance_id = needed_id(in, "instance_id");
    optional_id(in, "platform");
    in.required_word_index("policy", kAudienceWords);
    in.optional_array("allow", kAllowedUsersMax);
    TRY(finish(in, true));
    TRY_ASSIGN(which.policy, decode_principal_policy(call.body));
    return which;
}

void add_principals(RelayRegistrar& to, RelayManagement& management) {
    to.add(
        {.id = "set_relay_principal",
         .method = "POST",
         .path = "/api/relay/principal",
         .summary = "Say who may speak to an instance in its channels.",
         .description = "`owner-only`, `allow-list` with `allow`, or `any` linked user of the "
                        "tenant; for one platform, or for all.",
         .request = relay_principal_request_schema(),
         .answer = relay_ok_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(RelayManagement::InstancePrincipal which, decode_principal(call));
            management.set_principal_for(to_text(call.principal), std::move(which), reply);
            return {};
        });
    to.add(
        {.id = "get_relay_instance",
         .method = "GET",
         .path = "/api/relay/instance",
         .summary = "Show an instance's policies, links and channels.",
         .description = "Who may reach it, and where.",
         .query = {text_query("instance_id", "Which; required.")},
         .answer = relay_instance_detail_schema()},
        [&management](const ApiCall& call, const RelayReply& reply) -> Result<void> {
            TRY_ASSIGN(std::string id, needed_query(call, "instance_id"));
            management.show_instance(std::move(id), reply);
            return {};
        });
}

}  // namespace

void add_relay_admin_operations(RelayRegistrar& to, RelayPlane& plane) {
    add_gateways(to, plane.credentials);
    add_endings(to, plane.credentials);
    add_tokens(to, plane.credentials);
    add_routes(to, plane.management);
    add_newcomers(to, plane.management);
    add_bindings(to, plane.management);
    add_scopes(to, plane.management);
    add_principals(to, plane.management);
}

}  // namespace interlock
