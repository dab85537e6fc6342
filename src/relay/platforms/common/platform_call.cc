#include "relay/platforms/common/platform_call.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "relay/rules/message_split.h"

namespace interlock {
namespace {

constexpr std::size_t kQuotedBytesMax = 200;

PlatformReply stopped_reply() {
    PlatformReply reply = refused_reply("unavailable", "The platform is being stopped.");
    reply.retry_after = kUnreachableRetry;
    return reply;
}

PlatformReply late_reply() {
    return refused_reply("timed_out", "The time for this call had passed before it was made.");
}

}  // namespace

PlatformReply sent_reply(std::string message_id) {
    PlatformReply reply;
    reply.outcome = CallOutcome::sent;
    reply.message_id = std::move(message_id);
    return reply;
}

PlatformReply refused_reply(std::string code, std::string error) {
    PlatformReply reply;
    reply.code = std::move(code);
    reply.error = std::move(error);
    return reply;
}

PlatformReply limited_reply(Duration retry_after) {
    PlatformReply reply =
        refused_reply("rate_limited", "The platform takes no more messages for now.");
    reply.retry_after = std::clamp(retry_after, Duration::of_milliseconds(1), kRateLimitMax);
    return reply;
}

PlatformReply unknown_reply(std::string error) {
    PlatformReply reply = refused_reply("unknown", std::move(error));
    reply.outcome = CallOutcome::unknown;
    return reply;
}

PlatformReply unsupported_reply(std::string_view platform, std::string_view op) {
    return refused_reply(
        "unsupported", std::string(platform) + " has no way to do \"" + quotable(op, {}) + "\".");
}

PlatformReply failed_reply(std::string_view platform, HttpFailure failure) {
    if (failure == HttpFailure::unknown) {
        return unknown_reply(
            std::string(platform) + " gave no complete answer; the message may have been sent.");
    }
    PlatformReply reply =
        refused_reply("unavailable", std::string(platform) + " could not be reached.");
    reply.retry_after = kUnreachableRetry;
    return reply;
}

PlatformReply run_paced(const PacedCall& call, const std::function<PlatformReply()>& attempt) {
    PlatformReply limited;
    for (int tries = 0; tries < kLimitedTriesMax; ++tries) {
        const Duration left = call.not_after - call.clock.now();
        if (left < Duration{}) {
            return tries == 0 ? late_reply() : limited;
        }
        const CallPace::Turn turn = call.pace.take(call.chat_id, call.clock.monotonic(), left);
        if (!turn.is_taken) {
            return limited_reply(turn.wait);
        }
        if (turn.wait > Duration{} && !call.wait(turn.wait)) {
            return stopped_reply();
        }
        PlatformReply reply = attempt();
        if (reply.outcome != CallOutcome::not_sent || reply.code != "rate_limited" ||
            !reply.retry_after) {
            return reply;
        }
        call.pace.block(
            call.chat_id, {call.clock.monotonic().microseconds + reply.retry_after->microseconds});
        limited = std::move(reply);
    }
    return limited;
}

std::string without_secret(std::string_view text, std::string_view secret) {
    std::string out(text);
    if (secret.empty()) {
        return out;
    }
    constexpr std::string_view kMask = "***";
    for (std::size_t at = out.find(secret); at != std::string::npos;
         at = out.find(secret, at + kMask.size())) {
        out.replace(at, secret.size(), kMask);
    }
    return out;
}

std::string quotable(std::string_view text, std::string_view secret) {
    // Masked first: what is cut afterwards cannot leave half a secret unnoticed.
    std::string out = without_secret(text, secret);
    out = prefix_in(out, kQuotedBytesMax, LengthUnit::bytes);
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return is_valid_utf8(out) ? out : std::string();
}

}  // namespace interlock
