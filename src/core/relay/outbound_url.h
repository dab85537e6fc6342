// Which URLs of a tenant the connector may call (R13): the pure half of the guard against being
// sent into our own network. The caller resolves the host, asks about each address, connects to
// exactly the one that was allowed and follows no redirect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace interlock {

struct IpAddress {
    // IPv6 form; IPv4 is mapped (::ffff:a.b.c.d).
    std::array<std::uint8_t, 16> bytes{};

    bool is_v4() const;
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};
// Plain dotted quads and RFC 4291 text only: no octal, no hex, no shortened IPv4.
std::optional<IpAddress> parse_ip(std::string_view text);

enum class AddressClass {
    global,
    unspecified,
    loopback,
    private_use,
    link_local,
    shared,  // 100.64.0.0/10
    multicast,
    special,  // Documentation, benchmarks, protocol assignments, reserved, translated forms.
};
std::string_view to_word(AddressClass address_class);
// An IPv6 address that carries an IPv4 one (mapped, compatible, 6to4, NAT64) is judged by
// both and is global only when both are.
AddressClass classify(const IpAddress& address);

struct Cidr {
    IpAddress address;
    unsigned prefix = 0;  // Of 128; IPv4 prefixes are counted from 96.
};
std::optional<Cidr> parse_cidr(std::string_view text);
bool contains(const Cidr& cidr, const IpAddress& address);

// Global addresses, and others only when a configured range holds them.
bool may_connect(const IpAddress& address, const std::vector<Cidr>& allowed);

struct OutboundUrl {
    bool is_tls = false;
    std::string host;                  // Lower case; IPv6 without brackets.
    std::optional<IpAddress> address;  // When the host is one.
    std::uint16_t port = 0;
    std::string target;  // Path and query, at least "/".
};
// http and https without user info. A host whose last label is a number is an address or nothing.
Result<OutboundUrl> parse_outbound_url(std::string_view text);

}  // namespace interlock
