// Probes on HTTP and MCP (docs/contracts/probe.md).
#pragma once

#include "host/face/operation.h"
#include "host/service/probe_service.h"

namespace interlock {

void register_probe_operations(OperationTable& table, ProbeService& probes);

}  // namespace interlock
