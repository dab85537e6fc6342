// One shard's connection to the Discord gateway as a machine without a socket, a clock or a thread:
// what happened and what time it is in, what to do out.
//
// Discord is told to have been heard only up to what is stored. The owner settles each event when
// it is; heartbeats and resumes carry the last sequence up to which all are settled. Discord sends
// whatever lies behind it again after a resume.
// docs/contracts/relay-connector.md#what-a-platform-is-told
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/secret_string.h"
#include "base/time.h"
#include "relay/platforms/discord/discord_cursor.h"
#include "relay/platforms/discord/identify_gate.h"

namespace interlock {

// Events that wait to be settled. One more closes the connection: Discord keeps them for us.
inline constexpr std::size_t kGatewayUnsettledMax = 10'000;
inline constexpr int kGatewaySendsPerMinute = 120;
// Of those, what heartbeats that Discord asks for may use.
inline constexpr int kGatewayAnswersPerMinute = 100;
inline constexpr Duration kGatewayHelloWait = Duration::of_seconds(20);
inline constexpr Duration kGatewayReadyWait = Duration::of_seconds(60);
inline constexpr Duration kGatewayBackoffFirst = Duration::of_seconds(1);
inline constexpr Duration kGatewayBackoffMax = Duration::of_seconds(60);
inline constexpr Duration kGatewayRefusedPause = Duration::of_seconds(2);
inline constexpr Duration kHeartbeatShortest = Duration::of_milliseconds(500);
inline constexpr Duration kHeartbeatLongest = Duration::of_minutes(10);
// A session's own address is given up after so many tries without a greeting from there.
inline constexpr int kResumeUrlTriesMax = 4;
// Ends the connection and keeps the session; 1000 and 1001 would end both.
inline constexpr std::uint16_t kGatewayCloseToResume = 4000;
inline constexpr std::uint16_t kGatewayBrokenCode = 1006;

struct GatewaySettings {
    SecretString token;
    std::uint64_t intents = 0;
    int shard = 0;
    int shard_count = 1;
    std::string url;                        // Of the gateway, without version and encoding.
    std::function<std::uint32_t()> random;  // 0 to 999,999.
};

struct OpenSocket {
    std::string url;
};
struct SendText {
    std::string text;  // Holds the token when it identifies or resumes.
};
// The socket is to be dropped; on_closed() is not called for it.
struct CloseSocket {
    std::uint16_t code = kGatewayCloseToResume;
};
struct Dispatched {
    std::uint64_t epoch = 0;  // The same number is sent again after a resume, in another one.
    std::int64_t sequence = 0;
    std::string type;
    Json data;
    bool is_replayed = false;  // Sent again by a resume: it may be old.
};
// READY or RESUMED was there, and it is in order behind the events before it.
struct WentLive {
    std::uint64_t epoch = 0;
    bool is_new_session = false;
};
struct WentDown {};
using GatewayStep = std::variant<OpenSocket, SendText, CloseSocket, Dispatched, WentLive, WentDown>;

class DiscordGateway {
public:
    // `resume` is where the last process stood.
    DiscordGateway(
        GatewaySettings settings, IdentifyGate& identifies, std::optional<ResumePoint> resume);

    void on_opened(Duration now);
    void on_text(std::string_view text, Duration now);
    void on_closed(std::uint16_t code, Duration now);  // Also when it could not be opened.
    void on_tick(Duration now);

    // The event is stored, or needs no storing. Events of an earlier connection are passed over.
    void settle(std::uint64_t epoch, std::int64_t sequence);
    // The event could not be stored: it is asked for again by a resume.
    void refuse(std::uint64_t epoch, Duration now);

    std::vector<GatewayStep> take_steps();
    // When on_tick() has something to do at the latest.
    Duration next_wake() const;

    // Where a resume would begin; nothing while no session has anything stored.
    std::optional<ResumePoint> resume_point() const;
    // As it will be when this event and all before it are stored; nothing when some before are not.
    std::optional<ResumePoint> point_after(std::uint64_t epoch, std::int64_t sequence) const;
    std::size_t unsettled() const { return window_.size(); }

    bool is_live() const { return state_ == State::live; }
    bool is_broken() const { return state_ == State::broken; }
    const std::string& broken_because() const { return broken_because_; }
    std::uint64_t epoch() const { return epoch_; }

private:
    enum class State { waiting, opening, greeting, queueing, starting, resuming, live, broken };
    struct Received {
        std::int64_t sequence = 0;
        bool is_settled = false;
    };

    void on_hello(const Json& data, Duration now);
    void on_dispatch(Json payload, Duration now);
    void on_invalid_session(bool is_resumable, Duration now);
    void start_session(Duration now);
    void read_ready(const Json& data);
    void go_live(bool is_new_session);
    void beat(Duration now);
    Json heartbeat() const;
    void send(const Json& payload, Duration now, int per_minute_max = kGatewaySendsPerMinute);
    void identify(Duration now);
    void drop(Duration reopen_after, Duration now);
    void leave(Duration reopen_after, Duration now);
    void forget_session();
    Duration backoff();
    Duration random_span(Duration span) const;
    std::string url_to_open() const;

    const GatewaySettings settings_;
    IdentifyGate& identifies_;
    State state_ = State::waiting;
    std::string broken_because_;
    std::uint64_t epoch_ = 0;
    std::vector<GatewayStep> steps_;

    std::string session_id_;  // Empty: none.
    std::string resume_url_;
    std::optional<std::int64_t> stored_;
    std::int64_t last_received_ = 0;
    std::deque<Received> window_;

    Duration reopen_at_;
    Duration wait_until_;     // Of opening, greeting, starting and resuming.
    Duration identify_at_;    // The gate is asked again.
    Duration beat_interval_;  // Zero: not greeted yet.
    Duration beat_at_;
    bool is_acknowledged_ = true;
    int failures_ = 0;  // In a row, since a session was live.
    int resume_url_failures_ = 0;
    std::deque<Duration> sent_at_;
};

// "wss://host/" → "wss://host/?v=10&encoding=json".
std::string gateway_address(std::string_view url);

}  // namespace interlock
