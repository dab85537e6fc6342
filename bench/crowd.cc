#include "bench/crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <vector>

#include "base/errors.h"
#include "engine/system/durable_file.h"
#include "net/http_parse.h"

namespace interlock {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::milliseconds kDripPause{100};
constexpr std::size_t kEventsMax = 512;
constexpr std::size_t kAnswerBytesMax = 4 * 1024 * 1024;

sockaddr_in address_of(int network, std::size_t host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const auto low = static_cast<std::uint32_t>(network << 8) + static_cast<std::uint32_t>(host);
    address.sin_addr.s_addr = htonl((127U << 24) | low);
    return address;
}

}  // namespace

struct Crowd::Caller {
    FileDescriptor socket;
    bool is_connected = false;
    std::uint64_t sequence = 0;
    std::string unsent;
    std::unique_ptr<HttpResponseParser> answer;  // Awaited.
    std::string unread;
    SteadyClock::time_point drips_at{};
};

struct Crowd::Body {
    explicit Body(std::size_t count) : callers(count) {
        for (std::size_t i = 0; i < count; ++i) {
            absent.push_back(i);
        }
    }

    void open(const CrowdPlan& plan, std::size_t number);
    void lose(std::size_t number);
    void say(const CrowdPlan& plan, std::size_t number);
    void flush(const CrowdPlan& plan, std::size_t number);
    void hear(const CrowdPlan& plan, std::size_t number);
    bool take_answer(const CrowdPlan& plan, std::size_t number);
    void watch(std::size_t number, std::uint32_t events) const;

    FileDescriptor epoll;
    std::vector<Caller> callers;
    std::deque<std::size_t> absent;
    std::size_t connected = 0;
    CrowdReport report;
};

void Crowd::Body::watch(std::size_t number, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.u64 = number}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, callers[number].socket.get(), &event);
}

void Crowd::Body::open(const CrowdPlan& plan, std::size_t number) {
    Caller& caller = callers[number];
    caller = {};
    caller.socket =
        FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    const int fd = caller.socket.get();
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
    const sockaddr_in from = address_of(plan.network, 1 + number % plan.addresses, 0);
    const sockaddr_in to = address_of(0, 1, plan.port);
    const bool is_begun = fd >= 0 &&
                          ::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) == 0 &&
                          (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ||
                           errno == EINPROGRESS);
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data = {.u64 = number}};
    if (!is_begun || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        caller = {};
        absent.push_back(number);
        return;
    }
    ++report.opened;
}

void Crowd::Body::lose(std::size_t number) {
    if (callers[number].is_connected) {
        --connected;
        ++report.closed_on;
    }
    callers[number] = {};
    absent.push_back(number);
}

void Crowd::Body::say(const CrowdPlan& plan, std::size_t number) {
    Caller& caller = callers[number];
    caller.unsent = plan.request(number, caller.sequence++);
    caller.answer = std::make_unique<HttpResponseParser>(
        HttpParseLimits{.body_bytes_max = kAnswerBytesMax}, false);
    caller.drips_at = SteadyClock::now();
    flush(plan, number);
}

void Crowd::Body::flush(const CrowdPlan& plan, std::size_t number) {
    Caller& caller = callers[number];
    if (plan.drip_bytes > 0 && SteadyClock::now() < caller.drips_at) {
        return;
    }
    while (!caller.unsent.empty()) {
        const std::size_t piece = plan.drip_bytes > 0
                                      ? std::min(plan.drip_bytes, caller.unsent.size())
                                      : caller.unsent.size();
        const ssize_t sent =
            ::send(caller.socket.get(), caller.unsent.data(), piece, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) {
            break;
        }
        caller.unsent.erase(0, static_cast<std::size_t>(sent));
        if (plan.drip_bytes > 0) {
            caller.drips_at = SteadyClock::now() + kDripPause;
            break;
        }
    }
    const bool waits_to_write = !caller.unsent.empty() && plan.drip_bytes == 0;
    watch(number, EPOLLIN | EPOLLRDHUP | (waits_to_write ? EPOLLOUT : 0U));
}

// False when the connection is at its end.
bool Crowd::Body::take_answer(const CrowdPlan& plan, std::size_t number) {
    Caller& caller = callers[number];
    if (!caller.answer) {
        caller.unread.clear();
        return true;
    }
    const ParseStep step = caller.answer->feed(caller.unread);
    caller.unread.erase(0, step.consumed);
    if (step.status == ParseStatus::need_more) {
        return true;
    }
    if (step.status == ParseStatus::failed) {
        return false;
    }
    ++(caller.answer->response().status < 400 ? report.served : report.refused);
    const bool lives = caller.answer->keep_alive() && caller.unsent.empty();
    caller.answer.reset();
    if (lives) {
        say(plan, number);
    }
    return lives;
}

void Crowd::Body::hear(const CrowdPlan& plan, std::size_t number) {
    Caller& caller = callers[number];
    std::array<char, 16 * 1024> buffer;
    const ssize_t count = ::recv(caller.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return;
    }
    if (count <= 0) {
        lose(number);
        return;
    }
    caller.unread.append(buffer.data(), static_cast<std::size_t>(count));
    if (!take_answer(plan, number)) {
        lose(number);
    }
}

Crowd::Crowd(CrowdPlan plan)
    : plan_(std::move(plan)), body_(std::make_unique<Body>(plan_.connections)) {}

Crowd::~Crowd() {
    finish();
}

Result<std::unique_ptr<Crowd>> Crowd::start(CrowdPlan plan) {
    std::unique_ptr<Crowd> crowd(new Crowd(std::move(plan)));
    crowd->body_->epoll = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
    if (!crowd->body_->epoll.is_open()) {
        return fail(errors::io_failed, "Cannot make an epoll for the crowd.");
    }
    crowd->thread_ = std::thread([raw = crowd.get()] { raw->run(); });
    return crowd;
}

CrowdReport Crowd::finish() {
    is_over_ = true;
    if (thread_.joinable()) {
        thread_.join();
        report_ = body_->report;
        report_.name = plan_.name;
        body_->callers.clear();
    }
    return report_;
}

void Crowd::run() {
    // Real attackers do not share a machine with what they attack: these take what is left of it,
    // and never keep a thread of the server or of whoever stops it from waking up.
    const sched_param idle{};
    ::sched_setscheduler(0, SCHED_IDLE, &idle);
    std::vector<epoll_event> events(kEventsMax);
    auto credited = SteadyClock::now();
    double credit = 0;
    while (!is_over_) {
        const auto now = SteadyClock::now();
        const std::chrono::duration<double> since = now - credited;
        credited = now;
        const auto pace = static_cast<double>(plan_.opened_per_second_max);
        credit = std::min(credit + since.count() * pace, pace / 10);
        for (; credit >= 1 && !body_->absent.empty(); credit -= 1) {
            const std::size_t number = body_->absent.front();
            body_->absent.pop_front();
            body_->open(plan_, number);
        }
        const int count =
            ::epoll_wait(body_->epoll.get(), events.data(), kEventsMax, kTick.count());
        for (int i = 0; i < count; ++i) {
            const auto number = static_cast<std::size_t>(events[i].data.u64);
            Caller& caller = body_->callers[number];
            if (!caller.socket.is_open()) {
                continue;
            }
            if ((events[i].events & (EPOLLERR | EPOLLHUP)) != 0) {
                body_->lose(number);
                continue;
            }
            if ((events[i].events & EPOLLOUT) != 0 && !caller.is_connected) {
                caller.is_connected = true;
                ++body_->connected;
                body_->watch(number, EPOLLIN | EPOLLRDHUP);
                if (plan_.request) {
                    body_->say(plan_, number);
                }
            } else if ((events[i].events & EPOLLOUT) != 0) {
                body_->flush(plan_, number);
            }
            if ((events[i].events & (EPOLLIN | EPOLLRDHUP)) != 0) {
                body_->hear(plan_, number);
            }
        }
        if (plan_.drip_bytes > 0) {
            for (std::size_t i = 0; i < body_->callers.size(); ++i) {
                if (body_->callers[i].is_connected && !body_->callers[i].unsent.empty()) {
                    body_->flush(plan_, i);
                }
            }
        }
        connected_ = body_->connected;
        body_->report.connected_most =
            std::max<std::uint64_t>(body_->report.connected_most, body_->connected);
    }
}

}  // namespace interlock
