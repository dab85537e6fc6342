// What the Discord adapter asks of the network: HTTP calls and one WebSocket for each shard. Tests
// put a script behind it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/http_message.h"

namespace interlock {

struct WireCall {
    std::string method;
    std::string url;
    std::vector<HttpHeader> headers;
    std::string body;
    Duration timeout;
};

struct WireFailure {
    bool may_have_left = false;  // Else nothing of the request reached anybody.
    std::string message;         // Without the URL: it may hold a secret.
};

struct SocketClosed {
    std::uint16_t code = 1006;
};
struct SocketText {
    std::string text;
};
// Nothing came in time, or somebody woke the wait.
struct SocketSilence {};
using SocketNews = std::variant<SocketSilence, SocketText, SocketClosed>;

// Used by one thread, but for wake().
class DiscordSocket {
public:
    virtual ~DiscordSocket() = default;
    virtual SocketNews receive(Duration wait) = 0;
    virtual bool send(const std::string& text) = 0;  // False: it is closed or broken.
    virtual void close(std::uint16_t code) = 0;
    virtual void wake() = 0;  // Any thread; also ends a wait that begins later.
};

class DiscordWire {
public:
    virtual ~DiscordWire() = default;
    // Any thread. Never follows a redirect.
    virtual std::expected<HttpResponse, WireFailure> call(const WireCall& call) = 0;
    virtual Result<std::unique_ptr<DiscordSocket>> connect(const std::string& url) = 0;
};

}  // namespace interlock
