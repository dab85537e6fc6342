// What the built-in supervisor decided, as an operation.
#pragma once

#include "api/operation.h"
#include "services/supervisor/supervisor_service.h"

namespace interlock {

void register_supervisor_operations(OperationTable& table, SupervisorService& supervisor);

}  // namespace interlock
