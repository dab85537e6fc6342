// What the face's WebSocket and the connection share: the thread-safe way in (messages and closes
// are queued for the loop) and, on the loop, the way to the face's peer.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/http_loop.h"
#include "net/web_socket.h"

namespace interlock {

class WebSocketChannel {
public:
    WebSocketChannel(
        std::shared_ptr<HttpConnection> connection,
        std::uint64_t request,
        std::shared_ptr<WebSocketPeer> peer);

    // For the face, from any thread.
    bool send(std::string message, bool is_urgent);
    void close(std::uint16_t code, std::string_view reason);
    std::size_t unsent_bytes() const { return unsent_bytes_.load(); }
    bool is_open() const { return is_open_.load(); }
    void pause_reading() { is_paused_ = true; }
    void resume_reading();

    // For the connection, on its loop.
    bool is_paused() const { return is_paused_.load(); }
    NetClock::time_point resumed_at() const { return resumed_at_.load(); }  // Of the last pause.
    void hear(std::string_view payload, bool is_text);
    void end_read();
    void note_sent(std::size_t bytes);
    void end(std::uint16_t code, std::string_view reason);  // The first call tells the peer.

private:
    void deliver(decltype(LoopDelivery::what) what);

    const std::shared_ptr<HttpConnection> connection_;
    const std::uint64_t request_;
    std::shared_ptr<WebSocketPeer> peer_;  // Only on the loop; null after end().
    std::mutex mutex_;                     // Keeps messages in the order in which they are counted.
    std::atomic<bool> is_open_{true};      // Changed under the mutex.
    std::atomic<bool> is_paused_{false};
    std::atomic<NetClock::time_point> resumed_at_{NetClock::time_point{}};
    std::atomic<std::size_t> unsent_bytes_{0};
};

// The face's object; dropping it closes the socket.
std::shared_ptr<WebSocket> make_web_socket(std::shared_ptr<WebSocketChannel> channel);

}  // namespace interlock
