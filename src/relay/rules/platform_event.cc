#include "relay/rules/platform_event.h"

#include "base/text.h"
#include "relay/wire/relay_action.h"

namespace interlock {
namespace {

constexpr std::string_view kPromptMark = "hp1";

}  // namespace

std::optional<PromptResponse> read_prompt_button(std::string_view data) {
    const auto parts = split(data, ':');
    if (parts.size() != 3 || parts[0] != kPromptMark || !is_prompt_id(parts[1]) ||
        !is_prompt_id(parts[2])) {
        return std::nullopt;
    }
    return PromptResponse{
        .prompt_id = std::string(parts[1]),
        .option_id = std::string(parts[2]),
        .label = {},
        .prompt_message_id = {}};
}

std::string prompt_button(std::string_view prompt_id, std::string_view option_id) {
    return std::string(kPromptMark) + ":" + std::string(prompt_id) + ":" + std::string(option_id);
}

}  // namespace interlock
