// Operations with which people steer the agent loop: limits, mode, trading, strategies, universe,
// treasury, recovery and alerts. None of them is a tool: a planner's key sees the eight tools only.
#pragma once

#include "host/face/operation.h"
#include "loop/service/loop_control.h"

namespace interlock {

void register_loop_control_operations(OperationTable& table, LoopControl& control);

}  // namespace interlock
