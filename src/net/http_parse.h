// HTTP/1.1 messages out of bytes, without sockets: the caller offers what has arrived and keeps
// what was not consumed. Any split of the same bytes gives the same messages.
//
// Requests that two readers could frame differently are refused rather than repaired: both
// Content-Length and Transfer-Encoding, a second Content-Length, codings other than chunked, folded
// header lines, a missing or second Host (RFC 9112 sections 3.2, 5.2 and 6).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "net/http_body.h"
#include "net/http_format.h"
#include "net/http_message.h"

namespace interlock {

inline constexpr std::size_t kTargetBytesMax = 8 * 1024;
inline constexpr std::size_t kHeaderCountMax = 100;

// Asked while a request arrives, so that nobody sends what would only be refused.
class HeadGate {
public:
    virtual ~HeadGate() = default;
    struct Allowance {
        std::size_t body_bytes_max = 0;
        std::optional<HttpFault> fault = std::nullopt;  // Not a byte of it.
    };
    // The head is in, but for listener and peer. `length` is what it promises; nothing: in chunks.
    virtual Allowance allow(HttpRequest& head, std::optional<std::uint64_t> length) = 0;
    // So many bytes more of the body are to be kept; false: there is no room for them.
    virtual bool keep(std::size_t count) = 0;
};

struct ParsedRequest {
    HttpRequest request;  // Listener and peer fields are left for the gate.
    bool keep_alive = true;
    bool http_1_0 = false;
};

class HttpRequestParser {
public:
    explicit HttpRequestParser(HttpParseLimits limits);
    ~HttpRequestParser();
    HttpRequestParser(const HttpRequestParser&) = delete;
    HttpRequestParser& operator=(const HttpRequestParser&) = delete;

    // `bytes`: all that has arrived and was not consumed yet. After `failed` the connection has
    // lost its framing: answer fault() and close.
    ParseStep feed(std::string_view bytes);

    // The finished request, after `complete`; the parser is then ready for the next one.
    ParsedRequest take();
    HttpFault fault() const;  // After `failed`.

    // True once per request: the head is in, the caller waits for "100 Continue" to send the body.
    bool take_continue();

private:
    struct State;
    std::unique_ptr<State> state_;
};

class HttpResponseParser {
public:
    // `to_head`: the response answers HEAD and has no body whatever its headers say.
    HttpResponseParser(HttpParseLimits limits, bool to_head);
    ~HttpResponseParser();
    HttpResponseParser(const HttpResponseParser&) = delete;
    HttpResponseParser& operator=(const HttpResponseParser&) = delete;

    ParseStep feed(std::string_view bytes);
    // The peer closed: completes a body that runs until the close, otherwise fails.
    ParseStatus feed_end();

    bool head_done() const;
    bool keep_alive() const;           // After head_done().
    HttpResponse& response();          // The body holds what arrived since it was last emptied.
    std::string_view problem() const;  // After `failed`, half a sentence.

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace interlock
