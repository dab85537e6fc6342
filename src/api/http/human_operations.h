// Humans on HTTP: who belongs to a tenant, and inviting one more. Not offered to agents.
#pragma once

#include "api/operation.h"
#include "services/principal_service.h"

namespace interlock {

void register_human_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
