// One shard: the thread that opens its socket, runs its machine, keeps the guilds and hands on what
// arrives, in the order in which it came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/ports/clock.h"
#include "relay/platforms/discord/discord_gateway.h"
#include "relay/platforms/discord/discord_guilds.h"
#include "relay/platforms/discord/discord_inbound.h"
#include "relay/platforms/discord/discord_wire.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

// How often a position that moved without an arrival is noted.
inline constexpr Duration kCursorPause = Duration::of_seconds(1);
// A message waits this long for the name of its channel.
inline constexpr Duration kChannelWait = Duration::of_seconds(10);

// What other threads tell the shard. Outlives it, because an arrival may be settled late.
class ShardMail {
public:
    struct Settled {
        std::uint64_t epoch = 0;
        std::int64_t sequence = 0;
        bool is_stored = false;
    };
    void post_settled(Settled settled);
    void post_channel(std::string channel_id);  // It was looked for.
    void post_stop();

    struct Letters {
        std::vector<Settled> settled;
        std::vector<std::string> channels;
        bool is_stopped = false;
    };
    Letters take();
    void wait(Duration span);                // Until something is posted.
    void set_socket(DiscordSocket* socket);  // Woken by whatever is posted.

private:
    void notify();

    std::mutex mutex_;
    std::condition_variable posted_;
    Letters letters_;
    DiscordSocket* socket_ = nullptr;
};

// What Discord is to be told about an interaction, before it gives up waiting.
struct InteractionAnswer {
    std::string id;
    SecretString token;
    Json body;
    Timestamp not_after;
};

// What the shard needs of its bot. All may be called until the shard's thread has ended.
struct ShardHost {
    std::function<BotIdentity()> identity;
    std::function<void(const Json& user)> set_identity;
    // `point` is where this shard stands once the arrival is stored.
    std::function<void(
        PlatformArrival arrival,
        const std::optional<ResumePoint>& point,
        std::function<void(InboxAnswer)> done)>
        submit;
    std::function<void(const std::optional<ResumePoint>& point)> note;
    // May be called later than that, from any thread.
    std::function<void(InteractionAnswer)> answer_interaction;
    // False: too much is being looked for.
    std::function<bool(const std::string& channel_id)> find_channel;
};

class DiscordShard {
public:
    struct Parts {
        GatewaySettings settings;
        std::optional<ResumePoint> resume;
        BotKey bot;
        DiscordWire& wire;
        Clock& clock;
        IdentifyGate& identifies;
        DiscordGuilds& guilds;
        ShardHost host;
        std::shared_ptr<ShardMail> mail = {};
        std::function<void(Duration)> wait = {};  // In place of waiting without a connection.
    };
    explicit DiscordShard(Parts parts);

    void run();                     // Until the mail says stop.
    PlatformHealth health() const;  // Any thread.

private:
    using Queued = std::variant<Dispatched, WentLive>;

    void read_mail(Duration now);
    void perform_steps(Duration now);
    void perform(GatewayStep step, Duration now);
    void open(const std::string& url);
    void drop_socket();
    void hear(Duration now);
    void work_off(Duration now);
    bool handle(const Dispatched& event, Duration now);
    void handle_ready(const Json& data);
    void handle_live(const WentLive& live);
    bool is_channel_known(const Dispatched& event, Duration now);
    void handle_message(const Dispatched& event);
    void handle_interaction(const Dispatched& event);
    void submit(
        const Dispatched& event, PlatformArrival arrival, std::function<void(InboxAnswer)> also);
    void note_position(Duration now);
    void publish_health();
    Duration time_to_wait(Duration now) const;

    Parts parts_;
    const int shard_;
    const int shard_count_;
    DiscordGateway machine_;
    std::unique_ptr<DiscordSocket> socket_;
    std::deque<Queued> queue_;  // Bounded by kGatewayUnsettledMax.
    std::string awaited_channel_;
    Duration awaited_until_;
    std::optional<ResumePoint> handed_;
    Duration noted_at_;
    bool is_stopped_ = false;

    mutable std::mutex health_mutex_;
    PlatformHealth health_;
};

}  // namespace interlock
