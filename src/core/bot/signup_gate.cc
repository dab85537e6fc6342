#include "core/bot/signup_gate.h"

#include <algorithm>
#include <array>

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

std::optional<Duration> SignupGate::take(const std::string& peer, Timestamp now) {
    forget_before(now - kSignupWindow);
    const bool host_full = static_cast<std::int64_t>(entries_.size()) >= bounds_.per_host;
    const auto counted = by_peer_.find(peer);
    const bool peer_full =
        !peer.empty() && counted != by_peer_.end() && counted->second >= bounds_.per_peer;
    if (!host_full && !peer_full) {
        add(peer, now);
        return std::nullopt;
    }
    // Room comes when the oldest that fills the bound leaves the window.
    const auto leaves = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return !peer_full || entry.peer == peer;
    });
    return leaves == entries_.end() ? kSignupWindow : leaves->at + kSignupWindow - now;
}

void SignupGate::give_back(const std::string& peer) {
    const auto found = std::find_if(
        entries_.rbegin(), entries_.rend(), [&](const Entry& entry) { return entry.peer == peer; });
    if (found != entries_.rend()) {
        entries_.erase(std::next(found).base());
        uncount(peer);
    }
}

void SignupGate::remember(const std::string& peer, Timestamp at, Timestamp now) {
    forget_before(now - kSignupWindow);
    if (at > now - kSignupWindow && static_cast<std::int64_t>(entries_.size()) < bounds_.per_host) {
        add(peer, at);
    }
}

void SignupGate::add(const std::string& peer, Timestamp at) {
    entries_.push_back({at, peer});
    ++by_peer_[peer];
}

void SignupGate::uncount(const std::string& peer) {
    const auto counted = by_peer_.find(peer);
    if (counted != by_peer_.end() && --counted->second <= 0) {
        by_peer_.erase(counted);
    }
}

void SignupGate::forget_before(Timestamp at) {
    while (!entries_.empty() && entries_.front().at <= at) {
        uncount(entries_.front().peer);
        entries_.pop_front();
    }
}

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
