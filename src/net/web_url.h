// The parts of a URL that we call: ws, wss, http and https. Strict, because a URL that two readers
// take apart differently leads to two places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_message.h"

namespace interlock {

struct WebUrl {
    std::string scheme;      // Lower case.
    std::string host;        // As written; IPv6 without brackets.
    std::uint16_t port = 0;  // The scheme's own when none is written.
    std::string target;      // Path and query, at least "/".

    bool is_tls() const { return scheme == "https" || scheme == "wss"; }
    std::string bracketed_host() const;
    std::string authority() const;  // For the Host header: without the scheme's own port.
};

// Refuses user info, fragments and anything but printable ASCII. The error does not quote the URL,
// which may hold a secret.
Result<WebUrl> parse_web_url(std::string_view text);

// Every name a token and every value one line.
Result<void> check_headers(const std::vector<HttpHeader>& headers);

// The addresses of a host as text, each once, in the system's order. Blocks for as long as the
// system's resolver does.
Result<std::vector<std::string>> resolve_host(const std::string& host, std::uint16_t port);

}  // namespace interlock
