// Where a request comes from. Everything that counts, limits or shows a caller's address asks here,
// so that there is one place that knows about proxies.
#pragma once

#include <string>

#include "base/peer_group.h"
#include "net/http_message.h"

namespace interlock {

// The caller's own address, without port; "unix" on the operator socket.
inline const std::string& peer_of(const HttpRequest& request) {
    return request.peer_address;
}

// Whom to charge for it: an IPv4 address or an IPv6 /64.
inline std::string peer_group_of(const HttpRequest& request) {
    return peer_group(peer_of(request));
}

}  // namespace interlock
