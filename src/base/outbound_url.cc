#include "base/outbound_url.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

std::unexpected<Error> bad_url(std::string problem) {
    return fail(
        errors::invalid_request,
        "The URL " + std::move(problem) + ".",
        "Use an http or https URL that the public can reach.");
}

std::unexpected<Error> not_allowed(std::string problem) {
    return fail(errors::url_not_allowed, "The URL " + std::move(problem) + ".");
}

// Below this, services have numbers of their own, and a GET may be words to one of them.
constexpr std::uint16_t kFreePortsFrom = 1024;

bool is_web_port(std::uint16_t port) {
    return port == 80 || port == 443 || port >= kFreePortsFrom;
}

bool is_label_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_host_name(std::string_view host) {
    if (host.empty() || host.size() > kHostBytesMax) {
        return false;
    }
    const auto labels = split(host, '.');
    for (const std::string_view label : labels) {
        if (label.empty() || label.size() > kLabelBytesMax ||
            !std::ranges::all_of(label, is_label_character)) {
            return false;
        }
    }
    // "127.1", "0x7f000001" and "2130706433" are addresses to some resolvers.
    const std::string_view last = labels.back();
    return last[0] < '0' || last[0] > '9';
}

Result<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size() || port == 0) {
        return bad_url("has no valid port");
    }
    return port;
}

struct HostAndPort {
    std::string_view host;
    std::optional<std::string_view> port;
    bool is_bracketed = false;
};

std::optional<HostAndPort> split_authority(std::string_view authority) {
    HostAndPort parts;
    const std::size_t host_end = authority.find(':');
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == std::string_view::npos) {
            return std::nullopt;
        }
        parts.is_bracketed = true;
        parts.host = authority.substr(1, close - 1);
        authority.remove_prefix(close + 1);
        if (!authority.empty() && authority[0] != ':') {
            return std::nullopt;
        }
    } else {
        parts.host = authority.substr(0, host_end);
        authority.remove_prefix(parts.host.size());
    }
    if (!authority.empty()) {
        parts.port = authority.substr(1);
    }
    return parts;
}

Result<void> set_host(OutboundUrl& url, const HostAndPort& parts) {
    url.host = to_lower(parts.host);
    url.address = parse_ip(url.host);
    if (parts.is_bracketed) {
        if (!url.address || !url.host.contains(':')) {
            return bad_url("has no valid IPv6 address between its brackets");
        }
        return {};
    }
    if (url.address) {
        return {};
    }
    if (url.host.ends_with('.')) {
        url.host.pop_back();
    }
    if (!is_host_name(url.host)) {
        return bad_url("has no valid host");
    }
    return {};
}

}  // namespace

bool may_connect(const IpAddress& address, const std::vector<Cidr>& allowed) {
    return classify(address) == AddressClass::global ||
           std::ranges::any_of(
               allowed, [&address](const Cidr& cidr) { return contains(cidr, address); });
}

Result<OutboundUrl> parse_outbound_url(std::string_view text) {
    if (text.size() > kUrlBytesMax) {
        return bad_url("is longer than " + std::to_string(kUrlBytesMax) + " bytes");
    }
    // Parsers disagree about these characters, and a request line must not be split.
    if (std::ranges::any_of(
            text, [](char c) { return c <= ' ' || c == 0x7F || c == '\\' || (c & 0x80) != 0; })) {
        return bad_url("holds a character that must be percent-encoded");
    }
    OutboundUrl url;
    const std::size_t colon = text.find("://");
    const std::string scheme = to_lower(text.substr(0, std::min(colon, text.size())));
    if (colon == std::string_view::npos || (scheme != "http" && scheme != "https")) {
        return bad_url("must begin with http:// or https://");
    }
    url.is_tls = scheme == "https";
    text.remove_prefix(colon + 3);
    const std::string_view authority = text.substr(0, text.find_first_of("/?#"));
    text.remove_prefix(authority.size());
    if (authority.find('@') != std::string_view::npos) {
        return bad_url("must not hold a user or a password");
    }
    const auto parts = split_authority(authority);
    if (!parts) {
        return bad_url("has no valid host");
    }
    TRY(set_host(url, *parts));
    url.port = url.is_tls ? 443 : 80;
    if (parts->port) {
        TRY_ASSIGN(url.port, parse_port(*parts->port));
    }
    text = text.substr(0, text.find('#'));
    url.target = text.starts_with('/') ? std::string(text) : "/" + std::string(text);
    return url;
}

Result<OutboundUrl> judge_outbound_url(std::string_view text, const std::vector<Cidr>& allowed) {
    Result<OutboundUrl> url = parse_outbound_url(text);
    if (!url) {
        return fail(errors::url_not_allowed, url.error().message);
    }
    if (!is_web_port(url->port)) {
        return not_allowed(
            "must have port 80, 443 or one from " + std::to_string(kFreePortsFrom) + " on");
    }
    if (url->host == "localhost" || url->host.ends_with(".localhost")) {
        return not_allowed("names this machine");
    }
    if (url->address && !may_connect(*url->address, allowed)) {
        return not_allowed(
            "names an address inside a network (" + std::string(to_word(classify(*url->address))) +
            ")");
    }
    return url;
}

}  // namespace interlock
