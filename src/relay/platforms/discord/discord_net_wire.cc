#include "relay/platforms/discord/discord_net_wire.h"

#include <chrono>

#include "net/web_socket_client.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kCloseWait{1'000};

class NetSocket final : public DiscordSocket {
public:
    explicit NetSocket(std::unique_ptr<WebSocketClient> client) : client_(std::move(client)) {}

    SocketNews receive(Duration wait) override {
        auto received = client_->receive(
            std::chrono::steady_clock::now() + std::chrono::microseconds(wait.microseconds));
        if (!received) {
            const auto& closed = client_->closed();
            return SocketClosed{closed ? closed->code : std::uint16_t{1006}};
        }
        if (!*received || !(*received)->is_text) {
            return SocketSilence{};
        }
        return SocketText{std::move((*received)->payload)};
    }
    bool send(const std::string& text) override { return client_->send(text).has_value(); }
    void close(std::uint16_t code) override { client_->close(code, ""); }
    void wake() override { client_->wake(); }

private:
    const std::unique_ptr<WebSocketClient> client_;
};

}  // namespace

std::unique_ptr<WebClient> DiscordNetWire::take_client() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
        return WebClient::create();
    }
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
}

void DiscordNetWire::give_back(std::unique_ptr<WebClient> client) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kDiscordClientsKeptMax) {
        idle_.push_back(std::move(client));
    }
}

std::expected<HttpResponse, WireFailure> DiscordNetWire::call(const WireCall& call) {
    WebCall made;
    made.method = call.method;
    made.url = call.url;
    made.headers = call.headers;
    made.body = call.body;
    made.timeout = std::chrono::milliseconds(call.timeout.microseconds / 1000);
    auto client = take_client();
    auto response = client->send(made);
    give_back(std::move(client));
    if (!response) {
        const bool left = response.error() == errors::web_unknown;
        return std::unexpected(
            WireFailure{.may_have_left = left, .message = response.error().message});
    }
    return *std::move(response);
}

Result<std::unique_ptr<DiscordSocket>> DiscordNetWire::connect(const std::string& url) {
    WebSocketTarget target{.url = url};
    target.close_timeout = kCloseWait;
    TRY_ASSIGN(auto client, WebSocketClient::connect(target));
    return std::make_unique<NetSocket>(std::move(client));
}

}  // namespace interlock
