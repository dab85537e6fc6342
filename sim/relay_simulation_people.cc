// People and platforms of the relay's world: who writes, what arrives again, and what owners and
// operators change in the middle of it.
#include <algorithm>

#include "sim/relay_simulation.h"

namespace interlock::sim {
namespace {

constexpr Duration kPlatformMemory = Duration::of_days(1);
constexpr std::size_t kRecentMails = 40;

PlatformArrival arrival_of(const RelayMail& mail, const RelayChat& chat) {
    PlatformArrival arrival;
    arrival.bot = chat.bot;
    PlatformEvent& event = arrival.event;
    event.event_id = mail.event_id;
    event.discriminator = chat.discriminator;
    event.is_dm = chat.is_dm();
    event.is_author_bot = mail.is_author_bot;
    event.addresses_bot = mail.addresses_bot;
    event.event.text = mail.text;
    event.event.message_id = mail.event_id;
    SessionSource& source = event.event.source;
    source.platform = chat.bot.platform;
    source.chat_id = chat.chat_id;
    source.chat_type = chat.is_dm() ? "dm" : chat.parent.empty() ? "group" : "thread";
    source.user_id = mail.user;
    source.scope_id = chat.guild;
    source.parent_chat_id = chat.parent;
    if (mail.has_file) {
        // Its name is the platform's and must not reach a gateway, like a capability.
        event.files.emplace_back().file_id = std::string(kRelayCapability) + mail.event_key;
    }
    if (mail.is_forward) {
        arrival.forward =
            PassthroughForward{"discord", chat.bot.bot_id, "POST", "/", {}, mail.text, {}};
        event.capability_kind = "discord.interaction_token";
        event.capability = SecretString(std::string(kRelayCapability) + mail.event_key);
    }
    return arrival;
}

}  // namespace

void RelaySimulation::set_up() {
    SeededRandom random(mix_seeds(config_.seed, 7));
    server_->lane.submit([this](RelayTurn& turn) {
        for (const RelayMember& member : cast_.members) {
            InstanceRow row;
            row.instance_id = member.instance_id;
            row.tenant_id = member.tenant_id;
            server_->state.instances.put(turn, member.instance_id, row);
            GatewayRow gateway;
            gateway.gateway_id = "gw-" + member.instance_id;
            gateway.instance_id = member.instance_id;
            gateway.tenant_id = member.tenant_id;
            gateway.wake_url = "http://wake.example/" + member.instance_id;
            server_->state.gateways.put(turn, gateway.gateway_id, gateway);
        }
        // A guild and a group for each tenant; the last guild is nobody's at first.
        std::size_t owner = 0;
        for (const RelayChat& chat : cast_.chats) {
            if (chat.is_dm() || !chat.parent.empty() || chat.chat_id.ends_with("c2") ||
                owner % (cast_.tenants.size() + 1) == cast_.tenants.size()) {
                owner += !chat.is_dm() && chat.chat_id.ends_with("c1") ? 1 : 0;
                continue;
            }
            const TenantId& tenant = cast_.tenants[owner % (cast_.tenants.size() + 1)];
            ++owner;
            server_->state.routes.put(
                turn,
                row_key({chat.bot.platform, chat.bot.bot_id, chat.discriminator}),
                {chat.bot.platform, chat.bot.bot_id, chat.discriminator, tenant, turn.now()});
        }
    });
    flush();
    for (std::size_t i = 0; i < 6 * cast_.members.size(); ++i) {
        change_policy(random);
    }
    if (!cast_.away.empty()) {
        server_->lane.submit([this](RelayTurn& turn) {
            const RelayChat& chat = cast_.chats[cast_.chats.size() - cast_.users.size()];
            server_->holdings.put_binding(
                turn,
                {.platform = chat.bot.platform,
                 .bot_id = chat.bot.bot_id,
                 .user_id = chat.dm_user,
                 .instance_id = cast_.away,
                 .tenant_id = cast_.member(cast_.away).tenant_id,
                 .user_name = {},
                 .made_by = "operator",
                 .made_at = turn.now()});
            watch_.expect_dm(chat.bot, chat.dm_user, cast_.away);
            server_->state.dm_defaults.put(
                turn,
                RelayState::person_key(chat.bot, chat.dm_user),
                {.platform = chat.bot.platform,
                 .bot_id = chat.bot.bot_id,
                 .user_id = chat.dm_user,
                 .instance_id = cast_.away});
        });
        flush();
    }
}

void RelaySimulation::write(SeededRandom& random) {
    RelayMail mail;
    const std::string number = std::to_string(mails_.size() + 1);
    mail.chat = random.below(cast_.chats.size());
    // Guild channels are where most is decided.
    if (random.chance(500)) {
        mail.chat = random.below(3 * (cast_.tenants.size() + 1));
    }
    if (!cast_.away.empty() && random.chance(250)) {
        mail.chat = cast_.chats.size() - cast_.users.size();  // The owner of who is away writes on.
    }
    const RelayChat& chat = cast_.chats[mail.chat];
    mail.event_id = "e" + number;
    mail.event_key = event_key_of(chat.bot, mail.event_id);
    mail.user = chat.is_dm() ? chat.dm_user : random.pick(cast_.users);
    if (random.chance(30)) {
        mail.user = kRelayOwnBotUser;
        mail.is_own_bot = true;
    }
    mail.is_poison = random.chance(40);
    mail.text = "mail " + number + " in " + chat.chat_id + (mail.is_poison ? " poison" : "");
    mail.is_author_bot = mail.user == cast_.users.back() || mail.is_own_bot;
    mail.addresses_bot = random.chance(400);
    mail.is_forward = chat.bot.platform == "discord" && random.chance(100);
    mail.has_file = !mail.is_forward && mail_keys_.size() % 5 == 2;
    mail.at = clock_.now();
    note("  " + mail.user + " writes " + mail.event_id + " in " + chat.chat_id);
    const std::string key = mail.event_key;
    mails_.emplace(key, std::move(mail));
    mail_keys_.push_back(key);
    if (random.chance(750)) {
        submit(mails_.at(key));
    }
}

void RelaySimulation::redeliver(SeededRandom& random) {
    if (mail_keys_.empty()) {
        return;
    }
    const std::size_t recent = std::min(mail_keys_.size(), kRecentMails);
    RelayMail& mail = mails_.at(mail_keys_[mail_keys_.size() - 1 - random.below(recent)]);
    if (may_come(mail) && (!mail.is_told || random.chance(300))) {
        submit(mail);
    }
}

bool RelaySimulation::may_come(RelayMail& mail) {
    mail.is_forgotten = mail.is_forgotten || clock_.now() >= mail.at + kPlatformMemory;
    return !mail.is_forgotten;
}

void RelaySimulation::submit(RelayMail& mail) {
    const RelayChat& chat = cast_.chats[mail.chat];
    ++mail.under_way;
    if (config_.plant == RelayPlant::tell_before_commit && mails_.size() % 5 == 0) {
        watch_.told(mail);
    }
    const bool is_lost = mix_seeds(mails_.size(), mail.chat) % 5 == 0 && !is_calm_;
    const std::uint64_t life = life_;
    const bool was_stored = watch_.is_stored(mail.event_key);
    if (config_.plant == RelayPlant::refuse_for_one && !was_stored && watch_.is_any_full()) {
        --mail.under_way;
        watch_.refused(mail);
        return;
    }
    server_->inbound.submit(
        arrival_of(mail, chat),
        [this, life, is_lost, was_stored, key = mail.event_key](const InboxAnswer& answer) {
            if (life != life_ || !power_.on) {
                return;
            }
            RelayMail& answered = mails_.at(key);
            if (--answered.under_way < 0) {
                log_.report("reply", key + " was answered twice to its platform");
            }
            if (!answer.is_stored && !server_->lane.is_lost()) {
                watch_.refused(answered);
            }
            if (answer.is_stored && !is_lost) {
                watch_.told(answered);
                answered.is_told = true;
            }
            if (answer.is_stored && !was_stored) {
                plant_delivery(answered);
            }
        });
}

void RelaySimulation::plant_delivery(const RelayMail& mail) {
    const bool is_foreign = config_.plant == RelayPlant::gate_without_tenant;
    const bool is_other_bot = config_.plant == RelayPlant::link_at_every_bot;
    if (!is_foreign && !is_other_bot && config_.plant != RelayPlant::gate_without_policy) {
        return;
    }
    const TenantId tenant = watch_.oracle.tenant_of(mail);
    const auto wanted = watch_.oracle.receivers(mail);
    const RelayChat& chat = cast_.chats[mail.chat];
    const auto is_planted = [&](const RelayMember& member) {
        if (is_other_bot) {
            return chat.is_dm() &&
                   watch_.oracle.is_bound_elsewhere(chat.bot, mail.user, member.instance_id);
        }
        return !tenant.empty() && (member.tenant_id == tenant) != is_foreign &&
               !wanted.contains(member.instance_id);
    };
    for (const RelayMember& member : cast_.members) {
        if (!is_planted(member)) {
            continue;
        }
        server_->lane.submit_internal([this, id = member.instance_id, mail](RelayTurn& turn) {
            server_->delivery.append(
                turn,
                {.instance_id = id,
                 .kind = EntryKind::inbound,
                 .event_key = mail.event_key,
                 .text = to_text(encode(arrival_of(mail, cast_.chats[mail.chat]).event.event))});
        });
        return;
    }
}

// One change in a batch of its own, so that it is clear which decisions came before it.
void RelaySimulation::change_policy(SeededRandom& random) {
    flush();
    clock_.advance(Duration::of_milliseconds(1));
    if (!power_.on || server_->lane.is_lost()) {
        return;
    }
    if (random.chance(200)) {
        RelayBotModel& discord = *bots_[0];
        const RelayChat& chat = cast_.chats[random.below(3 * (cast_.tenants.size() + 1))];
        const std::string view = row_key({chat.guild, chat.chat_id, random.pick(cast_.users)});
        if (!discord.blind.erase(view)) {
            discord.blind.insert(view);
        }
        discord.forget_views();
        note("  sight of " + view + " changes");
        return;
    }
    server_->lane.submit(some_change(random));
    flush();
}

RelayWork RelaySimulation::some_change(SeededRandom& random) {
    const RelayMember member = random.pick(cast_.members);
    const RelayChat chat = random.pick(cast_.chats);
    const std::string user = random.pick(cast_.users);
    RelayState& state = server_->state;
    const std::uint64_t luck = random.below(1000);
    if (luck < 350) {
        return change_link(member, chat.bot, user);
    }
    if (luck < 550 && !chat.is_dm()) {
        const std::string guild = chat.guild.empty() ? chat.discriminator : chat.guild;
        const bool releases = random.chance(250);
        note("  the scope of " + chat.chat_id + " is for " + member.instance_id);
        return [&state, member, chat, guild, releases](RelayTurn& turn) {
            const std::string key = row_key({chat.bot.platform, guild, chat.chat_id});
            if (releases) {
                state.scopes.erase(turn, key);
            } else {
                state.scopes.put(
                    turn,
                    key,
                    {chat.bot.platform,
                     guild,
                     chat.chat_id,
                     member.instance_id,
                     member.tenant_id,
                     turn.now()});
            }
        };
    }
    if (luck < 640 && !chat.is_dm()) {
        const bool ends = random.chance(300);
        note("  " + chat.discriminator + " is routed to " + member.tenant_id.text());
        return [&state, member, chat, ends](RelayTurn& turn) {
            const std::string key =
                row_key({chat.bot.platform, chat.bot.bot_id, chat.discriminator});
            if (ends) {
                state.routes.erase(turn, key);
            } else {
                state.routes.put(
                    turn,
                    key,
                    {chat.bot.platform,
                     chat.bot.bot_id,
                     chat.discriminator,
                     member.tenant_id,
                     turn.now()});
            }
        };
    }
    return change_instance(random);
}

RelayWork RelaySimulation::change_link(
    const RelayMember& member, const BotKey& bot, const std::string& user) {
    note("  " + user + " is bound to " + member.instance_id + ", or no longer");
    return [this, member, bot, user](RelayTurn& turn) {
        for (const BindingRow& held : server_->state.bindings_of(bot, user)) {
            if (held.instance_id == member.instance_id) {
                const BindingRow gone = held;
                server_->holdings.erase_binding(turn, gone);
                return;
            }
        }
        server_->holdings.put_binding(
            turn,
            {.platform = bot.platform,
             .bot_id = bot.bot_id,
             .user_id = user,
             .instance_id = member.instance_id,
             .tenant_id = member.tenant_id,
             .user_name = {},
             .made_by = "operator",
             .made_at = turn.now()});
    };
}

RelayWork RelaySimulation::change_instance(SeededRandom& random) {
    const RelayMember& member = random.pick(cast_.members);
    const std::string instance_id = member.instance_id;
    const BotKey bot = random.pick(cast_.bots);
    const std::string& platform = bot.platform;
    const std::string user = random.pick(cast_.users);
    RelayState& state = server_->state;
    note("  the policies of " + instance_id + " change");
    if (random.chance(200)) {
        return change_dm(member, bot, user, random.chance(500));
    }
    if (random.chance(500)) {
        PrincipalPolicy policy;
        policy.platform = random.chance(500) ? platform : "";
        policy.audience = static_cast<PrincipalAudience>(random.below(3));
        if (policy.audience == PrincipalAudience::allow_list) {
            policy.allow = {user};
        }
        return [&state, instance_id, policy](RelayTurn& turn) {
            InstanceRow row = *state.instances.get(instance_id);
            std::erase_if(
                row.principals, [&](const auto& held) { return held.platform == policy.platform; });
            row.principals.push_back(policy);
            state.instances.put(turn, instance_id, row);
        };
    }
    RelevancePolicy policy;
    policy.platform = platform;
    policy.require_address = random.chance(500);
    policy.allow_other_bots = random.chance(500);
    policy.free_response_scopes = {random.pick(cast_.chats).chat_id};
    return [&state, instance_id, policy](RelayTurn& turn) {
        InstanceRow row = *state.instances.get(instance_id);
        std::erase_if(
            row.relevance, [&](const auto& held) { return held.platform == policy.platform; });
        row.relevance.push_back(policy);
        state.instances.put(turn, instance_id, row);
    };
}

// An instance asks for somebody's direct messages, or he gives them to one of his.
RelayWork RelaySimulation::change_dm(
    const RelayMember& member, const BotKey& bot, const std::string& user, bool is_asked) {
    if (is_asked) {
        server_->management.set_dm_default(
            {member.tenant_id, member.instance_id, "gw-" + member.instance_id},
            {bot.platform, bot.bot_id, user},
            [](const Result<Json>&) {});
        return [this, id = member.instance_id, bot, user](RelayTurn& turn) {
            const std::string key = RelayState::person_key(bot, user);
            const DmDefaultRow* const held = server_->state.dm_defaults.get(key);
            if (config_.plant == RelayPlant::dm_without_word && held != nullptr &&
                held->wish_instance == id) {
                DmDefaultRow row = *held;
                row.instance_id = id;
                server_->state.dm_defaults.put(turn, key, row);
            }
        };
    }
    return [this, id = member.instance_id, bot, user](RelayTurn& turn) {
        if (watch_.oracle.is_bound(bot, user, id)) {
            watch_.expect_dm(bot, user, id);
        }
        server_->people.answer(
            turn,
            {.bot = bot, .user_id = user, .user_name = {}, .is_dm = true},
            {PersonWordKind::dm_default, id});
    };
}

void RelaySimulation::take_letters(SeededRandom& random) {
    const std::vector<BufferKey> all = watch_.dead_letters();
    if (all.empty()) {
        return;
    }
    const BufferKey key = all[random.below(all.size())];
    RelayDelivery::Letters letters;
    letters.instance_id = key.instance_id;
    letters.principal = "operator";
    const bool is_one = random.chance(500);
    const bool discards = !is_one && random.chance(500);
    if (is_one) {
        letters.seq = key.seq;
    } else if (discards) {
        letters.older_than = Duration::of_minutes(1);
    }
    server_->lane.submit([this, letters, discards](RelayTurn& turn) {
        for (const BufferKey& meant : watch_.dead_letters()) {
            if (meant.instance_id == letters.instance_id &&
                (!letters.seq || meant.seq == *letters.seq)) {
                watch_.expect_taken(meant);
            }
        }
        if (discards) {
            server_->delivery.discard_dead(turn, letters);
        } else {
            (void)server_->delivery.requeue_dead(turn, letters);
        }
    });
    flush();
}

}  // namespace interlock::sim
