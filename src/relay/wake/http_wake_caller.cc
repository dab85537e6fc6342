#include "relay/wake/http_wake_caller.h"

namespace interlock {

HttpWakeCaller::HttpWakeCaller(EgressGuard guard)
    : guard_(std::move(guard)), thread_([this] { run(); }) {}

HttpWakeCaller::~HttpWakeCaller() {
    stop();
}

void HttpWakeCaller::stop() {
    is_stopping_.store(true);
    queue_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool HttpWakeCaller::poke(WakeCall call, std::function<void(WakeOutcome)> done) {
    return queue_.push(Job{std::move(call), std::move(done)});
}

void HttpWakeCaller::run() {
    const auto client = WebClient::create();
    while (!is_stopping_.load()) {
        auto jobs = queue_.pop(1, std::chrono::seconds(1));
        for (Job& job : jobs) {
            job.second(call_now(*client, job.first));
        }
    }
}

Result<void> HttpWakeCaller::judge(const std::string& url) const {
    TRY(guard_.judge(url, EgressGuard::Giver::stranger));
    return {};
}

WakeOutcome HttpWakeCaller::call_now(WebClient& client, const WakeCall& call) const {
    WebCall request;
    request.url = call.url;
    request.timeout = kWakeTimeout;
    request.body_bytes_max = kWakeAnswerBytesMax;
    request.is_cancelled = &is_stopping_;
    const auto answer = guard_.send(
        client,
        std::move(request),
        call.is_trusted ? EgressGuard::Giver::host_operator : EgressGuard::Giver::stranger);
    if (!answer) {
        return {.is_reached = false, .detail = std::string(answer.error().code())};
    }
    return {.is_reached = true, .detail = std::to_string(answer->status)};
}

}  // namespace interlock
