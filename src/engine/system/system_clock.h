// The machine's own clocks behind engine/ports/clock.h.
#pragma once

#include "engine/ports/clock.h"

namespace interlock {

class SystemClock final : public Clock {
public:
    Timestamp now() override;
    Duration monotonic() override;
};

}  // namespace interlock
