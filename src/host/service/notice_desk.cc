// The part of the service that people ask: what they want to be told, where, and how it goes.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/outbound_url.h"
#include "engine/rules/notice_rules.h"
#include "host/service/notice_service.h"

namespace interlock {
namespace {

constexpr std::int64_t kMillisecondsPerSecond = 1000;

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

Json encode_seen(const NoticeRow& row, const NoticeOutlet& outlet) {
    const std::int64_t waiting = waiting_of(row, outlet);
    return Json::object({
        {"to", outlet.to},
        {"kind", outlet.is_webhook() ? Json() : Json(to_word(outlet.kind))},
        {"waiting", waiting},
        {"attempts", outlet.attempts},
        {"next_at", waiting > 0 ? Json(to_text(due_of(row, outlet))) : Json()},
        {"last_error", outlet.last_error},
        {"sent_at", time_or_null(outlet.sent_at)},
        {"took_ms", outlet.sent_at ? Json(outlet.took_ms) : Json()},
        {"given_up", outlet.given_up},
    });
}

// Of one tenant, for the operator.
struct TenantNotices {
    std::string tenant_id;
    std::int64_t waiting = 0;
    std::int64_t given_up = 0;
    std::string failing = {};  // Why an outlet's newest attempt failed; empty: none did.
    const NoticeOutlet* last = nullptr;
};

TenantNotices summary_of(std::string tenant_id, const NoticeRow& row) {
    TenantNotices sum{.tenant_id = std::move(tenant_id), .waiting = row.noted.all - row.routed.all};
    for (const NoticeOutlet& outlet : row.outlets) {
        sum.waiting += waiting_of(row, outlet);
        sum.given_up += outlet.given_up;
        if (!outlet.last_error.empty()) {
            sum.failing = outlet.last_error;
        }
        if (outlet.sent_at && (sum.last == nullptr || *outlet.sent_at > *sum.last->sent_at)) {
            sum.last = &outlet;
        }
    }
    return sum;
}

Json encode(const TenantNotices& sum) {
    return Json::object({
        {"tenant_id", sum.tenant_id},
        {"waiting", sum.waiting},
        {"given_up", sum.given_up},
        {"failing", sum.failing},
        {"sent_at", sum.last == nullptr ? Json() : Json(to_text(*sum.last->sent_at))},
        {"took_ms", sum.last == nullptr ? Json() : Json(sum.last->took_ms)},
    });
}

std::string family(
    std::string_view name, std::string_view type, std::string_view help, std::string_view lines) {
    std::string text = "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE ";
    text += std::string(name) + " " + std::string(type) + "\n" + std::string(lines);
    return text;
}

std::string sample(std::string_view name, std::int64_t value) {
    return std::string(name) + " " + std::to_string(value) + "\n";
}

std::string seconds_sample(std::string_view name, std::int64_t milliseconds) {
    const std::string digits = std::to_string(milliseconds % kMillisecondsPerSecond);
    return std::string(name) + " " + std::to_string(milliseconds / kMillisecondsPerSecond) + "." +
           std::string(3 - digits.size(), '0') + digits + "\n";
}

}  // namespace

Result<NoticeSettings> NoticeService::load_settings(Turn& turn, const TenantId& tenant_id) const {
    return turn.load_or(
        notice_settings_machine(tenant_id), decode_notice_settings, NoticeSettings{});
}

void NoticeService::save_settings(Turn& turn, const NoticeSettings& settings) const {
    turn.save(notice_settings_machine(turn.tenant_id()), encode_state(settings));
}

void NoticeService::get(Caller caller, Reply reply) {
    TurnRequest request = turn_of(std::move(caller), "get_notices");
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const NoticeSettings settings, load_settings(turn, turn.tenant_id()));
        Json letters;
        if (turn.principal().kind == PrincipalKind::human) {
            letters = Json::array();
            for (const NoticeKind kind : notice_choices()) {
                if (settings.wants(HumanId::trusted(turn.principal().id), kind)) {
                    letters.push(to_word(kind));
                }
            }
        }
        const NoticeRow row = load_row(turn, turn.tenant_id());
        Json outlets = Json::array();
        for (const NoticeOutlet& outlet : row.outlets) {
            outlets.push(encode_seen(row, outlet));
        }
        return Answer{
            200,
            to_text(Json::object(
                {{"letters", std::move(letters)},
                 {"webhook", settings.webhook ? encode(*settings.webhook) : Json()},
                 {"outlets", std::move(outlets)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

void NoticeService::set(Caller caller, SetNotices wanted, Reply reply) {
    TurnRequest request = turn_of(std::move(caller), "set_notices");
    request.decide = [this, wanted = std::move(wanted)](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(NoticeSettings settings, load_settings(turn, turn.tenant_id()));
        TRY_ASSIGN(const Tenant tenant, parts_.principals.records().tenant(turn, turn.tenant_id()));
        std::erase_if(settings.letters, [&](const auto& chosen) {
            return std::ranges::find(tenant.human_ids, chosen.first) == tenant.human_ids.end();
        });
        settings.letters[HumanId::trusted(turn.principal().id)] = wanted.letters;
        save_settings(turn, settings);
        Json letters = Json::array();
        for (const NoticeKind kind : wanted.letters) {
            letters.push(to_word(kind));
        }
        AuditDraft draft = turn.draft("NOTICES_SET");
        draft.detail.set("letters", letters);
        TRY_ASSIGN(std::string audit_ref, turn.audit(std::move(draft)));
        return Answer{
            200,
            to_text(Json::object(
                {{"letters", std::move(letters)}, {"audit_ref", std::move(audit_ref)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

// The name is looked up on a worker; what the guard says then is asked again at each call.
void NoticeService::set_webhook(Caller caller, SetNoticeWebhook wanted, Reply reply) {
    const auto answer = std::make_shared<Reply>(std::move(reply));
    const auto job = [this, caller = std::move(caller), url = std::move(wanted.url), answer] {
        const Result<void> judged = parts_.webhooks.judge(url);
        const auto parts = parse_outbound_url(url);
        if (!judged || !parts) {
            (*answer)(std::unexpected(judged ? parts.error() : judged.error()));
            return;
        }
        TurnRequest request = turn_of(caller, "set_notice_webhook");
        request = typed_turn<Answer>(
            std::move(request),
            [this, url, host = parts->host](Turn& turn) -> Result<Outcome<Answer>> {
                const SecretString secret = parts_.ids.new_secret("ilw");
                TRY_ASSIGN(
                    Answer made,
                    decide_webhook(
                        turn,
                        {.url = url,
                         .host = host,
                         .secret = std::string(secret.reveal()),
                         .set_by = to_text(turn.principal()),
                         .set_at = turn.now()}));
                return Outcome<Answer>(std::move(made));
            },
            *answer);
        parts_.submit(std::move(request));
    };
    if (!parts_.suspect_calls.try_run(job)) {
        (*answer)(fail(errors::overloaded, "Too many URLs are being looked up at this moment."));
    }
}

Result<Answer> NoticeService::decide_webhook(Turn& turn, const NoticeWebhook& webhook) {
    TRY_ASSIGN(NoticeSettings settings, load_settings(turn, turn.tenant_id()));
    settings.webhook = webhook;
    save_settings(turn, settings);
    NoticeRow row = load_row(turn, turn.tenant_id());
    begin_anew(row, kWebhookOutlet);
    if (next_due(row)) {
        row.wake_at = turn.now();
    }
    save_row(turn, turn.tenant_id(), std::move(row));
    AuditDraft draft = turn.draft("NOTICE_WEBHOOK_SET");
    draft.detail.set("host", webhook.host);
    TRY_ASSIGN(std::string audit_ref, turn.audit(std::move(draft)));
    Json json = encode(webhook);
    json.set("secret", webhook.secret);
    json.set("audit_ref", std::move(audit_ref));
    return Answer{200, to_text(json), false};
}

void NoticeService::delete_webhook(Caller caller, Reply reply) {
    TurnRequest request = turn_of(std::move(caller), "delete_notice_webhook");
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(NoticeSettings settings, load_settings(turn, turn.tenant_id()));
        if (!settings.webhook) {
            return fail(errors::not_found, "This tenant has no webhook.");
        }
        AuditDraft draft = turn.draft("NOTICE_WEBHOOK_REMOVED");
        draft.detail.set("host", settings.webhook->host);
        settings.webhook.reset();
        save_settings(turn, settings);
        TRY_ASSIGN(std::string audit_ref, turn.audit(std::move(draft)));
        return Answer{200, to_text(Json::object({{"audit_ref", std::move(audit_ref)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

void NoticeService::test(Caller caller, Reply reply) {
    TurnRequest request = turn_of(std::move(caller), "test_notices");
    request.decide = [](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(std::string audit_ref, turn.audit(turn.draft(std::string(kNoticeTestEvent))));
        return Answer{202, to_text(Json::object({{"audit_ref", std::move(audit_ref)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

void NoticeService::status(Principal principal, Reply reply) {
    TurnRequest request = turn_of({std::move(principal), system_tenant()}, "notice_status");
    request.decide = [this](Turn& turn) -> Result<TurnReply> {
        TRY_ASSIGN(const auto rows, turn.store().load_states(std::string(kNoticePrefix)));
        std::vector<NoticeRow> read;
        read.reserve(rows.size());
        std::vector<TenantNotices> tenants;
        for (const auto& [key, state] : rows) {
            const std::string tenant_id = key.substr(kNoticePrefix.size());
            read.push_back(load_row(turn, TenantId::trusted(tenant_id)));
            tenants.push_back(summary_of(tenant_id, read.back()));
        }
        std::ranges::stable_sort(tenants, std::ranges::greater(), [](const TenantNotices& one) {
            return std::pair(!one.failing.empty(), one.waiting);
        });
        Json list = Json::array();
        for (const TenantNotices& one : tenants) {
            if (list.items().size() < kNoticeTenantsShown) {
                list.push(encode(one));
            }
        }
        return Answer{200, to_text(Json::object({{"tenants", std::move(list)}}))};
    };
    request.reply = std::move(reply);
    parts_.submit(std::move(request));
}

std::string NoticeService::metrics_text() const {
    constexpr std::string_view kTook = "interlock_notice_asked_to_sent_seconds";
    const std::int64_t letters = counters_.letters_sent;
    const std::int64_t calls = counters_.calls_sent;
    return family(
               "interlock_notices_waiting",
               "gauge",
               "Notices that have not left, by receiver.",
               sample("interlock_notices_waiting", counters_.waiting)) +
           family(
               "interlock_notice_deliveries_total",
               "counter",
               "Letters and calls that were taken.",
               sample("interlock_notice_deliveries_total{channel=\"mail\"}", letters) +
                   sample("interlock_notice_deliveries_total{channel=\"webhook\"}", calls)) +
           family(
               "interlock_notice_failures_total",
               "counter",
               "Attempts that failed.",
               sample("interlock_notice_failures_total", counters_.failures)) +
           family(
               "interlock_notices_given_up_total",
               "counter",
               "Notices that never left; each is on record.",
               sample("interlock_notices_given_up_total", counters_.given_up)) +
           family(
               kTook,
               "summary",
               "From the record to the channel that took its notice.",
               seconds_sample(std::string(kTook) + "_sum", counters_.took_ms_sum) +
                   sample(std::string(kTook) + "_count", letters + calls)) +
           family(
               "interlock_notice_asked_to_sent_seconds_max",
               "gauge",
               "The longest since the start.",
               seconds_sample("interlock_notice_asked_to_sent_seconds_max", counters_.took_ms_max));
}

}  // namespace interlock
