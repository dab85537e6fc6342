// Tenants on HTTP: the operator makes and lists them. Not offered to agents.
#pragma once

#include "api/operation.h"
#include "services/principal_service.h"

namespace interlock {

void register_tenant_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
