// Signing up, the account's status and what its owner allows, as operations of HTTP and MCP.
#pragma once

#include "api/operation.h"
#include "services/onboarding/onboarding_service.h"

namespace interlock {

void register_onboarding_operations(OperationTable& table, OnboardingService& onboarding);

}  // namespace interlock
