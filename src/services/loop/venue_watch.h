// Looks at the venues on its own: brings news of every account to the engine and beats their
// hearts.
//
// poll() is synchronous; the server calls it from a thread of its own, the simulator directly.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "ports/clock.h"
#include "ports/venue.h"
#include "services/loop/loop_service.h"

namespace interlock {

class VenueWatch {
public:
    static constexpr Duration kBeatEvery = Duration::of_seconds(5);

    struct Parts {
        LoopService& loop;
        std::map<TradeMode, Venue*> venues;
        Clock& clock;
    };
    explicit VenueWatch(Parts parts) : parts_(std::move(parts)) {}

    // One look at every account. A venue that does not answer is simply asked again next time;
    // what waits for its word is the recovery's business.
    void poll();

private:
    void look_at(const LoopService::Watched& account);

    Parts parts_;
    std::map<VenueAccount, std::string> seen_;  // What was last reported, hashed.
    Duration next_beat_;
};

}  // namespace interlock
