#include "sim/relay_oracle.h"

#include <algorithm>

#include "base/check.h"

namespace interlock::sim {
namespace {

template <class Row, class Map, class Take>
void apply_row(Map& map, const RelayRowWrite& write, Take take) {
    if (!write.json) {
        map.erase(write.key);
        return;
    }
    auto row = decode_row<Row>(*write.json);
    CHECK(row.has_value());
    map.insert_or_assign(write.key, take(*std::move(row)));
}

std::string place_of(const RelayChat& chat) {
    return row_key({chat.bot.platform, chat.bot.bot_id, chat.chat_id});
}

}  // namespace

void RelayOracle::apply(const RelayRowWrite& write) {
    if (write.kind == RouteRow::kKind) {
        apply_row<RouteRow>(routes_, write, [](RouteRow row) { return row.tenant_id; });
    } else if (write.kind == BindingRow::kKind) {
        apply_row<BindingRow>(bindings_, write, [](BindingRow row) { return row; });
    } else if (write.kind == ScopeRow::kKind) {
        apply_row<ScopeRow>(scopes_, write, [](ScopeRow row) { return row.instance_id; });
    } else if (write.kind == DmDefaultRow::kKind) {
        apply_row<DmDefaultRow>(
            dm_defaults_, write, [](DmDefaultRow row) { return row.instance_id; });
    } else if (write.kind == InstanceRow::kKind) {
        apply_row<InstanceRow>(instances_, write, [](InstanceRow row) { return row; });
    }
}

void RelayOracle::note_view(
    const BotKey& bot, const ViewQuestion& question, std::optional<bool> answer) {
    views_[row_key({bot.bot_id, question.guild_id, question.channel_id, question.user_id})] =
        answer;
}

void RelayOracle::note_delivered(const RelayMail& mail, const std::string& instance_id) {
    const std::string place = place_of(cast_.chats[mail.chat]);
    const TenantId tenant = tenant_of(mail);
    delivered_.insert({place, tenant, instance_id});
    Held& held = held_[place];
    if (held.tenant_id != tenant) {
        held = Held{tenant, {}};
    }
    held.instances.insert(instance_id);
}

void RelayOracle::note_sent(
    const BotKey& bot, const std::string& message_id, const std::string& instance) {
    sent_[row_key({bot.platform, bot.bot_id, message_id})] = instance;
}

std::string RelayOracle::sender_of(const BotKey& bot, const std::string& message_id) const {
    const auto found = sent_.find(row_key({bot.platform, bot.bot_id, message_id}));
    return found == sent_.end() ? std::string() : found->second;
}

void RelayOracle::note_reaction(
    const BotKey& bot, const ReactAction& action, const std::string& instance) {
    reactions_.insert(row_key({bot.bot_id, action.message_id, action.emoji, instance}));
}

bool RelayOracle::has_reacted(
    const BotKey& bot, const ReactAction& action, const std::string& instance) const {
    return reactions_.contains(row_key({bot.bot_id, action.message_id, action.emoji, instance}));
}

TenantId RelayOracle::route_of(const BotKey& bot, const std::string& discriminator) const {
    const auto found = routes_.find(row_key({bot.platform, bot.bot_id, discriminator}));
    return found == routes_.end() ? TenantId() : found->second;
}

bool RelayOracle::is_bound(
    const BotKey& bot, const std::string& user, const std::string& to) const {
    return bindings_.contains(row_key({bot.platform, bot.bot_id, user, to}));
}

bool RelayOracle::is_bound_elsewhere(
    const BotKey& bot, const std::string& user, const std::string& to) const {
    return !is_bound(bot, user, to) && std::ranges::any_of(bindings_, [&](const auto& item) {
        const BindingRow& row = item.second;
        return row.platform == bot.platform && row.user_id == user && row.instance_id == to;
    });
}

std::string RelayOracle::dm_target(const BotKey& bot, const std::string& user) const {
    const auto chosen = dm_defaults_.find(row_key({bot.platform, bot.bot_id, user}));
    if (chosen != dm_defaults_.end() && is_bound(bot, user, chosen->second)) {
        return chosen->second;
    }
    const BindingRow* first = nullptr;
    for (const auto& [key, row] : bindings_) {
        if (BotKey{row.platform, row.bot_id} == bot && row.user_id == user &&
            (first == nullptr || row.made_at < first->made_at)) {
            first = &row;
        }
    }
    return first == nullptr ? std::string() : first->instance_id;
}

TenantId RelayOracle::tenant_of(const RelayMail& mail) const {
    const RelayChat& chat = cast_.chats[mail.chat];
    if (!chat.is_dm()) {
        return route_of(chat.bot, chat.discriminator);
    }
    const std::string target = dm_target(chat.bot, mail.user);
    return target.empty() ? TenantId() : cast_.member(target).tenant_id;
}

bool RelayOracle::is_owner(const RelayMail& mail, const RelayMember& member) const {
    return is_bound(cast_.chats[mail.chat].bot, mail.user, member.instance_id);
}

std::vector<std::string> RelayOracle::owners_of(
    const BotKey& bot, const std::string& instance_id) const {
    std::vector<const BindingRow*> rows;
    for (const auto& [key, row] : bindings_) {
        if (BotKey{row.platform, row.bot_id} == bot && row.instance_id == instance_id) {
            rows.push_back(&row);
        }
    }
    std::ranges::sort(rows, {}, [](const BindingRow* row) { return row->made_at; });
    std::vector<std::string> users;
    for (const BindingRow* const row : rows) {
        users.push_back(row->user_id);
    }
    return users;
}

// An instance whose links on the platform are all to other bots is no instance of this one.
bool RelayOracle::speaks_as(const BotKey& bot, const std::string& instance_id) const {
    bool has_other = false;
    for (const auto& [key, row] : bindings_) {
        if (row.platform == bot.platform && row.instance_id == instance_id) {
            if (row.bot_id == bot.bot_id) {
                return true;
            }
            has_other = true;
        }
    }
    return !has_other;
}

bool RelayOracle::holds_scope(const RelayChat& chat, const std::string& instance_id) const {
    const std::string& guild = chat.guild.empty() ? chat.discriminator : chat.guild;
    for (const std::string& channel : {chat.chat_id, chat.parent}) {
        const auto found = scopes_.find(row_key({chat.bot.platform, guild, channel}));
        if (!channel.empty() && found != scopes_.end() && found->second == instance_id) {
            return true;
        }
    }
    return false;
}

// The layer "authorised": the owner, or a claim whose principal policy lets the author in.
bool RelayOracle::is_authorised(const RelayMail& mail, const RelayMember& member) const {
    const RelayChat& chat = cast_.chats[mail.chat];
    if (chat.is_dm()) {
        return dm_target(chat.bot, mail.user) == member.instance_id;
    }
    if (is_owner(mail, member)) {
        return true;
    }
    if (!holds_scope(chat, member.instance_id) || !speaks_as(chat.bot, member.instance_id)) {
        return false;
    }
    const InstanceRow& row = instances_.at(member.instance_id);
    const PrincipalPolicy* policy = nullptr;
    for (const PrincipalPolicy& held : row.principals) {
        if (held.platform == chat.bot.platform || (held.platform.empty() && policy == nullptr)) {
            policy = &held;
        }
    }
    if (policy == nullptr || policy->audience == PrincipalAudience::owner_only) {
        return false;
    }
    return policy->audience == PrincipalAudience::any ||
           std::ranges::find(policy->allow, mail.user) != policy->allow.end();
}

// The layer "visible": an agent gets nothing that its owner cannot see. Unknown is no.
bool RelayOracle::is_visible(const RelayMail& mail, const RelayMember& member, Sight sight) const {
    const RelayChat& chat = cast_.chats[mail.chat];
    if (chat.is_dm() || chat.bot.platform != "discord") {
        return true;
    }
    std::string viewer = mail.user;
    if (!is_owner(mail, member)) {
        const auto owners = owners_of(chat.bot, member.instance_id);
        if (owners.empty()) {
            return false;
        }
        viewer = owners.front();
    }
    const Views& views = sight == Sight::now ? views_ : views_before_;
    const auto found = views.find(row_key({chat.bot.bot_id, chat.guild, chat.chat_id, viewer}));
    return found != views.end() && found->second == true;
}

// The layer "relevant": the policy that the gateway declared. Owners are always heard.
bool RelayOracle::is_relevant(const RelayMail& mail, const RelayMember& member) const {
    if (is_owner(mail, member)) {
        return true;
    }
    const RelayChat& chat = cast_.chats[mail.chat];
    RelevancePolicy policy;
    for (const RelevancePolicy& held : instances_.at(member.instance_id).relevance) {
        if (held.platform == chat.bot.platform) {
            policy = held;
        }
    }
    if (mail.is_author_bot && !policy.allow_other_bots) {
        return false;
    }
    const auto is_free = [&](const std::string& channel) {
        return !channel.empty() && std::ranges::find(policy.free_response_scopes, channel) !=
                                       policy.free_response_scopes.end();
    };
    return !policy.require_address || mail.addresses_bot || is_free(chat.chat_id) ||
           is_free(chat.parent);
}

std::set<std::string> RelayOracle::receivers(const RelayMail& mail, Sight sight) const {
    std::set<std::string> names;
    const TenantId tenant = tenant_of(mail);
    const BotKey& bot = cast_.chats[mail.chat].bot;
    bool is_linked = false;  // To any instance of the tenant; strangers reach nobody.
    for (const auto& [key, row] : bindings_) {
        is_linked = is_linked || (BotKey{row.platform, row.bot_id} == bot &&
                                  row.user_id == mail.user && row.tenant_id == tenant);
    }
    if (tenant.empty() || mail.is_own_bot || !is_linked) {
        return names;
    }
    for (const RelayMember& member : cast_.members) {
        if (member.tenant_id == tenant && is_authorised(mail, member) &&
            is_visible(mail, member, sight) && is_relevant(mail, member)) {
            names.insert(member.instance_id);
        }
    }
    return names;
}

bool RelayOracle::may_reach(
    const std::string& instance_id, const BotKey& bot, const std::string& chat_id) const {
    const RelayChat* const chat = cast_.chat(bot, chat_id);
    if (chat == nullptr) {
        return false;
    }
    if (chat->is_dm()) {
        return is_bound(bot, chat->dm_user, instance_id);
    }
    const TenantId tenant = cast_.member(instance_id).tenant_id;
    return route_of(bot, chat->discriminator) == tenant &&
           (holds_scope(*chat, instance_id) ||
            delivered_.contains({place_of(*chat), tenant, instance_id}));
}

bool RelayOracle::must_reach(
    const std::string& instance_id, const BotKey& bot, const std::string& chat_id) const {
    const RelayChat* const chat = cast_.chat(bot, chat_id);
    const auto held = chat == nullptr ? held_.end() : held_.find(place_of(*chat));
    return held != held_.end() && may_reach(instance_id, bot, chat_id) &&
           (chat->is_dm() || (held->second.tenant_id == cast_.member(instance_id).tenant_id &&
                              held->second.instances.contains(instance_id)));
}

}  // namespace interlock::sim
