// The pure half of the one guard over URLs that somebody other than the operator gave
// (relay-connector.md#8-the-egress-guard): nobody may send the server into its own network. Asked
// when a URL is given and again when it is used; net/egress_guard.h looks the host up, judges every
// address and connects to that one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind url_not_allowed{
    "url_not_allowed",
    400,
    false,
    "Give an http or https URL that the public can reach, or ask the operator to register it."};
}  // namespace errors

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

// What can be said of a URL without looking its host up: that it can be read, that its port is not
// one of another protocol, that its host is neither this machine by name nor an address that
// strangers may not name. `url_not_allowed` says which.
Result<OutboundUrl> judge_outbound_url(std::string_view text, const std::vector<Cidr>& allowed);

}  // namespace interlock
