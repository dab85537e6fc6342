// The approvals desk on HTTP and MCP (docs/contracts/approvals.md). Agents read; humans decide.
#pragma once

#include "host/face/operation.h"
#include "host/service/approval_service.h"

namespace interlock {

void register_approval_operations(OperationTable& table, ApprovalService& approvals);

}  // namespace interlock
