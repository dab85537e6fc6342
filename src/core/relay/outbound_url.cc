#include "core/relay/outbound_url.h"

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;
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

std::unexpected<Error> bad_url(std::string problem) {
    return fail(
        errors::invalid_request,
        "The URL " + std::move(problem) + ".",
        "Use an http or https URL that the public can reach.");
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
    if (parts.is_bracketed) {
        url.address = parse_v6(url.host);
        if (!url.address) {
            return bad_url("has no valid IPv6 address between its brackets");
        }
        return {};
    }
    if (const auto v4 = parse_v4(url.host)) {
        url.address = mapped(*v4);
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

}  // namespace interlock
