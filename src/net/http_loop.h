// One network thread of the HTTP server: its event loop, the connections that live on it, and the
// queue through which other threads hand answers to them.
//
// A connection belongs to one loop for life, so nothing inside it needs a lock. Answers are queued
// and the loop is woken once per batch: after a commit the engine may answer hundreds of callers,
// and waking the thread for each would cost more than the answers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "net/body_bytes.h"
#include "net/connection_places.h"
#include "net/http_message.h"
#include "net/http_server.h"

namespace boost::asio {
class io_context;
}

namespace interlock {

class HttpConnection;
class StreamChannel;
class WebSocketChannel;

using NetClock = std::chrono::steady_clock;

// How many connections of one sort may be open at once.
class ConnectionBudget {
public:
    explicit ConnectionBudget(std::size_t max) : max_(max) {}
    bool try_take();
    void give_back() { used_.fetch_sub(1); }
    std::size_t used() const { return used_.load(); }

private:
    const std::size_t max_;
    std::atomic<std::size_t> used_{0};
};

// The operator's socket has places of its own: a flood over TCP must not keep the operator out.
inline constexpr std::size_t kOperatorConnectionsMax = 64;
// Connections that are only being told "no"; beyond these a refusal is a plain close.
inline constexpr std::size_t kRefusalsMax = 64;

// Where a connection's place was taken, and goes back to.
struct Seat {
    ConnectionBudget* budget = nullptr;
    ConnectionPlaces::PlacePtr place = {};  // Of a caller over TCP, instead of a budget.
};

// What all loops and connections of one server share.
struct HttpShared {
    HttpShared(
        HttpLimits limits_in,
        std::vector<Cidr> proxies,
        HttpHandler handler_in,
        HeadJudge judge_in);

    std::size_t open() const {
        const ConnectionPlaces::Used used = places.used();
        return used.strangers + used.known + operators.used() + refusals.used();
    }
    void give_back(const Seat& seat);

    const HttpLimits limits;
    const std::vector<Cidr> trusted_proxies;
    HttpHandler handler;  // Emptied after the threads have ended; read only by them before.
    HeadJudge judge;      // Likewise.
    LargeBodies large_bodies;
    BodyBytes body_bytes;
    ConnectionPlaces places;
    ConnectionBudget operators{kOperatorConnectionsMax};
    ConnectionBudget refusals{kRefusalsMax};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> bad_requests{0};
    std::mutex mutex;  // Only for waiting on `changed`.
    std::condition_variable changed;
};

struct StreamStart {
    HttpResponse head;
    std::shared_ptr<StreamChannel> channel;
};
struct StreamBytes {
    std::string bytes;
};
struct StreamEnd {
    bool is_complete = true;  // False: cut off, so that the peer can tell.
};

struct SocketStart {
    std::string accept_key;
    std::shared_ptr<WebSocketChannel> channel;
};
struct SocketMessage {
    std::string text;
    bool is_urgent = false;
};
struct SocketClose {
    std::uint16_t code = 0;
    std::string reason;
    bool drops_waiting = false;  // What is not sent yet stays unsent.
};
struct SocketResume {};

// Something for one request of one connection. `request` keeps a late answer away from the next
// request on the same connection.
struct LoopDelivery {
    std::shared_ptr<HttpConnection> connection;
    std::uint64_t request = 0;
    std::variant<
        HttpResponse,
        StreamStart,
        StreamBytes,
        StreamEnd,
        SocketStart,
        SocketMessage,
        SocketClose,
        SocketResume,
        std::function<void()>>
        what;
};

class HttpLoop : public std::enable_shared_from_this<HttpLoop> {
public:
    explicit HttpLoop(std::shared_ptr<HttpShared> shared);
    ~HttpLoop();
    HttpLoop(const HttpLoop&) = delete;
    HttpLoop& operator=(const HttpLoop&) = delete;

    // From any thread.
    void post(std::function<void()> task);
    // Queues for the loop; dropped once the loop has ended. Bounded by what it carries: one answer
    // per open request, and per stream and WebSocket what its channel allows to be unsent.
    bool deliver(LoopDelivery delivery);  // False: dropped.
    bool runs_here() const { return thread_.load() == std::this_thread::get_id(); }
    boost::asio::io_context& context();
    HttpShared& shared() { return *shared_; }

    // The thread's body; returns after finish(), when every connection is closed.
    void run();
    void finish();

    // On the loop's own thread.
    bool add(const std::shared_ptr<HttpConnection>& connection);  // False (and closed): stopping.
    void remove(HttpConnection& connection);
    // Whether connections that are refused over and over still have room in this second; takes it.
    bool may_refuse_at_once(NetClock::time_point now);
    // Calls the connection's resume() then, or a little later. Each connection waits at most once
    // at a time.
    void resume_later(std::weak_ptr<HttpConnection> connection, NetClock::time_point at);
    // Whether a request may be handled now, or has to wait for those before it; takes the turn.
    bool may_handle(bool is_urgent);
    // Calls the connection's handle_now() when it is its turn. Each waits at most once at a time.
    void handle_later(std::shared_ptr<HttpConnection> connection, bool is_known);
    // Pumps the connection after all that was delivered together, so that it leaves together.
    void pump_later(std::shared_ptr<HttpConnection> connection);
    void begin_stop();  // Connections end as soon as they owe nobody an answer.
    void close_all();
    std::string_view date();  // The Date header of this second.

private:
    struct Reactor;

    void drain();
    void handle_waiting();
    void arm_sweep();
    void sweep();
    void arm_pause();
    void end_pauses();

    const std::shared_ptr<HttpShared> shared_;
    const std::unique_ptr<Reactor> reactor_;
    std::atomic<std::thread::id> thread_{};

    std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
    std::vector<std::shared_ptr<HttpConnection>> to_pump_;
    // Requests that wait for their turn, one of a connection each.
    std::deque<std::shared_ptr<HttpConnection>> known_waiting_;
    std::deque<std::shared_ptr<HttpConnection>> strangers_waiting_;
    int handled_ = 0;  // Since the loop last looked at its sockets.
    bool is_stopping_ = false;
    bool is_sweep_armed_ = false;
    std::multimap<NetClock::time_point, std::weak_ptr<HttpConnection>> paused_;
    unsigned pauses_ = 0;
    NetClock::time_point refusals_free_at_{};  // When all room for them is there again.
    std::int64_t date_second_ = -1;
    std::string date_;

    std::mutex mutex_;
    std::vector<LoopDelivery> deliveries_;  // Guarded by mutex_, as are the two below.
    bool is_drain_posted_ = false;
    bool is_ended_ = false;
};

}  // namespace interlock
