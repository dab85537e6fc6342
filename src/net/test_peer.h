// For tests of this layer: a server on a free loopback port, and a peer that sends raw bytes and
// reads raw answers. Every wait has an end far beyond what a working server needs.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "net/client_socket.h"
#include "net/http_parse.h"
#include "net/http_server.h"

namespace interlock {

inline constexpr std::chrono::seconds kTestPatience{20};

inline SocketDeadline test_deadline() {
    return std::chrono::steady_clock::now() + kTestPatience;
}

// Speaks raw bytes to a server.
class RawPeer {
public:
    explicit RawPeer(std::uint16_t port) : RawPeer(HttpTarget{{}, "127.0.0.1", port}) {}
    explicit RawPeer(const HttpTarget& target)
        : socket_(ClientSocket::connect(target, test_deadline()).value()) {}

    void send(std::string_view bytes) {
        std::size_t written = 0;
        const auto sent = socket_.write_all(bytes, test_deadline(), written);
        ASSERT_TRUE(sent.has_value()) << sent.error().message;
    }

    // The next response. What came behind it is kept for the next call.
    HttpResponse read_response(bool to_head = false) {
        HttpResponseParser parser(HttpParseLimits{64 * 1024, 64 * 1024 * 1024}, to_head);
        while (true) {
            const ParseStep step = parser.feed(unread_);
            unread_.erase(0, step.consumed);
            if (step.status == ParseStatus::complete) {
                keeps_alive_ = parser.keep_alive();
                return std::move(parser.response());
            }
            if (step.status == ParseStatus::failed || !read_more()) {
                ADD_FAILURE() << "no whole response; left over: " << unread_;
                return {.status = 0, .headers = {}, .body = {}};
            }
        }
    }

    // Reads until `text` has come; false when the server closed before.
    bool read_until(std::string_view text) {
        while (unread_.find(text) == std::string::npos) {
            if (!read_more()) {
                return false;
            }
        }
        return true;
    }

    // Everything until the server closes.
    std::string read_to_end() {
        while (read_more()) {
        }
        return std::exchange(unread_, {});
    }

    // True when the server closed without another byte.
    bool is_closed_by_server() { return read_to_end().empty(); }
    bool was_reset() const { return was_reset_; }
    bool keeps_alive() const { return keeps_alive_; }  // Of the last response.
    const std::string& unread() const { return unread_; }
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
    bool keeps_alive_ = false;
    bool was_reset_ = false;
};

// Answers 200 with "METHOD TARGET BODY".
inline void echo(HttpRequest request, const HttpResponderPtr& responder) {
    responder->send(text_response(
        200, "text/plain", request.method + " " + request.target + " " + request.body));
}

inline std::unique_ptr<HttpServer> start_server(
    HttpHandler handler = echo, HttpServerConfig config = {}) {
    auto server = HttpServer::open(std::move(config), std::move(handler));
    if (!server) {
        ADD_FAILURE() << server.error().message;
        std::abort();
    }
    (*server)->start();
    return *std::move(server);
}

// Hands requests over to the test, which answers when it likes.
struct HeldRequest {
    HttpRequest request;
    HttpResponderPtr responder;
};

class HeldRequests {
public:
    HttpHandler handler() {
        return [this](HttpRequest request, HttpResponderPtr responder) {
            const std::lock_guard lock(mutex_);
            held_.push_back({std::move(request), std::move(responder)});
            arrived_.notify_all();
        };
    }

    HeldRequest next() {
        std::unique_lock lock(mutex_);
        const bool has_come =
            arrived_.wait_for(lock, kTestPatience, [this] { return !held_.empty(); });
        EXPECT_TRUE(has_come);
        HeldRequest held = std::move(held_.front());
        held_.erase(held_.begin());
        return held;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<HeldRequest> held_;
};

// A fresh folder, removed at the end. Short, because socket paths are.
class TestFolder {
public:
    TestFolder() {
        std::string pattern = "/tmp/net_test_XXXXXX";
        path_ = ::mkdtemp(pattern.data());
    }
    ~TestFolder() { std::filesystem::remove_all(path_); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

}  // namespace interlock
