#include "app/wiring/notice_host.h"

#include "host/face/notice_operations.h"

namespace interlock {

Result<std::unique_ptr<NoticeHost>> NoticeHost::open(const Parts& parts) {
    std::vector<Cidr> allowed;
    for (const std::string& text : parts.config.notices_allow_cidrs) {
        allowed.push_back(*parse_cidr(text));  // Checked when it was read.
    }
    std::unique_ptr<NoticeHost> host(new NoticeHost(EgressGuard(std::move(allowed))));
    TRY_ASSIGN(
        host->mailer_,
        open_configured_mailer(parts.config, parts.clock, parts.ids, LetterRoom::half));
    host->service_ = std::make_unique<NoticeService>(NoticeService::Parts{
        .runner = parts.plane.runner,
        .submit = parts.submit,
        .principals = parts.principals,
        .mailer = *host->mailer_,
        .webhooks = host->webhooks_,
        .letters = host->letters_,
        .calls = host->calls_,
        .suspect_calls = host->suspect_calls_,
        .clock = parts.clock,
        .ids = parts.ids,
        .link = [base_url = parts.base_url] { return base_url() + "/"; }});
    TRY(host->service_->open());
    parts.metrics.add_text([service = host->service_.get()] { return service->metrics_text(); });
    return host;
}

void NoticeHost::register_operations(OperationTable& table) {
    register_notice_operations(table, *service_);
}

void NoticeHost::stop() {
    if (service_) {
        service_->stop();
    }
    webhooks_.stop();
    for (WorkerPool* pool : {&letters_, &calls_, &suspect_calls_}) {
        pool->stop();
    }
}

}  // namespace interlock
