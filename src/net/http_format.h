// How messages of ours look on the wire: response heads, chunks, request heads, and the answers the
// server makes by itself when a request never reaches the handler.
//
// Framing headers (Content-Length, Transfer-Encoding, Connection, Date) are written here and only
// here, so an answer can never contradict its own length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace interlock {

struct ResponseFraming {
    bool keep_alive = true;
    bool http_1_0 = false;   // The caller speaks HTTP/1.0: keep-alive must be said, no chunks.
    bool head_only = false;  // Answers HEAD: the length is told, the body is not sent.
    std::string_view date;   // As http_date() writes it.
};

void append_response(
    std::string& out, const HttpResponse& response, const ResponseFraming& framing);

// The head of a response whose body follows in chunks (or, for HTTP/1.0, until the close).
void append_stream_head(std::string& out, const HttpResponse& head, const ResponseFraming& framing);
void append_chunk(std::string& out, std::string_view bytes);  // `bytes` must not be empty.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// A whole request; `host` is used when the request carries no Host header.
void append_request(std::string& out, const HttpRequest& request, std::string_view host);

std::string_view reason_phrase(int status);
std::string http_date(std::int64_t unix_seconds);  // "Sun, 06 Nov 1994 08:49:37 GMT"

// Why the server itself answered.
enum class HttpFault {
    invalid_http,
    request_timeout,
    body_too_large,
    uri_too_long,
    headers_too_large,
    too_many_connections,
    too_many_bodies,
    internal,  // The handler dropped its responder.
};
HttpResponse fault_response(HttpFault fault);

}  // namespace interlock
