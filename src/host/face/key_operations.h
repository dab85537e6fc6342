// Access keys on HTTP: the operator and the tenant's humans make, list and revoke them. Not offered
// to agents: a key must not make keys.
#pragma once

#include "host/face/operation.h"
#include "host/service/principal_service.h"

namespace interlock {

void register_key_operations(OperationTable& table, PrincipalService& principals);

}  // namespace interlock
