// A WebSocket to somebody else's server, plain or over TLS with the certificate checked. Blocking,
// for one thread; only wake() may be called from others.
//
// Pings are answered while receive(), send() or close() runs, so somebody has to be receiving.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_message.h"
#include "net/web_socket_codec.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind web_socket_refused{
    "web_socket_refused", 502, false, "Check the URL and the credential."};
inline constexpr ErrorKind web_socket_closed{
    "web_socket_closed", 503, true, "Look at the close code, and connect again if it allows."};
}  // namespace errors

struct WebSocketMessage {
    std::string payload;
    bool is_text = true;
};

struct WebSocketTarget {
    std::string url;  // ws or wss. May hold a secret: it is never in an error.
    std::vector<HttpHeader> headers{};
    std::string pinned_address{};  // When set, the address to connect to instead of looking it up.
    std::string ca_file{};         // PEM; trusted besides the authorities of the system.
    // To connect, with TLS and the handshake; the look-up of the host takes as long as the
    // system's.
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds write_timeout{10'000};
    std::chrono::milliseconds close_timeout{5'000};
    std::size_t message_bytes_max = 16 * 1024 * 1024;  // A larger one closes with 1009.
};

class WebSocketClient {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    // Fails with `unavailable` when nobody could be reached, `web_socket_refused` when the server
    // answered something else (the status is in the message), `invalid_request` and
    // `invalid_config` when the target cannot be used.
    static Result<std::unique_ptr<WebSocketClient>> connect(const WebSocketTarget& target);
    virtual ~WebSocketClient() = default;  // Drops the connection without a close frame.

    // The next message; nothing at the deadline or after wake(). Fails with `web_socket_closed`
    // when there will be no more; closed() then tells why.
    virtual Result<std::optional<WebSocketMessage>> receive(Deadline deadline) = 0;

    // One text message, which must be UTF-8. After a failure the socket is closed.
    virtual Result<void> send(std::string_view text) = 0;

    // Says goodbye and waits for the answer for at most close_timeout. Messages that arrive
    // meanwhile are lost.
    virtual void close(std::uint16_t code, std::string_view reason) = 0;

    // Code and reason of the end: the peer's, or ours when we closed first; 1006 when the
    // connection broke. Nothing while the socket is open.
    virtual const std::optional<WebSocketClose>& closed() const = 0;

    // Ends a receive() that waits, or else the next one. From any thread.
    virtual void wake() = 0;
};

}  // namespace interlock
