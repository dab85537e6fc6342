// Moves the bytes of an HttpConnection: one template over Asio streams, used for plain sockets (TCP
// and Unix alike) and for TLS. Included only by http_server.cc, since Asio is slow to compile.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <type_traits>

#include "net/http_connection.h"

namespace interlock {

namespace asio = boost::asio;
using boost::system::error_code;

using NetExecutor = asio::io_context::executor_type;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, NetExecutor>;
using PlainSocket = asio::basic_stream_socket<asio::generic::stream_protocol, NetExecutor>;
using TlsSocket = asio::ssl::stream<TcpSocket>;

struct ConnectionParts {
    std::shared_ptr<HttpLoop> loop;
    PeerInfo peer;
    Seat seat;
};

template <class Stream>
class SocketConnection final : public HttpConnection {
public:
    template <class... StreamArguments>
    explicit SocketConnection(ConnectionParts parts, StreamArguments&&... arguments)
        : HttpConnection(std::move(parts.loop), std::move(parts.peer), std::move(parts.seat)),
          stream_(std::forward<StreamArguments>(arguments)...) {}

protected:
    static constexpr bool kIsTls = std::is_same_v<Stream, TlsSocket>;

    void start_handshake() override {
        if constexpr (kIsTls) {
            stream_.async_handshake(
                asio::ssl::stream_base::server,
                [self = self()](const error_code& error) { self->on_handshake(!error); });
        }
    }

    void start_read(std::span<char> into) override {
        stream_.async_read_some(
            asio::buffer(into.data(), into.size()),
            [self = self()](const error_code& error, std::size_t count) {
                self->on_read(outcome_of(error), count);
            });
    }

    void start_write(std::string_view bytes) override {
        stream_.async_write_some(
            asio::buffer(bytes.data(), bytes.size()),
            [self = self()](
                const error_code& error, std::size_t count) { self->on_written(!error, count); });
    }

    std::optional<std::size_t> try_write(std::string_view bytes) override {
        if constexpr (kIsTls) {
            return 0;  // A half-written record must be finished by the same kind of call.
        } else {
            error_code error;
            const std::size_t count =
                stream_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
            if (!error) {
                return count;
            }
            return error == asio::error::would_block ? std::optional<std::size_t>(0) : std::nullopt;
        }
    }

    void end_output(bool is_peer_sending) override {
        if constexpr (kIsTls) {
            // A close_notify is the proper end, but OpenSSL takes anything received after it for an
            // error; a peer that is still sending gets only the end of the stream.
            if (!is_peer_sending) {
                stream_.async_shutdown([self = self()](const error_code&) {});
                return;
            }
        }
        error_code ignored;
        stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, ignored);
    }

    void close_transport() override {
        error_code ignored;
        stream_.lowest_layer().close(ignored);
    }

private:
    std::shared_ptr<SocketConnection> self() {
        return std::static_pointer_cast<SocketConnection>(shared_from_this());
    }

    static ReadOutcome outcome_of(const error_code& error) {
        if (!error) {
            return ReadOutcome::bytes;
        }
        return error == asio::error::eof ? ReadOutcome::end : ReadOutcome::failed;
    }

    Stream stream_;
};

}  // namespace interlock
