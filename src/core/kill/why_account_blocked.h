// What of an account keeps it from trading, or from entering anew. Pure; weaker than why_stopped.
#pragma once

#include <optional>

#include "contracts/kill/blocked.h"
#include "core/account/account.h"

namespace interlock {

std::optional<Blocked> why_account_blocked(const Account& account);

}  // namespace interlock
