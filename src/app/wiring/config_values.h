// Texts of the configuration as values. Each function says what is wrong with the text, as the end
// of a sentence that begins with the key's name, or gives "" and has set the value.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

template <class Integer>
std::string set_integer(Integer& into, const std::string& text, Integer min, Integer max) {
    Integer value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
        return "must be an integer from " + std::to_string(min) + " to " + std::to_string(max);
    }
    into = value;
    return {};
}

// Tenant ids separated by commas.
std::string set_tenants(std::set<TenantId>& into, const std::string& text);

// A decimal from 0 to 1.
std::string set_confidence(Decimal& into, const std::string& text);

// An origin, perhaps with a path, to be put in front of paths and into documents as it stands; or
// nothing.
std::string set_url(std::string& into, const std::string& text);

// Ranges whose word counts about who calls. One that holds everybody is refused.
inline constexpr std::size_t kTrustedProxiesMax = 64;
std::string set_proxies(std::vector<std::string>& into, const std::string& text);

// "127.0.0.1:9420" or "[::1]:9420"; or nothing.
std::string set_listen(std::string& into, const std::string& text);
// The two halves of such a text, the address without brackets.
struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;
};
std::optional<ListenAddress> parse_listen(std::string_view text);

// Parts separated by commas, without blanks around them; empty ones are left out.
std::vector<std::string> split_list(const std::string& text);
// The other way round: a list as one text.
std::string join_list(const std::vector<std::string>& parts);

// A duration that is told in whole units.
std::string set_duration(
    Duration& into, const std::string& text, Duration unit, std::pair<int, int> bounds);

}  // namespace interlock
