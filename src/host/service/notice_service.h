// People are told (docs/contracts/notices.md): takes notices of records in the records' own turn,
// and sees to it that they leave by letter and by webhook, after the commit and off the engine.
//
//     record ──► the tenant's row, in the same commit ──► timer ──► who is told, what is due
//                                                                        │ after the commit
//       row: told, or again later, or given up on record ◄── turn ◄── a worker sends
//
// Whatever is lost on the way, the timer is there: what left may leave twice, under the same ids.
// A tenant whose webhook hangs or is slow waits for its like alone; letters have their own worker.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/service/worker_pool.h"
#include "host/ports/mailer.h"
#include "host/ports/webhook_caller.h"
#include "host/rules/notice_board.h"
#include "host/service/principal_service.h"
#include "host/wire/mail.h"
#include "host/wire/notice_settings.h"

namespace interlock {

// From a notice to its turn: what comes in a burst is worked out once.
inline constexpr Duration kNoticeGather = Duration::of_seconds(1);
// Tenants that the operator is shown, those with trouble first.
inline constexpr std::size_t kNoticeTenantsShown = 200;

// Seen from any thread.
struct NoticeCounters {
    std::atomic<std::int64_t> waiting{0};
    std::atomic<std::int64_t> letters_sent{0};
    std::atomic<std::int64_t> calls_sent{0};
    std::atomic<std::int64_t> failures{0};  // Attempts.
    std::atomic<std::int64_t> given_up{0};  // Notices.
    // Asked → sent, of deliveries.
    std::atomic<std::int64_t> took_ms_sum{0};
    std::atomic<std::int64_t> took_ms_max{0};
};

class NoticeService final : public NoticeRule {
public:
    // All of these outlive the service.
    struct Parts {
        TurnRunner& runner;
        SubmitTurn submit;
        PrincipalService& principals;
        Mailer& mailer;
        WebhookCaller& webhooks;
        WorkerPool& letters;
        WorkerPool& calls;
        WorkerPool& suspect_calls;  // Of webhooks that failed or were slow; and looking URLs up.
        Clock& clock;
        IdSource& ids;
        std::function<std::string()> link;  // The page to look at; asked on any thread.
    };
    // Becomes the runner's notice rule. Before the runner opens.
    explicit NoticeService(Parts parts);

    // Counts what waits. Before the engine runs.
    Result<void> open();
    // Before the workers stop: what waits for one leaves after the next start.
    void stop() { is_stopping_ = true; }

    void tell(Turn& turn, std::vector<Notice> notices) override;

    struct Caller {
        Principal principal;
        TenantId tenant_id;
    };
    using Reply = TypedReply<Answer>;
    void get(Caller caller, Reply reply);
    void set(Caller caller, SetNotices request, Reply reply);
    // The answer shows the secret, this once.
    void set_webhook(Caller caller, SetNoticeWebhook request, Reply reply);
    void delete_webhook(Caller caller, Reply reply);
    void test(Caller caller, Reply reply);
    // Operator.
    void status(Principal principal, Reply reply);

    // Any thread.
    std::string metrics_text() const;

private:
    // On its way to a worker.
    struct Parcel {
        TenantId tenant_id;
        NoticeDelivery delivery;
        Mail mail;            // To a person, or
        std::string url;      // a call,
        SecretString secret;  // signed with this.
    };
    struct Audience {
        NoticeAudience who;
        std::map<std::string, std::string> addresses;  // By human.
        NoticeSettings settings;
    };

    TurnRequest turn_of(Caller caller, std::string function) const;
    NoticeRow load_row(Turn& turn, const TenantId& tenant_id) const;
    void save_row(Turn& turn, const TenantId& tenant_id, NoticeRow row);
    Result<NoticeSettings> load_settings(Turn& turn, const TenantId& tenant_id) const;
    void save_settings(Turn& turn, const NoticeSettings& settings) const;
    Result<Audience> audience_of(Turn& turn, const TenantId& tenant_id) const;
    void take(Turn& turn, const TenantId& tenant_id, Notice notice);
    Result<void> on_timer(Turn& turn, const TenantId& tenant_id);
    void send(std::shared_ptr<Parcel> parcel);
    NoticeOutcome send_now(const Parcel& parcel);
    void record(const TenantId& tenant_id, NoticeOutcome outcome);
    Result<void> decide_outcome(Turn& turn, const NoticeOutcome& outcome);
    void count(const NoticeOutcome& outcome);
    Result<Answer> decide_webhook(Turn& turn, const NoticeWebhook& webhook);

    Parts parts_;
    NoticeCounters counters_;
    std::map<TenantId, std::int64_t> waiting_;  // Engine thread; what is not 0.
    std::atomic<bool> is_stopping_{false};
};

}  // namespace interlock
