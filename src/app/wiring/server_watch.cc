#include "app/wiring/server_watch.h"

#include <chrono>

#include "app/wiring/http_setup.h"
#include "base/log.h"
#include "engine/service/lane_probe.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kWatchPeriod{50};
// The engine goes round at least every few milliseconds; a minute of silence is a wedge.
constexpr Duration kHeartbeatLost = Duration::of_seconds(60);

}  // namespace

// Neither venue has another reason to stand still than its journal.
std::string venue_trouble(const std::string& name, const Result<void>& moved) {
    return moved ? ""
                 : "The " + name +
                       " venue stands still, and nothing trades on it: " + moved.error().message +
                       " Check the disk of the data folder, then restart the server.";
}

// The tenants' own breaks stop them alone and are told where they look.
std::string chain_trouble(const std::string& open_break) {
    return open_break.empty()
               ? ""
               : "The audit chain of the server is broken (" + open_break +
                     "), and everything is stopped. A human of the host looks at `interlock audit "
                     "verify`, then runs `interlock audit accept-break --tenant _system`.";
}

void watch_server(const ServerWatch& watch) {
    bool raised = watch.flag.is_raised();
    bool wedged = false;
    bool bodies_were_many = false;
    LaneProbe relay_probe([&watch](const std::function<void()>& work) {
        return watch.relay.lane.submit_internal([work](RelayTurn&) { work(); });
    });
    while (!watch.bell.is_closed()) {
        watch.bell.pop(1, kWatchPeriod);  // Nobody rings: this is a wait that close() ends.
        const bool now_raised = watch.flag.is_raised();
        // A file that was removed, released and put back between two looks shows no edge.
        if (now_raised && (!raised || !watch.plane.latch.is_raised_global())) {
            log_warn("kill_file_seen", {{"reason", watch.flag.reason()}});
            watch.plane.kill.on_flag_raised();
        }
        raised = now_raised;
        const bool alive = watch.engine.is_alive(watch.clock.monotonic(), kHeartbeatLost);
        if (!alive && !wedged) {
            log_error("engine_silent", {{"seconds", kHeartbeatLost.microseconds / 1'000'000}});
            watch.plane.kill.stop_without_engine("the engine's heartbeat was lost");
        }
        wedged = !alive;
        watch.troubles.set(
            "engine",
            alive ? "" : "The engine has not gone round for a minute. Restart the server.");
        watch.troubles.set(
            "relay_store",
            watch.relay.lane.is_lost() ? "The relay's store failed, and no chat comes in or goes "
                                         "out. Check the disk of the "
                                         "data folder, then restart the server."
                                       : "");
        watch.troubles.set("chain", chain_trouble(watch.plane.ledger.open_break(system_tenant())));
        // A relay that is shut is told otherwise, and so is one that is lost.
        const bool is_stuck = watch.relay.is_ready() && relay_probe.look(watch.clock.monotonic());
        watch.troubles.set(
            "relay_lane",
            is_stuck ? "The relay's lane has not come to its work for a while. Look at "
                       "the disk of the data folder; restart the server if it stays so."
                     : "");
        bodies_were_many = give_memory_back(watch.body_bytes(), bodies_were_many);
    }
}

}  // namespace interlock
