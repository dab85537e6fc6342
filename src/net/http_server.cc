// The server around the loops: binding, accepting, starting and stopping.
#include "net/http_server.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <thread>

#include "base/check.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/peer_group.h"
#include "net/forwarded.h"
#include "net/http_loop.h"
#include "net/http_socket.h"
#include "net/rate_limit.h"
#include "net/tls_context.h"
#include "net/unix_socket.h"

namespace interlock {
namespace {

using asio::ip::tcp;
using LocalProtocol = asio::local::stream_protocol;
template <class Protocol>
using Acceptor = asio::basic_socket_acceptor<Protocol, NetExecutor>;
using Timer = asio::basic_waitable_timer<NetClock, asio::wait_traits<NetClock>, NetExecutor>;

// One listening socket, and the timer that lets it rest after a failure.
template <class Protocol>
struct Door {
    explicit Door(asio::io_context& context) : acceptor(context), pause(context) {}

    void close() {
        error_code ignored;
        acceptor.close(ignored);
        pause.cancel();
    }

    Acceptor<Protocol> acceptor;
    Timer pause;
};

constexpr int kThreadsMax = 64;
// Accepting fails when the process is out of descriptors; trying again at once would only spin.
constexpr std::chrono::milliseconds kAcceptPause{100};
// Connections taken together, so that whoever comes behind a crowd does not wait for a round of the
// loop per head of it.
constexpr int kAcceptedAtOnceMax = 64;

PeerInfo peer_of(const tcp::endpoint& endpoint, bool is_tls) {
    asio::ip::address address = endpoint.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    return {
        .listener = Listener::tcp,
        .tls = is_tls,
        .is_loopback = address.is_loopback(),
        .address = address.to_string(),
        .group = peer_group(address.to_string()),
    };
}

std::optional<RateLimiter> handshake_limiter(const HttpLimits& limits) {
    if (limits.handshakes_per_second == 0) {
        return std::nullopt;
    }
    return RateLimiter({.count = limits.handshakes_per_second, .burst = limits.handshakes_at_once});
}

PeerInfo peer_of(const LocalProtocol::endpoint&, bool) {
    return {
        .listener = Listener::operator_socket,
        .tls = false,
        .is_loopback = true,
        .address = "unix",
        .group = "unix",
    };
}

class AsioHttpServer final : public HttpServer {
public:
    AsioHttpServer(const HttpServerConfig& config, HttpHandler handler)
        : shared_(std::make_shared<HttpShared>(
              config.limits, config.trusted_proxies, std::move(handler), config.judge)),
          handshakes_(handshake_limiter(config.limits)) {
        for (int i = 0; i < config.threads; ++i) {
            loops_.push_back(std::make_shared<HttpLoop>(shared_));
        }
    }

    ~AsioHttpServer() override { stop(std::chrono::milliseconds(0)); }

    Result<void> listen_tcp(const std::string& host, std::uint16_t port) {
        error_code error;
        const std::string text = host == "localhost" ? "127.0.0.1" : host;
        const asio::ip::address address = asio::ip::make_address(text, error);
        if (error) {
            return fail(
                errors::invalid_config,
                "The listen address " + host + " is no IPv4 or IPv6 address.",
                "Use an address such as 127.0.0.1 or ::1.");
        }
        const tcp::endpoint endpoint(address, port);
        tcp_.emplace(loops_.front()->context());
        tcp_->acceptor.open(endpoint.protocol(), error);
        if (!error) {
            tcp_->acceptor.set_option(asio::socket_base::reuse_address(true), error);
        }
        if (!error) {
            tcp_->acceptor.bind(endpoint, error);
        }
        if (!error) {
            tcp_->acceptor.listen(asio::socket_base::max_listen_connections, error);
        }
        if (!error) {
            tcp_->acceptor.non_blocking(true, error);
        }
        if (error) {
            return fail(
                errors::invalid_config,
                "Cannot listen on " + host + " port " + std::to_string(port) + ": " +
                    error.message() + ".",
                "Choose a free port and an address of this machine.");
        }
        port_ = tcp_->acceptor.local_endpoint(error).port();
        return {};
    }

    Result<void> listen_unix(const std::string& path) {
        TRY_ASSIGN(UnixListener listener, UnixListener::open(path));
        unix_file_.emplace(std::move(listener));
        unix_.emplace(loops_.front()->context());
        error_code error;
        unix_->acceptor.assign(LocalProtocol(), unix_file_->release_descriptor(), error);
        if (!error) {
            unix_->acceptor.non_blocking(true, error);
        }
        if (error) {
            return fail(
                errors::io_failed, "Cannot accept on " + path + ": " + error.message() + ".");
        }
        return {};
    }

    Result<void> use_tls(const TlsFiles& files) {
        TRY_ASSIGN(tls_, load_tls(files));
        tls_files_ = files;
        return {};
    }

    Result<void> reload_tls() override {
        if (!tls_files_) {
            return {};
        }
        TRY_ASSIGN(TlsSettings fresh, load_tls(*tls_files_));
        loops_.front()->post([this, fresh = std::move(fresh)] { tls_ = fresh; });
        return {};
    }

    void start() override {
        CHECK(threads_.empty() && !is_stopped_);
        loops_.front()->post([this] {
            if (tcp_) {
                accept_next(*tcp_);
            }
            if (unix_) {
                accept_next(*unix_);
            }
        });
        for (const auto& loop : loops_) {
            threads_.emplace_back([loop] { loop->run(); });
        }
    }

    std::uint16_t port() const override { return port_; }

    void stop(std::chrono::milliseconds grace) override {
        if (std::exchange(is_stopped_, true)) {
            return;
        }
        for (const auto& loop : loops_) {
            CHECK(!loop->runs_here());  // It would wait for itself.
        }
        if (!threads_.empty()) {
            stop_threads(grace);
        }
        tcp_.reset();
        unix_.reset();
        unix_file_.reset();
        shared_->handler = nullptr;
        shared_->judge = nullptr;
    }

    Counters counters() const override {
        const ConnectionPlaces::Used used = shared_->places.used();
        return {
            .accepted = shared_->accepted,
            .refused = shared_->refused,
            .made_room = used.made_room,
            .open = used.strangers + used.known + shared_->operators.used(),
            .known = used.known,
            .body_bytes = shared_->body_bytes.used(),
            .requests = shared_->requests,
            .bad_requests = shared_->bad_requests,
        };
    }

private:
    // Connections hold what they need of it themselves, so that it may be replaced under them.
    using TlsSettings = std::shared_ptr<asio::ssl::context>;
    static Result<TlsSettings> load_tls(const TlsFiles& files) {
        TRY_ASSIGN(TlsContextPtr context, open_tls_context(files));
        return std::make_shared<asio::ssl::context>(context.release());
    }

    void stop_threads(std::chrono::milliseconds grace) {
        loops_.front()->post([this] {
            if (tcp_) {
                tcp_->close();
            }
            if (unix_) {
                unix_->close();
            }
        });
        for (const auto& loop : loops_) {
            loop->post([loop] { loop->begin_stop(); });
        }
        {
            std::unique_lock lock(shared_->mutex);
            shared_->changed.wait_for(lock, grace, [this] { return shared_->open() == 0; });
        }
        for (const auto& loop : loops_) {
            loop->finish();
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    template <class Protocol>
    void accept_next(Door<Protocol>& door) {
        using Socket = asio::basic_stream_socket<Protocol, NetExecutor>;
        const std::shared_ptr<HttpLoop> loop = loops_[next_loop_++ % loops_.size()];
        door.acceptor.async_accept(
            loop->context().get_executor(),
            [this, &door, loop](const error_code& error, Socket socket) {
                if (!door.acceptor.is_open()) {
                    return;
                }
                if (!error) {
                    admit(loop, std::move(socket));
                }
                if (const error_code problem = error ? error : accept_crowd(door);
                    problem && problem != asio::error::connection_aborted) {
                    log_warn("accept_failed", {{"reason", problem.message()}});
                    make_room();
                    rest(door);
                    return;
                }
                accept_next(door);
            });
    }

    // Who else stands before the door. A problem, unless it is only that nobody does.
    template <class Protocol>
    error_code accept_crowd(Door<Protocol>& door) {
        error_code error;
        for (int i = 1; i < kAcceptedAtOnceMax && !error; ++i) {
            const std::shared_ptr<HttpLoop> loop = loops_[next_loop_++ % loops_.size()];
            auto socket = door.acceptor.accept(loop->context().get_executor(), error);
            if (!error) {
                admit(loop, std::move(socket));
            }
        }
        return error == asio::error::would_block ? error_code() : error;
    }

    // Out of descriptors: a silent stranger has one that somebody can use.
    void make_room() {
        if (const auto victim = shared_->places.take_oldest()) {
            close_later(victim);
        }
    }

    static void close_later(const std::shared_ptr<HttpConnection>& connection) {
        connection->loop().post([connection] { connection->close(); });
    }

    template <class Protocol>
    void rest(Door<Protocol>& door) {
        door.pause.expires_after(kAcceptPause);
        door.pause.async_wait([this, &door](const error_code& cancelled) {
            if (!cancelled && door.acceptor.is_open()) {
                accept_next(door);
            }
        });
    }

    template <class Socket>
    void admit(const std::shared_ptr<HttpLoop>& loop, Socket socket) {
        error_code error;
        const auto endpoint = socket.remote_endpoint(error);
        if (error) {
            return;  // Gone before we looked.
        }
        constexpr bool kIsTcp = std::is_same_v<Socket, TcpSocket>;
        PeerInfo peer = peer_of(endpoint, kIsTcp && tls_ != nullptr);
        peer.is_proxy = kIsTcp && is_trusted_proxy(peer.address, shared_->trusted_proxies);
        if constexpr (kIsTcp) {
            socket.set_option(tcp::no_delay(true), error);
            // Finds peers that vanished without a word from streams that are silent for long.
            socket.set_option(asio::socket_base::keep_alive(true), error);
        }
        socket.non_blocking(true, error);
        if (!may_shake_hands(peer)) {
            shared_->refused.fetch_add(1);
            return;
        }
        Seat seat = kIsTcp ? tcp_seat(peer) : operator_seat();
        const bool is_admitted = seat.place || seat.budget != nullptr;
        if (!is_admitted) {
            shared_->refused.fetch_add(1);
            // A refusal over TLS would cost a handshake, which is what there is too much of.
            if (peer.tls || !shared_->refusals.try_take()) {
                return;
            }
            seat.budget = &shared_->refusals;
        } else {
            shared_->accepted.fetch_add(1);
        }
        const ConnectionPlaces::PlacePtr place = seat.place;
        std::shared_ptr<HttpConnection> connection =
            make_connection({loop, peer, std::move(seat)}, std::move(socket));
        if (place) {
            shared_->places.settle(place, connection);
        }
        loop->post([loop, connection = std::move(connection), is_admitted] {
            if (!loop->add(connection)) {
                return;
            }
            if (is_admitted) {
                connection->start();
            } else {
                connection->start_refusal();
            }
        });
    }

    // A proxy stands for many, and keeps its connections.
    bool may_shake_hands(const PeerInfo& peer) {
        if (!peer.tls || peer.is_proxy || !handshakes_) {
            return true;
        }
        const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
            NetClock::now().time_since_epoch());
        return handshakes_->take(peer.group, Timestamp{now.count()}).allowed;
    }

    // Empty: there is no place.
    Seat tcp_seat(const PeerInfo& peer) {
        auto admission = shared_->places.admit(peer.group, peer.is_proxy);
        if (admission.victim) {
            close_later(admission.victim);
        }
        return {.budget = nullptr, .place = std::move(admission.place)};
    }
    Seat operator_seat() {
        return {.budget = shared_->operators.try_take() ? &shared_->operators : nullptr};
    }

    std::shared_ptr<HttpConnection> make_connection(ConnectionParts parts, TcpSocket socket) {
        if (tls_) {
            return std::make_shared<SocketConnection<TlsSocket>>(
                std::move(parts), std::move(socket), *tls_);
        }
        return std::make_shared<SocketConnection<PlainSocket>>(
            std::move(parts), PlainSocket(std::move(socket)));
    }

    template <class Socket>
    std::shared_ptr<HttpConnection> make_connection(ConnectionParts parts, Socket socket) {
        return std::make_shared<SocketConnection<PlainSocket>>(
            std::move(parts), PlainSocket(std::move(socket)));
    }

    const std::shared_ptr<HttpShared> shared_;
    std::vector<std::shared_ptr<HttpLoop>> loops_;  // The first one also accepts.
    std::optional<TlsFiles> tls_files_;
    TlsSettings tls_;  // Null: none. Replaced and read by the thread that accepts.
    std::optional<RateLimiter> handshakes_;  // Of the thread that accepts; none: unbounded.
    std::optional<Door<tcp>> tcp_;
    std::optional<UnixListener> unix_file_;
    std::optional<Door<LocalProtocol>> unix_;
    std::size_t next_loop_ = 0;
    std::uint16_t port_ = 0;
    std::vector<std::thread> threads_;
    bool is_stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpServerConfig config, HttpHandler handler) {
    CHECK(handler);
    if (config.threads < 1 || config.threads > kThreadsMax) {
        return fail(
            errors::invalid_config,
            "The server cannot run on " + std::to_string(config.threads) +
                " network threads; 1 to " + std::to_string(kThreadsMax) + " are possible.");
    }
    if (config.address.empty() && config.unix_socket_path.empty()) {
        return fail(errors::invalid_config, "Neither an address nor a socket path is given.");
    }
    std::unique_ptr<AsioHttpServer> server;
    try {
        server = std::make_unique<AsioHttpServer>(config, std::move(handler));
    } catch (const boost::system::system_error& error) {  // No descriptor for an event loop.
        return fail(
            errors::io_failed,
            "Cannot make an event loop: " + error.code().message() + ".",
            "Raise the limit of open files.");
    }
    if (config.tls) {
        TRY(server->use_tls(*config.tls));
    }
    if (!config.address.empty()) {
        TRY(server->listen_tcp(config.address, config.port));
    }
    if (!config.unix_socket_path.empty()) {
        TRY(server->listen_unix(config.unix_socket_path));
    }
    return server;
}

}  // namespace interlock
