// Built-in planners on HTTP: start and stop (docs/contracts/agent-loop.md).
#pragma once

#include "api/operation.h"
#include "services/loop/loop_ticker.h"

namespace interlock {

void register_planner_operations(OperationTable& table, LoopService& loop, LoopTicker& ticker);

}  // namespace interlock
