// What an instance manages about itself: links, channels, policies.
#include "relay/service/relay_management.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "base/text.h"
#include "relay/wire/relay_errors.h"

namespace interlock {
namespace {

constexpr std::string_view kNotValid =
    "This code is not valid or has expired. Ask your agent for a new one.";

// Without regard to case, dashes and spaces, as people type.
std::string plain_code(std::string_view code) {
    std::string plain;
    for (const char c : to_lower(code)) {
        if (c != '-' && c != ' ') {
            plain += c;
        }
    }
    return plain;
}

std::string code_key(std::string_view platform, std::string_view code) {
    return sha256_hex(
        std::string("interlock link code 1\n").append(platform).append("\n") + plain_code(code));
}

// ABCD-EFGH-IJKL
std::string shown_code(const std::string& code) {
    std::string shown;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (i != 0 && i % 4 == 0) {
            shown += '-';
        }
        const char c = code[i];
        shown += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return shown;
}

std::string principal_of(const RelayCaller& caller) {
    return "gateway:" + caller.gateway_id;
}

std::string key_of(const ScopeRequest& scope) {
    return row_key({scope.platform, scope.guild_id, scope.channel_id});
}

Json scope_json(const ScopeRequest& scope) {
    return Json::object(
        {{"platform", scope.platform},
         {"guild_id", scope.guild_id},
         {"channel_id", scope.channel_id}});
}

// A code is good on the bots that the instance was provisioned for, where it was for any.
bool speaks_as(const InstanceRow& row, const BotKey& bot) {
    bool is_bound = false;
    for (const BotIdentityRow& identity : row.identities) {
        if (identity.platform == bot.platform) {
            if (identity.bot_id == bot.bot_id) {
                return true;
            }
            is_bound = true;
        }
    }
    return !is_bound;
}

template <class Policy>
Result<bool> replace_policy(std::vector<Policy>& policies, const Policy& policy) {
    const auto found = std::ranges::find(policies, policy.platform, &Policy::platform);
    if (found != policies.end()) {
        return std::exchange(*found, policy) != policy;
    }
    if (policies.size() >= kInstancePlatformsMax) {
        return fail(
            errors::relay_limit_reached,
            "An instance has policies for at most " + std::to_string(kInstancePlatformsMax) +
                " platforms.");
    }
    policies.push_back(policy);
    return true;
}

}  // namespace

RelayManagement::RelayManagement(Parts parts)
    : parts_(std::move(parts)),
      link_codes_(
          parts_.state,
          {.name = "link_code", .count_max = kLinkCodesPerWindowMax, .window = kLinkWindow}),
      user_tries_(
          parts_.state,
          {.name = "link_try", .count_max = kLinkTriesPerUserMax, .window = kLinkWindow}),
      bot_misses_(
          parts_.state,
          {.name = "link_miss", .count_max = kLinkMissesPerBotMax, .window = kLinkWindow}) {}

void RelayManagement::ask(RelayDecide decide, RelayReply reply) {
    ask_lane(parts_.lane, std::move(decide), std::move(reply));
}

// Asked anew in every turn: the credential was good when the call came, and may be gone by now.
Result<const InstanceRow*> RelayManagement::instance_of(
    const std::string& id, const TenantId& tenant) const {
    const InstanceRow* const row = parts_.state.instances.get(id);
    if (row == nullptr || (!tenant.empty() && row->tenant_id != tenant)) {
        return fail(errors::not_found, "There is no such instance.");
    }
    return row;
}

void RelayManagement::link(RelayCaller caller, LinkRequest request, RelayReply reply) {
    const auto decide = [this, caller = std::move(caller), request = std::move(request)](
                            RelayTurn& turn) -> Result<Json> {
        TRY(instance_of(caller.instance_id, caller.tenant_id));
        return decide_link(turn, principal_of(caller), {caller.instance_id, request});
    };
    ask(decide, std::move(reply));
}

Result<Json> RelayManagement::decide_link(
    RelayTurn& turn, const std::string& principal, const InstanceLink& which) {
    TRY_ASSIGN(const InstanceRow* instance, instance_of(which.instance_id, {}));
    const LinkRequest& wish = which.link;
    if (!link_codes_.take(turn, which.instance_id)) {
        auto refusal = fail(errors::rate_limited, "This instance asks for too many codes.");
        refusal.error().retry_after_seconds =
            static_cast<int>(kLinkWindow.microseconds / 1'000'000);
        return refusal;
    }
    const SecretString secret = parts_.ids.new_secret("link");
    const std::string code =
        to_base32_lower(sha256(secret.reveal())).substr(0, kLinkCodeCharacters);
    const Timestamp expires_at = turn.now() + kLinkCodeLife;
    parts_.state.link_codes.put(
        turn,
        code_key(wish.platform, code),
        {.platform = wish.platform,
         .bot_id = wish.bot_id,
         .instance_id = which.instance_id,
         .tenant_id = instance->tenant_id,
         .made_at = turn.now()},
        expires_at);
    AuditDraft draft = relay_draft(instance->tenant_id, "RELAY_LINK_MINTED", principal);
    draft.detail = Json::object({{"instance_id", which.instance_id}, {"platform", wish.platform}});
    turn.audit(std::move(draft));
    return Json::object(
        {{"ok", true},
         {"code", shown_code(code)},
         {"platform", wish.platform},
         {"expiresAt", to_text(expires_at)}});
}

LinkOutcome RelayManagement::redeem_link(RelayTurn& turn, const LinkAttempt& attempt) {
    const LinkOutcome refused{false, {}, std::string(kNotValid)};
    const std::string bot = row_key({attempt.bot.platform, attempt.bot.bot_id});
    const std::string user = row_key({attempt.bot.platform, attempt.user_id});
    if (attempt.user_id.empty() || bot_misses_.is_spent(bot, turn.now()) ||
        !user_tries_.take(turn, user)) {
        return refused;
    }
    const std::string key = code_key(attempt.bot.platform, attempt.code);
    const auto found = parts_.state.link_codes.find(key, turn.now());
    const LinkCodeRow* const code = found ? *found : nullptr;
    const bool is_void = code == nullptr || code->made_at < parts_.state.codes_void_before;
    const InstanceRow* const instance =
        is_void ? nullptr : parts_.state.instances.get(code->instance_id);
    if (instance == nullptr || instance->tenant_id != code->tenant_id ||
        (!code->bot_id.empty() && code->bot_id != attempt.bot.bot_id) ||
        !speaks_as(*instance, attempt.bot)) {
        bot_misses_.take(turn, bot);
        return refused;
    }
    BindingRow row{
        .platform = attempt.bot.platform,
        .bot_id = attempt.bot.bot_id,
        .user_id = attempt.user_id,
        .instance_id = code->instance_id,
        .tenant_id = code->tenant_id,
        .user_name = attempt.user_name,
        .made_by = "link",
        .made_at = turn.now()};
    if (!attempt.is_dm) {
        // Everybody in the channel has read the code, so it is void.
        parts_.state.link_codes.erase(turn, key);
        return {false, {}, "Send codes in a direct message only. Ask for a new one: this is void."};
    }
    if (!check_binding_room(row)) {
        return {false, {}, "You or this agent have too many links; unlink one first."};
    }
    parts_.state.link_codes.erase(turn, key);
    const std::string instance_id = row.instance_id;
    write_binding(turn, std::move(row), "user:" + attempt.bot.platform + ":" + attempt.user_id);
    return {true, instance_id, "You are now linked to " + shown_name(instance_id) + "."};
}

std::string RelayManagement::shown_name(const std::string& instance_id) const {
    for (const std::string& gateway_id : parts_.holdings.gateways_of(instance_id)) {
        const GatewayRow* const row = parts_.state.gateways.get(gateway_id);
        if (row != nullptr && !row->display_name.empty()) {
            return row->display_name + " (" + instance_id + ")";
        }
    }
    return instance_id;
}

Result<void> RelayManagement::check_binding_room(const BindingRow& row) const {
    const auto& bound = parts_.state.bindings_of({row.platform, row.bot_id}, row.user_id);
    const bool is_known = std::ranges::any_of(
        bound, [&](const BindingRow& held) { return held.instance_id == row.instance_id; });
    if (is_known) {
        return {};
    }
    if (bound.size() >= kUserBindingsMax) {
        return fail(
            errors::relay_limit_reached,
            "A user links to at most " + std::to_string(kUserBindingsMax) + " instances.");
    }
    return parts_.holdings.check_room(Holding::binding, row.tenant_id);
}

void RelayManagement::write_binding(RelayTurn& turn, BindingRow row, const std::string& principal) {
    for (const BindingRow& held :
         parts_.state.bindings_of({row.platform, row.bot_id}, row.user_id)) {
        if (held.instance_id == row.instance_id) {
            row.made_at = held.made_at;  // His place among his instances stays.
        }
    }
    AuditDraft draft = relay_draft(row.tenant_id, "RELAY_BOUND", principal);
    draft.detail = Json::object(
        {{"platform", row.platform},
         {"bot_id", row.bot_id},
         {"user_id", row.user_id},
         {"instance_id", row.instance_id},
         {"made_by", row.made_by}});
    turn.audit(std::move(draft));
    parts_.strangers.forget_user(turn, {row.platform, row.bot_id}, row.user_id);
    parts_.holdings.put_binding(turn, std::move(row));
}

void RelayManagement::leave(RelayTurn& turn, const BindingRow& link) {
    drop_binding(turn, link, "user:" + link.platform + ":" + link.user_id);
}

// A bot of the platform on which the guild is the tenant's.
std::optional<BotKey> RelayManagement::routed_bot(
    const ScopeRequest& scope, const TenantId& tenant_id) const {
    std::optional<BotKey> found;
    for (const std::string& bot_id : parts_.holdings.bots_routing(scope.platform, scope.guild_id)) {
        const BotKey bot{scope.platform, bot_id};
        if (parts_.state.route_of(bot, scope.guild_id) != tenant_id) {
            continue;
        }
        if (parts_.bot && parts_.bot(bot) != nullptr) {
            return bot;  // Rather one that is here than one that is not.
        }
        found = found ? found : bot;
    }
    return found;
}

Result<void> RelayManagement::check_claim(const Claim& claim) const {
    if (!routed_bot(claim.scope, claim.caller.tenant_id)) {
        return fail(errors::guild_not_routed, "This guild is not routed to your tenant.");
    }
    const ScopeRow* const taken = parts_.state.scopes.get(key_of(claim.scope));
    if (taken != nullptr && taken->instance_id != claim.caller.instance_id) {
        return fail(errors::channel_claimed, "Another instance has claimed this channel.");
    }
    return taken != nullptr ? Result<void>()
                            : parts_.holdings.check_room(Holding::scope, claim.caller.tenant_id);
}

void RelayManagement::claim_scope(RelayCaller caller, ScopeRequest request, RelayReply reply) {
    const auto answer = std::make_shared<RelayAnswer>(std::move(reply));
    const std::string principal = principal_of(caller);
    const Claim claim{std::move(caller), principal, std::move(request)};
    parts_.lane.submit([this, claim, answer](RelayTurn& turn) {
        auto sights = plan_claim(turn, claim);
        turn.after([this, claim, answer, sights = std::move(sights)](bool is_committed) {
            if (!is_committed || !sights) {
                answer->give(
                    is_committed ? std::unexpected(sights.error()) : RelayAnswer::unavailable());
                return;
            }
            ask_sight(claim, *sights, answer);
        });
    });
}

Result<std::vector<RelayManagement::Sight>> RelayManagement::plan_claim(
    RelayTurn& turn, const Claim& claim) {
    TRY(instance_of(claim.caller.instance_id, claim.caller.tenant_id));
    TRY(check_claim(claim));
    const BotKey bot = *routed_bot(claim.scope, claim.caller.tenant_id);
    TRY_ASSIGN(
        const ChatRow* chat,
        parts_.state.chats.find(
            row_key({bot.platform, bot.bot_id, claim.scope.channel_id}), turn.now()));
    std::vector<Sight> sights;
    const auto owners = parts_.state.owners_of(claim.caller.instance_id, bot);
    for (const BindingRow& owner : owners) {
        if (sights.size() < kScopeOwnersAskedMax) {
            sights.push_back(
                {bot,
                 {.guild_id = claim.scope.guild_id,
                  .channel_id = claim.scope.channel_id,
                  .parent_channel_id = chat == nullptr ? std::string() : chat->parent_chat_id,
                  .user_id = owner.user_id}});
        }
    }
    if (sights.empty()) {
        return fail(
            errors::owner_cannot_view,
            "No user is linked to the instance at this bot, so nobody can see the channel.");
    }
    return sights;
}

// Asks on another thread, because a platform may have to be asked over the network.
void RelayManagement::ask_sight(
    const Claim& claim, std::vector<Sight> sights, const RelayAnswerPtr& answer) {
    parts_.run_blocking([this, claim, sights = std::move(sights), answer] {
        bool is_unsure = false;
        std::string seen_by;
        for (const Sight& sight : sights) {
            ChatPlatform* const platform = parts_.bot ? parts_.bot(sight.bot) : nullptr;
            const auto view =
                platform == nullptr ? std::nullopt : platform->find_view(sight.question);
            is_unsure = is_unsure || !view;
            if (view.value_or(false)) {
                seen_by = sight.question.user_id;
                break;
            }
        }
        if (seen_by.empty()) {
            answer->give(
                is_unsure ? fail(
                                errors::unavailable,
                                "The platform does not say now who can see this channel.",
                                "Claim it again in a minute.")
                          : fail(
                                errors::owner_cannot_view,
                                "No user linked to this instance can see the channel."));
            return;
        }
        ask_lane(
            parts_.lane,
            [this, claim, seen_by](RelayTurn& turn) { return decide_claim(turn, claim, seen_by); },
            answer);
    });
}

// Sends are judged by our own record of a chat, so a claimed channel gets one: it may be written to
// before anybody has spoken there.
Result<void> RelayManagement::note_channel(RelayTurn& turn, const Claim& claim) {
    const auto bot = routed_bot(claim.scope, claim.caller.tenant_id);
    if (!bot) {
        return {};
    }
    const std::string key = row_key({bot->platform, bot->bot_id, claim.scope.channel_id});
    TRY_ASSIGN(const ChatRow* known, parts_.state.chats.find(key, turn.now()));
    if (known == nullptr || known->tenant_id != claim.caller.tenant_id) {
        ChatRow row;
        row.platform = bot->platform;
        row.bot_id = bot->bot_id;
        row.chat_id = claim.scope.channel_id;
        row.tenant_id = claim.caller.tenant_id;
        row.guild_id = claim.scope.guild_id;
        row.chat_type = "group";
        parts_.state.chats.put(turn, key, std::move(row));
    }
    return {};
}

// Asks everything again: it is some time since the first look.
Result<Json> RelayManagement::decide_claim(
    RelayTurn& turn, const Claim& claim, const std::string& seen_by) {
    TRY(instance_of(claim.caller.instance_id, claim.caller.tenant_id));
    TRY(check_claim(claim));
    const auto owners = parts_.state.owners_of(
        claim.caller.instance_id, *routed_bot(claim.scope, claim.caller.tenant_id));
    if (!seen_by.empty() &&
        std::ranges::find(owners, seen_by, &BindingRow::user_id) == owners.end()) {
        return fail(
            errors::owner_cannot_view, "The user who sees the channel is no longer linked.");
    }
    Json done = Json::object({{"ok", true}, {"channelId", claim.scope.channel_id}});
    if (parts_.state.scopes.get(key_of(claim.scope)) != nullptr) {
        return done;  // His already.
    }
    parts_.holdings.put_scope(
        turn,
        {.platform = claim.scope.platform,
         .guild_id = claim.scope.guild_id,
         .channel_id = claim.scope.channel_id,
         .instance_id = claim.caller.instance_id,
         .tenant_id = claim.caller.tenant_id,
         .made_at = turn.now()});
    TRY(note_channel(turn, claim));
    AuditDraft draft = relay_draft(claim.caller.tenant_id, "RELAY_SCOPE_CLAIMED", claim.principal);
    draft.detail = scope_json(claim.scope);
    draft.detail.set("instance_id", claim.caller.instance_id);
    draft.detail.set("seen_by", seen_by);
    turn.audit(std::move(draft));
    return done;
}

void RelayManagement::release_scope(RelayCaller caller, ScopeRequest request, RelayReply reply) {
    const std::string principal = principal_of(caller);
    const Claim claim{std::move(caller), principal, std::move(request)};
    ask([this, claim](RelayTurn& turn) { return decide_release(turn, claim); }, std::move(reply));
}

Result<Json> RelayManagement::decide_release(RelayTurn& turn, const Claim& claim) {
    const std::string key = key_of(claim.scope);
    const ScopeRow* const row = parts_.state.scopes.get(key);
    // A channel of nobody and one of somebody else are refused alike.
    if (row == nullptr || row->instance_id != claim.caller.instance_id) {
        return fail(errors::not_found, "This instance has not claimed the channel.");
    }
    parts_.holdings.erase_scope(turn, key);
    AuditDraft draft = relay_draft(claim.caller.tenant_id, "RELAY_SCOPE_RELEASED", claim.principal);
    draft.detail = scope_json(claim.scope);
    draft.detail.set("instance_id", claim.caller.instance_id);
    turn.audit(std::move(draft));
    return Json::object({{"ok", true}});
}

void RelayManagement::set_principal(RelayCaller caller, PrincipalPolicy policy, RelayReply reply) {
    const std::string principal = principal_of(caller);
    const Claim who{std::move(caller), principal, {}};
    ask([this, who, policy = std::move(policy)](
            RelayTurn& turn) { return decide_principal(turn, who, policy); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_principal(
    RelayTurn& turn, const Claim& who, const PrincipalPolicy& policy) {
    TRY_ASSIGN(const InstanceRow* row, instance_of(who.caller.instance_id, who.caller.tenant_id));
    InstanceRow changed = *row;
    TRY_ASSIGN(const bool is_new, replace_policy(changed.principals, policy));
    if (is_new) {
        AuditDraft draft = relay_draft(changed.tenant_id, "RELAY_PRINCIPAL_SET", who.principal);
        draft.detail =
            Json::object({{"instance_id", changed.instance_id}, {"policy", encode(policy)}});
        turn.audit(std::move(draft));
        parts_.state.instances.put(turn, who.caller.instance_id, std::move(changed));
    }
    return Json::object({{"ok", true}, {"policy", encode(policy)}});
}

void RelayManagement::set_dm_default(
    RelayCaller caller, DmDefaultRequest request, RelayReply reply) {
    ask([this, caller = std::move(caller), request = std::move(request)](
            RelayTurn& turn) { return decide_dm_default(turn, caller, request); },
        std::move(reply));
}

// Messages that go to another instance go on to it until the user himself has said otherwise: any
// instance that he once linked could ask for them.
Result<Json> RelayManagement::decide_dm_default(
    RelayTurn& turn, const RelayCaller& caller, const DmDefaultRequest& wish) {
    TRY(instance_of(caller.instance_id, caller.tenant_id));
    std::vector<BindingRow> links = parts_.state.bindings_of_instance(caller.instance_id);
    std::erase_if(links, [&wish](const BindingRow& row) {
        return row.platform != wish.platform || row.user_id != wish.user_id || row.bot_id.empty() ||
               (!wish.bot_id.empty() && row.bot_id != wish.bot_id);
    });
    if (links.empty()) {
        return fail(errors::user_not_linked, "This user is not linked to the instance.");
    }
    std::vector<DmDefaultRow> rows;  // To be written.
    bool is_asked = false;
    for (const BindingRow& link : links) {
        const BotKey bot{link.platform, link.bot_id};
        const DmDefaultRow* const held =
            parts_.state.dm_defaults.get(RelayState::person_key(bot, link.user_id));
        DmDefaultRow row = held == nullptr ? DmDefaultRow{} : *held;
        row.platform = link.platform;
        row.bot_id = link.bot_id;
        row.user_id = link.user_id;
        if (parts_.state.dm_choice_of(bot, link.user_id) == link.instance_id) {
            row.instance_id = link.instance_id;
            row.wish_instance.clear();
        } else if (row.wish_instance.empty() || turn.now() >= row.wish_at + kDmWishLife) {
            row.wish_instance = link.instance_id;
            row.wish_at = turn.now();
            row.is_wish_told = false;
            is_asked = true;
        } else if (row.wish_instance == link.instance_id) {
            is_asked = true;
        } else {
            return fail(
                errors::conflict,
                "The user is being asked about another agent.",
                "Ask again in a day.");
        }
        if (held == nullptr || *held != row) {
            rows.push_back(std::move(row));
        }
    }
    for (DmDefaultRow& row : rows) {
        write_dm_default(turn, std::move(row), principal_of(caller));
    }
    return Json::object({{"ok", true}, {"state", is_asked ? "asked" : "set"}});
}

void RelayManagement::choose_dm(RelayTurn& turn, const BindingRow& link) {
    write_dm_default(
        turn,
        {.platform = link.platform,
         .bot_id = link.bot_id,
         .user_id = link.user_id,
         .instance_id = link.instance_id},
        "user:" + link.platform + ":" + link.user_id);
}

void RelayManagement::write_dm_default(
    RelayTurn& turn, DmDefaultRow row, const std::string& principal) {
    const bool is_wish = !row.wish_instance.empty();
    const std::string& instance_id = is_wish ? row.wish_instance : row.instance_id;
    const InstanceRow* const instance = parts_.state.instances.get(instance_id);
    AuditDraft draft = relay_draft(
        instance == nullptr ? system_tenant() : instance->tenant_id,
        is_wish ? "RELAY_DM_DEFAULT_ASKED" : "RELAY_DM_DEFAULT_SET",
        principal);
    draft.detail = Json::object(
        {{"platform", row.platform},
         {"bot_id", row.bot_id},
         {"user_id", row.user_id},
         {"instance_id", instance_id}});
    turn.audit(std::move(draft));
    const std::string key = RelayState::person_key({row.platform, row.bot_id}, row.user_id);
    parts_.state.dm_defaults.put(turn, key, std::move(row));
}

void RelayManagement::set_relevance(RelayCaller caller, RelevancePolicy policy, RelayReply reply) {
    ask([this, caller = std::move(caller), policy = std::move(policy)](
            RelayTurn& turn) { return decide_relevance(turn, caller, policy); },
        std::move(reply));
}

Result<Json> RelayManagement::decide_relevance(
    RelayTurn& turn, const RelayCaller& caller, const RelevancePolicy& policy) {
    TRY_ASSIGN(const InstanceRow* row, instance_of(caller.instance_id, caller.tenant_id));
    InstanceRow changed = *row;
    TRY_ASSIGN(const bool is_new, replace_policy(changed.relevance, policy));
    if (is_new) {
        AuditDraft draft = relay_draft(caller.tenant_id, "RELAY_POLICY_SET", principal_of(caller));
        draft.detail = Json::object(
            {{"instance_id", caller.instance_id},
             {"platform", policy.platform},
             {"require_address", policy.require_address},
             {"allow_other_bots", policy.allow_other_bots},
             {"free_response_scopes", policy.free_response_scopes.size()}});
        turn.audit(std::move(draft));
        parts_.state.instances.put(turn, caller.instance_id, std::move(changed));
    }
    return Json::object({{"ok", true}});
}

}  // namespace interlock
