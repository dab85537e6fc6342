// Probes on HTTP and MCP (docs/contracts/probe.md).
#pragma once

#include "api/operation.h"
#include "services/probe_service.h"

namespace interlock {

void register_probe_operations(OperationTable& table, ProbeService& probes);

}  // namespace interlock
