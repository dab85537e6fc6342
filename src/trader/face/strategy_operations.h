// Strategies and control decisions as operations.
#pragma once

#include "host/face/operation.h"
#include "trader/service/control_service.h"
#include "trader/service/strategy_service.h"

namespace interlock {

// An instance as every answer tells it.
Json strategy_schema();

// The agent's one write and the reads.
void register_control_operations(
    OperationTable& table, ControlService& control, StrategyService& strategies);
// The helpers of people; an agent's key is refused.
void register_strategy_operations(OperationTable& table, StrategyService& strategies);

}  // namespace interlock
