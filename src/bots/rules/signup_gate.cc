#include "bots/rules/signup_gate.h"

#include <algorithm>

namespace interlock {
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

}  // namespace interlock
