// The server's notices: the service with the mailer, the webhook caller and the workers that it
// sends with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/plane/plane.h"
#include "app/wiring/config.h"
#include "app/wiring/mail_setup.h"
#include "engine/service/worker_pool.h"
#include "host/face/operation.h"
#include "host/ports/mailer.h"
#include "host/service/metrics.h"
#include "host/service/notice_service.h"
#include "host/webhook/http_webhook_caller.h"

namespace interlock {

class NoticeHost {
public:
    // Deliveries that may wait for each kind of worker; one more waits in its row.
    static constexpr std::size_t kDeliveriesWaitingMax = 1024;

    struct Parts {
        const Config& config;
        Plane& plane;
        SubmitTurn submit;
        PrincipalService& principals;
        Clock& clock;
        IdSource& ids;
        Metrics& metrics;
        std::function<std::string()> base_url;  // Where this server is reached; any thread.
    };
    // Before the plane opens: what is found broken then is told.
    static Result<std::unique_ptr<NoticeHost>> open(const Parts& parts);
    ~NoticeHost() { stop(); }

    void register_operations(OperationTable& table);
    void stop();

private:
    explicit NoticeHost(EgressGuard guard) : webhooks_(std::move(guard)) {}

    std::unique_ptr<Mailer> mailer_;
    HttpWebhookCaller webhooks_;
    std::unique_ptr<NoticeService> service_;
    // Last: their jobs end before what they use.
    WorkerPool letters_{{.threads = kLetterThreads, .waiting_max = kDeliveriesWaitingMax}};
    WorkerPool calls_{{.threads = 2, .waiting_max = kDeliveriesWaitingMax}};
    WorkerPool suspect_calls_{{.threads = 1, .waiting_max = kDeliveriesWaitingMax}};
};

}  // namespace interlock
