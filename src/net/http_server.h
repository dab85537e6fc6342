// The HTTP/1.1 server: listens on TCP (optionally with TLS) and on the operator's Unix socket,
// parses requests within named bounds and hands them to one handler.
//
// Network threads only parse and write bytes. Every bound below has a tested behaviour: too large a
// header is 431, too large a body 413, a slow request 408. Who has a connection when there are too
// many is in net/connection_places.h; whoever finds no place gets a 503 and a close (over TLS only
// the close). The Unix socket has places of its own (kOperatorConnectionsMax).
//
// A thread handles a few requests at a time and then looks at what has arrived, those of callers
// who proved who they are before those of strangers, and urgent ones before all.
//
// Of connections that get little but refusals (401 and 429) a thread answers so many a second;
// those beyond are read more slowly: they have their answer, and everybody else has the thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"
#include "net/head_verdict.h"
#include "net/http_message.h"
#include "net/large_bodies.h"

namespace interlock {

struct HttpLimits {
    std::size_t header_bytes_max = 16 * 1024;
    std::size_t body_bytes_max = 1024 * 1024;
    // Of all requests that are here and not answered yet (net/body_bytes.h); beyond it 503.
    std::size_t body_bytes_total_max = 256 * 1024 * 1024;
    // Larger ones, where the judge of heads allows them; beyond so many at a time 503. They have a
    // time of their own to arrive.
    LargeBodyRule large_bodies = {};
    std::chrono::milliseconds large_body_read_timeout{60'000};
    std::size_t connections_max = 4096;
    // Of strangers from one address or /64.
    std::size_t connections_per_peer_max = 512;
    // TLS handshakes that one address or /64 may begin, a second and at once; beyond them a
    // connection is closed unheard. A handshake costs the thread more than any request, and places
    // do not bound it: whoever gives one up takes the next. 0: as many as there are places.
    std::int64_t handshakes_per_second = 0;
    std::int64_t handshakes_at_once = 0;
    std::size_t stream_unsent_bytes_max = 1024 * 1024;
    // Of a WebSocket: a larger message is closed with 1009; a peer that leaves more unread than the
    // second bound with 1013.
    std::size_t web_socket_message_bytes_max = 1024 * 1024 + 64 * 1024;
    std::size_t web_socket_unsent_bytes_max = 4 * 1024 * 1024;
    // To the first byte of the first request.
    std::chrono::milliseconds first_byte_timeout{5'000};
    // From the first byte of a request to its last (slow loris); also the TLS handshake.
    std::chrono::milliseconds request_read_timeout{15'000};
    // From an answer to the next request.
    std::chrono::milliseconds keep_alive_timeout{75'000};
    std::chrono::milliseconds write_timeout{15'000};
    // A WebSocket that was silent for the one is pinged, for the other it is dropped.
    std::chrono::milliseconds web_socket_ping_interval{30'000};
    std::chrono::milliseconds web_socket_silence_max{75'000};
    // From our close to the end of the connection, when the peer does not answer it.
    std::chrono::milliseconds web_socket_close_timeout{10'000};
    // So many refusals more than other answers a connection may get at full speed. Each one beyond
    // them counts against the second of its thread; when that is used up, the next request of the
    // connection waits.
    int refusals_free = 20;
    int refusals_per_second = 500;
    std::chrono::milliseconds refusal_pause{
        200};  // Up to double, so that not all come back at once.
};

struct TlsFiles {
    std::string certificate_chain_path;  // PEM
    std::string private_key_path;        // PEM
};

struct HttpServerConfig {
    std::string address = "127.0.0.1";  // IPv4 or IPv6; empty: no TCP, only the Unix socket.
    std::uint16_t port = 0;             // 0: any free one; HttpServer::port() tells.
    std::string unix_socket_path;       // Empty: none. Created with mode 0600.
    std::optional<TlsFiles> tls;
    // Whose word counts about who calls (net/forwarded.h). Such a peer stands for many, and its
    // connections are not bounded as one's.
    std::vector<Cidr> trusted_proxies = {};
    int threads = 1;
    HttpLimits limits;
    HeadJudge judge;  // Empty: everybody is a stranger, and all bodies are welcome.
};

class HttpServer {
public:
    // Binds and starts listening, but accepts only after start().
    static Result<std::unique_ptr<HttpServer>> open(HttpServerConfig config, HttpHandler handler);
    virtual ~HttpServer() = default;

    virtual void start() = 0;
    virtual std::uint16_t port() const = 0;

    // Reads certificate and key again: for new connections, once both are good; otherwise the old
    // ones stay and the error says why. Nothing to do without TLS. Any thread.
    virtual Result<void> reload_tls() = 0;

    // Stops accepting, closes idle connections, lets requests already being handled send their
    // answer, and returns when they have or after `grace`. Streams are closed at once, WebSockets
    // with 1001. Not from a handler: it would wait for itself.
    virtual void stop(std::chrono::milliseconds grace) = 0;

    struct Counters {
        std::uint64_t accepted = 0;
        std::uint64_t refused = 0;    // Found no place.
        std::uint64_t made_room = 0;  // Silent strangers closed for newcomers.
        std::uint64_t open = 0;
        std::uint64_t known = 0;       // Of those, with a caller who proved who he is.
        std::uint64_t body_bytes = 0;  // Of requests that are not answered yet.
        std::uint64_t requests = 0;
        std::uint64_t bad_requests = 0;  // Answered by the server itself (400, 408, 413, 414, 431).
    };
    virtual Counters counters() const = 0;
};

}  // namespace interlock
