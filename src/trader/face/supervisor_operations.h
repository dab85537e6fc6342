// What the built-in supervisor decided, as an operation.
#pragma once

#include "host/face/operation.h"
#include "trader/service/supervisor_service.h"

namespace interlock {

void register_supervisor_operations(OperationTable& table, SupervisorService& supervisor);

}  // namespace interlock
