// What the files of the control service share.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "services/control/control_service.h"

namespace interlock {

inline constexpr std::string_view kSwitchTimer = "switch_deadline";

inline bool has_error(const ControlVerdict& verdict, const ErrorKind& kind) {
    return std::any_of(verdict.errors.begin(), verdict.errors.end(), [&](const Error& error) {
        return error == kind;
    });
}

// The account's book of active strategies.
inline void enter_strategy(Account& account, const StrategyInstance& instance) {
    StrategyRecord& record = account.strategies[instance.strategy_id];
    record.type = instance.strategy_type;
    record.is_active = true;
}

inline void leave_strategy(Account& account, const StrategyInstance& instance) {
    StrategyRecord& record = account.strategies[instance.strategy_id];
    record.type = instance.strategy_type;
    record.is_active = false;
    if (!record.is_disabled && record.aggressive.empty()) {
        account.strategies.erase(instance.strategy_id);
    }
}

// Once the turn is durable, the running set follows the record.
inline void reconcile_after(
    Turn& turn, StrategyRuntime& runtime, const StrategyInstance& instance) {
    turn.after_commit([&runtime, instance, now = turn.now()] { runtime.reconcile(instance, now); });
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
    std::optional<Timestamp> next_judgement;
};

}  // namespace interlock
