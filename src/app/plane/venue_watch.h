// Looks at the venues on its own: brings news of every account to the engine, beats their hearts
// and those of the strategies, has their execution judged, the supervisor look at them and the bots
// pulse. The account of a bot that pulses is looked at by its pulses alone.
//
// poll() is synchronous; the server calls it from a thread of its own, the simulator directly.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "account/ports/venue.h"
#include "bots/service/bot_service.h"
#include "engine/ports/clock.h"
#include "loop/service/loop_service.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_ticker.h"
#include "trader/service/supervisor_service.h"

namespace interlock {

class VenueWatch {
public:
    static constexpr Duration kBeatEvery = Duration::of_seconds(5);
    // A pulse this long ago still says that its venue can be reached.
    static constexpr Duration kPulseTells = Duration::of_seconds(15);

    struct Parts {
        LoopService& loop;
        std::map<TradeMode, Venue*> venues;
        Clock& clock;
        StrategyTicker& ticker;
        ControlService& decisions;
        SupervisorService* supervisor = nullptr;  // Null: nobody supervises.
        BotService* bots = nullptr;               // Null: there are none.
    };
    explicit VenueWatch(Parts parts) : parts_(std::move(parts)) {}

    // One look at every account. A venue that does not answer is simply asked again next time;
    // what waits for its word is the recovery's business.
    void poll();

private:
    // Whether the venue answers a bot's pulses; nothing: no bot pulses on this account.
    std::optional<bool> is_pulsed(const VenueAccount& account) const;
    // Whether the venue answered.
    bool look_at(const LoopService::Watched& account);
    void note_venues(const std::map<TradeMode, bool>& reached);

    Parts parts_;
    std::map<VenueAccount, std::string> seen_;  // What was last reported, hashed.
    Duration next_beat_;
};

}  // namespace interlock
