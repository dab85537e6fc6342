#include "engine/sink/sink_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/log.h"
#include "base/match.h"

namespace interlock {
namespace {

constexpr int kWaitForeverMs = -1;

}  // namespace

SinkServer::SinkServer(Parts parts)
    : parts_(std::move(parts)), listener_descriptor_(parts_.listener.release_descriptor()) {}

SinkServer::~SinkServer() {
    for (const auto& [descriptor, connection] : connections_) {
        ::close(descriptor);
    }
    ::close(listener_descriptor_);
}

Result<std::unique_ptr<SinkServer>> SinkServer::open(
    const SinkServerOptions& options, Clock& clock) {
    TRY_ASSIGN(EffectJournal journal, EffectJournal::open(options.journal));
    TRY_ASSIGN(UnixListener listener, UnixListener::open(options.socket_path));
    return std::unique_ptr<SinkServer>(
        new SinkServer({options, clock, std::move(journal), std::move(listener)}));
}

Result<void> SinkServer::run(int stop_descriptor) {
    while (true) {
        TRY_ASSIGN(const bool go_on, run_once(stop_descriptor));
        if (!go_on) {
            return {};
        }
    }
}

Result<bool> SinkServer::run_once(int stop_descriptor) {
    std::vector<pollfd> entries{
        {.fd = stop_descriptor, .events = POLLIN, .revents = 0},
        {.fd = listener_descriptor_, .events = POLLIN, .revents = 0}};
    for (const auto& [descriptor, connection] : connections_) {
        // Who does not fetch answers is not read from, so that a peer's backlog stays bounded.
        const short events = connection.unsent.empty() ? POLLIN : POLLOUT;
        entries.push_back({.fd = descriptor, .events = events, .revents = 0});
    }
    if (::poll(entries.data(), entries.size(), wait_ms()) < 0 && errno != EINTR) {
        return fail(
            errors::io_failed,
            "Waiting for the network failed: " + std::generic_category().message(errno) + ".");
    }
    if (entries[0].revents != 0) {
        return false;
    }
    send_due();
    for (std::size_t i = 2; i < entries.size(); ++i) {
        if (entries[i].revents != 0) {
            serve(entries[i].fd, entries[i].revents);
        }
    }
    if (entries[1].revents != 0) {
        accept_all();
    }
    return true;
}

void SinkServer::accept_all() {
    while (true) {
        const int descriptor =
            ::accept4(listener_descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0) {
            return;
        }
        if (connections_.size() >= kSinkConnectionsMax) {
            ::close(descriptor);
            continue;
        }
        connections_[descriptor].number = ++connections_accepted_;
    }
}

void SinkServer::serve(int descriptor, short events) {
    const auto found = connections_.find(descriptor);
    if (found == connections_.end()) {
        return;  // Closed while due answers were sent.
    }
    const bool alive = (events & POLLOUT) != 0 ? send_unsent(descriptor, found->second)
                                               : receive(descriptor, found->second);
    if (!alive) {
        close(descriptor);
    }
}

bool SinkServer::receive(int descriptor, Connection& connection) {
    std::array<char, 1 << 16> bytes;
    const ssize_t got = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    if (got < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (got == 0) {
        return false;
    }
    connection.received.append(bytes.data(), static_cast<std::size_t>(got));
    return take_lines(descriptor, connection);
}

bool SinkServer::take_lines(int descriptor, Connection& connection) {
    std::string received = std::exchange(connection.received, {});
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos;) {
        const std::string_view line = std::string_view(received).substr(begin, end - begin);
        if (!answer_line(descriptor, connection, line)) {
            return false;
        }
        begin = end + 1;
    }
    connection.received = received.substr(begin);
    return connection.received.size() <= kSinkLineBytesMax;
}

EffectJournal::Arrival SinkServer::arrival() {
    return {parts_.clock.now(), parts_.clock.monotonic()};
}

SinkAnswer SinkServer::run_request(const SinkPerform& perform) {
    auto answer = parts_.journal.perform(perform, arrival());
    return answer ? *std::move(answer) : SinkAnswer{SinkStatus::failed, {}, answer.error().message};
}

SinkAnswer SinkServer::run_request(const SinkFind& find) {
    auto answer = parts_.journal.find(find.effect_id, arrival());
    return answer ? *std::move(answer) : SinkAnswer{SinkStatus::failed, {}, answer.error().message};
}

bool SinkServer::answer_line(int descriptor, Connection& connection, std::string_view line) {
    const auto json = parse_json(line);
    const auto request = json ? decode_sink_request(*json) : std::unexpected(json.error());
    if (!request) {
        // Whoever sends this is no plane of ours; there is nothing sensible to answer.
        log_warn("sink_request_refused", {{"message", request.error().message}});
        return false;
    }
    std::string answer = match(
        *request,
        [&](const SinkCount&) { return to_text(encode(counts())); },
        [&](const auto& known) { return to_text(encode(run_request(known))); });
    answer += '\n';
    const bool performs = std::holds_alternative<SinkPerform>(*request);
    if (performs && parts_.options.drop_answers_every > 0 &&
        ++performs_ % parts_.options.drop_answers_every == 0) {
        return true;
    }
    if (performs && parts_.options.answer_delay > Duration{}) {
        const Duration due{
            parts_.clock.monotonic().microseconds + parts_.options.answer_delay.microseconds};
        delayed_.push_back({due, descriptor, connection.number, std::move(answer)});
        return delayed_.size() <= kSinkDelayedMax;
    }
    connection.unsent += answer;
    return send_unsent(descriptor, connection);
}

bool SinkServer::send_unsent(int descriptor, Connection& connection) {
    while (!connection.unsent.empty()) {
        const ssize_t put =
            ::send(descriptor, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
        if (put >= 0) {
            connection.unsent.erase(0, static_cast<std::size_t>(put));
        } else if (errno == EAGAIN) {
            return connection.unsent.size() <= kSinkUnsentBytesMax;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void SinkServer::send_due() {
    while (!delayed_.empty() && delayed_.front().due <= parts_.clock.monotonic()) {
        const Delayed delayed = std::move(delayed_.front());
        delayed_.pop_front();
        const auto found = connections_.find(delayed.descriptor);
        if (found == connections_.end() || found->second.number != delayed.connection_number) {
            continue;
        }
        found->second.unsent += delayed.line;
        if (!send_unsent(found->first, found->second)) {
            close(found->first);
        }
    }
}

int SinkServer::wait_ms() {
    if (delayed_.empty()) {
        return kWaitForeverMs;
    }
    const std::int64_t left_us =
        delayed_.front().due.microseconds - parts_.clock.monotonic().microseconds;
    return static_cast<int>(std::clamp<std::int64_t>((left_us + 999) / 1000, 0, 60'000));
}

void SinkServer::close(int descriptor) {
    ::close(descriptor);
    connections_.erase(descriptor);
}

}  // namespace interlock
