// Who counts as one peer: an IPv4 address for itself (also when written inside IPv6), an IPv6
// address with its /64, which one household has: whoever has one address of it has all. Bounds and
// budgets of strangers go by this text.
#pragma once

#include <string>
#include <string_view>

namespace interlock {

// Another text ("unix") stands for itself.
std::string peer_group(std::string_view address);

}  // namespace interlock
