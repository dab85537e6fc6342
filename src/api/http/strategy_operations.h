// Strategies and control decisions as operations (seed 000).
#pragma once

#include "api/operation.h"
#include "services/control/control_service.h"
#include "services/strategy/strategy_service.h"

namespace interlock {

// An instance as every answer tells it.
Json strategy_schema();

// The agent's one write and the reads.
void register_control_operations(
    OperationTable& table, ControlService& control, StrategyService& strategies);
// The helpers of people; an agent's key is refused.
void register_strategy_operations(OperationTable& table, StrategyService& strategies);

}  // namespace interlock
