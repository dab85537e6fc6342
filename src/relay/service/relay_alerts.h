// Critical records of the relay's chains reach people (docs/contracts/notices.md, 1.4): each
// becomes an alert on the ledger's chain of its tenant, and with it a notice, as any other critical
// record.
//
//     critical record ──► its row, in the same commit ──► a duty ──► a turn of the ledger
//                                                                      │ once that is durable
//                                                     the row goes ◄───┘
//
// At least once: the row stays until the ledger has the alert, and an alert that is told again
// after a crash bears the same key. So that chat never slows trading, one event of one instance or
// bot makes one turn in kAlertPause at most, which says how many records it stands for; there are
// no more rows than events times instances.
//
// Lane only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/ports/clock.h"
#include "engine/service/turn.h"
#include "relay/service/relay_lane.h"
#include "relay/service/relay_state.h"

namespace interlock {

// Between two alerts about the same event of the same instance or bot.
inline constexpr Duration kAlertPause = Duration::of_minutes(1);
// After the ledger could not take one.
inline constexpr Duration kAlertRetry = Duration::of_seconds(5);
// Alerts on their way at once; the others wait in their rows.
inline constexpr std::size_t kAlertsUnderWayMax = 16;

class RelayAlerts {
public:
    // All of these outlive it.
    struct Parts {
        RelayLane& lane;
        RelayState& state;
        Clock& clock;
    };
    explicit RelayAlerts(Parts parts) : parts_(parts) {}

    // Has the ledger take an alert and says whether it did, from any thread. Called on the lane.
    using Tell = std::function<void(const AlertRow& alert, std::function<void(bool)> done)>;
    // From now on critical records are kept for it. Before the lane starts; without it nothing is.
    void begin(Tell tell);

private:
    void take(RelayTurn& turn, const AuditRecord& record);
    void sweep(RelayTurn& turn);
    void settle(RelayTurn& turn, const std::string& key, const AlertRow& told, bool is_told);

    Parts parts_;
    Tell tell_;
    std::set<std::string> under_way_;
    std::map<std::string, Duration> next_at_;  // Monotonic; a restart forgives the pause.
};

// The turn that puts an alert on the ledger's chain of its tenant. Ids, counts and words of the
// program alone: what anybody said stays where it is. `done` is told on the engine thread.
TurnRequest relay_alert_turn(const AlertRow& alert, std::function<void(bool)> done);

}  // namespace interlock
