// The audit ledger on HTTP and MCP (docs/contracts/audit-ledger.md).
#pragma once

#include "host/face/operation.h"
#include "host/service/ledger_service.h"

namespace interlock {

// One record of the ledger, as reads answer it.
Json audit_record_schema();

void register_audit_operations(OperationTable& table, LedgerService& ledger);

}  // namespace interlock
