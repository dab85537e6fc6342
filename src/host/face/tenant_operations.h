// Tenants on HTTP: the operator makes and lists them. Not offered to agents.
#pragma once

#include "host/face/operation.h"
#include "host/service/principal_service.h"

namespace interlock {

void register_tenant_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
