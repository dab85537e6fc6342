// WebSockets as a face sees them (RFC 6455): HttpResponder::accept_web_socket() turns a request
// into one. The face implements WebSocketPeer to hear, and keeps the WebSocket to speak.
//
// Messages are whole: fragments, pings, pongs and the close handshake stay inside the server. No
// extension and no subprotocol is ever agreed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace interlock {

struct HttpRequest;

// Close codes that we send or report. An application has 4000 to 4999 for its own.
namespace close_codes {
inline constexpr std::uint16_t normal = 1000;
inline constexpr std::uint16_t going_away = 1001;
inline constexpr std::uint16_t protocol_error = 1002;
inline constexpr std::uint16_t none = 1005;    // Only reported: the close frame had no code.
inline constexpr std::uint16_t broken = 1006;  // Only reported: there was no close frame.
inline constexpr std::uint16_t invalid_text = 1007;
inline constexpr std::uint16_t policy = 1008;
inline constexpr std::uint16_t too_large = 1009;
inline constexpr std::uint16_t service_restart = 1012;
inline constexpr std::uint16_t try_again_later = 1013;
}  // namespace close_codes

// Our end of one socket. Thread-safe; every call only queues work for the connection's loop.
// Dropping the last reference closes with 1001.
class WebSocket {
public:
    virtual ~WebSocket() = default;

    // One text message, which must be UTF-8. False when the socket is no longer open, or when the
    // unsent bytes would exceed HttpLimits::web_socket_unsent_bytes_max: what waits is then dropped
    // and the socket closed with 1013, "slow consumer".
    virtual bool send(std::string message) = 0;
    // The same, but before all messages that wait unsent; never into the middle of one. Urgent
    // messages keep their order among each other.
    virtual bool send_urgent(std::string message) = 0;

    // Sends what waits and then the close frame; the connection ends with the peer's answer, or
    // after a bounded wait without it. Only the first call counts. The reason is cut to the 123
    // bytes that fit.
    virtual void close(std::uint16_t code, std::string_view reason) = 0;

    virtual std::size_t unsent_bytes() const = 0;  // Queued and not yet given to the kernel.
    virtual bool is_open() const = 0;              // Messages are still taken.

    // Backpressure: nothing is read from the connection any more, so that the peer has to wait.
    // From inside on_message() it holds back even the messages that have already arrived.
    virtual void pause_reading() = 0;
    virtual void resume_reading() = 0;
};

// What a face implements. Called on the connection's loop, one call at a time, and never from
// inside a call of the WebSocket; calls may come before accept_web_socket() has returned when that
// was called on another thread. They must not block.
class WebSocketPeer {
public:
    virtual ~WebSocketPeer() = default;

    // A whole message. Text has been checked to be UTF-8. The bytes are gone after the call.
    virtual void on_message(std::string_view payload, bool is_text) = 0;

    // After the messages that one read from the connection brought. What they ask for can now be
    // handed on at once; not called when the last of them was a close.
    virtual void on_read_end() {}

    // Exactly once, and nothing is called after it: the peer closed (its code, 1005 when it gave
    // none), we did (our code, as soon as the loop has heard of it), or the connection broke or
    // fell silent (1006). The object is released right after.
    virtual void on_closed(std::uint16_t code, std::string_view reason) = 0;

    // Everything that was queued has been given to the kernel.
    virtual void on_drained() {}
};

// Whether a request asks to become a WebSocket at all. Whether it does so properly is judged by
// accept_web_socket(), which answers 400 or 426 itself if not.
bool is_web_socket_upgrade(const HttpRequest& request);

}  // namespace interlock
