// Fuzzes what the relay reads from strangers: frames of gateways, webhooks of platforms, tokens,
// URLs. Whatever arrives is decoded or refused with a reason, and what was decoded comes back from
// its own text as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/outbound_url.h"
#include "relay/rules/agent_jwt.h"
#include "relay/rules/case_lines.h"
#include "relay/rules/flat_xml.h"
#include "relay/rules/message_split.h"
#include "relay/rules/platform_event.h"
#include "relay/rules/upgrade_token.h"
#include "relay/rules/wecom_crypt.h"
#include "relay/wire/frame_lines.h"
#include "relay/wire/relay_frame.h"
#include "relay/wire/relay_requests.h"

namespace interlock {

std::string_view without_newline(const std::string& line) {
    CHECK(line.ends_with('\n'));
    return std::string_view(line).substr(0, line.size() - 1);
}

void try_frames(std::string_view text) {
    if (const auto frame = decode_gateway_frame(text)) {
        const std::string line = encode_line(*frame);
        const auto again = decode_gateway_frame(without_newline(line));
        CHECK(again && encode_line(*again) == line);
    } else {
        CHECK(!frame.error().message.empty());
    }
    if (const auto frame = decode_connector_frame(text)) {
        const std::string line = encode_line(*frame);
        const auto again = decode_connector_frame(without_newline(line));
        CHECK(again && encode_line(*again) == line);
    }
    FrameLines lines(64);
    for (const std::string& line : lines.take(text)) {
        CHECK(line.size() <= 64 && line.find('\n') == std::string::npos);
    }
    CHECK(lines.held_bytes() <= 64);
}

// What a platform sent becomes an event that a gateway can read, and none of its secrets is in it.
void try_normalised(const Result<Normalised>& normalised) {
    if (!normalised) {
        CHECK(!normalised.error().message.empty());
        return;
    }
    if (!normalised->event) {
        CHECK(!normalised->skipped.empty());
        return;
    }
    const Json json = encode(normalised->event->event);
    CHECK(decode_message_event(json).has_value());
}

void try_platforms(std::string_view text, const Json& json) {
    const BotIdentity bot{.bot_id = "900", .username = "helper"};
    try_normalised(normalise_discord_message(json, bot, {}));
    try_normalised(normalise_discord_interaction(json, bot));
    try_normalised(normalise_telegram(json, bot));
    if (const auto form = read_form(text)) {
        try_normalised(normalise_twilio(*form));
    }
    try_normalised(normalise_wecom(text));
}

void try_requests(const Json& json) {
    if (const auto policy = decode_relevance_policy(json)) {
        CHECK(decode_relevance_policy(encode(*policy)) == *policy);
    }
    if (const auto policy = decode_principal_policy(json)) {
        CHECK(decode_principal_policy(encode(*policy)) == *policy);
    }
    (void)decode_scope_request(json);
    (void)decode_dm_default_request(json);
    (void)decode_enroll_request(json);
    (void)decode_provision_request(json);
    (void)decode_jwks(json);
    (void)session_key_of_case(json);
    (void)token_of_case(json);
    (void)webhook_of_case(json);
    (void)permissions_of_case(json);
}

void try_texts(std::string_view text) {
    (void)read_upgrade_token(text);
    (void)wecom_encrypted(text);
    (void)verify_jwt(text, {.issuer = "i", .audience = "a", .keys = {}, .now_seconds = 0});
    if (const auto url = parse_outbound_url(text)) {
        CHECK(!url->host.empty() && url->target.starts_with('/') && url->port != 0);
    }
    for (const LengthUnit unit : {LengthUnit::code_points, LengthUnit::utf16, LengthUnit::bytes}) {
        const SplitRule rule{.limit = kSplitLimitMin, .unit = unit, .keeps_fences = true};
        for (const std::string& part : split_message(text, rule)) {
            CHECK(length_in(part, unit) <= rule.limit);
        }
    }
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    interlock::try_frames(text);
    interlock::try_texts(text);
    const auto json = interlock::parse_json(text);
    interlock::try_platforms(text, json ? *json : interlock::Json());
    if (json) {
        interlock::try_requests(*json);
    }
    return 0;
}
