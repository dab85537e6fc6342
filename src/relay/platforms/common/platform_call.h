// What the calls of all chat platforms have in common: their outcomes as values, and the loop that
// waits for rate limits without passing a deadline.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/ports/clock.h"
#include "relay/platforms/common/call_pace.h"
#include "relay/platforms/common/platform_http.h"
#include "relay/platforms/common/stoppable_wait.h"
#include "relay/ports/chat_platform.h"
#include "relay/wire/action_target.h"

namespace interlock {

// A platform that keeps answering "too many" is not asked more often than this in one call.
inline constexpr int kLimitedTriesMax = 5;
// After which a message that never left may be tried again.
inline constexpr Duration kUnreachableRetry = Duration::of_seconds(5);
// A platform may ask for no longer wait than this; more is cut.
inline constexpr Duration kRateLimitMax = Duration::of_hours(24);

PlatformReply sent_reply(std::string message_id = {});
PlatformReply refused_reply(std::string code, std::string error);
PlatformReply limited_reply(Duration retry_after);
PlatformReply unknown_reply(std::string error);
PlatformReply unsupported_reply(std::string_view platform, std::string_view op);
// `platform` is how people call it: "Telegram".
PlatformReply failed_reply(std::string_view platform, HttpFailure failure);

struct PacedCall {
    Clock& clock;
    const PlatformWait& wait;
    CallPace& pace;
    std::string chat_id;  // Whose pace counts; empty: that of the bot alone.
    Timestamp not_after;
};
// Calls `attempt` when its turn comes, and again after each "rate_limited" that says how long, as
// long as a try can begin before the deadline.
PlatformReply run_paced(const PacedCall& call, const std::function<PlatformReply()>& attempt);

// `text` with every occurrence of `secret` masked: platforms quote what they were shown.
std::string without_secret(std::string_view text, std::string_view secret);
// The same, one line, without control characters, at most 200 bytes of whole characters.
std::string quotable(std::string_view text, std::string_view secret);

}  // namespace interlock
