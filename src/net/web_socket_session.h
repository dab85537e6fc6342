// One accepted WebSocket on its loop, without the socket: bytes go in, frames come out in the order
// control, urgent, ordinary, and it knows when it is time to ping or to give up.
//
//     open -> closing (our close frame waits or is out) -> finished (the peer's has come as well)
//
// With the end of `open` the face hears on_closed(); the rest is between us and the peer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_server.h"
#include "net/web_socket_channel.h"
#include "net/web_socket_codec.h"

namespace interlock {

// A second with more pings and pongs than this ends the connection (1008).
inline constexpr int kControlFramesPerSecondMax = 200;

class WebSocketSession {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    // `limits` must outlive the session.
    WebSocketSession(
        std::shared_ptr<WebSocketChannel> channel, const HttpLimits& limits, TimePoint now);

    // Hands messages to the face; returns how much was read, which is less than everything only
    // when the face has paused.
    std::size_t read(std::string_view bytes, TimePoint now);

    void send(SocketMessage message);
    void close(const SocketClose& close, TimePoint now);
    void lose();  // The connection is gone.

    // Appends whole frames until `out` holds about `bytes_max`.
    void gather(std::string& out, std::size_t bytes_max);
    void note_sent();  // All that was gathered has gone out.

    bool is_paused() const { return is_open_ && channel_->is_paused(); }
    bool is_in_message() const { return reader_.is_in_message(); }
    bool is_finished() const { return is_close_sent_ && (is_close_heard_ || is_deaf_); }
    bool is_deaf() const { return is_deaf_; }  // The peer broke the protocol; it may still send.

    bool is_due(TimePoint now) const;  // tick() has something to do.
    bool tick(TimePoint now);          // False: the connection is to be dropped.

private:
    void take_event(WebSocketReader::Event event, TimePoint now);
    void count_control(TimePoint now);
    void stop_listening(const WebSocketFault& fault, TimePoint now);
    TimePoint last_heard() const { return std::max(last_heard_, channel_->resumed_at()); }
    bool has_close_waiting() const { return !is_open_ && !is_close_gathered_; }

    const std::shared_ptr<WebSocketChannel> channel_;
    const HttpLimits& limits_;
    WebSocketReader reader_;

    bool is_open_ = true;
    bool is_close_gathered_ = false;
    bool is_close_sent_ = false;
    bool is_close_heard_ = false;
    bool is_deaf_ = false;
    bool is_ping_waiting_ = false;

    std::string close_payload_;
    std::optional<std::string> pong_;  // The newest unanswered ping; older ones need no answer.
    std::list<std::string> urgent_;    // Bounded by the channel, as is waiting_.
    std::list<std::string> waiting_;
    std::size_t gathered_bytes_ = 0;  // Of messages.

    TimePoint last_heard_;
    TimePoint last_ping_;
    TimePoint close_deadline_{};
    TimePoint controls_since_{};
    int controls_ = 0;
};

}  // namespace interlock
