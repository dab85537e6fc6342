// What an operator manages for anybody: routes, links, channels, policies. So a fresh install can
// deliver something before any agent has said a word.
#include <algorithm>
#include <map>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "relay/service/relay_management.h"
#include "relay/wire/relay_errors.h"
#include "relay/wire/wire_reader.h"

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

std::vector<BotKey> provisioned_bots(const InstanceRow& instance, const std::string& platform) {
    std::vector<BotKey> bots;
    for (const BotIdentityRow& identity : instance.identities) {
        if (identity.platform == platform) {
            bots.push_back({platform, identity.bot_id});
        }
    }
    return bots;
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
        parts_.strangers.forget_place(turn, route.bot, route.discriminator);
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

// Where a user of the platform can have meant the instance.
std::vector<BotKey> RelayManagement::bots_of(
    const std::string& platform, const InstanceRow& instance) const {
    std::vector<BotKey> bots = provisioned_bots(instance, platform);
    if (bots.empty() && parts_.bots) {
        bots = parts_.bots();
        std::erase_if(bots, [&platform](const BotKey& bot) { return bot.platform != platform; });
    }
    return bots;
}

Result<BotKey> RelayManagement::bot_meant(
    const Binding& binding, const InstanceRow& instance) const {
    if (!binding.bot_id.empty()) {
        return BotKey{binding.platform, binding.bot_id};
    }
    const std::vector<BotKey> bots = bots_of(binding.platform, instance);
    if (bots.size() == 1) {
        return bots.front();
    }
    std::string names;
    for (const BotKey& bot : bots) {
        names += (names.empty() ? " (" : ", ") + bot.bot_id;
    }
    return fail(
        errors::invalid_request,
        bots.empty() ? "There is no bot of this platform here."
                     : "There are several bots of this platform here" + names + ").",
        "Name the bot with botId: a link is to one bot.");
}

Result<Json> RelayManagement::decide_bind(
    RelayTurn& turn, const std::string& principal, const Binding& binding) {
    TRY(check_text(binding.platform, "platform"));
    TRY(check_text(binding.user_id, "userId"));
    TRY_ASSIGN(const InstanceRow* instance, instance_of(binding.instance_id, {}));
    TRY_ASSIGN(const BotKey bot, bot_meant(binding, *instance));
    TRY(check_text(bot.bot_id, "botId"));
    BindingRow row{
        .platform = bot.platform,
        .bot_id = bot.bot_id,
        .user_id = binding.user_id,
        .instance_id = binding.instance_id,
        .tenant_id = instance->tenant_id,
        .user_name = binding.user_name,
        .made_by = "operator",
        .made_at = turn.now()};
    TRY(check_binding_room(row));
    write_binding(turn, std::move(row), principal);
    return Json::object({{"ok", true}, {"botId", bot.bot_id}});
}

void RelayManagement::unbind(std::string principal, Binding binding, RelayReply reply) {
    ask([this, principal = std::move(principal), binding = std::move(binding)](
            RelayTurn& turn) { return decide_unbind(turn, principal, binding); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_unbind(
    RelayTurn& turn, const std::string& principal, const Binding& binding) {
    std::vector<BindingRow> rows = parts_.state.bindings_of_instance(binding.instance_id);
    std::erase_if(rows, [&binding](const BindingRow& row) {
        return row.platform != binding.platform || row.user_id != binding.user_id ||
               (!binding.bot_id.empty() && row.bot_id != binding.bot_id);
    });
    if (rows.empty()) {
        return fail(errors::not_found, "This user is not linked to the instance.");
    }
    for (const BindingRow& row : rows) {
        drop_binding(turn, row, principal);
    }
    return Json::object({{"ok", true}});
}

void RelayManagement::drop_binding(
    RelayTurn& turn, const BindingRow& row, const std::string& principal) {
    const BindingRow gone = row;  // It may live in an index.
    parts_.holdings.erase_binding(turn, gone);
    AuditDraft draft = relay_draft(gone.tenant_id, "RELAY_UNBOUND", principal);
    draft.detail = Json::object(
        {{"platform", gone.platform},
         {"bot_id", gone.bot_id},
         {"user_id", gone.user_id},
         {"instance_id", gone.instance_id}});
    turn.audit(std::move(draft));
}

void RelayManagement::adopt_links(RelayTurn& turn) {
    std::vector<BindingRow> older;
    parts_.state.for_each_binding([&older](const BindingRow& row) {
        if (row.bot_id.empty()) {
            older.push_back(row);
        }
    });
    for (const BindingRow& row : older) {
        adopt(turn, row);
    }
}

void RelayManagement::adopt(RelayTurn& turn, const BindingRow& row) {
    const InstanceRow* const instance = parts_.state.instances.get(row.instance_id);
    const std::vector<BotKey> bots =
        instance == nullptr ? std::vector<BotKey>() : bots_of(row.platform, *instance);
    // An instance that was provisioned as several bots is linked at each of them.
    if (bots.empty() || (bots.size() > 1 && provisioned_bots(*instance, row.platform).empty())) {
        log_warn(
            "relay_link_without_bot",
            {{"instance", row.instance_id},
             {"platform", row.platform},
             {"message",
              "the link is of before bots were kept and could mean several; it reaches nobody "
              "until the user is bound with a bot"}});
        return;
    }
    const DmDefaultRow* const found =
        parts_.state.dm_defaults.get(RelayState::person_key({row.platform, {}}, row.user_id));
    const bool is_default = found != nullptr && found->instance_id == row.instance_id;
    parts_.holdings.erase_binding(turn, row);
    for (const BotKey& bot : bots) {
        BindingRow adopted = row;
        adopted.bot_id = bot.bot_id;
        write_binding(turn, std::move(adopted), "system:upgrade");
        if (is_default) {
            write_dm_default(
                turn,
                {.platform = bot.platform,
                 .bot_id = bot.bot_id,
                 .user_id = row.user_id,
                 .instance_id = row.instance_id},
                "system:upgrade");
        }
    }
}

void RelayManagement::move_chat(RelayTurn& turn, const BotKey& bot, const ChatMove& move) {
    const std::string old_key = row_key({bot.platform, bot.bot_id, move.from});
    const RouteRow* const route = parts_.state.routes.get(old_key);
    if (route == nullptr || move.from == move.to) {
        return;  // Nobody hears it, so nothing goes deaf.
    }
    const TenantId taken = parts_.state.route_of(bot, move.to);
    if (!taken.empty() && taken != route->tenant_id) {
        log_warn("relay_chat_not_moved", {{"bot", bot.bot_id}, {"to", move.to}});
        return;
    }
    RouteRow moved = *route;
    moved.discriminator = move.to;
    AuditDraft draft = relay_draft(moved.tenant_id, "RELAY_CHAT_MOVED", "platform:" + bot.platform);
    draft.detail = Json::object(
        {{"platform", bot.platform}, {"bot_id", bot.bot_id}, {"from", move.from}, {"to", move.to}});
    turn.audit(std::move(draft));
    parts_.holdings.erase_route(turn, old_key);
    parts_.holdings.put_route(turn, std::move(moved));
    std::vector<std::pair<std::string, ScopeRow>> scopes;
    parts_.state.scopes.for_each([&](const std::string& key, const ScopeRow& row) {
        if (row.platform == bot.platform && row.guild_id == move.from) {
            scopes.emplace_back(key, row);
        }
    });
    for (auto& [key, row] : scopes) {
        row.guild_id = move.to;
        row.channel_id = row.channel_id == move.from ? move.to : row.channel_id;
        parts_.holdings.erase_scope(turn, key);
        if (parts_.state.scope_of(row.platform, row.guild_id, row.channel_id) == nullptr) {
            parts_.holdings.put_scope(turn, std::move(row));
        }
    }
    move_record(turn, bot, move);
}

// Instances that were reached in the chat may write to it under its new id.
void RelayManagement::move_record(RelayTurn& turn, const BotKey& bot, const ChatMove& move) {
    const std::string key = row_key({bot.platform, bot.bot_id, move.to});
    if (const auto there = parts_.state.chats.find(key, turn.now()); !there || *there != nullptr) {
        return;
    }
    const auto held =
        parts_.state.chats.find(row_key({bot.platform, bot.bot_id, move.from}), turn.now());
    if (held && *held != nullptr) {
        ChatRow moved = **held;
        moved.chat_id = move.to;
        parts_.state.chats.put(turn, key, std::move(moved));
    }
}

void RelayManagement::link_for(std::string principal, InstanceLink which, RelayReply reply) {
    const auto decide = [this, principal = std::move(principal), which = std::move(which)](
                            RelayTurn& turn) -> Result<Json> {
        TRY(check_text(which.link.platform, "platform"));
        TRY_ASSIGN(const InstanceRow* instance, instance_of(which.instance_id, {}));
        if (bots_of(which.link.platform, *instance).empty()) {
            return fail(errors::invalid_request, "There is no bot of this platform here.");
        }
        return decide_link(turn, principal, which);
    };
    ask(decide, std::move(reply));
}

void RelayManagement::list_strangers(TenantId tenant_id, std::int64_t number, RelayReply reply) {
    ask([this, tenant_id = std::move(tenant_id), number](
            RelayTurn&) -> Result<Json> { return parts_.strangers.list(tenant_id, number); },
        std::move(reply));
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
             {"botId", binding.bot_id},
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
