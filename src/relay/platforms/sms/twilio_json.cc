#include "relay/platforms/sms/twilio_json.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/text.h"
#include "relay/platforms/common/platform_call.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kTooManyRequests = 20429;

Duration retry_after(const PlatformHttpAnswer& answer) {
    for (const auto& [name, value] : answer.headers) {
        std::int64_t seconds = 0;
        const std::string_view digits = trim(value);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
        if (equal_ignoring_case(name, "retry-after") && read.ec == std::errc() && seconds >= 0) {
            return Duration::of_seconds(std::min(seconds, kRateLimitMax.microseconds / 1'000'000));
        }
    }
    return kTwilioRetry;
}

std::string refusal_code(std::int64_t code, int status) {
    switch (code) {
        case 21211:  // Not a number that can be written to.
        case 21614:
            return "not_found";
        case 21408:  // Not in this country.
        case 21610:  // The person said STOP.
            return "forbidden";
        case 21617:
        case 21605:
            return "too_long";
        case 20003:
            return "unauthenticated";
        default:
            return status == 401   ? "unauthenticated"
                   : status == 403 ? "forbidden"
                   : status == 404 ? "not_found"
                                   : "refused";
    }
}

}  // namespace

PlatformReply read_twilio_answer(
    const PlatformHttpAnswer& answer, const std::function<std::string(std::string_view)>& mask) {
    const auto json = parse_json(answer.body);
    const bool is_json = json && json->is_object();
    const Json nothing = Json::object();
    WireReader in(is_json ? *json : nothing);
    if (answer.status >= 200 && answer.status < 300) {
        std::string sid = in.text("sid");
        return sid.empty() ? unknown_reply("Twilio took the message but did not name it.")
                           : sent_reply(std::move(sid));
    }
    const std::int64_t code = in.integer("code").value_or(0);
    if (answer.status == 429 || code == kTooManyRequests) {
        return limited_reply(retry_after(answer));
    }
    if (answer.status < 400 || answer.status >= 500) {
        return unknown_reply("Twilio failed; the message may have been sent.");
    }
    const std::string message = in.text("message", kRelayTextBytesMax);
    return refused_reply(
        refusal_code(code, answer.status),
        "Twilio refused this (" + std::to_string(code != 0 ? code : answer.status) +
            "): " + quotable(mask(message), {}));
}

std::string encode_form(const FormFields& fields) {
    std::string body;
    for (const auto& [name, value] : fields) {
        body += (body.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
    }
    return body;
}

}  // namespace interlock
