// Whether the simulated machine runs. When it goes off in the middle of a call, the code above goes
// on for a moment as if nothing had happened; everything it then does to the world must not count.
#pragma once

namespace interlock::sim {

struct Power {
    bool on = true;
};

}  // namespace interlock::sim
