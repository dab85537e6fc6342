// Lets signups in, on the caller's thread: a flood is turned away before it reaches the engine.
#pragma once

#include <mutex>
#include <string>

#include "base/result.h"
#include "bots/rules/signup_gate.h"

namespace interlock {

// Who may sign up, and how often.
struct SignupRules {
    bool open = true;  // False: the operator alone.
    SignupBounds bounds;
    // A caller on this machine is one peer like any other. Off: behind a proxy everybody comes from
    // here, so only the host's bound counts for them, and the proxy has to keep to the other.
    bool limits_loopback = false;
};

class SignupDoor {
public:
    explicit SignupDoor(SignupBounds bounds) : gate_(bounds) {}

    // `rate_limited` with the seconds to wait.
    Result<void> enter(const std::string& peer, Timestamp now);
    void give_back(const std::string& peer);
    void remember(const std::string& peer, Timestamp at, Timestamp now);

private:
    std::mutex mutex_;  // Network threads share the count (ADR 0007).
    SignupGate gate_;
};

}  // namespace interlock
