// A waiting HTTP caller made of memory: remembers the answer, the stream or the WebSocket it got.
// The peer goes away when a test says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/http_message.h"
#include "net/web_socket.h"

namespace interlock {

class FakeStream final : public HttpStream {
public:
    bool write(std::string bytes) override {
        if (!open) {
            return false;
        }
        text += bytes;
        return true;
    }
    void close() override {
        open = false;
        was_closed = true;
    }
    bool is_open() const override { return open; }
    void on_peer_closed(std::function<void()>) override {}

    std::string text;
    bool open = true;
    bool was_closed = false;  // By us, not by the peer.
};

// Keeps what the face said.
class FakeWebSocket final : public WebSocket {
public:
    bool send(std::string message) override {
        if (open) {
            sent.push_back(std::move(message));
        }
        return open;
    }
    bool send_urgent(std::string message) override {
        if (open) {
            urgent.push_back(message);
        }
        return send(std::move(message));
    }
    void close(std::uint16_t code, std::string_view why) override {
        if (std::exchange(open, false)) {
            close_code = code;
            close_reason = why;
        }
    }
    std::size_t unsent_bytes() const override { return unsent; }
    bool is_open() const override { return open; }
    void pause_reading() override { is_paused = true; }
    void resume_reading() override { is_paused = false; }

    std::vector<std::string> sent;    // All, in the order of the calls.
    std::vector<std::string> urgent;  // Those of send_urgent().
    std::size_t unsent = 0;
    bool open = true;
    bool is_paused = false;
    std::uint16_t close_code = 0;
    std::string close_reason;
};

class FakeResponder final : public HttpResponder {
public:
    void send(HttpResponse sent) override {
        CHECK(!response && !stream);
        response = std::move(sent);
    }
    std::shared_ptr<HttpStream> start_stream(HttpResponse sent) override {
        CHECK(!response && !stream);
        head = std::move(sent);
        stream = std::make_shared<FakeStream>();
        return stream;
    }
    std::shared_ptr<WebSocket> accept_web_socket(std::shared_ptr<WebSocketPeer> accepted) override {
        CHECK(!response && !stream && !web_socket);
        peer = std::move(accepted);
        web_socket = std::make_shared<FakeWebSocket>();
        return web_socket;
    }

    int status() const { return response ? response->status : stream ? head.status : 0; }

    std::optional<HttpResponse> response;
    HttpResponse head;
    std::shared_ptr<FakeStream> stream;
    std::shared_ptr<FakeWebSocket> web_socket;
    std::shared_ptr<WebSocketPeer> peer;
};

}  // namespace interlock
