// The machine's own clocks behind ports/clock.h.
#pragma once

#include "ports/clock.h"

namespace interlock {

class SystemClock final : public Clock {
public:
    Timestamp now() override;
    Duration monotonic() override;
};

}  // namespace interlock
