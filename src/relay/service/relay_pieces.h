// An action as the calls that it takes on a platform: a text too long for one message becomes
// several, in order, and everything else is one call.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "relay/ports/chat_platform.h"
#include "relay/rules/message_split.h"

namespace interlock {

// More would not go out within the time that a gateway waits.
inline constexpr std::size_t kOutboundPiecesMax = 32;

OutboundResult outbound_failure(std::string code, std::string error);

// How a platform wants texts cut.
SplitRule split_rule_of(const ChatPlatform& platform);

// Only the first piece replies to something. An edit that does not fit is refused (`too_long`), so
// that the client sends anew. A long prompt has its buttons under the last piece; a long caption
// follows its media. follow_up becomes sends; capabilities, threads and times are the caller's.
std::expected<std::vector<PlatformCall>, OutboundResult> make_calls(
    const RelayAction& action, const std::string& chat_id, const SplitRule& rule);

}  // namespace interlock
