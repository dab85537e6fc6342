// Who is really calling when a proxy stands in front. Only a peer that the operator named may say
// so; from everybody else these headers are words of a stranger and are not read.
//
// Both X-Forwarded-For and Forwarded (RFC 7239) name the proxies and the caller from left to right,
// each written down by the next. What a caller invents stands on the left, so the list is walked
// from the right, past proxies that are trusted, to the first address that is not.
#pragma once

#include <span>

#include "base/ip_address.h"
#include "net/http_message.h"

namespace interlock {

// Entries of a list that are looked at, from the right; more proxies than that nobody has.
inline constexpr std::size_t kForwardedHopsMax = 16;

bool is_trusted_proxy(std::string_view peer_address, std::span<const Cidr> trusted);

// When the peer is a trusted proxy: the caller's address and whether he uses TLS take the place of
// the proxy's, and he is never "on this machine". Without a readable list the caller is the proxy.
void see_through_proxy(HttpRequest& request, std::span<const Cidr> trusted);

}  // namespace interlock
