// For tests of clients: a listener on loopback whose every connection is played by a function, one
// after another on one thread.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "net/client_socket.h"
#include "net/test_peer.h"

namespace interlock {

// One connection, from the server's side.
class ScriptedConnection {
public:
    explicit ScriptedConnection(int descriptor) : socket_(descriptor) {}

    // Reads until `text` has come, and takes everything up to its end; "" when the client closed.
    std::string read_through(std::string_view text) {
        while (unread_.find(text) == std::string::npos) {
            if (!read_more()) {
                return {};
            }
        }
        const std::size_t end = unread_.find(text) + text.size();
        std::string taken = unread_.substr(0, end);
        unread_.erase(0, end);
        return taken;
    }

    void send(std::string_view bytes) {
        std::size_t written = 0;
        (void)socket_.write_all(bytes, test_deadline(), written);
    }

    // False when the client closed.
    bool read_more() {
        char buffer[4096];
        const auto count = socket_.read_some(buffer, test_deadline());
        if (!count || *count == 0) {
            return false;
        }
        unread_.append(buffer, *count);
        return true;
    }
    std::string& unread() { return unread_; }

private:
    ClientSocket socket_;
    std::string unread_;
};

class ScriptedServer {
public:
    // `play` gets the connection and its number, from 0; when it returns, the connection ends.
    explicit ScriptedServer(std::function<void(ScriptedConnection&, int)> play)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), play_(std::move(play)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_, generic, sizeof(address)), 0);
        EXPECT_EQ(::listen(listener_, 8), 0);
        socklen_t size = sizeof(address);
        EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    ~ScriptedServer() {
        ::shutdown(listener_, SHUT_RDWR);  // Ends the accept.
        thread_.join();
        ::close(listener_);
    }
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    std::uint16_t port() const { return port_; }
    int connections() const { return connections_.load(); }

private:
    void run() {
        while (true) {
            const int descriptor =
                ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (descriptor < 0) {
                return;
            }
            ScriptedConnection connection(descriptor);
            play_(connection, connections_.fetch_add(1));
        }
    }

    const int listener_;
    const std::function<void(ScriptedConnection&, int)> play_;
    std::uint16_t port_ = 0;
    std::atomic<int> connections_{0};
    std::thread thread_;
};

}  // namespace interlock
