// HTTP messages as plain values; nothing of the network library shows through.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interlock {

using HttpHeader = std::pair<std::string, std::string>;

// Where a request came in; the operator socket proves the caller by file permissions.
enum class Listener { tcp, operator_socket };

struct HttpRequest {
    std::string method;  // "GET", "POST", ...
    std::string target;  // As sent: path and query, still percent-encoded.
    std::vector<HttpHeader> headers;
    std::string body;
    Listener listener = Listener::tcp;
    bool tls = false;
    bool peer_is_loopback = false;
    std::string peer_address;  // Without port; "unix" on the operator socket.

    // The first header of that name, compared without regard to case; nothing when absent.
    std::optional<std::string_view> header(std::string_view name) const;
    std::string_view path() const;   // Target before '?'.
    std::string_view query() const;  // Target after '?', or "".
    // Decoded value of a query parameter.
    std::optional<std::string> query_value(std::string_view name) const;
};

class WebSocket;
class WebSocketPeer;

struct HttpResponse {
    int status = 200;
    std::vector<HttpHeader> headers;
    std::string body;

    void set(std::string name, std::string value);  // Replaces a header of that name.
    std::optional<std::string_view> header(std::string_view name) const;
};

HttpResponse text_response(int status, std::string_view content_type, std::string body);

// A response whose body arrives bit by bit (server-sent events). Thread-safe; writes after the peer
// has gone are dropped and say so.
class HttpStream {
public:
    virtual ~HttpStream() = default;
    // False when the peer is gone or its unsent bytes exceed the server's stream bound; the stream
    // is then closed.
    virtual bool write(std::string bytes) = 0;
    virtual void close() = 0;
    virtual bool is_open() const = 0;
    // Called at most once, from a network thread, when the stream ends otherwise than by close():
    // the peer went away or fell too far behind, or the server stops. Dropping the stream closes
    // it.
    virtual void on_peer_closed(std::function<void()> call) = 0;
};

// The way back to one waiting caller. Exactly one of the three is called, once, from any thread; a
// responder that is dropped without any answers 500.
class HttpResponder {
public:
    virtual ~HttpResponder() = default;
    virtual void send(HttpResponse response) = 0;
    virtual std::shared_ptr<HttpStream> start_stream(HttpResponse head) = 0;
    // Ends HTTP on this connection (net/web_socket.h). A request that is no proper upgrade is
    // answered 400 or 426; then, and when the server has stopped, there is no socket and `peer` is
    // never called.
    virtual std::shared_ptr<WebSocket> accept_web_socket(std::shared_ptr<WebSocketPeer> peer) = 0;
};
using HttpResponderPtr = std::shared_ptr<HttpResponder>;

// Runs on a network thread and must not block; with several threads it runs on several at once.
using HttpHandler = std::function<void(HttpRequest request, HttpResponderPtr responder)>;

}  // namespace interlock
