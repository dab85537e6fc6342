// Which chat an action is for.
#pragma once

#include <string>

#include "relay/wire/relay_action.h"

namespace interlock {

// Empty when it names none: follow_up speaks of a session.
std::string chat_of(const RelayAction& action);

}  // namespace interlock
