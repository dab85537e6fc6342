#include "adapters/wake/http_wake_caller.h"

#include "base/errors.h"

namespace interlock {

HttpWakeCaller::HttpWakeCaller(std::vector<Cidr> allowed, Resolve resolve)
    : allowed_(std::move(allowed)), resolve_(std::move(resolve)), thread_([this] { run(); }) {}

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

// Every address has to be allowed: a name that points both inside and outside is a trick.
Result<std::string> HttpWakeCaller::address_for(const WakeCall& call) const {
    TRY_ASSIGN(const OutboundUrl url, parse_outbound_url(call.url));
    TRY_ASSIGN(const auto addresses, resolve_(url.host, url.port));
    if (addresses.empty()) {
        return fail(errors::not_found, "the host has no address");
    }
    for (const std::string& text : addresses) {
        const auto address = parse_ip(text);
        if (!address || (!call.is_trusted && !may_connect(*address, allowed_))) {
            return fail(
                errors::forbidden, "the host has an address that gateways may not name here");
        }
    }
    return addresses.front();
}

WakeOutcome HttpWakeCaller::call_now(WebClient& client, const WakeCall& call) const {
    const auto address = address_for(call);
    if (!address) {
        return {.is_reached = false, .detail = address.error().message};
    }
    WebCall request;
    request.url = call.url;
    request.timeout = kWakeTimeout;
    request.pinned_address = *address;
    request.body_bytes_max = kWakeAnswerBytesMax;
    request.is_cancelled = &is_stopping_;
    const auto answer = client.send(request);
    if (!answer) {
        return {.is_reached = false, .detail = std::string(answer.error().code())};
    }
    return {.is_reached = true, .detail = std::to_string(answer->status)};
}

}  // namespace interlock
