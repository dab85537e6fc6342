#include "relay/service/relay_pieces.h"

#include <algorithm>

namespace interlock {
namespace {

using Calls = std::vector<PlatformCall>;
using MadeCalls = std::expected<Calls, OutboundResult>;

std::unexpected<OutboundResult> too_long(const SplitRule& rule) {
    return std::unexpected(outbound_failure(
        "too_long",
        "the text does not fit: one message holds " + std::to_string(rule.limit) + " units"));
}

std::unexpected<OutboundResult> empty_text() {
    return std::unexpected(outbound_failure("invalid_request", "content is empty"));
}

PlatformCall call_of(RelayAction action) {
    PlatformCall call;
    call.action = std::move(action);
    return call;
}

MadeCalls one(RelayAction action) {
    Calls calls;
    calls.push_back(call_of(std::move(action)));
    return calls;
}

std::expected<std::vector<std::string>, OutboundResult> cut(
    const std::string& text, const SplitRule& rule) {
    std::vector<std::string> pieces = split_message(text, rule);
    if (pieces.size() > kOutboundPiecesMax) {
        return too_long(rule);
    }
    return pieces;
}

MadeCalls make_sends(const SendAction& action, const SplitRule& rule) {
    const auto pieces = cut(action.content, rule);
    if (!pieces) {
        return std::unexpected(pieces.error());
    }
    if (pieces->empty()) {
        return empty_text();
    }
    Calls calls;
    for (const std::string& piece : *pieces) {
        SendAction part = action;
        part.content = piece;
        part.reply_to = calls.empty() ? action.reply_to : "";
        calls.push_back(call_of(std::move(part)));
    }
    return calls;
}

MadeCalls make_prompt(const PromptAction& action, const SplitRule& rule) {
    if (length_in(action.content, rule.unit) <= rule.limit) {
        return one(action);
    }
    MadeCalls calls = make_sends(
        {.chat_id = action.chat_id,
         .content = action.content,
         .reply_to = action.reply_to,
         .metadata = action.metadata},
        rule);
    if (!calls) {
        return calls;
    }
    PlatformCall& last = calls->back();
    PromptAction with_buttons = action;
    with_buttons.content = std::get<SendAction>(last.action).content;
    with_buttons.reply_to = std::get<SendAction>(last.action).reply_to;
    last.action = std::move(with_buttons);
    return calls;
}

MadeCalls make_media(const SendMediaAction& action, const SplitRule& rule) {
    if (length_in(action.content, rule.unit) <= rule.limit) {
        return one(action);
    }
    SendMediaAction bare = action;
    bare.content.clear();
    MadeCalls calls = one(std::move(bare));
    MadeCalls texts = make_sends(
        {.chat_id = action.chat_id,
         .content = action.content,
         .reply_to = {},
         .metadata = action.metadata},
        rule);
    if (!texts) {
        return texts;
    }
    std::ranges::move(*texts, std::back_inserter(*calls));
    return calls;
}

}  // namespace

OutboundResult outbound_failure(std::string code, std::string error) {
    OutboundResult result;
    result.code = std::move(code);
    result.error = std::move(error);
    return result;
}

SplitRule split_rule_of(const ChatPlatform& platform) {
    const std::string dialect = platform.descriptor().markdown_dialect;
    return {
        .limit = std::max(platform.length_limit(), kSplitLimitMin),
        .unit = platform.length_unit(),
        .keeps_fences = !dialect.empty() && dialect != "plain"};
}

std::expected<std::vector<PlatformCall>, OutboundResult> make_calls(
    const RelayAction& action, const std::string& chat_id, const SplitRule& rule) {
    if (const auto* const send = std::get_if<SendAction>(&action)) {
        return make_sends(*send, rule);
    }
    if (const auto* const follow_up = std::get_if<FollowUpAction>(&action)) {
        return make_sends(
            {.chat_id = chat_id,
             .content = follow_up->content,
             .reply_to = {},
             .metadata = follow_up->metadata},
            rule);
    }
    if (const auto* const edit = std::get_if<EditAction>(&action)) {
        if (edit->content.empty()) {
            return empty_text();
        }
        if (length_in(edit->content, rule.unit) > rule.limit) {
            return too_long(rule);
        }
    }
    if (const auto* const prompt = std::get_if<PromptAction>(&action)) {
        return make_prompt(*prompt, rule);
    }
    if (const auto* const media = std::get_if<SendMediaAction>(&action)) {
        return make_media(*media, rule);
    }
    return one(action);
}

}  // namespace interlock
