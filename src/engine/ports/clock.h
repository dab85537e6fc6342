// What time it is. The only source of time for services; core gets it inside events.
#pragma once

#include "base/time.h"

namespace interlock {

class Clock {
public:
    virtual ~Clock() = default;
    virtual Timestamp now() = 0;  // Wall clock, UTC. May step.
    // Never goes back; for measuring spans and deadlines. Its zero means nothing.
    virtual Duration monotonic() = 0;
};

}  // namespace interlock
