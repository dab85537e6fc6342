// The load generator: epoll over non-blocking sockets.
#include "net/load_client.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/errors.h"
#include "base/text.h"
#include "net/client_socket.h"

namespace interlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kResponseBytesMax = 64 * 1024 * 1024;
constexpr int kEventsMax = 256;
constexpr int kTickMilliseconds = 50;  // How often the clock is looked at when nothing happens.

struct ResponseHead {
    int status = 0;
    std::size_t head_bytes = 0;
    std::size_t body_bytes = 0;
    bool keeps_alive = true;
};

enum class HeadStatus { need_more, complete, unusable };

template <class Number>
bool parse_number(std::string_view text, Number& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

HeadStatus read_head(std::string_view bytes, ResponseHead& head) {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) {
        return HeadStatus::need_more;
    }
    head.head_bytes = end + 4;
    if (end < 12 || !bytes.starts_with("HTTP/1.") ||
        !parse_number(bytes.substr(9, 3), head.status)) {
        return HeadStatus::unusable;
    }
    bool has_length = head.status == 204 || head.status == 304;
    std::string_view lines = bytes.substr(0, end + 2);
    while (!lines.empty()) {
        const std::size_t line_end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, line_end);
        lines.remove_prefix(line_end + 2);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        const std::string_view name = line.substr(0, colon);
        if (equal_ignoring_case(name, "Content-Length")) {
            has_length = parse_number(trim(line.substr(colon + 1)), head.body_bytes);
        } else if (equal_ignoring_case(name, "Connection")) {
            head.keeps_alive = !equal_ignoring_case(trim(line.substr(colon + 1)), "close");
        }
    }
    return has_length && head.body_bytes <= kResponseBytesMax ? HeadStatus::complete
                                                              : HeadStatus::unusable;
}

struct LoadConnection {
    std::optional<ClientSocket> socket;
    std::string request;
    std::size_t sent = 0;
    bool waits_to_write = false;
    bool is_busy = false;  // A request is under way.
    std::uint64_t sequence = 0;
    Clock::time_point started{};
    std::string in;  // The part of a response that came so far.
};

class LoadRun {
public:
    explicit LoadRun(const LoadConfig& config)
        : config_(config), buffer_(kReadBytes, '\0'), connections_(config.connections) {}
    ~LoadRun() {
        if (epoll_ >= 0) {
            ::close(epoll_);
        }
    }
    LoadRun(const LoadRun&) = delete;
    LoadRun& operator=(const LoadRun&) = delete;

    Result<LoadReport> run() {
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) {
            return fail(errors::io_failed, "Cannot watch the connections.");
        }
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            TRY(connect(i));
        }
        begun_ = Clock::now();
        last_answer_ = begun_;
        end_ = begun_ + config_.duration;
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            begin_request(i);
        }
        while (busy_ > 0 && Clock::now() < end_ + config_.patience) {
            wait_once();
        }
        report_.lost += busy_;
        report_.elapsed =
            std::chrono::duration_cast<std::chrono::microseconds>(last_answer_ - begun_);
        return std::move(report_);
    }

private:
    Result<void> connect(std::size_t index) {
        TRY_ASSIGN(
            ClientSocket socket,
            ClientSocket::connect(config_.target, Clock::now() + config_.patience));
        epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
        if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket.descriptor(), &event) != 0) {
            return fail(errors::io_failed, "Cannot watch a connection.");
        }
        connections_[index].socket.emplace(std::move(socket));
        connections_[index].waits_to_write = false;
        return {};
    }

    void wait_once() {
        std::array<epoll_event, kEventsMax> events;
        const int count = ::epoll_wait(epoll_, events.data(), kEventsMax, kTickMilliseconds);
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            const auto index = static_cast<std::size_t>(event.data.u64);
            if ((event.events & EPOLLOUT) != 0) {
                write_more(index);
            }
            if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
                read_more(index);
            }
        }
    }

    bool is_over() const {
        return begun_requests_ >= config_.requests_max || Clock::now() >= end_ ||
               config_.stop.stop_requested();
    }

    void begin_request(std::size_t index) {
        LoadConnection& connection = connections_[index];
        if (!connection.socket || is_over()) {
            return;
        }
        connection.request = config_.request(index, connection.sequence);
        connection.sent = 0;
        connection.is_busy = true;
        ++begun_requests_;
        ++busy_;
        connection.started = Clock::now();
        write_more(index);
    }

    void write_more(std::size_t index) {
        LoadConnection& connection = connections_[index];
        if (!connection.socket || !connection.is_busy) {
            return;
        }
        while (connection.sent < connection.request.size()) {
            const ssize_t count = ::send(
                connection.socket->descriptor(),
                connection.request.data() + connection.sent,
                connection.request.size() - connection.sent,
                MSG_NOSIGNAL);
            if (count >= 0) {
                connection.sent += static_cast<std::size_t>(count);
            } else if (errno == EAGAIN) {
                break;
            } else if (errno != EINTR) {
                lose(index);
                return;
            }
        }
        const bool must_wait = connection.sent < connection.request.size();
        if (must_wait != connection.waits_to_write) {
            connection.waits_to_write = must_wait;
            epoll_event event{
                .events = must_wait ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.u64 = index}};
            ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.socket->descriptor(), &event);
        }
    }

    void read_more(std::size_t index) {
        LoadConnection& connection = connections_[index];
        if (!connection.socket) {
            return;
        }
        const ssize_t count =
            ::recv(connection.socket->descriptor(), buffer_.data(), buffer_.size(), 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (count <= 0) {
            lose(index);
            return;
        }
        // Most responses come in one piece and need no copy.
        std::string_view bytes(buffer_.data(), static_cast<std::size_t>(count));
        if (!connection.in.empty()) {
            connection.in += bytes;
            bytes = connection.in;
        }
        ResponseHead head;
        const HeadStatus status = read_head(bytes, head);
        if (status == HeadStatus::unusable || !connection.is_busy ||
            (status == HeadStatus::need_more && bytes.size() > kReadBytes)) {
            lose(index);
            return;
        }
        if (status == HeadStatus::need_more || bytes.size() < head.head_bytes + head.body_bytes) {
            if (connection.in.empty()) {
                connection.in = bytes;
            }
            return;
        }
        finish_request(index, head, bytes.substr(head.head_bytes, head.body_bytes));
    }

    void finish_request(std::size_t index, const ResponseHead& head, std::string_view body) {
        LoadConnection& connection = connections_[index];
        last_answer_ = Clock::now();
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
            last_answer_ - connection.started);
        report_.latencies_us.push_back(static_cast<std::uint32_t>(took.count()));
        ++report_.statuses[head.status];
        connection.is_busy = false;
        --busy_;
        if (config_.on_response) {
            config_.on_response({index, connection.sequence, head.status, body});
        }
        connection.in.clear();
        ++connection.sequence;
        if (!head.keeps_alive) {
            reopen(index);
        }
        begin_request(index);
    }

    void lose(std::size_t index) {
        LoadConnection& connection = connections_[index];
        if (connection.is_busy) {
            connection.is_busy = false;
            --busy_;
            ++report_.lost;
            ++connection.sequence;
        }
        reopen(index);
        begin_request(index);
    }

    void reopen(std::size_t index) {
        connections_[index].socket.reset();
        connections_[index].in.clear();
        if (!is_over()) {
            (void)connect(index);  // A connection that cannot be opened again stays out.
        }
    }

    const LoadConfig& config_;
    std::string buffer_;
    std::vector<LoadConnection> connections_;
    LoadReport report_;
    int epoll_ = -1;
    std::size_t busy_ = 0;
    std::uint64_t begun_requests_ = 0;
    Clock::time_point begun_{};
    Clock::time_point end_{};
    Clock::time_point last_answer_{};
};

}  // namespace

double LoadReport::requests_per_second() const {
    const double seconds = static_cast<double>(elapsed.count()) / 1e6;
    return seconds > 0 ? static_cast<double>(latencies_us.size()) / seconds : 0;
}

std::uint32_t LoadReport::percentile_us(double share) const {
    if (latencies_us.empty()) {
        return 0;
    }
    std::vector<std::uint32_t> sorted = latencies_us;
    const auto last = static_cast<double>(sorted.size() - 1);
    const auto at = static_cast<std::ptrdiff_t>(std::llround(std::clamp(share, 0.0, 1.0) * last));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return sorted[static_cast<std::size_t>(at)];
}

Result<LoadReport> run_load(const LoadConfig& config) {
    CHECK(config.request);
    if (config.connections == 0 || config.connections > kLoadConnectionsMax) {
        return fail(
            errors::out_of_range,
            "The load generator opens 1 to " + std::to_string(kLoadConnectionsMax) +
                " connections, not " + std::to_string(config.connections) + ".");
    }
    if (config.requests_max > kLoadRequestsMax) {
        return fail(errors::out_of_range, "The load generator sends at most 100 million requests.");
    }
    return LoadRun(config).run();
}

}  // namespace interlock
