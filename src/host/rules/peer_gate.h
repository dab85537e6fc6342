// How often one peer may try something in an hour, each for itself: nobody uses up another's share.
// A window that slides; time is the caller's. Bounded: with kPeersMax of them known, the one that
// tried longest ago is forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace interlock {

class PeerGate {
public:
    static constexpr std::size_t kPeersMax = 10'000;
    static constexpr Duration kWindow = Duration::of_hours(1);

    explicit PeerGate(std::size_t per_peer, std::size_t peers_max = kPeersMax)
        : per_peer_(per_peer), peers_max_(peers_max) {}

    // Counts one of `peer` and gives nothing, or gives how long to wait and counts nothing.
    std::optional<Duration> take(const std::string& peer, Timestamp now);

    std::size_t size() const { return peers_.size(); }

private:
    void make_room();

    const std::size_t per_peer_;
    const std::size_t peers_max_;
    std::map<std::string, std::deque<Timestamp>> peers_;  // Of each, oldest first; never empty.
};

}  // namespace interlock
