// Humans on HTTP: who belongs to a tenant, and inviting one more. Not offered to agents.
#pragma once

#include "host/face/operation.h"
#include "host/service/principal_service.h"

namespace interlock {

void register_human_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
