// A connecting socket whose every wait has an end: for the HTTP client and the load generator.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "net/http_client.h"

namespace interlock {

using SocketDeadline = std::chrono::steady_clock::time_point;

class ClientSocket {
public:
    // Tries each address of the host in turn.
    static Result<ClientSocket> connect(const HttpTarget& target, SocketDeadline deadline);

    explicit ClientSocket(int descriptor) : descriptor_(descriptor) {}
    ClientSocket(ClientSocket&& other) noexcept;
    ClientSocket& operator=(ClientSocket&& other) noexcept;
    ~ClientSocket();

    int descriptor() const { return descriptor_; }  // Non-blocking.

    // Writes all; `written` tells how much went out when it fails.
    Result<void> write_all(std::string_view bytes, SocketDeadline deadline, std::size_t& written);
    // Waits for bytes; 0 means that the peer closed.
    Result<std::size_t> read_some(std::span<char> into, SocketDeadline deadline);
    // True when the peer has closed, or has sent something nobody asked for.
    bool is_stale() const;

private:
    int descriptor_;
};

}  // namespace interlock
