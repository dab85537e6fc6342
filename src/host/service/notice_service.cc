// The part of the service that takes notices in and gets them out.
#include "host/service/notice_service.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/log.h"
#include "engine/rules/notice_rules.h"
#include "host/rules/notice_letter.h"
#include "host/rules/recovery_policy.h"

namespace interlock {
namespace {

constexpr std::string_view kNoticeTimer = "notices";

TimerId notice_timer(const TenantId& tenant_id) {
    return TimerId::trusted("notices_" + tenant_id.text());
}

std::int64_t waiting_in(const NoticeRow& row) {
    std::int64_t waiting = row.noted.all - row.routed.all;
    for (const NoticeOutlet& outlet : row.outlets) {
        waiting += waiting_of(row, outlet);
    }
    return waiting;
}

}  // namespace

NoticeService::NoticeService(Parts parts) : parts_(std::move(parts)) {
    parts_.runner.set_notice_rule(*this);
    parts_.runner.on_timer(std::string(kNoticeTimer), [this](Turn& turn, const TimerItem& timer) {
        return on_timer(turn, timer.tenant_id);
    });
}

Result<void> NoticeService::open() {
    TRY_ASSIGN(const auto rows, parts_.runner.stored_states(std::string(kNoticePrefix)));
    for (const auto& [key, state] : rows) {
        TRY_ASSIGN(const Json json, parse_json(state.json));
        const auto row = decode_notice_row(json);
        const std::int64_t waiting = row ? waiting_in(*row) : 0;
        if (waiting > 0) {
            waiting_[TenantId::trusted(key.substr(kNoticePrefix.size()))] = waiting;
            counters_.waiting += waiting;
        }
    }
    return {};
}

TurnRequest NoticeService::turn_of(Caller caller, std::string function) const {
    TurnRequest request;
    request.principal = std::move(caller.principal);
    request.tenant_id = std::move(caller.tenant_id);
    request.function = std::move(function);
    return request;
}

// A row that cannot be read is begun anew: it is no reason not to stop somebody, or not to tell
// the next notice.
NoticeRow NoticeService::load_row(Turn& turn, const TenantId& tenant_id) const {
    const auto row = turn.load_as<NoticeRow>(notice_machine(tenant_id), decode_notice_row);
    if (!row) {
        log_error(
            "notices_unreadable",
            {{"tenant_id", tenant_id.text()}, {"message", row.error().message}});
        return {};
    }
    return *row ? **row : NoticeRow{};
}

void NoticeService::save_row(Turn& turn, const TenantId& tenant_id, NoticeRow row) {
    const std::int64_t waiting = waiting_in(row);
    if (row.wake_at) {
        turn.set_timer(
            {.timer_id = notice_timer(tenant_id),
             .tenant_id = tenant_id,
             .kind = std::string(kNoticeTimer),
             .json = "{}",
             .due_at = *row.wake_at});
    } else {
        turn.clear_timer(notice_timer(tenant_id));
    }
    turn.save_as(notice_machine(tenant_id), std::make_shared<const NoticeRow>(std::move(row)));
    turn.after_commit([this, tenant_id, waiting] {
        counters_.waiting += waiting - std::exchange(waiting_[tenant_id], waiting);
        if (waiting == 0) {
            waiting_.erase(tenant_id);
        }
    });
}

void NoticeService::tell(Turn& turn, std::vector<Notice> notices) {
    for (Notice& notice : notices) {
        if (concerns_host(notice) && notice.tenant_id != system_tenant()) {
            take(turn, system_tenant(), notice);
        }
        const TenantId tenant_id = notice.tenant_id;
        take(turn, tenant_id, std::move(notice));
    }
}

void NoticeService::take(Turn& turn, const TenantId& tenant_id, Notice notice) {
    NoticeRow row = load_row(turn, tenant_id);
    note(row, std::move(notice));
    const Timestamp soon = turn.now() + kNoticeGather;
    row.wake_at = row.wake_at ? std::min(*row.wake_at, soon) : soon;
    save_row(turn, tenant_id, std::move(row));
}

Result<NoticeService::Audience> NoticeService::audience_of(
    Turn& turn, const TenantId& tenant_id) const {
    Audience audience;
    TRY_ASSIGN(audience.settings, load_settings(turn, tenant_id));
    audience.who.has_webhook = audience.settings.webhook.has_value();
    TRY_ASSIGN(const TenantPeople people, parts_.principals.records().people_of(turn, tenant_id));
    for (const Human& human : people.humans) {
        if (!human.is_activated()) {
            continue;  // Nobody has shown yet that the address is theirs.
        }
        NoticePerson person{
            .human_id = human.human_id.text(),
            .may_vote = !vote_rest_of(human).rests_at(turn.now()),
            .wants = {}};
        for (std::size_t i = 0; i < kNoticeWords.size(); ++i) {
            const auto kind = static_cast<NoticeKind>(i);
            if (audience.settings.wants(human.human_id, kind)) {
                person.wants.insert(kind);
            }
        }
        audience.addresses[person.human_id] = human.email;
        audience.who.people.push_back(std::move(person));
    }
    return audience;
}

Result<void> NoticeService::on_timer(Turn& turn, const TenantId& tenant_id) {
    const auto audience = audience_of(turn, tenant_id);
    if (!audience && audience.error() == errors::not_found) {
        save_row(turn, tenant_id, {});  // The tenant was let go.
        return {};
    }
    if (!audience) {
        return std::unexpected(audience.error());
    }
    NoticeRow row = load_row(turn, tenant_id);
    route(row, audience->who);
    std::vector<NoticeDelivery> due = begin_due(row, turn.now());
    const Timestamp soon = turn.now() + kNoticeGather;
    row.wake_at = next_due(row);
    if (row.wake_at) {
        row.wake_at = std::max(*row.wake_at, soon);
    }
    save_row(turn, tenant_id, std::move(row));
    for (NoticeDelivery& delivery : due) {
        const auto parcel = std::make_shared<Parcel>();
        parcel->tenant_id = tenant_id;
        if (delivery.is_webhook()) {
            parcel->url = audience->settings.webhook->url;
            parcel->secret = SecretString(audience->settings.webhook->secret);
        } else {
            parcel->mail = notice_letter(
                audience->addresses.at(delivery.to), delivery, {tenant_id, parts_.link()});
        }
        parcel->delivery = std::move(delivery);
        turn.after_commit([this, parcel] { send(parcel); });
    }
    return {};
}

// On the engine thread; a worker sends.
void NoticeService::send(std::shared_ptr<Parcel> parcel) {
    const NoticeDelivery& delivery = parcel->delivery;
    WorkerPool& pool = !delivery.is_webhook() ? parts_.letters
                       : delivery.is_suspect  ? parts_.suspect_calls
                                              : parts_.calls;
    NoticeOutcome outcome{
        .to = delivery.to,
        .kind = delivery.kind,
        .serial = delivery.serial,
        .upto = delivery.upto,
        .error = std::string(errors::overloaded.code),
        .was_tried = false};
    const TenantId tenant_id = parcel->tenant_id;
    const bool taken = pool.try_run([this, parcel] {
        if (!is_stopping_) {
            record(parcel->tenant_id, send_now(*parcel));
        }
    });
    if (!taken) {
        record(tenant_id, std::move(outcome));
    }
}

NoticeOutcome NoticeService::send_now(const Parcel& parcel) {
    const NoticeDelivery& delivery = parcel.delivery;
    const Timestamp sent_at = parts_.clock.now();
    const Duration begun = parts_.clock.monotonic();
    Result<void> sent;
    if (delivery.is_webhook()) {
        const std::string body = notice_body(delivery, {parcel.tenant_id, parts_.link()}, sent_at);
        sent = parts_.webhooks.post(
            {.url = parcel.url,
             .body = body,
             .signature_header = std::string(kNoticeSignatureHeader),
             .signature = notice_signature(parcel.secret.reveal(), sent_at, body)});
    } else {
        sent = parts_.mailer.send(parcel.mail);
    }
    NoticeOutcome outcome{
        .to = delivery.to, .kind = delivery.kind, .serial = delivery.serial, .upto = delivery.upto};
    outcome.call_took = {parts_.clock.monotonic().microseconds - begun.microseconds};
    if (!sent) {
        outcome.error = sent.error().code();
        outcome.is_final = !sent.error().retryable();
    } else if (!delivery.notices.empty()) {
        constexpr std::int64_t kMicrosecondsPerMillisecond = 1000;
        const Duration took = parts_.clock.now() - delivery.notices.front().at;
        outcome.took_ms =
            std::max<std::int64_t>(took.microseconds / kMicrosecondsPerMillisecond, 0);
    }
    count(outcome);
    return outcome;
}

void NoticeService::count(const NoticeOutcome& outcome) {
    if (!outcome.error.empty()) {
        ++counters_.failures;
        return;
    }
    ++(outcome.to == kWebhookOutlet ? counters_.calls_sent : counters_.letters_sent);
    counters_.took_ms_sum += outcome.took_ms;
    std::int64_t longest = counters_.took_ms_max;
    while (longest < outcome.took_ms &&
           !counters_.took_ms_max.compare_exchange_weak(longest, outcome.took_ms)) {
    }
}

void NoticeService::record(const TenantId& tenant_id, NoticeOutcome outcome) {
    if (!outcome.error.empty()) {
        log_warn(
            "notice_failed",
            {{"tenant_id", tenant_id.text()}, {"to", outcome.to}, {"error", outcome.error}});
    }
    TurnRequest request = turn_of({internal_principal("notices"), tenant_id}, "settle_notices");
    request.decide = [this, outcome = std::move(outcome)](Turn& turn) -> Result<TurnReply> {
        TRY(decide_outcome(turn, outcome));
        return Answer{};
    };
    // Not recorded: the timer is still set, and a second copy has the same ids.
    request.reply = [](const Result<Answer>&) {};
    parts_.submit(std::move(request));
}

Result<void> NoticeService::decide_outcome(Turn& turn, const NoticeOutcome& outcome) {
    NoticeRow row = load_row(turn, turn.tenant_id());
    const auto lost = settle(row, outcome, turn.now());
    const auto next = next_due(row);
    if (next) {
        const Timestamp at = std::max(*next, turn.now());
        row.wake_at = row.wake_at ? std::min(*row.wake_at, at) : at;
    }
    save_row(turn, turn.tenant_id(), std::move(row));
    if (!lost) {
        return {};
    }
    AuditDraft draft = turn.draft(std::string(kNoticesUndeliveredEvent));
    draft.status = AuditStatus::failed;
    draft.severity = AuditSeverity::critical;
    draft.reason = std::to_string(lost->count) + " notices did not leave";
    draft.detail = Json::object(
        {{"to", lost->to},
         {"kind", lost->to == kWebhookOutlet ? Json() : Json(to_word(lost->kind))},
         {"count", lost->count},
         {"error", lost->error}});
    TRY(turn.audit(std::move(draft)));
    turn.after_commit([this, count = lost->count] { counters_.given_up += count; });
    return {};
}

}  // namespace interlock
