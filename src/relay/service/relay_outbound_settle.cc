// What became of an order: its row, the record, what was sent, and the one answer.
#include <algorithm>

#include "base/log.h"
#include "codec/json_list.h"
#include "relay/service/relay_outbound.h"
#include "relay/service/relay_pieces.h"

namespace interlock {
namespace {

std::string_view state_word(CallOutcome outcome) {
    switch (outcome) {
        case CallOutcome::sent:
            return "sent";
        case CallOutcome::not_sent:
            return "not_sent";
        case CallOutcome::unknown:
            break;
    }
    return "unknown";
}

std::string_view event_word(CallOutcome outcome) {
    switch (outcome) {
        case CallOutcome::sent:
            return "RELAY_OUTBOUND_SENT";
        case CallOutcome::not_sent:
            return "RELAY_OUTBOUND_NOT_SENT";
        case CallOutcome::unknown:
            break;
    }
    return "RELAY_OUTBOUND_UNKNOWN";
}

// Before the outcome is known. Once the gate is closed nothing further can leave.
OutboundResult answer_without_outcome(EgressGate::Closed closed) {
    if (!closed.was_calling && !closed.may_have_sent) {
        return outbound_failure("timed_out", "the message waited too long and was not sent");
    }
    OutboundResult result;
    result.ambiguous = true;
    result.error = "the platform has not answered in time";
    return result;
}

// A prompt is where its buttons are.
std::string message_of(const EgressReport& report, bool is_prompt) {
    if (report.message_ids.empty()) {
        return {};
    }
    return is_prompt ? report.message_ids.back() : report.message_ids.front();
}

}  // namespace

OutboundResult result_of(const EgressReport& report) {
    OutboundResult result;
    result.success = report.outcome == CallOutcome::sent;
    result.ambiguous = report.outcome == CallOutcome::unknown;
    result.message_id = message_of(report, false);
    if (result.success) {
        result.thread_id = report.last.thread_id;
        result.chat_info = report.last.chat_info;
        return result;
    }
    result.code = report.last.code;
    result.error = report.last.error.empty() ? "the platform did not take it" : report.last.error;
    return result;
}

Json outbound_detail(const OutboundRow& row) {
    return Json::object(
        {{"outbound_id", row.outbound_id},
         {"instance_id", row.instance_id},
         {"platform", row.platform},
         {"bot_id", row.bot_id},
         {"chat_id", row.chat_id},
         {"op", row.op}});
}

void RelayOutbound::finished(RelayTurn& turn, const std::string& id, const EgressReport& report) {
    const auto found = pending_.find(id);
    if (found != pending_.end() && !found->second.is_recorded) {
        OutboundResult result = result_of(report);
        result.ambiguous = false;
        if (found->second.op == "get_chat_info" && !result.chat_info) {
            result = OutboundResult{};
            result.success = found->second.known_chat.has_value();
            result.chat_info = found->second.known_chat;
        }
        turn.after([this, id, result](bool) { answer(id, result); });
        return;
    }
    const auto row = parts_.state.outbounds.find(id, turn.now());
    if (!row || *row == nullptr) {
        log_warn("relay_outbound_row_missing", {{"outbound_id", id}});
        turn.after([this, id, result = result_of(report)](bool) { answer(id, result); });
        return;
    }
    settle(turn, **row, report);
}

void RelayOutbound::settle(RelayTurn& turn, OutboundRow row, const EgressReport& report) {
    OutboundResult result = result_of(report);
    if (row.op == "prompt") {
        result.message_id = message_of(report, true);
        note_prompt(turn, row, report);
    }
    note_sent(turn, row, report);
    row.state = state_word(report.outcome);
    row.result = to_text(encode(result));
    row.message_ids = report.message_ids;
    row.settled_at = turn.now();
    if (report.outcome == CallOutcome::sent) {
        row.action.clear();
    }
    AuditDraft draft =
        relay_draft(row.tenant_id, std::string(event_word(report.outcome)), "internal:relay");
    draft.status = report.outcome == CallOutcome::sent ? AuditStatus::passed : AuditStatus::failed;
    draft.reason = report.last.code;
    draft.detail = outbound_detail(row);
    draft.detail.set("message_ids", json_list(row.message_ids));
    turn.audit(std::move(draft));
    count(
        report.outcome == CallOutcome::sent       ? sent
        : report.outcome == CallOutcome::not_sent ? not_sent
                                                  : unknown);
    const std::string id = row.outbound_id;
    turn.rows().rows.push_back(
        {std::string(kOutboundOpenKind), id, std::nullopt, std::nullopt, false});
    parts_.state.outbounds.put(turn, id, std::move(row), turn.now() + kOutboundLife);
    turn.after([this, id, result](bool is_committed) {
        if (is_committed) {
            answer(id, result);
        }
    });
}

void RelayOutbound::note_prompt(
    RelayTurn& turn, const OutboundRow& row, const EgressReport& report) {
    const auto found = pending_.find(row.outbound_id);
    if (found == pending_.end()) {
        return;  // After a restart it may be there or not: it stays open until its time is over.
    }
    const PromptPlace place{{row.platform, row.bot_id}, row.chat_id, found->second.prompt_id};
    if (report.outcome == CallOutcome::sent) {
        parts_.prompts.set_message(turn, place, message_of(report, true));
    } else if (report.outcome == CallOutcome::not_sent) {
        parts_.prompts.withdraw(turn, place);
    }
}

// Who sent a message is who may change it.
void RelayOutbound::note_sent(RelayTurn& turn, const OutboundRow& row, const EgressReport& report) {
    if (row.op == "react") {
        note_reaction(turn, row, report.outcome);
    }
    if (row.instance_id.empty() || row.op == "edit" || row.op == "react") {
        return;
    }
    for (const std::string& message_id : report.message_ids) {
        if (!message_id.empty()) {
            parts_.state.sent.put(
                turn,
                row_key({row.platform, row.bot_id, row.chat_id, message_id}),
                {row.instance_id, row.outbound_id},
                turn.now() + kSentLife);
        }
    }
    if (row.op == "thread_create" && !report.last.thread_id.empty()) {
        note_thread(turn, row, report.last.thread_id);
    }
}

// Who put a reaction there is who may take it away; one that may be there counts as there.
void RelayOutbound::note_reaction(RelayTurn& turn, const OutboundRow& row, CallOutcome outcome) {
    const auto json = parse_json(row.action);
    const auto action = json ? decode_action(*json) : std::unexpected(json.error());
    const auto* const react = action ? std::get_if<ReactAction>(&*action) : nullptr;
    if (react == nullptr || outcome == CallOutcome::not_sent) {
        return;
    }
    const std::string key = reaction_key({row.platform, row.bot_id}, row.instance_id, *react);
    if (!react->remove) {
        parts_.state.sent.put(
            turn, key, {row.instance_id, row.outbound_id}, turn.now() + kReactionLife);
    } else if (outcome == CallOutcome::sent) {
        parts_.state.sent.erase(turn, key);
    }
}

// A thread of ours is a chat of its own on some platforms, and its maker may speak there.
void RelayOutbound::note_thread(
    RelayTurn& turn, const OutboundRow& row, const std::string& thread_id) {
    const BotKey bot{row.platform, row.bot_id};
    parts_.state.sent.put(
        turn,
        row_key({row.platform, row.bot_id, row.chat_id, thread_id}),
        {row.instance_id, row.outbound_id},
        turn.now() + kSentLife);
    const std::optional<ChatRow> parent = find_chat(bot, row.chat_id, turn.now());
    if (!parent || parent->chat_type == "forum" || find_chat(bot, thread_id, turn.now())) {
        return;
    }
    ChatRow thread = *parent;
    thread.chat_id = thread_id;
    thread.parent_chat_id = row.chat_id;
    thread.guild_id = parent->guild_id.empty() ? row.chat_id : parent->guild_id;
    thread.chat_type = "thread";
    thread.name.clear();
    thread.delivered_to = {row.instance_id};
    parts_.state.chats.put(turn, row_key({row.platform, row.bot_id, thread_id}), std::move(thread));
}

// On the lane, outside a turn: after a commit, or when the lane is lost.
void RelayOutbound::answer(const std::string& id, const OutboundResult& result) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) {
        return;
    }
    const std::vector<Waiter> waiters = std::move(found->second.waiters);
    forget(id);
    for (const Waiter& waiter : waiters) {
        waiter.reply(result);
    }
}

void RelayOutbound::forget(const std::string& id) {
    const auto found = pending_.find(id);
    const auto release = [](auto& counts, const auto& key) {
        const auto at = counts.find(key);
        if (--at->second == 0) {
            counts.erase(at);
        }
    };
    release(per_instance_, found->second.counted_as);
    release(per_tenant_, std::pair(found->second.bot, found->second.tenant_id));
    release(per_bot_, found->second.bot);
    pending_.erase(found);
}

void RelayOutbound::sweep(RelayTurn& turn) {
    declined_lines_ = 0;
    parts_.vault.sweep(turn.now());
    parts_.media.sweep(turn);
    const Duration now = parts_.clock.monotonic();
    std::vector<std::string> given_up;
    for (auto& [id, pending] : pending_) {
        const auto overdue = std::ranges::stable_partition(
            pending.waiters, [now](const Waiter& waiter) { return now < waiter.answer_by; });
        if (!overdue.empty()) {
            count(late);
            const OutboundResult result = answer_without_outcome(pending.order->gate.close());
            for (const Waiter& waiter : overdue) {
                waiter.reply(result);
            }
            pending.waiters.erase(overdue.begin(), overdue.end());
        }
        if (pending.give_up_at <= now) {
            pending.order->gate.close();
            given_up.push_back(id);
        }
    }
    for (const std::string& id : given_up) {
        EgressReport report;
        report.outcome = CallOutcome::unknown;
        report.last.code = "timed_out";
        report.last.error = "the platform has never answered";
        finished(turn, id, report);
    }
}

void RelayOutbound::lose() {
    while (!pending_.empty()) {
        const auto& [id, pending] = *pending_.begin();
        const EgressGate::Closed closed = pending.order->gate.close();
        OutboundResult result = answer_without_outcome(closed);
        if (!result.ambiguous) {
            result = outbound_failure("unavailable", "the relay's store failed");
        }
        answer(std::string(id), result);
    }
}

Result<void> RelayOutbound::recover(RelayTurn& turn) {
    EgressReport report;
    report.outcome = CallOutcome::unknown;
    report.last.code = "restarted";
    report.last.error = "the connector stopped before the platform's answer was recorded";
    std::string after;
    while (true) {
        TRY_ASSIGN(
            const auto page,
            parts_.state.store().read_rows(kOutboundOpenKind, "", after, kRelayRowsPage));
        for (const RelayRow& open : page) {
            after = open.key;
            if (pending_.contains(open.key)) {
                continue;
            }
            TRY_ASSIGN(
                const OutboundRow* const row, parts_.state.outbounds.find(open.key, turn.now()));
            if (row != nullptr && row->state == "pending") {
                settle(turn, *row, report);
            } else {
                turn.rows().rows.push_back(
                    {std::string(kOutboundOpenKind), open.key, std::nullopt, std::nullopt, false});
            }
        }
        if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
            return {};
        }
    }
}

}  // namespace interlock
