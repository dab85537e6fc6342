// The delivery log: what was asked and what became of it, sending one again, and the connector's
// own messages, which are in it like any other.
#include <algorithm>

#include "base/errors.h"
#include "base/log.h"
#include "relay/service/relay_outbound.h"

namespace interlock {

void RelayOutbound::notify(RelayNotice notice) {
    const auto work = [this, notice](RelayTurn& turn) {
        Ask ask;
        ask.caller.tenant_id = notice.tenant_id;
        ask.principal = "internal:relay";
        ask.is_notice = true;
        ask.bot = notice.bot;
        ask.platform = parts_.platform(notice.bot);
        ask.action = SendAction{
            .chat_id = notice.chat_id,
            .content = notice.text,
            .reply_to = {},
            .metadata = Json::object()};
        ask.chat_id = notice.chat_id;
        ask.thread_id = notice.thread_id;
        ask.received_at = turn.now();
        ask.reply = [bot = notice.bot](const OutboundResult& result) {
            if (!result.success) {
                log_warn(
                    "relay_notice_not_sent",
                    {{"platform", bot.platform}, {"code", result.code}, {"error", result.error}});
            }
        };
        if (ask.platform == nullptr) {
            log_warn("relay_notice_not_sent", {{"platform", notice.bot.platform}});
            return;
        }
        accept(turn, std::move(ask));
    };
    if (!parts_.lane.submit_internal(work)) {
        log_warn("relay_notice_not_sent", {{"platform", notice.bot.platform}});
    }
}

Result<OutboundPage> RelayOutbound::list(const OutboundFilter& filter) {
    const auto count_max =
        static_cast<std::size_t>(std::clamp<std::int64_t>(filter.count_max, 1, kOutboundPageMax));
    OutboundPage page;
    std::string after = filter.after;
    for (std::int64_t seen = 0; seen < kOutboundScanMax;) {
        TRY_ASSIGN(
            const auto rows,
            parts_.state.store().read_rows(OutboundRow::kKind, "", after, kOutboundPageMax));
        for (const RelayRow& stored : rows) {
            after = stored.key;
            ++seen;
            TRY_ASSIGN(OutboundRow row, decode_row<OutboundRow>(stored.json));
            const bool is_wanted =
                (filter.instance_id.empty() || row.instance_id == filter.instance_id) &&
                (filter.state.empty() || row.state == filter.state);
            if (is_wanted) {
                page.rows.push_back(std::move(row));
            }
            if (page.rows.size() == count_max) {
                page.next = after;
                return page;
            }
        }
        if (rows.size() < static_cast<std::size_t>(kOutboundPageMax)) {
            return page;
        }
    }
    page.next = after;
    return page;
}

Result<std::string> RelayOutbound::replay(RelayTurn& turn, OutboundReplay replay) {
    TRY_ASSIGN(
        const OutboundRow* const found,
        parts_.state.outbounds.find(replay.outbound_id, turn.now()));
    if (found == nullptr) {
        return fail(errors::not_found, "there is no such message in the delivery log");
    }
    OutboundRow row = *found;
    if (row.state != "not_sent" && row.state != "unknown") {
        return fail(errors::conflict, "only what was not sent or is unknown can be sent again");
    }
    if (row.action.empty()) {
        return fail(
            errors::conflict,
            "its text is gone: it was sent again already, or too long to be kept");
    }
    TRY_ASSIGN(const Json json, parse_json(row.action));
    TRY_ASSIGN(RelayAction action, decode_action(json));
    Ask ask;
    ask.caller = {row.tenant_id, row.instance_id, {}};
    ask.is_notice = row.instance_id.empty();
    ask.principal = replay.principal;
    ask.bot = {row.platform, row.bot_id};
    ask.platform = parts_.platform(ask.bot);
    ask.action = std::move(action);
    ask.chat_id = row.chat_id;
    ask.replay_of = row.outbound_id;
    ask.received_at = turn.now();
    if (ask.platform == nullptr) {
        return fail(errors::unavailable, "the bot is not configured any more");
    }
    ask.reply = std::move(replay.reply);
    const auto accepted = try_accept(turn, std::move(ask));
    if (!accepted) {
        return fail(errors::forbidden, accepted.error().error);
    }
    row.action.clear();
    parts_.state.outbounds.put(turn, row.outbound_id, row, row.asked_at + kOutboundLife);
    return *accepted;
}

}  // namespace interlock
