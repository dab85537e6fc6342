#include "host/rules/peer_gate.h"

#include <algorithm>

namespace interlock {

std::optional<Duration> PeerGate::take(const std::string& peer, Timestamp now) {
    if (!peers_.contains(peer)) {
        make_room();
    }
    std::deque<Timestamp>& times = peers_[peer];
    while (!times.empty() && times.front() + kWindow <= now) {
        times.pop_front();
    }
    if (times.size() >= per_peer_) {
        return times.front() + kWindow - now;
    }
    times.push_back(now);
    return std::nullopt;
}

void PeerGate::make_room() {
    if (peers_.size() < peers_max_) {
        return;
    }
    peers_.erase(std::ranges::min_element(
        peers_, {}, [](const auto& entry) { return entry.second.back(); }));
}

}  // namespace interlock
