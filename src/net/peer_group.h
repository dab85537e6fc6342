// Who counts as one peer: an IPv4 address, or the /64 of an IPv6 address, because whoever has one
// address of such a network has all of them. Bounds and budgets of strangers go by this text.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// Anything that is no address ("unix") is a peer by its own name.
std::string peer_group(std::string_view address);

}  // namespace interlock
