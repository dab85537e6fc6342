#include "relay/platforms/telegram/telegram_api.h"

#include <utility>

#include "base/text.h"

namespace interlock {

std::expected<TelegramAnswer, TelegramFailure> TelegramApi::ask(
    const TelegramRequest& request, const Patience& patience) const {
    EncodedRequest encoded = encode(request);
    PlatformHttpCall call;
    call.url = parts_.api_base + "/bot" + std::string(token()) + "/" + request.method;
    call.headers = {{"content-type", std::move(encoded.content_type)}};
    call.body = std::move(encoded.body);
    call.timeout = patience.timeout;
    call.answer_bytes_max = patience.answer_bytes_max;
    call.is_cancelled = patience.ends_with_stop ? &parts_.is_stopped : nullptr;
    auto answered = parts_.http(call);
    wipe(call.url);
    if (!answered) {
        return std::unexpected(TelegramFailure{answered.error(), std::nullopt});
    }
    auto answer = read_telegram_answer(answered->body);
    if (answered->status >= 400 && answered->status < 500) {
        // A proxy on the way may say no in words of its own.
        TelegramAnswer refused = answer ? *std::move(answer) : TelegramAnswer{};
        refused.is_ok = false;
        refused.code = answered->status;
        return refused;
    }
    if (answered->status != 200 || !answer || (!answer->is_ok && answer->code >= 500)) {
        return std::unexpected(TelegramFailure{
            HttpFailure::unknown,
            answered->status == 200 ? update_id_in(answered->body) : std::nullopt});
    }
    return *std::move(answer);
}

std::expected<std::string, HttpFailure> TelegramApi::fetch(
    const std::string& path, const FetchBounds& bounds) const {
    PlatformHttpCall call;
    call.method = "GET";
    call.url = parts_.api_base + "/file/bot" + std::string(token());
    for (const std::string_view part : split(path, '/')) {
        call.url += "/" + percent_encode(part);
    }
    call.timeout = bounds.timeout;
    call.answer_bytes_max = bounds.bytes_max;
    call.is_cancelled = &parts_.is_stopped;
    auto answered = parts_.http(call);
    wipe(call.url);
    if (!answered) {
        return std::unexpected(answered.error());
    }
    if (answered->status != 200) {
        return std::unexpected(HttpFailure::unknown);
    }
    return std::move(answered->body);
}

}  // namespace interlock
