#include "relay/platforms/common/web_platform_http.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/secret_string.h"
#include "net/egress_guard.h"

namespace interlock {
namespace {

class WebClients {
public:
    explicit WebClients(std::string ca_file) : ca_file_(std::move(ca_file)) {}

    std::expected<PlatformHttpAnswer, HttpFailure> send(const PlatformHttpCall& call) {
        WebCall web;
        web.method = call.method;
        web.url = call.url;
        web.headers = call.headers;
        web.body = call.body;
        web.timeout = std::chrono::milliseconds(call.timeout.microseconds / 1000);
        web.body_bytes_max = call.answer_bytes_max;
        web.ca_file = ca_file_;
        web.is_cancelled = call.is_cancelled;
        std::unique_ptr<WebClient> client = take();
        auto response = call.is_told ? guard_.send(*client, web, EgressGuard::Giver::stranger)
                                     : client->send(web);
        give_back(std::move(client));
        wipe(web.url);
        if (response) {
            return PlatformHttpAnswer{
                response->status, std::move(response->headers), std::move(response->body)};
        }
        return std::unexpected(
            response.error() == errors::web_unknown ? HttpFailure::unknown : HttpFailure::not_sent);
    }

private:
    std::unique_ptr<WebClient> take() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) {
            return WebClient::create();
        }
        std::unique_ptr<WebClient> client = std::move(idle_.back());
        idle_.pop_back();
        return client;
    }
    void give_back(std::unique_ptr<WebClient> client) {
        const std::lock_guard lock(mutex_);
        if (idle_.size() < kIdleWebClientsMax) {
            idle_.push_back(std::move(client));
        }
    }

    const std::string ca_file_;
    const EgressGuard guard_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<WebClient>> idle_;
};

}  // namespace

PlatformHttp web_platform_http(std::string ca_file) {
    return [clients = std::make_shared<WebClients>(std::move(ca_file))](
               const PlatformHttpCall& call) { return clients->send(call); };
}

}  // namespace interlock
