#include "net/peer_group.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace interlock {

std::string peer_group(std::string_view address) {
    if (!address.contains(':')) {
        return std::string(address);
    }
    in6_addr parsed{};
    // A scope ("fe80::1%eth0") says which link, not who.
    const std::string text(address.substr(0, address.find('%')));
    if (inet_pton(AF_INET6, text.c_str(), &parsed) != 1) {
        return std::string(address);
    }
    std::array<char, INET6_ADDRSTRLEN> out{};
    if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
        constexpr std::size_t kMappedPrefix = 12;
        inet_ntop(AF_INET, parsed.s6_addr + kMappedPrefix, out.data(), out.size());
        return out.data();
    }
    constexpr std::size_t kNetworkBytes = 8;
    std::fill(parsed.s6_addr + kNetworkBytes, parsed.s6_addr + sizeof(parsed.s6_addr), 0);
    inet_ntop(AF_INET6, &parsed, out.data(), out.size());
    return std::string(out.data()) + "/64";
}

}  // namespace interlock
