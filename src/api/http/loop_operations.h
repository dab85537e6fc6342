// The planner's tools and the reads of account and decision, on HTTP and MCP
// (docs/contracts/agent-loop.md).
#pragma once

#include "api/http/market_operations.h"
#include "api/operation.h"
#include "services/loop/loop_service.h"

namespace interlock {

void register_loop_operations(OperationTable& table, LoopService& loop, MarketReads reads);

}  // namespace interlock
