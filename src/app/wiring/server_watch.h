// Looks after a running server from a thread of its own: the KILL file, the engine's heartbeat,
// whether the relay's lane moves, and memory that a flood left behind.
#pragma once

#include <cstdint>
#include <functional>

#include "app/plane/plane.h"
#include "base/bounded_queue.h"
#include "engine/ports/kill_flag.h"
#include "engine/service/turn_engine.h"
#include "host/service/troubles.h"
#include "relay/service/relay_plane.h"

namespace interlock {

struct ServerWatch {
    KillFlag& flag;
    Plane& plane;
    TurnEngine& engine;
    Clock& clock;
    std::function<std::uint64_t()> body_bytes;  // Of requests that are not answered yet.
    Troubles& troubles;
    RelayPlane& relay;
    BoundedQueue<int>& bell;  // Closed to end the watch.
};
// Until the bell is closed.
void watch_server(const ServerWatch& watch);
// What Troubles is told of a break of `_system` that nobody has accepted.
std::string chain_trouble(const std::string& open_break);
// What Troubles is told of a venue that was to move on.
std::string venue_trouble(const std::string& name, const Result<void>& moved);

}  // namespace interlock
