// Non-blocking sockets made blocking with a deadline, by poll().
#include "net/client_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

std::string name_of(const HttpTarget& target) {
    return target.unix_socket_path.empty() ? target.host + ":" + std::to_string(target.port)
                                           : target.unix_socket_path;
}

// Waits until `events` happen; the error says what was being waited for.
Result<void> wait_for(int descriptor, short events, SocketDeadline deadline) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        const auto left_ms = std::clamp<std::int64_t>(left.count(), 0, 60'000);
        pollfd entry{.fd = descriptor, .events = events, .revents = 0};
        const int ready = ::poll(&entry, 1, static_cast<int>(left_ms));
        if (ready > 0) {
            return {};
        }
        if (ready == 0 && left.count() <= 60'000) {
            return fail(
                errors::timed_out,
                events == POLLIN ? "The server did not answer in time."
                                 : "The server did not take the request in time.");
        }
        if (ready < 0 && errno != EINTR) {
            return fail(
                errors::io_failed, "Waiting for the network failed: " + reason_of(errno) + ".");
        }
    }
}

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    int family = AF_UNSPEC;
};

Result<std::vector<SocketAddress>> addresses_of(const HttpTarget& target) {
    if (!target.unix_socket_path.empty()) {
        sockaddr_un local{};
        local.sun_family = AF_UNIX;
        if (target.unix_socket_path.size() >= sizeof(local.sun_path)) {
            return fail(
                errors::invalid_config,
                "The socket path " + target.unix_socket_path + " is too long.");
        }
        std::memcpy(local.sun_path, target.unix_socket_path.data(), target.unix_socket_path.size());
        SocketAddress address{.storage = {}, .size = sizeof(local), .family = AF_UNIX};
        std::memcpy(&address.storage, &local, sizeof(local));
        return std::vector{address};
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int outcome =
        ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list);
    if (outcome != 0) {
        return fail(
            errors::unavailable,
            "The host " + target.host + " cannot be found: " + ::gai_strerror(outcome) + ".");
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    std::vector<SocketAddress> addresses;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
        SocketAddress address{.storage = {}, .size = entry->ai_addrlen, .family = entry->ai_family};
        std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
        addresses.push_back(address);
    }
    return addresses;
}

Result<ClientSocket> connect_one(const SocketAddress& address, SocketDeadline deadline) {
    ClientSocket socket(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.descriptor() < 0) {
        return fail(errors::io_failed, reason_of(errno));
    }
    if (address.family != AF_UNIX) {
        const int on = 1;
        ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
    if (::connect(socket.descriptor(), generic, address.size) == 0) {
        return socket;
    }
    if (errno != EINPROGRESS) {
        return fail(errors::unavailable, reason_of(errno));
    }
    TRY(wait_for(socket.descriptor(), POLLOUT, deadline));
    int outcome = 0;
    socklen_t size = sizeof(outcome);
    ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &outcome, &size);
    if (outcome != 0) {
        return fail(errors::unavailable, reason_of(outcome));
    }
    return socket;
}

}  // namespace

Result<ClientSocket> ClientSocket::connect(const HttpTarget& target, SocketDeadline deadline) {
    TRY_ASSIGN(const std::vector<SocketAddress> addresses, addresses_of(target));
    std::string reason = "it has no address";
    for (const SocketAddress& address : addresses) {
        Result<ClientSocket> socket = connect_one(address, deadline);
        if (socket) {
            return socket;
        }
        reason = socket.error().message;
    }
    return fail(
        errors::unavailable,
        "Cannot connect to " + name_of(target) + ": " + reason + ".",
        "Check that the server runs and listens there.");
}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

ClientSocket& ClientSocket::operator=(ClientSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

ClientSocket::~ClientSocket() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

Result<void> ClientSocket::write_all(
    std::string_view bytes, SocketDeadline deadline, std::size_t& written) {
    written = 0;
    while (written < bytes.size()) {
        const ssize_t count =
            ::send(descriptor_, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
        if (count >= 0) {
            written += static_cast<std::size_t>(count);
        } else if (errno == EAGAIN) {
            TRY(wait_for(descriptor_, POLLOUT, deadline));
        } else if (errno != EINTR) {
            return fail(
                errors::unavailable, "Sending the request failed: " + reason_of(errno) + ".");
        }
    }
    return {};
}

Result<std::size_t> ClientSocket::read_some(std::span<char> into, SocketDeadline deadline) {
    while (true) {
        const ssize_t count = ::recv(descriptor_, into.data(), into.size(), 0);
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno == EAGAIN) {
            TRY(wait_for(descriptor_, POLLIN, deadline));
        } else if (errno != EINTR) {
            return fail(
                errors::unavailable, "Reading the response failed: " + reason_of(errno) + ".");
        }
    }
}

bool ClientSocket::is_stale() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_PEEK) >= 0 || errno != EAGAIN;
}

}  // namespace interlock
