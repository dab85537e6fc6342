// A waiting HTTP caller made of memory: remembers the answer or the stream it got. The peer goes
// away when a test says so.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "net/http_message.h"

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

    int status() const { return response ? response->status : stream ? head.status : 0; }

    std::optional<HttpResponse> response;
    HttpResponse head;
    std::shared_ptr<FakeStream> stream;
};

}  // namespace interlock
