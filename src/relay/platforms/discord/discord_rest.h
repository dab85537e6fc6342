// One call of Discord's REST API: waits for its rate limit, sends it, and says for certain what
// came of it, or that it is not certain (I4).
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/ports/clock.h"
#include "relay/platforms/discord/discord_config.h"
#include "relay/platforms/discord/discord_limits.h"
#include "relay/platforms/discord/discord_wire.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr int kRestTriesMax = 8;
inline constexpr Duration kRestTimeout = Duration::of_seconds(10);
// After a connection that could not be made, and after Discord's own failures.
inline constexpr Duration kRestRetryPause = Duration::of_seconds(1);

enum class RestRepeat {
    never,  // What may have been done is not done twice.
    // A second time changes nothing: an edit, a reaction, or a message under a nonce. Discord keeps
    // the nonces of some minutes and, asked to enforce them, answers with the first message.
    once,
    harmless,  // A question, or something that is forgotten in seconds.
};

struct RestRequest {
    std::string method;
    std::string path;  // Behind the API's base. May hold an interaction's token.
    RouteKey route;
    std::string content_type = {};  // Empty: no body.
    std::string body = {};
    bool uses_bot_token = true;
    RestRepeat repeat = RestRepeat::never;
};

struct RestAnswer {
    CallOutcome outcome = CallOutcome::not_sent;
    int status = 0;  // 0: there was no answer.
    Json body = {};
    std::string error = {};
    std::string code = {};
    std::optional<Duration> retry_after = {};
};

class DiscordRest {
public:
    struct Parts {
        const DiscordConfig& config;
        DiscordWire& wire;
        Clock& clock;
        // Replaces the waiting, for tests; empty: waits really, and stop() ends it.
        std::function<void(Duration)> wait = {};
    };
    explicit DiscordRest(Parts parts);

    // Blocking, from any thread. No try begins after `not_after`.
    RestAnswer run(const RestRequest& request, Timestamp not_after);
    // Calls that wait for a limit give up; later ones too.
    void stop();

private:
    struct Permit {
        bool is_given = false;
        Duration wait;
    };
    Permit wait_for_permit(const RouteKey& route, Timestamp not_after);
    void pause(Duration span);
    WireCall wire_call(const RestRequest& request) const;
    RestAnswer judge(const RestRequest& request, const HttpResponse& response);

    const Parts parts_;
    std::mutex mutex_;
    std::condition_variable stopping_;
    bool is_stopped_ = false;
    DiscordLimits limits_;
};

// Builds requests; ids must be snowflakes by then.
RestRequest rest_get(std::string path, RouteKey route);
RestRequest rest_with_json(
    std::string_view method, std::string path, RouteKey route, const Json& body);

}  // namespace interlock
