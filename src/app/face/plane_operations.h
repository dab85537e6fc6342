// The operations of what every plane has: people and keys, stop, approvals, audit, loop, trader.
// What only a server with that part has (bots, relay, witnesses, mail) registers its own.
#pragma once

#include "app/plane/plane.h"
#include "host/face/operation.h"
#include "host/service/principal_service.h"

namespace interlock {

void register_plane_operations(OperationTable& table, Plane& plane, PrincipalService& principals);

}  // namespace interlock
