// Seals of other servers, kept in a tenant's ledger, and how this server's own witnesses are.
#pragma once

#include <functional>

#include "engine/service/witnessed_heads.h"
#include "host/face/operation.h"
#include "host/service/witness_service.h"

namespace interlock {

// `states` tells of the server's own witnesses, from any thread.
void register_witness_operations(
    OperationTable& table,
    WitnessedHeads& heads,
    std::function<std::vector<WitnessState>()> states);

}  // namespace interlock
