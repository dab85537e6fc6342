// For tests of WebSockets: a peer of the face that notes what it hears, a handler that accepts
// every upgrade, and a client that speaks frames over a raw connection.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/test_peer.h"
#include "net/web_socket.h"
#include "net/web_socket_codec.h"

namespace interlock {

struct HeardClose {
    std::uint16_t code = 0;
    std::string reason;

    bool operator==(const HeardClose&) const = default;
};

// Notes everything, and does in on_message what the test wants.
class NotingPeer : public WebSocketPeer {
public:
    using OnMessage = std::function<void(std::string_view payload, bool is_text)>;
    explicit NotingPeer(OnMessage on_message = nullptr) : act_(std::move(on_message)) {}

    void on_message(std::string_view payload, bool is_text) override {
        if (act_) {
            act_(payload, is_text);
        }
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(closes_.empty());
        messages_.emplace_back(payload);
        changed_.notify_all();
    }

    // Shows where a read ended, among the messages.
    void on_read_end() override {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(closes_.empty());
        read_ends_.push_back(messages_.size());
    }

    void on_closed(std::uint16_t code, std::string_view reason) override {
        const std::lock_guard lock(mutex_);
        closes_.push_back({code, std::string(reason)});
        EXPECT_EQ(closes_.size(), 1U);
        changed_.notify_all();
    }

    void on_drained() override {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(closes_.empty());
        ++drained_;
        changed_.notify_all();
    }

    // Waits until so many messages have come in all.
    std::vector<std::string> messages(std::size_t count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(
            changed_.wait_for(lock, kTestPatience, [&] { return messages_.size() >= count; }))
            << messages_.size() << " of " << count;
        return messages_;
    }

    HeardClose close() {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, kTestPatience, [&] { return !closes_.empty(); }));
        return closes_.empty() ? HeardClose{} : closes_.front();
    }

    void wait_drained() { EXPECT_TRUE(drains_within(kTestPatience)); }

    // Whether all that was queued leaves in time; not when the kernel takes no more.
    bool drains_within(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return std::exchange(drained_, 0) > 0; });
    }

    // How many messages had come whenever a read ended.
    std::vector<std::size_t> read_ends() {
        const std::lock_guard lock(mutex_);
        return read_ends_;
    }

    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return messages_.size();
    }

private:
    const OnMessage act_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> messages_;
    std::vector<std::size_t> read_ends_;
    std::vector<HeardClose> closes_;
    int drained_ = 0;
};

struct AcceptedSocket {
    std::shared_ptr<WebSocket> socket;
    std::shared_ptr<NotingPeer> peer;
};

// Accepts every request, on the loop's thread; the test takes the sockets.
class SocketHost {
public:
    HttpHandler handler() {
        return [this](HttpRequest, const HttpResponderPtr& responder) {
            auto peer = std::make_shared<NotingPeer>();
            auto socket = responder->accept_web_socket(peer);
            if (socket == nullptr) {
                return;
            }
            const std::lock_guard lock(mutex_);
            accepted_.push_back({std::move(socket), std::move(peer)});
            arrived_.notify_all();
        };
    }

    AcceptedSocket next() {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(arrived_.wait_for(lock, kTestPatience, [this] { return !accepted_.empty(); }));
        AcceptedSocket first = std::move(accepted_.front());
        accepted_.erase(accepted_.begin());
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<AcceptedSocket> accepted_;
};

// A handler that sends every message back.
inline void echo_frames(HttpRequest, const HttpResponderPtr& responder) {
    auto holder = std::make_shared<std::shared_ptr<WebSocket>>();
    auto peer = std::make_shared<NotingPeer>([holder](std::string_view payload, bool) {
        if (payload == "hang up") {
            holder->reset();  // Also ends the circle of peer and socket.
            return;
        }
        (*holder)->send(std::string(payload));
    });
    *holder = responder->accept_web_socket(peer);
}

inline constexpr std::string_view kUpgrade =
    "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

inline std::string client_frame(
    WebSocketOpcode opcode, std::string_view payload, bool is_final = true) {
    std::string out;
    append_frame(
        out,
        {.opcode = opcode,
         .payload = payload,
         .is_final = is_final,
         .mask = WebSocketMask{'\x11', '\x22', '\x33', '\x44'}});
    return out;
}

// One thing a client hears: "text:hello", "ping:", "close:1000 bye", "end".
class FramePeer {
public:
    explicit FramePeer(std::uint16_t port) : FramePeer(HttpTarget{{}, "127.0.0.1", port}) {}
    explicit FramePeer(const HttpTarget& target)
        : socket_(ClientSocket::connect(target, test_deadline()).value()) {}

    // Sends the upgrade with `behind` in the same write and reads the answer.
    void open(std::string_view behind = {}) {
        send(std::string(kUpgrade) + std::string(behind));
        while (unread_.find("\r\n\r\n") == std::string::npos) {
            ASSERT_TRUE(read_more()) << unread_;
        }
        const std::size_t end = unread_.find("\r\n\r\n") + 4;
        EXPECT_TRUE(unread_.starts_with("HTTP/1.1 101 ")) << unread_;
        unread_.erase(0, end);
    }

    void send(std::string_view bytes) {
        std::size_t written = 0;
        const auto sent = socket_.write_all(bytes, test_deadline(), written);
        ASSERT_TRUE(sent.has_value()) << sent.error().message;
    }
    void send_text(std::string_view payload) { send(client_frame(WebSocketOpcode::text, payload)); }

    std::string next() {
        while (true) {
            const auto step = reader_.feed(unread_);
            unread_.erase(0, step.consumed);
            switch (step.event) {
                case WebSocketReader::Event::need_more:
                    if (!read_more()) {
                        return "end";
                    }
                    break;
                case WebSocketReader::Event::message:
                    return (reader_.is_text() ? "text:" : "binary:") + reader_.payload();
                case WebSocketReader::Event::ping:
                    return "ping:" + reader_.payload();
                case WebSocketReader::Event::pong:
                    return "pong:" + reader_.payload();
                case WebSocketReader::Event::close:
                    return "close:" + std::to_string(reader_.close().code) + " " +
                           reader_.close().reason;
                case WebSocketReader::Event::failed:
                    return "failed:" + std::string(reader_.fault().reason);
            }
        }
    }

    bool was_reset() const { return was_reset_; }
    int descriptor() const { return socket_.descriptor(); }

private:
    bool read_more() {
        char buffer[16 * 1024];
        const auto count = socket_.read_some(buffer, test_deadline());
        if (!count) {
            EXPECT_EQ(count.error().code(), "unavailable") << count.error().message;
            was_reset_ = true;
            return false;
        }
        unread_.append(buffer, *count);
        return *count > 0;
    }

    ClientSocket socket_;
    std::string unread_;
    WebSocketReader reader_{WebSocketRole::client, 64 * 1024 * 1024};
    bool was_reset_ = false;
};

}  // namespace interlock
