// Pokes sleeping instances that have mail (docs/contracts/relay-connector.md#wake): at once, then
// after a minute, backing off to an hour, and given up with an alert after a day. Best effort: a
// gateway that reconnects by itself drains all the same. How far the waking got is a row, so that a
// restart pokes nobody early and pokes nobody again who was given up. Lane only.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "relay/ports/wake_caller.h"
#include "relay/service/relay_delivery.h"

namespace interlock {

inline constexpr Duration kWakeCooldown = Duration::of_seconds(60);
inline constexpr Duration kWakeCooldownMax = Duration::of_hours(1);
inline constexpr Duration kWakeGivesUp = Duration::of_hours(24);

class RelayWake {
public:
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        RelayDelivery& delivery;
        WakeCaller& caller;
    };
    explicit RelayWake(Parts parts) : parts_(parts) {}

    // The pauses as they were left; after the state was loaded.
    void load(Timestamp now);

    // Once a second. Looks for sleepers with mail and pokes those whose time it is.
    void sweep(RelayTurn& turn);

    struct Counters {
        std::int64_t poked = 0;
        std::int64_t failed = 0;
        std::int64_t given_up = 0;
        std::int64_t without_url = 0;  // Sleepers that nobody can wake, now.
    };
    const Counters& counters() const { return counters_; }

private:
    struct Nap {
        Timestamp since;  // Of the first poke.
        Timestamp next_at;
        std::int64_t epoch = 0;  // Of the socket it fell asleep on.
        Duration cooldown = kWakeCooldown;
        bool is_given_up = false;
    };
    void poke(RelayTurn& turn, const std::string& instance_id, const GatewayRow& gateway);
    void give_up(RelayTurn& turn, const std::string& instance_id, const GatewayRow& gateway);
    void keep(RelayTurn& turn, const std::string& instance_id, const Nap& nap);
    void forget_ended(RelayTurn& turn, const std::vector<std::string>& sleepers);
    const GatewayRow* waker_of(const std::string& instance_id) const;

    Parts parts_;
    std::map<std::string, Nap> naps_;
    // A waker may not shorten the pause by connecting and going idle again.
    std::map<std::string, Timestamp> last_poke_;
    Counters counters_;
};

}  // namespace interlock
