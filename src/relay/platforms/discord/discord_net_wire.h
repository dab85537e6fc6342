// The real network behind DiscordWire: HTTPS through net/web_client.h and the gateway's socket
// through net/web_socket_client.h.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "net/web_client.h"
#include "relay/platforms/discord/discord_wire.h"

namespace interlock {

// Connections that are kept for the next call; more are made when more calls run at once.
inline constexpr std::size_t kDiscordClientsKeptMax = 16;

class DiscordNetWire final : public DiscordWire {
public:
    std::expected<HttpResponse, WireFailure> call(const WireCall& call) override;
    Result<std::unique_ptr<DiscordSocket>> connect(const std::string& url) override;

private:
    std::unique_ptr<WebClient> take_client();
    void give_back(std::unique_ptr<WebClient> client);

    std::mutex mutex_;
    std::vector<std::unique_ptr<WebClient>> idle_;
};

}  // namespace interlock
