// Many plain TCP connections to this machine on one thread, with very little work for each: a
// server under test must not be measured by the speed of its clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kSwarmUnreadBytesMax = std::size_t{8} << 20;  // Of one connection.

class SocketSwarm {
public:
    static Result<SocketSwarm> create();
    SocketSwarm(SocketSwarm&& other) noexcept;
    SocketSwarm& operator=(SocketSwarm&&) = delete;
    ~SocketSwarm();

    // Connects to 127.0.0.1; the connection's number, counted from 0.
    Result<std::size_t> connect(std::uint16_t port);
    std::size_t size() const { return connections_.size(); }

    // Queued; what is queued for a connection goes out with one write at the next turn().
    void send(std::size_t number, std::string_view bytes);

    // Writes what is queued, waits for bytes and hands them over: `take` says how many of them it
    // is done with and gets the rest again, with more. Fails when a connection ended.
    using Take = std::function<Result<std::size_t>(std::size_t number, std::string_view bytes)>;
    Result<void> turn(std::chrono::milliseconds wait, const Take& take);

private:
    struct Connection {
        int fd = -1;
        std::string unread;
        std::string unsent;
        bool is_queued = false;
        bool is_blocked = false;  // The kernel's buffer is full; epoll tells when it is not.
    };

    explicit SocketSwarm(int epoll) : epoll_(epoll) {}
    Result<void> write(std::size_t number);
    Result<void> read(std::size_t number, const Take& take);
    Result<void> watch(std::size_t number, bool is_new);

    int epoll_;
    std::vector<Connection> connections_;
    std::vector<std::size_t> queued_;
    std::string buffer_;
};

// A port of this machine that was free a moment ago.
Result<std::uint16_t> find_free_port();

// Lets this process have as many files open as it may; fails when that is fewer than `needed`.
Result<void> raise_file_limit(std::int64_t needed);

}  // namespace interlock
