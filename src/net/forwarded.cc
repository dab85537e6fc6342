#include "net/forwarded.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace interlock {
namespace {

bool is_in(const IpAddress& address, std::span<const Cidr> ranges) {
    return std::ranges::any_of(ranges, [&](const Cidr& range) { return contains(range, address); });
}

// "1.2.3.4", "1.2.3.4:80", "[::1]", "[::1]:80" and "::1"; proxies write all of them.
std::optional<IpAddress> address_of(std::string_view text) {
    if (text.starts_with('[')) {
        return parse_ip(text.substr(1, text.find(']') - 1));
    }
    const bool is_v4_with_port = std::ranges::count(text, ':') == 1;
    return parse_ip(is_v4_with_port ? text.substr(0, text.find(':')) : text);
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.starts_with('"') && text.ends_with('"')
               ? text.substr(1, text.size() - 2)
               : text;
}

// The parts of all headers of a name, in their order: a list may be spread over several.
std::vector<std::string_view> list_of(const HttpRequest& request, std::string_view name) {
    std::vector<std::string_view> parts;
    for (const auto& [header, value] : request.headers) {
        if (equal_ignoring_case(header, name)) {
            for (const std::string_view part : split(value, ',')) {
                parts.push_back(trim(part));
            }
        }
    }
    return parts;
}

// A parameter of one element of Forwarded: `for=1.2.3.4;proto=https`.
std::optional<std::string_view> parameter(std::string_view element, std::string_view name) {
    for (const std::string_view part : split(element, ';')) {
        const std::string_view pair = trim(part);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && equal_ignoring_case(pair.substr(0, equals), name)) {
            return unquoted(pair.substr(equals + 1));
        }
    }
    return std::nullopt;
}

struct Hop {
    std::string_view from;                  // As written.
    std::optional<std::string_view> proto;  // What the hop used to reach the one behind it.
};

// Left to right. X-Forwarded-For goes first: proxies set it by default, and pass a Forwarded of the
// caller's own making on.
std::vector<Hop> hops_of(const HttpRequest& request) {
    std::vector<Hop> hops;
    const auto addresses = list_of(request, "x-forwarded-for");
    const auto protocols = list_of(request, "x-forwarded-proto");
    for (const std::string_view address : addresses) {
        hops.push_back({address, {}});
    }
    if (!hops.empty() || !protocols.empty()) {
        if (hops.empty()) {
            hops.push_back({});
        }
        if (!protocols.empty()) {
            hops.back().proto = protocols.back();
        }
        return hops;
    }
    for (const std::string_view element : list_of(request, "forwarded")) {
        hops.push_back({parameter(element, "for").value_or(""), parameter(element, "proto")});
    }
    return hops;
}

}  // namespace

bool is_trusted_proxy(std::string_view peer_address, std::span<const Cidr> trusted) {
    if (trusted.empty()) {
        return false;
    }
    const auto address = parse_ip(peer_address);
    return address && is_in(*address, trusted);
}

void see_through_proxy(HttpRequest& request, std::span<const Cidr> trusted) {
    if (request.listener != Listener::tcp || !is_trusted_proxy(request.peer_address, trusted)) {
        return;
    }
    request.peer_is_loopback = false;  // A proxy brings callers from anywhere.
    const std::vector<Hop> hops = hops_of(request);
    const auto end =
        hops.rbegin() + static_cast<std::ptrdiff_t>(std::min(hops.size(), kForwardedHopsMax));
    for (auto hop = hops.rbegin(); hop != end; ++hop) {
        // The nearest proxy was told the scheme by whoever stood before it; each trusted one
        // further out knows better what the caller used.
        if (hop->proto) {
            request.tls = equal_ignoring_case(*hop->proto, "https");
        }
        const auto address = address_of(hop->from);
        if (!address) {
            return;  // "unknown", a name or garbage: what stands further left proves nothing.
        }
        request.peer_address = to_text(*address);
        if (!is_in(*address, trusted)) {
            return;
        }
    }
}

}  // namespace interlock
