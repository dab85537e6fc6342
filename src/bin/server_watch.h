// Looks after a running server from a thread of its own: the KILL file, the engine's heartbeat,
// whether the relay's lane moves, and memory that a flood left behind.
#pragma once

#include <cstdint>
#include <functional>

#include "base/bounded_queue.h"
#include "ports/kill_flag.h"
#include "services/plane.h"
#include "services/troubles.h"
#include "services/turn_engine.h"

namespace interlock {

struct ServerWatch {
    KillFlag& flag;
    Plane& plane;
    TurnEngine& engine;
    Clock& clock;
    std::function<std::uint64_t()> body_bytes;  // Of requests that are not answered yet.
    Troubles& troubles;
    std::function<bool()> is_relay_stuck;  // Asked at each look.
    BoundedQueue<int>& bell;               // Closed to end the watch.
};
// Until the bell is closed.
void watch_server(const ServerWatch& watch);

}  // namespace interlock
