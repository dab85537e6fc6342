#include "bench/socket_swarm.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

std::unexpected<Error> failed(const std::string& what) {
    return fail(errors::io_failed, what + ": " + std::generic_category().message(errno) + ".");
}

sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

}  // namespace

Result<SocketSwarm> SocketSwarm::create() {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        return failed("Cannot watch sockets");
    }
    return SocketSwarm(epoll);
}

SocketSwarm::SocketSwarm(SocketSwarm&& other) noexcept
    : epoll_(std::exchange(other.epoll_, -1)),
      connections_(std::exchange(other.connections_, {})),
      queued_(std::move(other.queued_)),
      buffer_(std::move(other.buffer_)) {}

SocketSwarm::~SocketSwarm() {
    for (const Connection& connection : connections_) {
        ::close(connection.fd);
    }
    if (epoll_ >= 0) {
        ::close(epoll_);
    }
}

Result<std::size_t> SocketSwarm::connect(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return failed("Cannot make a socket");
    }
    const sockaddr_in address = local(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const auto error = failed("Cannot connect");
        ::close(fd);
        return error;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    connections_.push_back({.fd = fd, .unread = {}, .unsent = {}});
    TRY(watch(connections_.size() - 1, true));
    return connections_.size() - 1;
}

Result<void> SocketSwarm::watch(std::size_t number, bool is_new) {
    const Connection& connection = connections_[number];
    epoll_event event{};
    event.events = EPOLLIN | (connection.is_blocked ? static_cast<unsigned>(EPOLLOUT) : 0U);
    event.data.u64 = number;
    if (::epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection.fd, &event) != 0) {
        return failed("Cannot watch a socket");
    }
    return {};
}

void SocketSwarm::send(std::size_t number, std::string_view bytes) {
    Connection& connection = connections_[number];
    connection.unsent += bytes;
    if (!std::exchange(connection.is_queued, true)) {
        queued_.push_back(number);
    }
}

Result<void> SocketSwarm::write(std::size_t number) {
    Connection& connection = connections_[number];
    const ssize_t sent =
        ::send(connection.fd, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return failed("Cannot send to connection " + std::to_string(number));
    }
    connection.unsent.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
    const bool is_blocked = !connection.unsent.empty();
    if (is_blocked != connection.is_blocked) {
        connection.is_blocked = is_blocked;
        return watch(number, false);
    }
    return {};
}

Result<void> SocketSwarm::read(std::size_t number, const Take& take) {
    Connection& connection = connections_[number];
    buffer_.resize(kReadBytes);
    const ssize_t got = ::recv(connection.fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return {};
    }
    if (got <= 0) {
        return fail(
            errors::unavailable,
            "Connection " + std::to_string(number) + " ended; unread: \"" +
                connection.unread.substr(0, 200) + "\".");
    }
    const std::string_view arrived(buffer_.data(), static_cast<std::size_t>(got));
    if (connection.unread.empty()) {
        TRY_ASSIGN(const std::size_t done, take(number, arrived));
        connections_[number].unread = arrived.substr(done);
        return {};
    }
    connection.unread += arrived;
    if (connection.unread.size() > kSwarmUnreadBytesMax) {
        return fail(errors::unavailable, "A server sends an answer without end.");
    }
    const std::string all = std::move(connection.unread);
    TRY_ASSIGN(const std::size_t done, take(number, all));
    connections_[number].unread = all.substr(done);
    return {};
}

Result<void> SocketSwarm::turn(std::chrono::milliseconds wait, const Take& take) {
    for (const std::size_t number : std::exchange(queued_, {})) {
        connections_[number].is_queued = false;
        if (!connections_[number].is_blocked) {
            TRY(write(number));
        }
    }
    std::array<epoll_event, 512> events{};
    const int count =
        ::epoll_wait(epoll_, events.data(), events.size(), static_cast<int>(wait.count()));
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        const std::size_t number = event.data.u64;
        if ((event.events & EPOLLOUT) != 0) {
            TRY(write(number));
        }
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
            TRY(read(number, take));
        }
    }
    return {};
}

Result<std::uint16_t> find_free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = local(0);
    socklen_t size = sizeof address;
    const bool is_bound =
        fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (fd >= 0) {
        ::close(fd);
    }
    if (!is_bound) {
        return failed("Cannot find a free port");
    }
    return ntohs(address.sin_port);
}

Result<void> raise_file_limit(std::int64_t needed) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < static_cast<rlim_t>(needed)) {
        return fail(
            errors::unavailable,
            "A process may have " + std::to_string(limit.rlim_cur) + " files open here, and " +
                std::to_string(needed) + " are needed.",
            "Raise the hard limit of open files (ulimit -Hn), or ask for fewer sockets.");
    }
    return {};
}

}  // namespace interlock
