// What of an account keeps it from trading, or from entering anew. Pure; weaker than why_stopped.
#pragma once

#include <optional>

#include "account/rules/account.h"
#include "host/wire/blocked.h"

namespace interlock {

std::optional<Blocked> why_account_blocked(const Account& account);

}  // namespace interlock
