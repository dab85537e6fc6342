// One life of the connector in the simulator: the production services of the relay on a lane that
// the simulator's thread runs. What outlives it is in the world.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "base/check.h"
#include "engine/service/worker_pool.h"
#include "host/memory/held_master_keys.h"
#include "relay/memory/memory_media_folder.h"
#include "relay/service/relay_desk.h"
#include "relay/service/relay_inbound.h"
#include "relay/service/relay_outbound.h"
#include "relay/service/relay_people.h"
#include "relay/service/relay_wake.h"
#include "sim/relay_models.h"

namespace interlock::sim {

inline constexpr std::size_t kSimFactJobsMax = 3;

class RelayServer {
public:
    struct Parts {
        RelayStore& store;
        SimClock& clock;
        IdSource& ids;
        MasterKeys& masters;
        MediaFolder& folder;
        RelayBus& bus;
        WakeCaller& waker;
        std::map<BotKey, ChatPlatform*> bots;
        std::function<void(Duration)> pass_time;  // When a send waits for its platform.
    };
    explicit RelayServer(Parts parts);

    bool run_round() { return lane.run_round(std::chrono::microseconds(0)); }
    // The oldest question to a platform: who sees a channel, or a file; false: there is none.
    bool run_job();

private:
    Parts parts_;
    std::deque<std::function<void()>> jobs_;
    Timestamp next_purge_{};

    ChatPlatform* bot(const BotKey& key) const;
    bool run_later(std::function<void()> job);
    RelayInbound::Parts inbound_parts();
    void take_outbound(RelayTurn& turn, RelayDesk::Outbound call);

public:
    WorkerPool workers;
    RelayLane lane;
    RelayState state;
    RelayHoldings holdings;
    RelayStrangers strangers;
    RelayManagement management;
    RelayPeople people;
    RelaySeal seal;
    RelayVault vault;
    RelayPrompts prompts;
    RelayMedia media;
    RelayEgress egress;
    RelayFiles files;
    RelayDelivery delivery;
    RelayInbound inbound;
    RelayOutbound outbound;
    RelayWake wake;
    RelayDesk desk;
};

}  // namespace interlock::sim
