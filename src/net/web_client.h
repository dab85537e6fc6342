// Calls to other people's HTTP servers, plain or over TLS with the certificate checked. Blocking,
// by libcurl; connections are kept and used again.
//
// The errors tell what a caller must know before it calls again: whether anything left. Nothing is
// ever sent twice unless it is a GET or HEAD, and no redirect is followed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_message.h"
#include "net/web_url.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind web_not_sent{
    "web_not_sent", 503, true, "Nothing was sent; make the same call again later."};
inline constexpr ErrorKind web_unknown{
    "web_unknown", 504, false, "Find out whether the call had its effect before repeating it."};
}  // namespace errors

struct WebCall {
    std::string method = "GET";
    std::string url;  // http or https. May hold a secret: it is never in an error.
    std::vector<HttpHeader> headers;
    std::string body;
    std::chrono::milliseconds timeout{20'000};  // For all of it.
    // When set, the address to connect to; the URL's host is then only told (Host, SNI) and
    // checked, never looked up.
    std::string pinned_address;
    std::size_t body_bytes_max = 4 * 1024 * 1024;     // A larger answer is `web_unknown`.
    std::string ca_file;                              // PEM; empty: the authorities of the system.
    const std::atomic<bool>* is_cancelled = nullptr;  // The call ends within a second of true.
};

// One object for one thread.
class WebClient {
public:
    static std::unique_ptr<WebClient> create();
    virtual ~WebClient() = default;

    // Any status is an answer. Otherwise errors::web_not_sent, errors::web_unknown, or
    // invalid_request for a call that cannot be made at all.
    virtual Result<HttpResponse> send(const WebCall& call) = 0;
};

}  // namespace interlock
