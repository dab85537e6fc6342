// Drives the loop for built-in planners: a heartbeat a strategy, each tick PLAN → VALIDATE →
// DRY-RUN → EXECUTE in one turn, with the same trail an outside planner leaves (seed 002 §1).
//
// A tick with nothing to change is one record, PLAN skipped. A tick that fails is an ERROR_EVENT;
// after three in a row the strategy is disabled until a human re-enables it (S1).
#pragma once

#include <string>

#include "core/planner/maker_planner.h"
#include "services/loop/loop_service.h"

namespace interlock {

struct PlannerState {
    MakerSettings settings;
    VenueAccount account;
    Duration every;
    bool is_running = false;
    std::int64_t ticks = 0;
    std::int64_t errors_in_row = 0;
};
Json encode(const PlannerState& state);
Result<PlannerState> decode_planner_state(const Json& json);

class LoopTicker {
public:
    static constexpr std::int64_t kErrorsInRowMax = 3;
    static constexpr int kAdjustRoundsMax = 3;
    static constexpr Duration kEveryMin = Duration::of_seconds(1);
    static constexpr Duration kEveryMax = Duration::of_hours(1);

    struct Parts {
        TurnRunner& runner;
        LoopService& loop;
    };
    explicit LoopTicker(Parts parts);

    // Starts (or changes) and stops the planner of a strategy on the tenant's main account.
    TurnRequest start_turn(
        LoopService::Caller caller, PlannerState wanted, LoopService::Reply reply);
    TurnRequest stop_turn(
        LoopService::Caller caller, StrategyId strategy_id, LoopService::Reply reply);

    // One tick; also what the timer runs.
    Result<void> tick(Turn& turn, const std::string& machine_key);

private:
    Result<void> on_timer(Turn& turn, const TimerItem& timer);
    TurnRequest error_turn(
        const TenantId& tenant_id, const std::string& machine_key, const Error& error);
    Result<void> end_with_mode(Turn& turn, const std::string& machine_key, PlannerState& state);
    Result<void> run_parts(Turn& turn, PlannerState& state);
    Result<bool> run_part(Turn& turn, const PlannerState& state, PlanPart part);
    Result<void> skip(Turn& turn, const PlannerState& state, const std::string& reason);
    Result<void> fail_tick(Turn& turn, PlannerState& state, const Error& error);

    Parts parts_;
};

std::string planner_key(const VenueAccount& account, const StrategyId& strategy_id);

}  // namespace interlock
