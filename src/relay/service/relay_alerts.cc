#include "relay/service/relay_alerts.h"

#include <utility>
#include <vector>

#include "base/log.h"

namespace interlock {
namespace {

std::string word_of(const Json& detail, std::string_view key) {
    const Json* const value = detail.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// "telegram/777"; empty for what is about no bot.
std::string bot_of(const Json& detail) {
    const std::string platform = word_of(detail, "platform");
    const std::string bot_id = word_of(detail, "bot_id");
    return platform.empty() || bot_id.empty() ? std::string() : platform + "/" + bot_id;
}

}  // namespace

void RelayAlerts::begin(Tell tell) {
    tell_ = std::move(tell);
    parts_.lane.set_alert_rule(
        [this](RelayTurn& turn, const AuditRecord& record) { take(turn, record); });
    parts_.lane.add_duty([this](RelayTurn& turn) { sweep(turn); });
}

void RelayAlerts::take(RelayTurn& turn, const AuditRecord& record) {
    const AuditDraft& draft = record.draft;
    const std::string instance_id = word_of(draft.detail, "instance_id");
    const std::string bot = bot_of(draft.detail);
    const std::string key = row_key({draft.tenant_id.text(), draft.event, instance_id, bot});
    const AlertRow* const held = parts_.state.alerts.get(key);
    AlertRow row = held == nullptr ? AlertRow() : *held;
    row.tenant_id = draft.tenant_id;
    row.event = draft.event;
    row.is_failure = draft.status == AuditStatus::failed;
    row.instance_id = instance_id;
    row.bot = bot;
    row.record = audit_id(record);
    row.hash = record.hash;
    ++row.count;
    parts_.state.alerts.put(turn, key, std::move(row));
}

void RelayAlerts::sweep(RelayTurn& turn) {
    const Duration now = parts_.clock.monotonic();
    std::erase_if(next_at_, [&](const auto& pause) { return now >= pause.second; });
    parts_.state.alerts.for_each([&](const std::string& key, const AlertRow& row) {
        if (under_way_.size() >= kAlertsUnderWayMax || under_way_.contains(key) ||
            next_at_.contains(key)) {
            return;
        }
        under_way_.insert(key);
        turn.after([this, key, row](bool is_committed) {
            if (!is_committed) {
                return;  // The lane is lost; the next start tells what the store has.
            }
            tell_(row, [this, key, row](bool is_told) {
                parts_.lane.submit_internal([this, key, row, is_told](RelayTurn& later) {
                    settle(later, key, row, is_told);
                });
            });
        });
    });
}

// Records that came meanwhile stay in the row for the next alert.
void RelayAlerts::settle(
    RelayTurn& turn, const std::string& key, const AlertRow& told, bool is_told) {
    const Duration pause = is_told ? kAlertPause : kAlertRetry;
    under_way_.erase(key);
    next_at_[key] = Duration{parts_.clock.monotonic().microseconds + pause.microseconds};
    const AlertRow* const held = parts_.state.alerts.get(key);
    if (!is_told || held == nullptr) {
        return;
    }
    if (held->hash == told.hash) {
        parts_.state.alerts.erase(turn, key);
        return;
    }
    AlertRow left = *held;
    left.count -= told.count;
    parts_.state.alerts.put(turn, key, std::move(left));
}

TurnRequest relay_alert_turn(const AlertRow& alert, std::function<void(bool)> done) {
    TurnRequest request;
    request.tenant_id = alert.tenant_id;
    request.principal = internal_principal("relay");
    request.function = "tell_relay_alert";
    // The same record always has the same key: told again after a crash, the ledger answers it and
    // makes no second alert.
    request.key = IdempotencyKey::trusted("relay_" + alert.hash);
    request.request_hash = alert.hash;
    request.decide = [alert](Turn& turn) -> Result<TurnReply> {
        AuditDraft draft = turn.draft(alert.event);
        draft.severity = AuditSeverity::critical;
        draft.status = alert.is_failure ? AuditStatus::failed : AuditStatus::passed;
        draft.reason = "The relay's record " + alert.record + " says what happened.";
        draft.detail = Json::object({{"record", "relay:" + alert.record}, {"count", alert.count}});
        if (!alert.instance_id.empty()) {
            draft.detail.set("instance_id", alert.instance_id);
        }
        if (!alert.bot.empty()) {
            draft.detail.set("bot", alert.bot);
        }
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    request.reply = [event = alert.event, done = std::move(done)](const Result<Answer>& answer) {
        if (!answer) {
            log_warn("relay_alert_not_told", {{"event", event}, {"error", answer.error().code()}});
        }
        done(answer.has_value());
    };
    return request;
}

}  // namespace interlock
