#include "base/peer_group.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kGroups = 8;     // Of an IPv6 address.
constexpr std::size_t kNetGroups = 4;  // The first 64 bits.
constexpr std::size_t kGroupDigits = 4;
constexpr std::string_view kMapped = "::ffff:";

std::string group_text(std::string_view group) {
    const std::string lower = to_lower(group);
    const std::size_t digit = std::min(lower.find_first_not_of('0'), lower.size());
    return digit == lower.size() ? "0" : lower.substr(digit);
}

bool is_group(std::string_view text) {
    return text.size() <= kGroupDigits &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace

std::string peer_group(std::string_view address) {
    if (to_lower(address).starts_with(kMapped) && address.find('.') != std::string_view::npos) {
        return std::string(address.substr(kMapped.size()));
    }
    const std::vector<std::string_view> parts = split(address, ':');
    if (parts.size() < 3 || parts.size() > kGroups + 1) {
        return std::string(address);
    }
    // An empty part stands for as many groups of zero as are missing.
    std::vector<std::string> groups;
    bool is_filled = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_edge = i == 0 || i + 1 == parts.size();
        if (!is_group(parts[i])) {
            return std::string(address);
        }
        if (parts[i].empty() && !is_edge && !is_filled) {
            is_filled = true;
            const std::size_t named = static_cast<std::size_t>(std::count_if(
                parts.begin(), parts.end(), [](std::string_view part) { return !part.empty(); }));
            groups.resize(groups.size() + (kGroups - std::min(named, kGroups)), "0");
        } else if (!parts[i].empty()) {
            groups.push_back(group_text(parts[i]));
        }
    }
    if (groups.size() < kNetGroups) {
        return std::string(address);
    }
    std::string net;
    for (std::size_t i = 0; i < kNetGroups; ++i) {
        net += groups[i] + ":";
    }
    return net + ":/64";
}

}  // namespace interlock
