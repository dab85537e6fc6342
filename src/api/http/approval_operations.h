// The approvals desk on HTTP and MCP (docs/contracts/approvals.md). Agents read; humans decide.
#pragma once

#include "api/operation.h"
#include "services/approval_service.h"

namespace interlock {

void register_approval_operations(OperationTable& table, ApprovalService& approvals);

}  // namespace interlock
