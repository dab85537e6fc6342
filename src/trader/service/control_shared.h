// What the files of the control service share.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "trader/service/control_service.h"

namespace interlock {

inline constexpr std::string_view kSwitchTimer = "switch_deadline";

// A draft of the rules, in the name of this turn's caller.
Result<void> put_on_record(Turn& turn, AuditDraft draft);

// Once the turn is durable, the running set follows the record.
inline void reconcile_after(
    Turn& turn, StrategyRuntime& runtime, const StrategyInstance& instance) {
    turn.after_commit([&runtime, instance] { runtime.reconcile(instance); });
}

// Saves it and lets the running set follow.
inline void save_and_reconcile(Turn& turn, StrategyRuntime& runtime, StrategyInstance instance) {
    turn.after_commit([&runtime, saved = save_instance(turn, std::move(instance))] {
        runtime.reconcile(*saved);
    });
}

// The lock is one of ADR 0007's: the watch notes and asks, the engine judges.
struct ControlService::Shared {
    struct Market {
        VenueAccount account;
        Symbol symbol;
        friend auto operator<=>(const Market&, const Market&) = default;
    };
    struct Reached {
        std::optional<Timestamp> at;
        std::int64_t skew_ms = 0;
    };
    std::mutex mutex;
    std::map<Market, ExecutionWindow> windows;  // Of every watched concern.
    std::map<TradeMode, Reached> venues;
    std::optional<Duration> next_judgement;  // Clock::monotonic().
};

}  // namespace interlock
