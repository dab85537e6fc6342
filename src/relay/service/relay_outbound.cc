#include "relay/service/relay_outbound.h"

#include <algorithm>

#include "base/crypto.h"
#include "base/errors.h"
#include "base/log.h"
#include "relay/service/relay_pieces.h"

namespace interlock {
namespace {

constexpr std::size_t kNonceLength = 24;

// typing and get_chat_info change nothing.
bool leaves_record(const RelayAction& action) {
    return !std::holds_alternative<TypingAction>(action) &&
           !std::holds_alternative<GetChatInfoAction>(action);
}

// Newest first when read in the order of keys.
std::string id_at(IdSource& ids, Timestamp now) {
    constexpr std::int64_t kEnd = 9'999'999'999'999'999;
    std::string digits = std::to_string(kEnd - now.microseconds);
    digits.insert(0, 16 - std::min<std::size_t>(16, digits.size()), '0');
    return ids.new_id("out_" + digits);
}

std::size_t count_of(const auto& counts, const auto& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
}

// The same action by another bot is not the same.
std::string key_digest(const BotKey& bot, const std::string& action) {
    return sha256_hex(row_key({bot.platform, bot.bot_id}) + "\n" + action);
}

// Whose bound of kOutboundPerInstanceMax it counts in: the connector's own words are of no
// instance, and what people make one bot say silences no other.
std::string counted_as(const std::string& instance_id, const BotKey& bot) {
    return instance_id.empty() ? row_key({"", bot.platform, bot.bot_id}) : instance_id;
}

OutboundResult unavailable_result() {
    return outbound_failure("unavailable", "the relay's store failed and nothing was sent");
}

}  // namespace

RelayOutbound::RelayOutbound(Parts parts) : parts_(std::move(parts)) {
    parts_.lane.add_duty([this](RelayTurn& turn) { sweep(turn); });
    parts_.lane.on_lost([this](const Error&) { lose(); });
}

RelayOutbound::Counters RelayOutbound::counters() const {
    const auto of = [this](Count what) { return counts_[what].load(std::memory_order_relaxed); };
    return {of(asked), of(declined), of(overloaded), of(sent), of(not_sent), of(unknown), of(late)};
}

// Answers after the commit, because a refusal may rest on what its batch has not committed yet.
void RelayOutbound::refuse(RelayTurn& turn, const OutboundReply& reply, OutboundResult result) {
    if (!reply) {
        return;
    }
    turn.after([reply, result = std::move(result)](bool is_committed) {
        reply(is_committed ? result : unavailable_result());
    });
}

void RelayOutbound::handle(RelayTurn& turn, OutboundRequest request) {
    Ask ask;
    ask.caller = request.caller;
    ask.principal = "gateway:" + request.caller.gateway_id;
    ask.action = request.frame.action;
    ask.received_at = request.received_at;
    ask.reply = std::move(request.reply);
    if (std::holds_alternative<UnknownAction>(ask.action)) {
        refuse(turn, ask.reply, outbound_failure("unsupported", "this op is not known here"));
        return;
    }
    const std::optional<BotKey> bot = choose_bot(request, turn.now());
    ask.bot = bot.value_or(BotKey{request.frame.platform, request.frame.bot_id});
    ask.platform = bot ? parts_.platform(*bot) : nullptr;
    if (ask.platform == nullptr && !std::holds_alternative<FollowUpAction>(ask.action)) {
        refuse(turn, ask.reply, *decline(ask, to_word(EgressVerdict::no_identity)));
        return;
    }
    accept(turn, std::move(ask));
}

void RelayOutbound::accept(RelayTurn& turn, Ask ask) {
    if (leaves_record(ask.action) && answer_by_key(turn, ask)) {
        return;
    }
    const OutboundReply reply = ask.reply;
    if (auto accepted = try_accept(turn, std::move(ask)); !accepted) {
        refuse(turn, reply, std::move(accepted).error());
    }
}

// Gives the id of the send. A refusal changes nothing and answers nobody.
std::expected<std::string, OutboundResult> RelayOutbound::try_accept(RelayTurn& turn, Ask ask) {
    auto order = std::make_shared<EgressOrder>();
    Refusal refusal = check_room(ask, turn.now());
    if (!refusal && !ask.is_notice) {
        refusal = find_target(turn, ask);
    }
    if (!refusal) {
        refusal = prepare(turn, ask, *order);
    }
    if (refusal) {
        return std::unexpected(*std::move(refusal));
    }
    const std::string id = leaves_record(ask.action)
                               ? record(turn, ask)
                               : "unrecorded_" + std::to_string(++unrecorded_);
    for (std::size_t i = 0; i < order->calls.size(); ++i) {
        order->calls[i].nonce = sha256_hex(id + "/" + std::to_string(i)).substr(0, kNonceLength);
    }
    await(turn, std::move(ask), id, std::move(order));
    return id;
}

// True: it was answered, or will be with the one that has the same key.
bool RelayOutbound::answer_by_key(RelayTurn& turn, Ask& ask) {
    ask.key = metadata_text(ask.action, "idempotency_key");
    if (ask.key.empty()) {
        return false;
    }
    if (length_in(ask.key, LengthUnit::code_points) > kIdempotencyKeyMax) {
        refuse(
            turn,
            ask.reply,
            outbound_failure("invalid_request", "idempotency_key has 1 to 128 characters"));
        return true;
    }
    const std::string digest = key_digest(ask.bot, to_text(encode(ask.action)));
    const std::string key = row_key({ask.caller.instance_id, ask.key});
    const auto held = parts_.state.outbound_keys.find(key, turn.now());
    if (!held) {
        refuse(turn, ask.reply, unavailable_result());
        return true;
    }
    if (*held == nullptr) {
        return false;
    }
    if ((*held)->digest != digest) {
        refuse(
            turn,
            ask.reply,
            outbound_failure("idempotency_key_conflict", "this key was used for something else"));
        return true;
    }
    const std::string id = (*held)->outbound_id;
    if (const auto waiting = pending_.find(id); waiting != pending_.end()) {
        if (waiting->second.waiters.size() >= kOutboundWaitersMax) {
            count(overloaded);
            refuse(turn, ask.reply, outbound_failure("overloaded", "too many wait for this key"));
            return true;
        }
        waiting->second.waiters.push_back({ask.reply, answer_time(ask.received_at, turn.now())});
        return true;
    }
    OutboundResult result;
    result.ambiguous = true;
    result.error = "what became of it is not known";
    const auto row = parts_.state.outbounds.find(id, turn.now());
    if (row && *row != nullptr && !(*row)->result.empty()) {
        const auto json = parse_json((*row)->result);
        const auto told = json ? decode_outbound_result(*json) : std::unexpected(json.error());
        result = told ? *told : result;
    }
    refuse(turn, ask.reply, std::move(result));
    return true;
}

Duration RelayOutbound::answer_time(Timestamp received_at, Timestamp now) {
    const std::int64_t waited = std::clamp<std::int64_t>(
        (now - received_at).microseconds, 0, kOutboundAnswerAt.microseconds);
    return {parts_.clock.monotonic().microseconds + kOutboundAnswerAt.microseconds - waited};
}

RelayOutbound::Refusal RelayOutbound::check_room(const Ask& ask, Timestamp now) {
    if (now > ask.received_at + kOutboundBeginWithin) {
        return outbound_failure("timed_out", "the request waited too long and was not sent");
    }
    const std::size_t of_bot = count_of(per_bot_, ask.bot);
    const std::size_t of_tenant = count_of(per_tenant_, std::pair(ask.bot, ask.caller.tenant_id));
    if (count_of(per_instance_, counted_as(ask.caller.instance_id, ask.bot)) <
            kOutboundPerInstanceMax &&
        of_tenant < kOutboundPerTenantMax &&
        of_bot < (of_tenant < kOutboundTenantFloor ? kOutboundPerBotHardMax : kOutboundPerBotMax)) {
        return std::nullopt;
    }
    count(overloaded);
    return outbound_failure("overloaded", "too many requests wait; send it again later");
}

// Changes nothing before everything is known to be right.
RelayOutbound::Refusal RelayOutbound::prepare(RelayTurn& turn, Ask& ask, EgressOrder& order) {
    auto calls = make_calls(ask.action, ask.chat_id, split_rule_of(*ask.platform));
    if (!calls) {
        return calls.error();
    }
    if (const auto* const media = std::get_if<SendMediaAction>(&ask.action)) {
        auto source = parts_.media.resolve(ask.caller, media->source_url, turn.now());
        if (!source) {
            return source.error();
        }
        ask.media = *std::move(source);
    }
    if (const auto* const prompt = std::get_if<PromptAction>(&ask.action)) {
        const auto opened = parts_.prompts.open(turn, ask.bot, ask.caller, *prompt);
        if (!opened) {
            const bool is_open = opened.error() == errors::conflict;
            return outbound_failure(
                is_open ? "prompt_open" : "invalid_request", opened.error().message);
        }
    }
    order.platform = ask.platform;
    order.calls = *std::move(calls);
    order.not_after = ask.received_at + kOutboundBeginWithin;
    for (PlatformCall& call : order.calls) {
        call.thread_id = ask.thread_id;
        call.not_after = order.not_after;
        if (ask.capability) {
            call.capability_kind = ask.capability->kind;
            call.capability = ask.capability->value.clone();
        }
    }
    if (ask.capability && ask.capability->is_open) {
        order.calls.front().edits_original = true;
        parts_.vault.close_deferred(
            turn, {ask.caller.instance_id, ask.bot, ask.chat_id}, ask.capability->group);
    }
    // A follow_up names the capability that it wants; anything else only happens to find one.
    order.falls_back = ask.capability && !std::holds_alternative<FollowUpAction>(ask.action);
    if (!ask.media.media_id.empty()) {
        order.calls.front().media_type = ask.media.content_type;
        auto& action = std::get<SendMediaAction>(order.calls.front().action);
        action.filename = action.filename.empty() ? ask.media.filename : action.filename;
        order.load_media = [&media = parts_.media, id = ask.media.media_id] {
            return media.read(id);
        };
    }
    return std::nullopt;
}

std::string RelayOutbound::record(RelayTurn& turn, const Ask& ask) {
    const std::string id = id_at(parts_.ids, turn.now());
    const std::string text = to_text(encode(ask.action));
    OutboundRow row;
    row.outbound_id = id;
    row.tenant_id = ask.caller.tenant_id;
    row.instance_id = ask.caller.instance_id;
    row.platform = ask.bot.platform;
    row.bot_id = ask.bot.bot_id;
    row.chat_id = ask.chat_id;
    row.op = op_of(ask.action);
    row.action = text.size() <= kOutboundTextKeptMax ? text : "";
    row.digest = sha256_hex(text);
    row.state = "pending";
    row.replay_of = ask.replay_of;
    row.asked_at = turn.now();
    AuditDraft draft = relay_draft(row.tenant_id, "RELAY_OUTBOUND_ASKED", ask.principal);
    draft.status = AuditStatus::started;
    draft.detail = outbound_detail(row);
    draft.detail.set("digest", row.digest);
    if (!row.replay_of.empty()) {
        draft.detail.set("replay_of", row.replay_of);
    }
    turn.audit(std::move(draft));
    turn.rows().rows.push_back({std::string(kOutboundOpenKind), id, "{}", std::nullopt, false});
    parts_.state.outbounds.put(turn, id, std::move(row), turn.now() + kOutboundLife);
    if (!ask.key.empty()) {
        parts_.state.outbound_keys.put(
            turn,
            row_key({ask.caller.instance_id, ask.key}),
            {id, key_digest(ask.bot, text)},
            turn.now() + kIdempotencyLife);
    }
    count(asked);
    return id;
}

void RelayOutbound::await(
    RelayTurn& turn, Ask ask, const std::string& id, std::shared_ptr<EgressOrder> order) {
    Pending pending;
    pending.tenant_id = ask.caller.tenant_id;
    pending.instance_id = ask.caller.instance_id;
    pending.bot = ask.bot;
    pending.chat_id = ask.chat_id;
    pending.op = op_of(ask.action);
    pending.is_recorded = leaves_record(ask.action);
    pending.order = std::move(order);
    if (const auto* const prompt = std::get_if<PromptAction>(&ask.action)) {
        pending.prompt_id = prompt->prompt_id;
    }
    if (ask.chat) {
        const ChatRow& chat = *ask.chat;
        pending.known_chat = ChatInfo{
            chat.name.empty() ? chat.chat_id : chat.name,
            chat.chat_type.empty() ? (chat.is_dm ? "dm" : "channel") : chat.chat_type};
    }
    if (ask.reply) {
        pending.waiters.push_back({std::move(ask.reply), answer_time(ask.received_at, turn.now())});
    }
    pending.give_up_at = {
        parts_.clock.monotonic().microseconds + kOutboundGivenUpAfter.microseconds};
    pending.counted_as = counted_as(pending.instance_id, pending.bot);
    ++per_instance_[pending.counted_as];
    ++per_tenant_[{pending.bot, pending.tenant_id}];
    ++per_bot_[pending.bot];
    pending_.emplace(id, std::move(pending));
    turn.after([this, id](bool is_committed) {
        // A lost lane has answered everybody already.
        if (is_committed) {
            dispatch(id);
        }
    });
}

// I1: only here, after the commit, can anything leave.
void RelayOutbound::dispatch(const std::string& id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) {
        return;
    }
    const std::shared_ptr<EgressOrder> order = found->second.order;
    const auto report_back = [this, id](std::shared_ptr<EgressReport> report) {
        const bool is_taken = parts_.lane.submit_internal(
            [this, id, report](RelayTurn& turn) { finished(turn, id, *report); });
        if (!is_taken) {
            log_warn("relay_outcome_not_recorded", {{"outbound_id", id}});
        }
    };
    const auto job = [this, order, report_back] {
        if (parts_.egress.is_stopping()) {
            order->gate.close();
        }
        report_back(std::make_shared<EgressReport>(run_order(
            *order, parts_.clock, [this](Duration span) { return parts_.egress.pause(span); })));
    };
    const RelayEgress::Place place{
        .bot = found->second.bot,
        .tenant_id = found->second.tenant_id,
        .instance_id = found->second.instance_id,
        .chat_id = found->second.chat_id};
    if (!parts_.egress.submit(place, job)) {
        order->gate.close();
        auto report = std::make_shared<EgressReport>();
        report->last.code = "overloaded";
        report->last.error = "too many messages wait for this bot";
        report_back(std::move(report));
    }
}

}  // namespace interlock
