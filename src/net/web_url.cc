// Taking URLs apart and looking hosts up.
#include "net/web_url.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kUrlBytesMax = 8 * 1024;

std::uint16_t port_of_scheme(std::string_view scheme) {
    if (scheme == "https" || scheme == "wss") {
        return 443;
    }
    return scheme == "http" || scheme == "ws" ? 80 : 0;
}

std::unexpected<Error> bad_url(std::string_view problem) {
    return fail(errors::invalid_request, "The URL cannot be used: " + std::string(problem) + ".");
}

bool is_host_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

bool is_v6_byte(char c) {
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
           c == '.';
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc() || end != text.data() + text.size() || port == 0) {
        return std::nullopt;
    }
    return port;
}

// Splits "host:port" or "[v6]:port"; the port part still has its colon.
bool split_authority(std::string_view authority, WebUrl& url, std::string_view& port) {
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == std::string_view::npos) {
            return false;
        }
        url.host = authority.substr(1, end - 1);
        port = authority.substr(end + 1);
        return !url.host.empty() && std::ranges::all_of(url.host, is_v6_byte);
    }
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
    return !url.host.empty() && url.host.size() <= kHostBytesMax &&
           std::ranges::all_of(url.host, is_host_byte);
}

}  // namespace

std::string WebUrl::bracketed_host() const {
    return host.contains(':') ? "[" + host + "]" : host;
}

std::string WebUrl::authority() const {
    return port == port_of_scheme(scheme) ? bracketed_host()
                                          : bracketed_host() + ":" + std::to_string(port);
}

Result<WebUrl> parse_web_url(std::string_view text) {
    const bool is_clean = std::ranges::all_of(text, [](char c) {
        return c > 0x20 && c < 0x7f && c != '\\' && c != '"' && c != '<' && c != '>';
    });
    if (!is_clean || text.size() > kUrlBytesMax) {
        return bad_url("it is too long or holds a character that has no place there");
    }
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos) {
        return bad_url("it has no scheme");
    }
    WebUrl url;
    url.scheme = to_lower(text.substr(0, colon));
    url.port = port_of_scheme(url.scheme);
    if (url.port == 0) {
        return bad_url("its scheme is none of http, https, ws and wss");
    }
    const std::string_view rest = text.substr(colon + 3);
    if (rest.contains('#')) {
        return bad_url("it has a fragment");
    }
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    std::string_view port;
    if (!split_authority(rest.substr(0, end), url, port)) {
        return bad_url("its host is missing or malformed");
    }
    if (!port.empty()) {
        const auto number = port.front() == ':' ? parse_port(port.substr(1)) : std::nullopt;
        if (!number) {
            return bad_url("its port is malformed");
        }
        url.port = *number;
    }
    const std::string_view target = rest.substr(end);
    url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
    return url;
}

Result<void> check_headers(const std::vector<HttpHeader>& headers) {
    for (const auto& [name, value] : headers) {
        const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
            return is_host_byte(c) && c != '.';
        });
        const bool is_line = std::ranges::all_of(value, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return (byte >= 0x20 || c == '\t') && byte != 0x7f;
        });
        if (!is_name || !is_line) {
            return fail(errors::invalid_request, "A header has a malformed name or value.");
        }
    }
    return {};
}

Result<std::vector<std::string>> resolve_host(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (outcome != 0) {
        return fail(
            errors::unavailable,
            "The host " + host + " cannot be found: " + ::gai_strerror(outcome) + ".");
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    std::vector<std::string> addresses;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        const int named = ::getnameinfo(
            entry->ai_addr,
            entry->ai_addrlen,
            text.data(),
            static_cast<socklen_t>(text.size()),
            nullptr,
            0,
            NI_NUMERICHOST);
        if (named == 0 && std::ranges::find(addresses, text.data()) == addresses.end()) {
            addresses.emplace_back(text.data());
        }
    }
    return addresses;
}

}  // namespace interlock
