// What gateways ask of chats: on the record before it leaves (I1), never twice (I4), only where the
// egress guard allows it, and answered exactly once in time.
#include <algorithm>

#include "base/check.h"
#include "base/crypto.h"
#include "relay/wire/action_target.h"
#include "sim/relay_watch.h"

namespace interlock::sim {
namespace {

// docs/contracts/relay-connector.md#sending
constexpr Duration kAnswerWithin = Duration::of_seconds(25);
constexpr std::size_t kNonceLength = 24;

bool is_quiet(std::string_view op) {
    return op == "typing" || op == "get_chat_info";
}

std::string content_of(const RelayAction& action) {
    return std::visit(
        [](const auto& held) -> std::string {
            if constexpr (requires { held.content; }) {
                return held.content;
            } else {
                return {};
            }
        },
        action);
}

}  // namespace

std::string token_of(std::string_view content) {
    return std::string(content.substr(0, content.find(' ')));
}

void RelayWatch::on_request(const std::string& request_id, RelayRequestFacts request) {
    ++counts.requests;
    if (!request.token.empty()) {
        by_token_[request.token].insert(request_id);
        refused_tokens_.erase(request.token);  // Asked for anew.
    }
    requests_.emplace(request_id, std::move(request));
}

void RelayWatch::judge_request(const std::string& request_id) {
    const auto found = requests_.find(request_id);
    if (found != requests_.end()) {
        RelayRequestFacts& request = found->second;
        const BotKey& bot = request.bot;
        const std::string& chat_id = request.chat_id;
        request.was_allowed =
            request.was_allowed || oracle.may_reach(request.instance_id, bot, chat_id);
        request.was_due = request.is_plain && oracle.must_reach(request.instance_id, bot, chat_id);
    }
}

void RelayWatch::on_result(const RelaySocketFacts& socket, const OutboundResultFrame& frame) {
    const auto found = requests_.find(frame.request_id);
    if (found == requests_.end() || found->second.socket != socket.number) {
        report("reply", frame.request_id + " was answered to somebody who has not asked");
        return;
    }
    const RelayRequestFacts& request = found->second;
    if (++answers_[frame.request_id] > 1) {
        report("reply", frame.request_id + " was answered twice");
        return;
    }
    ++answered_;
    const OutboundResult& result = frame.result;
    counts.declined += result.code == "egress_declined" ? 1 : 0;
    if (result.success && is_quiet(request.op) && !request.was_allowed &&
        !oracle.may_reach(request.instance_id, request.bot, request.chat_id)) {
        report("egress", request.instance_id + " was told of " + request.chat_id);
    }
    if (request.was_due && result.code == "egress_declined") {
        report("egress", request.instance_id + " was kept from its own chat " + request.chat_id);
    }
    // Others under the same key may still be on their way.
    if (!result.success && !result.ambiguous && by_token_[request.token].size() == 1) {
        refused_tokens_.insert(request.token);
    }
}

void RelayWatch::socket_over(std::uint64_t number) {
    idle_asked_.erase(number);
    std::erase_if(requests_, [&](const auto& item) {
        if (item.second.socket != number) {
            return false;
        }
        answered_ -= answers_.contains(item.first) ? 1 : 0;
        return true;
    });
}

void RelayWatch::check_answers() {
    for (const auto& [request_id, request] : requests_) {
        if (!answers_.contains(request_id) && parts_.clock.now() > request.at + kAnswerWithin) {
            report("reply", request_id + " was not answered within 25 seconds");
        }
    }
}

// After a crash nobody knows whether it is there; who asked for it may take it away.
void RelayWatch::note_doubtful_reaction(const OutboundRow& row) {
    const auto json = parse_json(row.action);
    const auto action = json ? decode_action(*json) : std::unexpected(json.error());
    const auto* const react = action ? std::get_if<ReactAction>(&*action) : nullptr;
    if (row.state == "unknown" && react != nullptr && !react->remove) {
        oracle.note_reaction({row.platform, row.bot_id}, *react, row.instance_id);
    }
}

void RelayWatch::on_outbound_row(const RelayRowWrite& write) {
    if (write.kind != OutboundRow::kKind || !write.json) {
        return;
    }
    OutboundRow row = decode_row<OutboundRow>(*write.json).value();
    const auto found = sends_.find(write.key);
    if (found != sends_.end()) {
        if (found->second.row.state == "sent" && row.state != "sent") {
            report("I4", write.key + " was sent and is no longer said to be");
        }
        note_doubtful_reaction(row);
        found->second.row = std::move(row);
        return;
    }
    const BotKey bot{row.platform, row.bot_id};
    if (!oracle.may_reach(row.instance_id, bot, row.chat_id)) {
        report("egress", row.instance_id + " may act on " + row.chat_id + " of " + row.platform);
    }
    for (int piece = 0; piece < 4; ++piece) {
        nonces_[sha256_hex(write.key + "/" + std::to_string(piece)).substr(0, kNonceLength)] =
            write.key;
    }
    sends_[write.key] = Send{std::move(row), std::nullopt};
}

void RelayWatch::on_call(const BotKey& bot, const PlatformCall& call) {
    ++counts.calls;
    if (is_quiet(op_of(call.action))) {
        check_quiet_call(bot, call);
        return;
    }
    const auto nonce = nonces_.find(call.nonce);
    if (nonce == nonces_.end()) {
        report("I1", content_of(call.action) + " left before its record was committed");
        return;
    }
    check_send(bot, call, sends_.at(nonce->second));
}

void RelayWatch::check_send(const BotKey& bot, const PlatformCall& call, const Send& send) {
    const OutboundRow& row = send.row;
    const std::string chat_id = chat_of(call.action);
    if (send.outcome && *send.outcome != CallOutcome::not_sent) {
        report("I4", row.outbound_id + " was sent again by itself");
    }
    if (row.state != "pending") {
        report("I4", row.outbound_id + " left after it was settled as " + row.state);
    }
    if (refused_tokens_.contains(token_of(content_of(call.action)))) {
        report("I4", row.outbound_id + " left after its failure was answered");
    }
    if (chat_id != row.chat_id || bot != BotKey{row.platform, row.bot_id}) {
        report("egress", row.outbound_id + " went to " + chat_id + " and not where it was allowed");
    }
    if (const auto* const edit = std::get_if<EditAction>(&call.action);
        edit != nullptr && oracle.sender_of(bot, edit->message_id) != row.instance_id) {
        report("egress", row.instance_id + " edits a message that it has not sent");
    }
    if (const auto* const react = std::get_if<ReactAction>(&call.action);
        react != nullptr && !react->remove) {
        oracle.note_reaction(bot, *react, row.instance_id);
    } else if (
        react != nullptr && oracle.sender_of(bot, react->message_id) != row.instance_id &&
        !oracle.has_reacted(bot, *react, row.instance_id)) {
        report("egress", row.instance_id + " takes away a reaction that it has not put");
    }
    if (!call.thread_id.empty()) {
        const RelayChat* const thread = parts_.cast.chat(bot, call.thread_id);
        if (thread == nullptr || thread->parent != chat_id) {
            report("egress", row.outbound_id + " went to a thread of another chat");
        }
    }
    const std::string capability(call.capability.reveal());
    if (!capability.empty()) {
        const auto mail = parts_.mails.find(capability.substr(kRelayCapability.size()));
        if (mail == parts_.mails.end() || parts_.cast.chats[mail->second.chat].chat_id != chat_id ||
            tenants_[mail->second.event_key] != row.tenant_id) {
            report("I7", row.outbound_id + " answers with the capability of another chat");
        }
    }
}

// These leave no record; whoever asked must have been allowed to.
void RelayWatch::check_quiet_call(const BotKey& bot, const PlatformCall& call) {
    const std::string chat_id = chat_of(call.action);
    const bool is_allowed = std::ranges::any_of(requests_, [&](const auto& item) {
        const RelayRequestFacts& request = item.second;
        return request.op == op_of(call.action) && request.chat_id == chat_id &&
               request.bot == bot &&
               (request.was_allowed || oracle.may_reach(request.instance_id, bot, chat_id));
    });
    // The one who asked may be gone; then it is enough that somebody may be there.
    const bool is_anybodys = std::ranges::any_of(parts_.cast.members, [&](const auto& member) {
        return oracle.may_reach(member.instance_id, bot, chat_id);
    });
    if (!is_allowed && !is_anybodys) {
        report("egress", std::string(op_of(call.action)) + " reached " + chat_id);
    }
}

void RelayWatch::on_outcome(
    const BotKey& bot, const PlatformCall& call, const PlatformReply& reply) {
    const auto nonce = nonces_.find(call.nonce);
    if (nonce == nonces_.end()) {
        return;
    }
    Send& send = sends_.at(nonce->second);
    send.outcome = reply.outcome;
    counts.unknown += reply.outcome == CallOutcome::unknown ? 1 : 0;
    if (reply.outcome == CallOutcome::sent && !reply.message_id.empty() &&
        std::holds_alternative<SendAction>(call.action)) {
        oracle.note_sent(bot, reply.message_id, send.row.instance_id);
    }
}

}  // namespace interlock::sim
