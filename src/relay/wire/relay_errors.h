// What the relay's routes refuse, beyond the generic kinds.
// docs/contracts/relay-management.md#3-refusals
#pragma once

#include "base/result.h"

namespace interlock::errors {

inline constexpr ErrorKind enrollment_refused{
    "enrollment_refused", 403, false, "Ask the operator for a new enrollment token."};
inline constexpr ErrorKind gateway_revoked{
    "gateway_revoked", 403, false, "Ask the operator to add this gateway again."};
inline constexpr ErrorKind relay_name_taken{
    "relay_name_taken", 409, false, "Choose another gatewayId or instanceId."};
inline constexpr ErrorKind relay_limit_reached{
    "relay_limit_reached", 409, false, "Remove what is no longer needed, then ask again."};
inline constexpr ErrorKind guild_not_routed{
    "guild_not_routed", 403, false, "Ask the operator to route this guild to your tenant."};
inline constexpr ErrorKind owner_cannot_view{
    "owner_cannot_view",
    403,
    false,
    "Link a user to this instance who can see the channel, then claim it again."};
inline constexpr ErrorKind channel_claimed{
    "channel_claimed", 409, false, "Choose another channel, or have its owner release it."};
inline constexpr ErrorKind user_not_linked{
    "user_not_linked", 403, false, "Link this user to the instance first (POST /manage/link)."};

}  // namespace interlock::errors
