// The event loop of one network thread.
#include "net/http_loop.h"

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <ctime>

#include "base/check.h"
#include "net/http_connection.h"
#include "net/http_format.h"

namespace interlock {
namespace {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<NetClock, asio::wait_traits<NetClock>, Executor>;

// Deadlines are looked at in rounds rather than by one timer each, which would be re-armed with
// every request. A deadline may therefore be late by one round.
std::chrono::milliseconds round_of(const HttpLimits& limits) {
    const auto shortest = std::min(
        {limits.first_byte_timeout,
         limits.request_read_timeout,
         limits.keep_alive_timeout,
         limits.write_timeout,
         limits.web_socket_ping_interval,
         limits.web_socket_silence_max,
         limits.web_socket_close_timeout});
    return std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(250));
}

// Requests that a thread handles before it looks again at what has arrived: more would let a stop
// wait, fewer would cost everybody else.
constexpr int kHandledAtOnceMax = 16;
constexpr int kHandledStrangersMin = 4;  // Of those, when some wait.

// A fourth of all places is kept for those who prove who they are, an eighth for those who are
// about to; none of the former has more than half.
PlaceBounds bounds_of(const HttpLimits& limits) {
    const std::size_t all = limits.connections_max;
    const auto at_least_one = [](std::size_t count) { return std::max<std::size_t>(1, count); };
    return {
        .all = all,
        .strangers = at_least_one(all - all / 4),
        .known = all - at_least_one(all / 8),
        .per_peer = limits.connections_per_peer_max,
        .per_holder = at_least_one(all / 2)};
}

}  // namespace

bool ConnectionBudget::try_take() {
    std::size_t used = used_.load();
    while (used < max_) {
        if (used_.compare_exchange_weak(used, used + 1)) {
            return true;
        }
    }
    return false;
}

HttpShared::HttpShared(
    HttpLimits limits_in, std::vector<Cidr> proxies, HttpHandler handler_in, HeadJudge judge_in)
    : limits(limits_in),
      trusted_proxies(std::move(proxies)),
      handler(std::move(handler_in)),
      judge(std::move(judge_in)),
      large_bodies(limits.large_bodies),
      body_bytes(limits.body_bytes_total_max),
      places(bounds_of(limits)) {}

void HttpShared::give_back(const Seat& seat) {
    if (seat.place) {
        places.leave(seat.place);
    } else {
        seat.budget->give_back();
    }
    const std::lock_guard lock(mutex);
    changed.notify_all();
}

struct HttpLoop::Reactor {
    asio::io_context context{1};  // One thread runs it.
    asio::executor_work_guard<Executor> work{context.get_executor()};
    Timer sweep_timer{context};
    Timer pause_timer{context};
};

HttpLoop::HttpLoop(std::shared_ptr<HttpShared> shared)
    : shared_(std::move(shared)), reactor_(std::make_unique<Reactor>()) {}
HttpLoop::~HttpLoop() = default;

asio::io_context& HttpLoop::context() {
    return reactor_->context;
}

void HttpLoop::post(std::function<void()> task) {
    asio::post(reactor_->context, std::move(task));
}

bool HttpLoop::deliver(LoopDelivery delivery) {
    {
        const std::lock_guard lock(mutex_);
        if (is_ended_) {
            return false;
        }
        deliveries_.push_back(std::move(delivery));
        if (std::exchange(is_drain_posted_, true)) {
            return true;
        }
    }
    asio::post(reactor_->context, [this] { drain(); });
    return true;
}

void HttpLoop::drain() {
    std::vector<LoopDelivery> batch;
    {
        const std::lock_guard lock(mutex_);
        batch.swap(deliveries_);
        is_drain_posted_ = false;
    }
    for (LoopDelivery& delivery : batch) {
        const std::shared_ptr<HttpConnection> connection = delivery.connection;
        connection->take(std::move(delivery));
    }
    const auto to_pump = std::exchange(to_pump_, {});
    for (const std::shared_ptr<HttpConnection>& connection : to_pump) {
        connection->pump_now();
    }
}

bool HttpLoop::may_handle(bool is_urgent) {
    if (is_urgent) {
        return true;
    }
    if (handled_ >= kHandledAtOnceMax) {
        return false;
    }
    if (handled_++ == 0) {
        post([this] { handle_waiting(); });  // Behind all that is ready now.
    }
    return true;
}

void HttpLoop::handle_later(std::shared_ptr<HttpConnection> connection, bool is_known) {
    (is_known ? known_waiting_ : strangers_waiting_).push_back(std::move(connection));
}

void HttpLoop::handle_waiting() {
    handled_ = 0;
    while (handled_ < kHandledAtOnceMax &&
           !(known_waiting_.empty() && strangers_waiting_.empty())) {
        const bool is_strangers_turn =
            !strangers_waiting_.empty() &&
            (known_waiting_.empty() || handled_ >= kHandledAtOnceMax - kHandledStrangersMin);
        auto& waiting = is_strangers_turn ? strangers_waiting_ : known_waiting_;
        const std::shared_ptr<HttpConnection> next = std::move(waiting.front());
        waiting.pop_front();
        ++handled_;
        next->handle_now();
    }
    if (handled_ > 0) {
        post([this] { handle_waiting(); });
    }
}

void HttpLoop::pump_later(std::shared_ptr<HttpConnection> connection) {
    to_pump_.push_back(std::move(connection));
}

void HttpLoop::run() {
    thread_ = std::this_thread::get_id();
    reactor_->context.run();
    CHECK(connections_.empty());
    std::vector<LoopDelivery> late;  // Handled outside the lock: a delivery may own its connection.
    {
        const std::lock_guard lock(mutex_);
        is_ended_ = true;
        late.swap(deliveries_);
    }
    for (LoopDelivery& delivery : late) {
        const std::shared_ptr<HttpConnection> connection = delivery.connection;
        connection->take(std::move(delivery));  // Is closed, but somebody may wait to be told.
    }
}

void HttpLoop::finish() {
    post([this] {
        close_all();
        reactor_->sweep_timer.cancel();
        paused_.clear();
        known_waiting_.clear();
        strangers_waiting_.clear();
        reactor_->pause_timer.cancel();
        reactor_->work.reset();
    });
}

bool HttpLoop::add(const std::shared_ptr<HttpConnection>& connection) {
    if (is_stopping_) {
        connection->close();
        return false;
    }
    connections_.emplace(connection.get(), connection);
    arm_sweep();
    return true;
}

void HttpLoop::remove(HttpConnection& connection) {
    connections_.erase(&connection);
}

void HttpLoop::begin_stop() {
    is_stopping_ = true;
    const auto connections = connections_;  // Closing removes from the map.
    for (const auto& [key, connection] : connections) {
        connection->begin_stop();
    }
}

void HttpLoop::close_all() {
    is_stopping_ = true;
    const auto connections = connections_;
    for (const auto& [key, connection] : connections) {
        connection->close();
    }
}

std::string_view HttpLoop::date() {
    const std::int64_t now = std::time(nullptr);
    if (now != date_second_) {
        date_second_ = now;
        date_ = http_date(now);
    }
    return date_;
}

void HttpLoop::arm_sweep() {
    if (std::exchange(is_sweep_armed_, true)) {
        return;
    }
    reactor_->sweep_timer.expires_after(round_of(shared_->limits));
    reactor_->sweep_timer.async_wait([this](const boost::system::error_code& error) {
        is_sweep_armed_ = false;
        if (!error) {
            sweep();
        }
    });
}

bool HttpLoop::may_refuse_at_once(NetClock::time_point now) {
    const int per_second = shared_->limits.refusals_per_second;
    if (per_second <= 0) {
        return false;
    }
    // A tenth of a second's worth at once, so that they come spread.
    const auto each = std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second;
    const auto free_at = std::max(refusals_free_at_, now) + each;
    if (free_at - now > std::chrono::milliseconds(100)) {
        return false;
    }
    refusals_free_at_ = free_at;
    return true;
}

void HttpLoop::resume_later(std::weak_ptr<HttpConnection> connection, NetClock::time_point at) {
    constexpr unsigned kSpread = 16;
    const auto later = shared_->limits.refusal_pause * (pauses_++ % kSpread) / kSpread;
    const auto place = paused_.emplace(at + later, std::move(connection));
    if (place == paused_.begin()) {
        arm_pause();
    }
}

void HttpLoop::arm_pause() {
    reactor_->pause_timer.expires_at(paused_.begin()->first);
    reactor_->pause_timer.async_wait([this](const boost::system::error_code& error) {
        if (!error) {
            end_pauses();
        }
    });
}

void HttpLoop::end_pauses() {
    const auto due = paused_.upper_bound(NetClock::now());
    std::vector<std::weak_ptr<HttpConnection>> over;
    for (auto at = paused_.begin(); at != due; ++at) {
        over.push_back(std::move(at->second));
    }
    paused_.erase(paused_.begin(), due);
    for (const std::weak_ptr<HttpConnection>& one : over) {
        if (const auto connection = one.lock()) {
            connection->resume();  // May pause again.
        }
    }
    if (!paused_.empty()) {
        arm_pause();
    }
}

void HttpLoop::sweep() {
    const NetClock::time_point now = NetClock::now();
    std::vector<std::shared_ptr<HttpConnection>> overdue;
    for (const auto& [key, connection] : connections_) {
        if (connection->is_overdue(now)) {
            overdue.push_back(connection);
        }
    }
    for (const auto& connection : overdue) {
        connection->expire();
    }
    if (!connections_.empty()) {
        arm_sweep();  // A server without connections sleeps.
    }
}

}  // namespace interlock
