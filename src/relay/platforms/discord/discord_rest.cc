#include "relay/platforms/discord/discord_rest.h"

#include <algorithm>
#include <chrono>

namespace interlock {
namespace {

// Discord wants a URL, of whom to ask about the bot, and a version; it blocks agents of another
// form.
std::string user_agent(const DiscordConfig& config) {
    const std::string url = config.public_url.empty() ? "https://discord.com/users/" + config.bot_id
                                                      : config.public_url;
    return "DiscordBot (" + url + ", 1.0)";
}

Json body_of(const HttpResponse& response) {
    auto json = parse_json(response.body);
    return json ? *std::move(json) : Json();
}

std::string_view code_of(int status) {
    switch (status) {
        case 401:
            return "unauthorized";
        case 403:
            return "forbidden";
        case 404:
            return "not_found";
        case 413:
            return "too_large";
        default:
            return "invalid_request";
    }
}

// Names a refusal by Discord's number and leaves its words out: they may repeat what was sent.
std::string refusal_text(int status, const Json& body) {
    const Json* const code = body.find("code");
    std::string text = "Discord refused the call with " + std::to_string(status);
    if (code != nullptr && code->is_number() && code->as_int64().value_or(0) != 0) {
        text += " (code " + code->number_text() + ")";
    }
    return text + ".";
}

RestAnswer uncertain(std::string because, int status) {
    return {
        .outcome = CallOutcome::unknown,
        .status = status,
        .error = std::move(because),
        .code = "unknown_outcome"};
}

RestAnswer later(std::string because, std::string code, Duration after) {
    return {
        .outcome = CallOutcome::not_sent,
        .error = std::move(because),
        .code = std::move(code),
        .retry_after = after};
}

}  // namespace

RestRequest rest_get(std::string path, RouteKey route) {
    return {
        .method = "GET",
        .path = std::move(path),
        .route = std::move(route),
        .repeat = RestRepeat::harmless};
}

RestRequest rest_with_json(
    std::string_view method, std::string path, RouteKey route, const Json& body) {
    return {
        .method = std::string(method),
        .path = std::move(path),
        .route = std::move(route),
        .content_type = "application/json",
        .body = to_text(body)};
}

DiscordRest::DiscordRest(Parts parts) : parts_(std::move(parts)) {}

void DiscordRest::stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    stopping_.notify_all();
}

void DiscordRest::pause(Duration span) {
    if (parts_.wait) {
        return parts_.wait(span);
    }
    std::unique_lock lock(mutex_);
    stopping_.wait_for(
        lock, std::chrono::microseconds(span.microseconds), [this] { return is_stopped_; });
}

DiscordRest::Permit DiscordRest::wait_for_permit(const RouteKey& route, Timestamp not_after) {
    while (true) {
        Duration wait;
        {
            const std::lock_guard lock(mutex_);
            if (is_stopped_) {
                return {.is_given = false, .wait = kRestRetryPause};
            }
            if (parts_.clock.now() > not_after) {
                return {.is_given = false, .wait = kRestRetryPause};
            }
            wait = limits_.ask(route, parts_.clock.monotonic());
            if (wait == Duration{}) {
                return {.is_given = true, .wait = {}};
            }
        }
        if (parts_.clock.now() + wait > not_after) {
            return {.is_given = false, .wait = wait};
        }
        pause(wait);
    }
}

WireCall DiscordRest::wire_call(const RestRequest& request) const {
    WireCall call{
        .method = request.method,
        .url = parts_.config.api_base + request.path,
        .headers = {{"User-Agent", user_agent(parts_.config)}},
        .body = request.body,
        .timeout = kRestTimeout};
    if (request.uses_bot_token) {
        call.headers.emplace_back(
            "Authorization", "Bot " + std::string(parts_.config.token.reveal()));
    }
    if (!request.content_type.empty()) {
        call.headers.emplace_back("Content-Type", request.content_type);
    }
    return call;
}

RestAnswer DiscordRest::judge(const RestRequest& request, const HttpResponse& response) {
    Json body = body_of(response);
    const LimitSignal signal = read_limit_signal(response, body);
    {
        const std::lock_guard lock(mutex_);
        limits_.learn(request.route, signal, parts_.clock.monotonic());
    }
    if (response.status >= 200 && response.status < 300) {
        return {.outcome = CallOutcome::sent, .status = response.status, .body = std::move(body)};
    }
    if (response.status == 429) {
        RestAnswer answer = later(
            "Discord's rate limit does not allow the call now.",
            "rate_limited",
            signal.retry_after.value_or(kRestRetryPause));
        answer.status = response.status;
        return answer;
    }
    if (response.status >= 400 && response.status < 500) {
        std::string error = refusal_text(response.status, body);
        return {
            .outcome = CallOutcome::not_sent,
            .status = response.status,
            .body = std::move(body),
            .error = std::move(error),
            .code = std::string(code_of(response.status))};
    }
    return uncertain(
        "Discord failed with " + std::to_string(response.status) +
            "; whether it did what was asked is not known.",
        response.status);
}

RestAnswer DiscordRest::run(const RestRequest& request, Timestamp not_after) {
    const WireCall call = wire_call(request);
    std::optional<RestAnswer> doubt;  // An earlier try whose outcome is not known.
    RestAnswer last = later("Discord was not asked in time.", "rate_limited", kRestRetryPause);
    for (int attempt = 0; attempt < kRestTriesMax; ++attempt) {
        const Permit permit = wait_for_permit(request.route, not_after);
        if (!permit.is_given) {
            last.retry_after = permit.wait;
            break;
        }
        const auto response = parts_.wire.call(call);
        if (response) {
            last = judge(request, *response);
            if (last.outcome == CallOutcome::sent) {
                return last;
            }
            if (last.status == 429) {
                continue;  // It was certainly not done, and the limits know how long to wait.
            }
        } else if (!response.error().may_have_left) {
            last = later("Discord could not be reached.", "unreachable", kRestRetryPause);
        } else {
            last = uncertain("The connection broke before Discord's answer was there.", 0);
        }
        if (last.outcome != CallOutcome::unknown || request.repeat == RestRepeat::never || doubt) {
            break;
        }
        doubt = last;
    }
    if (request.repeat == RestRepeat::harmless && (doubt || last.outcome == CallOutcome::unknown)) {
        return later("Discord did not answer.", "unreachable", kRestRetryPause);
    }
    // The second try's refusal does not tell what the first one did.
    return doubt ? *doubt : last;
}

}  // namespace interlock
