// What WeCom's API answers, and what its error codes mean. No IO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret_string.h"
#include "base/time.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

// WeCom does not say how long to wait; its shortest window is a minute.
inline constexpr Duration kWecomRetry = Duration::of_minutes(1);

struct WecomAnswer {
    std::int64_t code = -1;
    std::string message;
    std::string message_id;
    std::string unknown_users;  // Who of the receivers does not exist.
    SecretString access_token;
    std::int64_t expires_in = 0;  // Seconds.
};
// Nothing: this is no answer of WeCom.
std::optional<WecomAnswer> read_wecom_answer(std::string_view body);

std::string wecom_text_body(
    const std::string& user_id, std::int64_t agent_id, const std::string& text);

bool is_stale_token(std::int64_t code);
// `mask` takes the credentials out of what WeCom says.
PlatformReply wecom_reply(
    const WecomAnswer& answer, const std::function<std::string(std::string_view)>& mask);

}  // namespace interlock
