// Signing up, the account's status and what its owner allows, as operations of HTTP and MCP.
#pragma once

#include "bots/service/onboarding_service.h"
#include "host/face/operation.h"

namespace interlock {

void register_onboarding_operations(OperationTable& table, OnboardingService& onboarding);

}  // namespace interlock
