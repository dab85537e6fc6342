// From the face to the loop and back.
#include "net/web_socket_channel.h"

#include "net/http_connection.h"
#include "net/web_socket_codec.h"

namespace interlock {
namespace {

class AcceptedWebSocket final : public WebSocket {
public:
    explicit AcceptedWebSocket(std::shared_ptr<WebSocketChannel> channel)
        : channel_(std::move(channel)) {}
    ~AcceptedWebSocket() override { channel_->close(close_codes::going_away, {}); }

    bool send(std::string message) override { return channel_->send(std::move(message), false); }
    bool send_urgent(std::string message) override {
        return channel_->send(std::move(message), true);
    }
    void close(std::uint16_t code, std::string_view reason) override {
        channel_->close(code, reason);
    }
    std::size_t unsent_bytes() const override { return channel_->unsent_bytes(); }
    bool is_open() const override { return channel_->is_open(); }
    void pause_reading() override { channel_->pause_reading(); }
    void resume_reading() override { channel_->resume_reading(); }

private:
    const std::shared_ptr<WebSocketChannel> channel_;
};

}  // namespace

WebSocketChannel::WebSocketChannel(
    std::shared_ptr<HttpConnection> connection,
    std::uint64_t request,
    std::shared_ptr<WebSocketPeer> peer)
    : connection_(std::move(connection)), request_(request), peer_(std::move(peer)) {}

void WebSocketChannel::deliver(decltype(LoopDelivery::what) what) {
    connection_->loop().deliver({connection_, request_, std::move(what)});
}

bool WebSocketChannel::send(std::string message, bool is_urgent) {
    const std::size_t size = frame_size(message.size());
    const std::lock_guard lock(mutex_);
    if (!is_open_) {
        return false;
    }
    // Counted before it is queued: the loop may have sent it before we are back.
    const std::size_t unsent = unsent_bytes_.fetch_add(size) + size;
    if (unsent > connection_->loop().shared().limits.web_socket_unsent_bytes_max) {
        is_open_ = false;
        deliver(SocketClose{
            .code = close_codes::try_again_later,
            .reason = "slow consumer",
            .drops_waiting = true,
        });
        return false;
    }
    deliver(SocketMessage{.text = std::move(message), .is_urgent = is_urgent});
    return true;
}

void WebSocketChannel::close(std::uint16_t code, std::string_view reason) {
    const std::lock_guard lock(mutex_);
    if (is_open_.exchange(false)) {
        deliver(SocketClose{.code = code, .reason = std::string(reason), .drops_waiting = false});
    }
}

void WebSocketChannel::resume_reading() {
    // Told first: who sees that the pause is over must not take its length for silence.
    resumed_at_ = NetClock::now();
    if (is_paused_.exchange(false)) {
        deliver(SocketResume{});
    }
}

void WebSocketChannel::hear(std::string_view payload, bool is_text) {
    if (peer_) {
        peer_->on_message(payload, is_text);
    }
}

void WebSocketChannel::end_read() {
    if (peer_) {
        peer_->on_read_end();
    }
}

void WebSocketChannel::note_sent(std::size_t bytes) {
    if (bytes > 0 && unsent_bytes_.fetch_sub(bytes) == bytes && peer_) {
        peer_->on_drained();
    }
}

void WebSocketChannel::end(std::uint16_t code, std::string_view reason) {
    {
        const std::lock_guard lock(mutex_);
        is_open_ = false;
    }
    if (const auto peer = std::exchange(peer_, nullptr)) {
        peer->on_closed(code, reason);
    }
}

std::shared_ptr<WebSocket> make_web_socket(std::shared_ptr<WebSocketChannel> channel) {
    return std::make_shared<AcceptedWebSocket>(std::move(channel));
}

}  // namespace interlock
