// The maker bot's endpoints (docs/contracts/bot.md#1-where) as operations: one for each entry of
// bot_endpoints() that belongs to a bot; its account's are in onboarding_operations.
#pragma once

#include "bots/service/bot_service.h"
#include "host/face/operation.h"

namespace interlock {

// The service outlives the table.
void register_bot_operations(OperationTable& table, BotService& bots);

}  // namespace interlock
