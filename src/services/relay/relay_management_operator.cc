// What an operator manages for anybody: routes, links, channels, policies. So a fresh install can
// deliver something before any agent has said a word.
#include <algorithm>
#include <map>
#include <utility>

#include "base/errors.h"
#include "contracts/relay/relay_errors.h"
#include "contracts/relay/wire_reader.h"
#include "services/relay/relay_management.h"

namespace interlock {
namespace {

Result<void> check_text(const std::string& text, std::string_view field) {
    if (!text.empty() && text.size() <= kRelayIdBytesMax && is_valid_utf8(text)) {
        return {};
    }
    return fail(
        errors::invalid_request,
        std::string(field) + " must have 1 to " + std::to_string(kRelayIdBytesMax) + " bytes.");
}

Json route_json(const RouteRow& row) {
    return Json::object(
        {{"platform", row.platform},
         {"botId", row.bot_id},
         {"discriminator", row.discriminator},
         {"tenant", row.tenant_id.text()},
         {"madeAt", to_text(row.made_at)}});
}

AuditDraft route_draft(const RouteRow& row, std::string event, const std::string& principal) {
    AuditDraft draft = relay_draft(row.tenant_id, std::move(event), principal);
    draft.detail = Json::object(
        {{"platform", row.platform}, {"bot_id", row.bot_id}, {"discriminator", row.discriminator}});
    return draft;
}

}  // namespace

void RelayManagement::add_route(std::string principal, Route route, RelayReply reply) {
    ask([this, principal = std::move(principal), route = std::move(route)](
            RelayTurn& turn) { return decide_add_route(turn, principal, route); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_add_route(
    RelayTurn& turn, const std::string& principal, const Route& route) {
    TRY(check_text(route.bot.platform, "platform"));
    TRY(check_text(route.bot.bot_id, "botId"));
    TRY(check_text(route.discriminator, "discriminator"));
    if (!is_tenant_text(route.tenant_id.text()) ||
        (parts_.tenant_exists && !parts_.tenant_exists(route.tenant_id))) {
        return fail(errors::not_found, "There is no such tenant.");
    }
    const TenantId owner = parts_.state.route_of(route.bot, route.discriminator);
    if (!owner.empty() && owner != route.tenant_id) {
        return fail(
            errors::conflict,
            "This is routed to another tenant.",
            "Remove that route first, if it is wrong.");
    }
    RouteRow row{
        .platform = route.bot.platform,
        .bot_id = route.bot.bot_id,
        .discriminator = route.discriminator,
        .tenant_id = route.tenant_id,
        .made_at = turn.now()};
    Json json = route_json(row);
    if (owner.empty()) {
        TRY(parts_.holdings.check_room(Holding::route, route.tenant_id));
        turn.audit(route_draft(row, "RELAY_ROUTE_SET", principal));
        parts_.holdings.put_route(turn, std::move(row));
    }
    return json;
}

void RelayManagement::remove_route(std::string principal, Route route, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), route = std::move(route)](
                            RelayTurn& turn) -> Result<Json> {
        const std::string key =
            row_key({route.bot.platform, route.bot.bot_id, route.discriminator});
        const RouteRow* const row = parts_.state.routes.get(key);
        if (row == nullptr || (!route.tenant_id.empty() && row->tenant_id != route.tenant_id)) {
            return fail(errors::not_found, "There is no such route.");
        }
        turn.audit(route_draft(*row, "RELAY_ROUTE_REMOVED", principal));
        parts_.holdings.erase_route(turn, key);
        return Json::object({{"ok", true}});
    };
    ask(decide, std::move(reply));
}

void RelayManagement::list_routes(TenantId tenant_id, RelayReply reply) {
    const auto decide = [this, tenant_id = std::move(tenant_id)](RelayTurn&) -> Result<Json> {
        std::map<std::string, Json> found;
        bool is_cut = false;
        parts_.state.routes.for_each([&](const std::string& key, const RouteRow& row) {
            if (!tenant_id.empty() && row.tenant_id != tenant_id) {
                return;
            }
            found.emplace(key, route_json(row));
            if (found.size() > kRouteListMax) {
                found.erase(std::prev(found.end()));
                is_cut = true;
            }
        });
        Json routes = Json::array();
        for (auto& [key, json] : found) {
            routes.push(std::move(json));
        }
        return Json::object({{"routes", std::move(routes)}, {"isCut", is_cut}});
    };
    ask(decide, std::move(reply));
}

void RelayManagement::bind(std::string principal, Binding binding, RelayReply reply) {
    ask([this, principal = std::move(principal), binding = std::move(binding)](
            RelayTurn& turn) { return decide_bind(turn, principal, binding); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_bind(
    RelayTurn& turn, const std::string& principal, const Binding& binding) {
    TRY(check_text(binding.platform, "platform"));
    TRY(check_text(binding.user_id, "userId"));
    TRY_ASSIGN(const InstanceRow* instance, instance_of(binding.instance_id, {}));
    BindingRow row{
        .platform = binding.platform,
        .user_id = binding.user_id,
        .instance_id = binding.instance_id,
        .tenant_id = instance->tenant_id,
        .user_name = binding.user_name,
        .made_by = "operator",
        .made_at = turn.now()};
    TRY(check_binding_room(row));
    write_binding(turn, std::move(row), principal);
    return Json::object({{"ok", true}});
}

void RelayManagement::unbind(std::string principal, Binding binding, RelayReply reply) {
    ask([this, principal = std::move(principal), binding = std::move(binding)](
            RelayTurn& turn) { return decide_unbind(turn, principal, binding); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_unbind(
    RelayTurn& turn, const std::string& principal, const Binding& binding) {
    const auto& bound = parts_.state.bindings_of(binding.platform, binding.user_id);
    const auto found = std::ranges::find(bound, binding.instance_id, &BindingRow::instance_id);
    if (found == bound.end()) {
        return fail(errors::not_found, "This user is not linked to the instance.");
    }
    const BindingRow row = *found;
    parts_.holdings.erase_binding(turn, row);
    const std::string key = row_key({row.platform, row.user_id});
    const DmDefaultRow* const dm = parts_.state.dm_defaults.get(key);
    if (dm != nullptr && dm->instance_id == row.instance_id) {
        parts_.state.dm_defaults.erase(turn, key);
    }
    AuditDraft draft = relay_draft(row.tenant_id, "RELAY_UNBOUND", principal);
    draft.detail = Json::object(
        {{"platform", row.platform}, {"user_id", row.user_id}, {"instance_id", row.instance_id}});
    turn.audit(std::move(draft));
    return Json::object({{"ok", true}});
}

Result<RelayManagement::Claim> RelayManagement::claim_for(
    const std::string& principal, const InstanceScope& which) const {
    TRY(check_text(which.scope.platform, "platform"));
    TRY(check_text(which.scope.guild_id, "guildId"));
    TRY(check_text(which.scope.channel_id, "channelId"));
    TRY_ASSIGN(const InstanceRow* row, instance_of(which.instance_id, {}));
    return Claim{{row->tenant_id, row->instance_id, {}}, principal, which.scope};
}

void RelayManagement::claim_scope_for(
    std::string principal, InstanceScope which, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), which = std::move(which)](
                            RelayTurn& turn) -> Result<Json> {
        TRY_ASSIGN(const Claim claim, claim_for(principal, which));
        return decide_claim(turn, claim, "");
    };
    ask(decide, std::move(reply));
}

void RelayManagement::release_scope_for(
    std::string principal, InstanceScope which, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), which = std::move(which)](
                            RelayTurn& turn) -> Result<Json> {
        TRY_ASSIGN(const Claim claim, claim_for(principal, which));
        return decide_release(turn, claim);
    };
    ask(decide, std::move(reply));
}

void RelayManagement::set_principal_for(
    std::string principal, InstancePrincipal which, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), which = std::move(which)](
                            RelayTurn& turn) -> Result<Json> {
        return decide_principal(
            turn, {{TenantId(), which.instance_id, {}}, principal, {}}, which.policy);
    };
    ask(decide, std::move(reply));
}

void RelayManagement::show_instance(std::string instance_id, RelayReply reply) {
    const auto decide = [this, id = std::move(instance_id)](RelayTurn&) -> Result<Json> {
        TRY_ASSIGN(const InstanceRow* row, instance_of(id, {}));
        return instance_json(*row);
    };
    ask(decide, std::move(reply));
}

Json RelayManagement::instance_json(const InstanceRow& row) const {
    Json principals = Json::array();
    for (const PrincipalPolicy& policy : row.principals) {
        principals.push(encode(policy));
    }
    Json relevance = Json::array();
    for (const RelevancePolicy& policy : row.relevance) {
        relevance.push(encode(policy));
    }
    Json users = Json::array();
    const auto bindings = parts_.state.bindings_of_instance(row.instance_id);
    for (const BindingRow& binding : bindings) {
        users.push(Json::object(
            {{"platform", binding.platform},
             {"userId", binding.user_id},
             {"userName", binding.user_name},
             {"madeBy", binding.made_by}}));
    }
    Json scopes = Json::array();
    for (const std::string& key : parts_.holdings.scopes_of(row.instance_id)) {
        const ScopeRow* const scope = parts_.state.scopes.get(key);
        scopes.push(Json::object(
            {{"platform", scope->platform},
             {"guildId", scope->guild_id},
             {"channelId", scope->channel_id}}));
    }
    return Json::object(
        {{"instanceId", row.instance_id},
         {"tenant", row.tenant_id.text()},
         {"principals", std::move(principals)},
         {"relevance", std::move(relevance)},
         {"users", std::move(users)},
         {"scopes", std::move(scopes)}});
}

}  // namespace interlock
