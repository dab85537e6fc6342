// IP addresses and ranges as values: read strictly, and sorted by the special-purpose registries of
// IANA. No name is looked up here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

struct IpAddress {
    // IPv6 form; IPv4 is mapped (::ffff:a.b.c.d).
    std::array<std::uint8_t, 16> bytes{};

    bool is_v4() const;
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};
// Plain dotted quads and RFC 4291 text only: no octal, no hex, no shortened IPv4.
std::optional<IpAddress> parse_ip(std::string_view text);
// One spelling for each address: a dotted quad, or RFC 5952.
std::string to_text(const IpAddress& address);

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
// A range such as 10.0.0.0/8, or one address.
std::optional<Cidr> parse_cidr(std::string_view text);
bool contains(const Cidr& cidr, const IpAddress& address);

}  // namespace interlock
