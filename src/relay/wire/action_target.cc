#include "relay/wire/action_target.h"

#include "base/match.h"

namespace interlock {

std::string chat_of(const RelayAction& action) {
    return match(
        action,
        [](const FollowUpAction&) { return std::string(); },
        [](const UnknownAction&) { return std::string(); },
        [](const auto& named) { return named.chat_id; });
}

}  // namespace interlock
