// The planner's tools and the reads of account and decision, on HTTP and MCP
// (docs/contracts/agent-loop.md).
#pragma once

#include "host/face/operation.h"
#include "loop/face/market_operations.h"
#include "loop/service/loop_service.h"

namespace interlock {

void register_loop_operations(OperationTable& table, LoopService& loop, MarketReads reads);

}  // namespace interlock
