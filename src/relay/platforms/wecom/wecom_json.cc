#include "relay/platforms/wecom/wecom_json.h"

#include "base/json.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kBusy = -1;

std::string refusal_code(std::int64_t code) {
    switch (code) {
        case 40001:
        case 40013:
        case 40091:
            return "unauthenticated";
        case 40003:
        case 60111:
        case 81013:
            return "not_found";
        case 45002:
            return "too_long";
        case 48002:
        case 50005:
        case 60011:
        case 60020:
            return "forbidden";
        default:
            return "refused";
    }
}

}  // namespace

std::optional<WecomAnswer> read_wecom_answer(std::string_view body) {
    const auto json = parse_json(body);
    if (!json || !json->is_object()) {
        return std::nullopt;
    }
    WireReader in(*json);
    const auto code = in.integer("errcode");
    if (!code) {
        return std::nullopt;
    }
    WecomAnswer answer;
    answer.code = *code;
    answer.message = in.text("errmsg", kRelayTextBytesMax);
    answer.message_id = in.text("msgid");
    answer.unknown_users = in.text("invaliduser", kRelayTextBytesMax);
    answer.access_token = SecretString(in.text("access_token", kRelayNameBytesMax));
    answer.expires_in = in.integer("expires_in").value_or(0);
    return answer;
}

std::string wecom_text_body(
    const std::string& user_id, std::int64_t agent_id, const std::string& text) {
    return to_text(Json::object(
        {{"touser", user_id},
         {"msgtype", "text"},
         {"agentid", agent_id},
         {"text", Json::object({{"content", text}})}}));
}

bool is_stale_token(std::int64_t code) {
    return code == 42001 || code == 40014;
}

PlatformReply wecom_reply(
    const WecomAnswer& answer, const std::function<std::string(std::string_view)>& mask) {
    if (answer.code == 0 && answer.unknown_users.empty()) {
        return answer.message_id.empty()
                   ? unknown_reply("WeCom took the message but did not name it.")
                   : sent_reply(answer.message_id);
    }
    if (answer.code == 0) {
        return refused_reply("not_found", "WeCom knows no such member for this application.");
    }
    if (answer.code == kBusy) {
        return unknown_reply("WeCom was busy; the message may have been sent.");
    }
    if (answer.code == 45009 || answer.code == 45033) {
        return limited_reply(kWecomRetry);
    }
    PlatformReply reply = refused_reply(
        refusal_code(answer.code),
        "WeCom refused this (" + std::to_string(answer.code) +
            "): " + quotable(mask(answer.message), {}));
    if (is_stale_token(answer.code)) {
        reply.code = "unauthenticated";
    }
    return reply;
}

}  // namespace interlock
