#include "relay/service/relay_prompts.h"

#include <algorithm>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

std::string key_of(const PromptPlace& place) {
    return row_key({place.bot.platform, place.bot.bot_id, place.chat_id, place.prompt_id});
}

}  // namespace

void RelayPrompts::set_hook(std::string kind, Hook hook) {
    hooks_[std::move(kind)] = std::move(hook);
}

Result<void> RelayPrompts::open(
    RelayTurn& turn, const BotKey& bot, const RelayCaller& caller, const PromptAction& action) {
    const std::int64_t life_max = kPromptLifeMax.microseconds / 1'000'000;
    const std::int64_t life =
        action.timeout_seconds.value_or(kPromptLifeDefault.microseconds / 1'000'000);
    if (life < 1 || life > life_max) {
        return fail(
            errors::out_of_range,
            "timeout_s must be from 1 to " + std::to_string(life_max) + " seconds");
    }
    const std::string key = key_of({bot, action.chat_id, action.prompt_id});
    TRY_ASSIGN(const PromptRow* const held, state_.prompts.find(key, turn.now()));
    if (held != nullptr && held->answered_by.empty()) {
        return fail(errors::conflict, "a prompt with this id waits for a press in this chat");
    }
    PromptRow row{
        .instance_id = caller.instance_id,
        .tenant_id = caller.tenant_id,
        .prompt_kind = action.prompt_kind,
        .message_id = {},
        .option_ids = {},
        .option_labels = {},
        .answered_by = {}};
    for (const PromptOption& option : action.options) {
        row.option_ids.push_back(option.id);
        row.option_labels.push_back(option.label);
    }
    state_.prompts.put(turn, key, std::move(row), turn.now() + Duration::of_seconds(life));
    return {};
}

void RelayPrompts::set_message(
    RelayTurn& turn, const PromptPlace& place, const std::string& message_id) {
    const std::string key = key_of(place);
    const auto held = state_.prompts.find(key, turn.now());
    if (!held || *held == nullptr) {
        return;  // It ended meanwhile.
    }
    PromptRow row = **held;
    row.message_id = message_id;
    const auto expires_at = state_.prompts.expiry_of(key);
    state_.prompts.put(turn, key, std::move(row), expires_at);
}

void RelayPrompts::withdraw(RelayTurn& turn, const PromptPlace& place) {
    state_.prompts.erase(turn, key_of(place));
}

std::optional<PromptPress> RelayPrompts::press(
    RelayTurn& turn, const Presser& presser, const PromptResponse& response) {
    const std::string key = key_of({presser.bot, presser.chat_id, response.prompt_id});
    const auto held = state_.prompts.find(key, turn.now());
    if (!held || *held == nullptr) {
        return std::nullopt;
    }
    PromptRow row = **held;
    const auto option = std::ranges::find(row.option_ids, response.option_id);
    const bool is_other_message = !row.message_id.empty() && !response.prompt_message_id.empty() &&
                                  row.message_id != response.prompt_message_id;
    const bool may_hear =
        std::ranges::find(presser.allowed, row.instance_id) != presser.allowed.end();
    if (option == row.option_ids.end() || is_other_message || !may_hear) {
        return std::nullopt;
    }
    PromptPress press{
        .verdict = PromptPress::Verdict::first,
        .instance_id = row.instance_id,
        .tenant_id = row.tenant_id,
        .prompt_kind = row.prompt_kind,
        .answered_by = row.answered_by,
        .response = response};
    press.response.label =
        row.option_labels[static_cast<std::size_t>(option - row.option_ids.begin())];
    if (!row.answered_by.empty()) {
        press.verdict = PromptPress::Verdict::late;
        return press;
    }
    const auto hook = hooks_.find(row.prompt_kind);
    if (hook != hooks_.end() && !hook->second(row, presser.user_id)) {
        press.verdict = PromptPress::Verdict::not_allowed;
        return press;
    }
    row.answered_by = presser.user_id;
    press.answered_by = presser.user_id;
    const auto expires_at = state_.prompts.expiry_of(key);
    state_.prompts.put(turn, key, std::move(row), expires_at);
    return press;
}

}  // namespace interlock
