#include "base/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kMappedPrefix = 12;  // Bytes of an IPv6 address before its IPv4 part.

using V4 = std::array<std::uint8_t, 4>;

std::optional<V4> parse_v4(std::string_view text) {
    const auto parts = split(text, '.');
    if (parts.size() != 4) {
        return std::nullopt;
    }
    V4 bytes{};
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string_view part = parts[i];
        unsigned value = 0;
        const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0') ||
            problem != std::errc() || end != part.data() + part.size() || value > 255) {
            return std::nullopt;
        }
        bytes[i] = static_cast<std::uint8_t>(value);
    }
    return bytes;
}

IpAddress mapped(const V4& bytes) {
    IpAddress address;
    address.bytes[10] = 0xFF;
    address.bytes[11] = 0xFF;
    std::ranges::copy(bytes, address.bytes.begin() + kMappedPrefix);
    return address;
}

// The 16-bit groups of one side of "::"; an IPv4 tail counts as two.
bool parse_groups(std::string_view text, std::vector<std::uint16_t>& groups) {
    if (text.empty()) {
        return true;
    }
    const auto parts = split(text, ':');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string_view part = parts[i];
        if (i + 1 == parts.size() && part.find('.') != std::string_view::npos) {
            const auto tail = parse_v4(part);
            if (!tail) {
                return false;
            }
            groups.push_back(static_cast<std::uint16_t>((*tail)[0] << 8 | (*tail)[1]));
            groups.push_back(static_cast<std::uint16_t>((*tail)[2] << 8 | (*tail)[3]));
            continue;
        }
        std::uint16_t value = 0;
        const auto [end, problem] =
            std::from_chars(part.data(), part.data() + part.size(), value, 16);
        if (part.empty() || part.size() > 4 || problem != std::errc() ||
            end != part.data() + part.size()) {
            return false;
        }
        groups.push_back(value);
    }
    return true;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
    const std::size_t gap = text.find("::");
    std::vector<std::uint16_t> before;
    std::vector<std::uint16_t> after;
    if (gap == std::string_view::npos) {
        if (!parse_groups(text, before) || before.size() != 8) {
            return std::nullopt;
        }
    } else if (
        !parse_groups(text.substr(0, gap), before) ||
        text.substr(0, gap).find('.') != std::string_view::npos ||
        !parse_groups(text.substr(gap + 2), after) || before.size() + after.size() > 7) {
        return std::nullopt;
    }
    before.resize(8 - after.size(), 0);
    before.insert(before.end(), after.begin(), after.end());
    IpAddress address;
    for (std::size_t i = 0; i < 8; ++i) {
        address.bytes[2 * i] = static_cast<std::uint8_t>(before[i] >> 8);
        address.bytes[2 * i + 1] = static_cast<std::uint8_t>(before[i] & 0xFF);
    }
    return address;
}

struct Range {
    std::string_view cidr;
    AddressClass address_class;
};

// The first that holds the address decides. IANA special-purpose registries.
constexpr Range kV4Ranges[] = {
    {"0.0.0.0/8", AddressClass::unspecified},
    {"10.0.0.0/8", AddressClass::private_use},
    {"100.64.0.0/10", AddressClass::shared},
    {"127.0.0.0/8", AddressClass::loopback},
    {"169.254.0.0/16", AddressClass::link_local},
    {"172.16.0.0/12", AddressClass::private_use},
    {"192.0.0.0/24", AddressClass::special},
    {"192.0.2.0/24", AddressClass::special},
    {"192.31.196.0/24", AddressClass::special},
    {"192.52.193.0/24", AddressClass::special},
    {"192.88.99.0/24", AddressClass::special},
    {"192.168.0.0/16", AddressClass::private_use},
    {"192.175.48.0/24", AddressClass::special},
    {"198.18.0.0/15", AddressClass::special},
    {"198.51.100.0/24", AddressClass::special},
    {"203.0.113.0/24", AddressClass::special},
    {"224.0.0.0/4", AddressClass::multicast},
    {"240.0.0.0/4", AddressClass::special},
};
constexpr Range kV6Ranges[] = {
    {"::/128", AddressClass::unspecified},
    {"::1/128", AddressClass::loopback},
    {"fc00::/7", AddressClass::private_use},
    {"fe80::/10", AddressClass::link_local},
    {"fec0::/10", AddressClass::private_use},
    {"ff00::/8", AddressClass::multicast},
    {"2001::/23", AddressClass::special},
    {"2001:db8::/32", AddressClass::special},
    {"3fff::/20", AddressClass::special},
};

AddressClass class_in(const IpAddress& address, const Range* begin, const Range* end) {
    for (const Range* range = begin; range != end; ++range) {
        const auto cidr = parse_cidr(range->cidr);
        if (cidr && contains(*cidr, address)) {
            return range->address_class;
        }
    }
    return AddressClass::global;
}

IpAddress v4_at(const IpAddress& address, std::size_t at) {
    const auto& bytes = address.bytes;
    return mapped({bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]});
}

// The IPv4 address inside an IPv6 one that tunnels or translates.
std::optional<IpAddress> carried_v4(const IpAddress& address) {
    const auto in = [&address](std::string_view cidr) {
        return contains(*parse_cidr(cidr), address);
    };
    if (in("::/96") || in("64:ff9b::/96")) {
        return v4_at(address, kMappedPrefix);
    }
    if (in("2002::/16")) {
        return v4_at(address, 2);
    }
    return std::nullopt;
}

}  // namespace

bool IpAddress::is_v4() const {
    return std::ranges::all_of(bytes.begin(), bytes.begin() + 10, [](auto b) { return b == 0; }) &&
           bytes[10] == 0xFF && bytes[11] == 0xFF;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
    if (const auto v4 = parse_v4(text)) {
        return mapped(*v4);
    }
    return parse_v6(text);
}

std::string to_text(const IpAddress& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_v4 = address.is_v4();
    ::inet_ntop(
        is_v4 ? AF_INET : AF_INET6,
        address.bytes.data() + (is_v4 ? kMappedPrefix : 0),
        text.data(),
        text.size());
    return text.data();
}

std::string_view to_word(AddressClass address_class) {
    static constexpr std::array<std::string_view, 8> kWords = {
        "global",
        "unspecified",
        "loopback",
        "private_use",
        "link_local",
        "shared",
        "multicast",
        "special"};
    return kWords[static_cast<std::size_t>(address_class)];
}

AddressClass classify(const IpAddress& address) {
    if (address.is_v4()) {
        return class_in(address, std::begin(kV4Ranges), std::end(kV4Ranges));
    }
    const AddressClass own = class_in(address, std::begin(kV6Ranges), std::end(kV6Ranges));
    if (own != AddressClass::global) {
        return own;
    }
    const auto carried = carried_v4(address);
    return carried ? classify(*carried) : own;
}

std::optional<Cidr> parse_cidr(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parse_ip(text.substr(0, slash));
    if (!address) {
        return std::nullopt;
    }
    const unsigned offset = address->is_v4() ? 96 : 0;
    unsigned prefix = 128 - offset;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, problem] =
            std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size() ||
            prefix > 128 - offset) {
            return std::nullopt;
        }
    }
    return Cidr{.address = *address, .prefix = prefix + offset};
}

bool contains(const Cidr& cidr, const IpAddress& address) {
    for (unsigned bit = 0; bit < cidr.prefix; bit += 8) {
        const unsigned bits = std::min(8u, cidr.prefix - bit);
        const unsigned mask = 0xFFu & (0xFFu << (8 - bits));
        if (((cidr.address.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask) != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace interlock
