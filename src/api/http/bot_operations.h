// The maker bot's endpoints (seed 004) as operations: one for each entry of bot_endpoints() that
// belongs to a bot; its account's are in onboarding_operations.
#pragma once

#include "api/operation.h"
#include "services/bot/bot_service.h"

namespace interlock {

// The service outlives the table.
void register_bot_operations(OperationTable& table, BotService& bots);

}  // namespace interlock
