// What Twilio's Messages resource answers, and what it means. No IO.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "relay/platforms/common/platform_http.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

// Without a Retry-After, how long a limited account waits.
inline constexpr Duration kTwilioRetry = Duration::of_seconds(1);

// `mask` takes the credentials out of what Twilio says.
PlatformReply read_twilio_answer(
    const PlatformHttpAnswer& answer, const std::function<std::string(std::string_view)>& mask);

// "A=1&B=2", each part escaped.
std::string encode_form(const FormFields& fields);

}  // namespace interlock
