// The kill switch on HTTP and MCP (docs/contracts/kill-switch.md).
#pragma once

#include "host/face/operation.h"
#include "host/service/kill_switch_service.h"

namespace interlock {

void register_kill_operations(OperationTable& table, KillSwitchService& kill);
// All that the stop listener answers: the stop and its state.
void register_stop_operations(OperationTable& table, KillSwitchService& kill);

}  // namespace interlock
