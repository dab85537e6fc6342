// A small blocking HTTP/1.1 client for the command line, drills and tests: TCP or Unix socket,
// plain text only. One object is one kept-alive connection; not thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/http_message.h"

namespace interlock {

struct HttpTarget {
    std::string unix_socket_path;  // When set, host and port are used only for the Host header.
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
};

class HttpClient {
public:
    static std::unique_ptr<HttpClient> create(
        HttpTarget target, std::chrono::milliseconds timeout = std::chrono::seconds(30));
    virtual ~HttpClient() = default;

    // Connects when needed. A kept-alive connection that the server closed meanwhile is re-opened
    // once for requests that were not yet sent in part.
    virtual Result<HttpResponse> send(const HttpRequest& request) = 0;

    // For server-sent events: calls `on_bytes` with each piece of the body until the server ends
    // the stream or the callback returns false. The returned response has an empty body.
    virtual Result<HttpResponse> send_streaming(
        const HttpRequest& request,
        const std::function<bool(const HttpResponse& head, std::string_view bytes)>& on_bytes) = 0;
};

}  // namespace interlock
