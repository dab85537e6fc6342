// Lets strangers try something that is worth guessing or that sends a letter, on the caller's
// thread: a flood is turned away before it reaches the engine. Each peer has a share of its own,
// and so has each name that is tried, known or not; a refusal therefore tells nothing.
#pragma once

#include <mutex>
#include <string>

#include "base/result.h"
#include "host/rules/peer_gate.h"

namespace interlock {

struct AttemptPeer {
    std::string address;
    // Everybody behind a proxy on this machine looks alike: then only the name is counted.
    bool is_loopback = false;
};

class AttemptDoor {
public:
    AttemptDoor(std::size_t per_peer, std::size_t per_name)
        : by_peer_(per_peer), by_name_(per_name) {}

    // `rate_limited` with the seconds to wait.
    Result<void> enter(const AttemptPeer& peer, const std::string& name, Timestamp now);

private:
    std::mutex mutex_;  // Network threads share the counts (ADR 0007).
    PeerGate by_peer_;
    PeerGate by_name_;
};

}  // namespace interlock
