// Which bot, chat and thread a request is about, and whether its instance may act there.
#include <algorithm>

#include "base/log.h"
#include "relay/service/relay_outbound.h"
#include "relay/service/relay_pieces.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

const std::string& discriminator_of(const ChatRow& chat) {
    return chat.guild_id.empty() ? chat.chat_id : chat.guild_id;
}

const Json* metadata_of(const RelayAction& action) {
    return std::visit(
        [](const auto& held) -> const Json* {
            if constexpr (requires { held.metadata; }) {
                return &held.metadata;
            } else {
                return nullptr;
            }
        },
        action);
}

EgressChat facts_of(const RelayState& state, const ChatRow& chat, const RelayCaller& caller) {
    EgressChat facts;
    facts.platform = chat.platform;
    facts.is_dm = chat.is_dm;
    if (chat.is_dm) {
        // Whoever writes here may have linked several instances: each of them is his.
        for (const BindingRow& row :
             state.bindings_of({chat.platform, chat.bot_id}, chat.dm_user)) {
            if (row.instance_id == caller.instance_id) {
                facts.dm_instance = row.instance_id;
                facts.routed_tenant = row.tenant_id;
            }
        }
        return facts;
    }
    // The route of this moment: one that was taken away ends what was delivered under it.
    facts.routed_tenant = state.route_of({chat.platform, chat.bot_id}, discriminator_of(chat));
    for (const std::string& channel : {chat.chat_id, chat.parent_chat_id}) {
        const ScopeRow* const scope =
            state.scope_of(chat.platform, discriminator_of(chat), channel);
        if (scope != nullptr && !channel.empty() && facts.scope_instance != caller.instance_id) {
            facts.scope_instance = scope->instance_id;
        }
    }
    if (chat.tenant_id == facts.routed_tenant) {
        facts.delivered_to = chat.delivered_to;
    }
    return facts;
}

// A question or a file may be the first thing that is said. Sent beside the deferred answer it
// would leave the person looking at "thinking…".
bool makes_a_message(const RelayAction& action) {
    return std::holds_alternative<SendAction>(action) ||
           std::holds_alternative<SendMediaAction>(action) ||
           std::holds_alternative<PromptAction>(action);
}

// The message that an action changes.
std::string changed_message(const RelayAction& action) {
    if (const auto* const edit = std::get_if<EditAction>(&action)) {
        return edit->message_id;
    }
    if (const auto* const react = std::get_if<ReactAction>(&action)) {
        return react->message_id;
    }
    return {};
}

}  // namespace

std::string metadata_text(const RelayAction& action, std::string_view key) {
    const Json* const metadata = metadata_of(action);
    const Json* const value = metadata == nullptr ? nullptr : metadata->find(key);
    return value == nullptr ? std::string() : id_text(*value).value_or("");
}

std::string reaction_key(
    const BotKey& bot, const std::string& instance_id, const ReactAction& action) {
    return row_key(
        {bot.platform,
         bot.bot_id,
         action.chat_id,
         action.message_id,
         "reaction",
         action.emoji,
         instance_id});
}

std::optional<BotKey> RelayOutbound::choose_bot(const OutboundRequest& request, Timestamp now) {
    const OutboundFrame& frame = request.frame;
    const std::vector<BotKey>& identities = request.identities;
    if (!frame.platform.empty()) {
        const auto found = std::ranges::find_if(identities, [&frame](const BotKey& bot) {
            return bot.platform == frame.platform &&
                   (frame.bot_id.empty() || bot.bot_id == frame.bot_id);
        });
        return found == identities.end() ? std::nullopt : std::optional(*found);
    }
    if (identities.empty()) {
        return std::nullopt;
    }
    // Older clients name no platform; our record of the chat tells when only one has it.
    const std::string chat_id = chat_of(frame.action);
    std::vector<BotKey> holders;
    for (const BotKey& bot : identities) {
        if (!chat_id.empty() && find_chat(bot, chat_id, now)) {
            holders.push_back(bot);
        }
    }
    if (const auto* const follow_up = std::get_if<FollowUpAction>(&frame.action)) {
        std::ranges::copy_if(identities, std::back_inserter(holders), [&](const BotKey& bot) {
            return follow_up->kind.starts_with(bot.platform + ".");
        });
    }
    return holders.size() == 1 ? holders.front() : identities.front();
}

std::optional<ChatRow> RelayOutbound::find_chat(
    const BotKey& bot, const std::string& chat_id, Timestamp now) {
    const auto found = parts_.state.chats.find(row_key({bot.platform, bot.bot_id, chat_id}), now);
    if (!found || *found == nullptr) {
        return std::nullopt;  // A store that cannot be read is a no (I5).
    }
    return **found;
}

// A channel that was claimed before anything was said in it. The guild in the metadata is only
// where we look: what we find there is our own record, or nothing.
std::optional<ChatRow> RelayOutbound::scoped_chat(const Ask& ask) {
    for (const std::string_view hint : {"scope_id", "guild_id"}) {
        const std::string guild = metadata_text(ask.action, hint);
        const ScopeRow* const scope =
            guild.empty() ? nullptr : parts_.state.scope_of(ask.bot.platform, guild, ask.chat_id);
        if (scope != nullptr && scope->instance_id == ask.caller.instance_id) {
            ChatRow chat;
            chat.platform = ask.bot.platform;
            chat.bot_id = ask.bot.bot_id;
            chat.chat_id = ask.chat_id;
            chat.tenant_id = scope->tenant_id;
            chat.guild_id = guild == ask.chat_id ? "" : guild;
            return chat;
        }
    }
    return std::nullopt;
}

EgressVerdict RelayOutbound::judge(
    const Ask& ask, const std::optional<ChatRow>& chat, Timestamp now) {
    EgressFacts facts;
    facts.caller = {
        .tenant = ask.caller.tenant_id,
        .instance_id = ask.caller.instance_id,
        .platform = ask.bot.platform,
        .has_identity = ask.platform != nullptr};
    if (chat) {
        facts.chat = facts_of(parts_.state, *chat, ask.caller);
    }
    const std::string message_id = changed_message(ask.action);
    if (!message_id.empty()) {
        const auto sent_row = parts_.state.sent.find(
            row_key({ask.bot.platform, ask.bot.bot_id, ask.chat_id, message_id}), now);
        if (sent_row && *sent_row != nullptr) {
            facts.message_sender = (*sent_row)->instance_id;
        }
    }
    if (const auto* const react = std::get_if<ReactAction>(&ask.action)) {
        const auto reaction =
            parts_.state.sent.find(reaction_key(ask.bot, ask.caller.instance_id, *react), now);
        facts.is_own_reaction = reaction && *reaction != nullptr;
    }
    return judge_egress(ask.action, facts);
}

RelayOutbound::Refusal RelayOutbound::decline(const Ask& ask, std::string_view verdict) {
    count(declined);
    if (++declined_lines_ <= kDeclinedLinesMax) {
        log_info(
            "relay_egress_declined",
            {{"instance", ask.caller.instance_id},
             {"platform", ask.bot.platform},
             {"op", op_of(ask.action)},
             {"verdict", verdict}});
    }
    return egress_declined(ask.bot.platform.empty() ? "relay" : ask.bot.platform);
}

RelayOutbound::Refusal RelayOutbound::find_target(RelayTurn& turn, Ask& ask) {
    if (std::holds_alternative<FollowUpAction>(ask.action)) {
        return find_capability(turn, ask);
    }
    ask.chat_id = chat_of(ask.action);
    ask.chat = find_chat(ask.bot, ask.chat_id, turn.now());
    if (!ask.chat) {
        ask.chat = scoped_chat(ask);
    }
    const EgressVerdict verdict = judge(ask, ask.chat, turn.now());
    if (verdict != EgressVerdict::allowed) {
        return decline(ask, to_word(verdict));
    }
    if (Refusal refusal = find_thread(ask, turn.now())) {
        return refusal;
    }
    if (makes_a_message(ask.action)) {
        ask.capability =
            parts_.vault.open_deferred({ask.caller.instance_id, ask.bot, ask.chat_id}, turn.now());
    }
    return std::nullopt;
}

RelayOutbound::Refusal RelayOutbound::find_capability(RelayTurn& turn, Ask& ask) {
    const auto& action = std::get<FollowUpAction>(ask.action);
    if (ask.platform != nullptr) {
        ask.capability = parts_.vault.find(
            {.tenant_id = ask.caller.tenant_id,
             .instance_id = ask.caller.instance_id,
             .bot = ask.bot,
             .session_key = action.session_key,
             .kind = action.kind},
            turn.now());
    }
    if (!ask.capability) {
        count(declined);
        return outbound_failure(
            "capability_unavailable", "this session has no such capability, or it has ended");
    }
    ask.chat_id = ask.capability->chat_id;
    return std::nullopt;
}

// A thread that the metadata (or a rename) names has to be one that we know as part of the chat: on
// some platforms it is a channel of its own, and a stranger's would be another target.
RelayOutbound::Refusal RelayOutbound::find_thread(Ask& ask, Timestamp now) {
    const auto* const rename = std::get_if<ThreadRenameAction>(&ask.action);
    const std::string named =
        rename != nullptr ? rename->thread_id : metadata_text(ask.action, "thread_id");
    const bool is_chat_itself = named == ask.chat_id;
    if (!named.empty() && !is_chat_itself) {
        const std::string_view verdict = judge_thread(ask, named, now);
        if (!verdict.empty()) {
            return decline(ask, verdict);
        }
        ask.thread_id = named;
    }
    // On Discord a thread is a channel; a channel that is none keeps its name.
    if (rename != nullptr && is_chat_itself && (!ask.chat || ask.chat->parent_chat_id.empty())) {
        return decline(ask, "not_a_thread");
    }
    if (rename == nullptr || !rename->only_if_connector_created) {
        return std::nullopt;
    }
    const std::string parent = is_chat_itself && ask.chat ? ask.chat->parent_chat_id : ask.chat_id;
    const auto made =
        parts_.state.sent.find(row_key({ask.bot.platform, ask.bot.bot_id, parent, named}), now);
    if (made && *made != nullptr) {
        return std::nullopt;
    }
    return outbound_failure("not_connector_created", "the thread was not made by this connector");
}

// Empty: it may be acted on.
std::string_view RelayOutbound::judge_thread(
    const Ask& ask, const std::string& thread_id, Timestamp now) {
    const std::optional<ChatRow> thread = find_chat(ask.bot, thread_id, now);
    if (!thread) {
        // Topics of a forum live inside their chat and have no record of their own.
        const bool is_forum = ask.chat && ask.chat->chat_type == "forum";
        return is_forum ? std::string_view() : "unknown_thread";
    }
    if (thread->parent_chat_id != ask.chat_id) {
        return "other_thread";
    }
    EgressFacts facts;
    facts.caller = {
        .tenant = ask.caller.tenant_id,
        .instance_id = ask.caller.instance_id,
        .platform = ask.bot.platform,
        .has_identity = true};
    facts.chat = facts_of(parts_.state, *thread, ask.caller);
    const EgressVerdict verdict = judge_egress(GetChatInfoAction{thread_id}, facts);
    return verdict == EgressVerdict::allowed ? std::string_view() : to_word(verdict);
}

}  // namespace interlock
