// What the operator of the host asks of the relay: what waits and why, gateways and their secrets,
// routes, links, channels and policies. Operator only: nothing here belongs to a tenant's key or
// human. Texts of messages are never shown.
#pragma once

#include "host/face/operation.h"
#include "relay/service/relay_plane.h"

namespace interlock {

void register_relay_operations(OperationTable& table, RelayPlane& plane);

// An answer of the relay's services in the words of the operation table: those that gateways see,
// too, spell their keys otherwise ("gatewayId").
Json operator_answer(const Json& answer);

inline constexpr Access kRelayOperator{.place = Access::Place::host, .host_operator = true};

}  // namespace interlock
