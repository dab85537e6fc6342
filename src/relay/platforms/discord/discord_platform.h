// A Discord bot behind relay/ports/chat_platform.h: its shards, its REST calls and its webhook.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "engine/ports/id_source.h"
#include "relay/platforms/discord/discord_cursor.h"
#include "relay/platforms/discord/discord_guilds.h"
#include "relay/platforms/discord/discord_rest.h"
#include "relay/platforms/discord/discord_shard.h"
#include "relay/platforms/discord/discord_views.h"
#include "relay/ports/chat_platform.h"

namespace interlock {

inline constexpr std::size_t kInteractionAnswersMax = 1'000;  // Waiting to be given.
inline constexpr int kInteractionThreads = 2;
inline constexpr std::size_t kChannelQuestionsMax = 256;
inline constexpr Duration kBootstrapPauseMax = Duration::of_seconds(60);

class DiscordPlatform final : public ChatPlatform {
public:
    struct Parts {
        DiscordConfig config;
        std::unique_ptr<DiscordWire> wire;
        Clock& clock;
        IdSource& ids;
        // Replaces the waiting for limits and before a new connection, for tests.
        std::function<void(Duration)> wait = {};
    };
    static Result<std::unique_ptr<DiscordPlatform>> open(Parts parts);
    ~DiscordPlatform() override;

    const BotKey& bot() const override { return bot_; }
    BotIdentity identity() const override;
    CapabilityDescriptor descriptor() const override;
    LengthUnit length_unit() const override;
    PlatformHealth health() const override;

    void start(PlatformInbox& inbox, std::string cursor) override;
    void stop() override;

    PlatformReply call(const PlatformCall& call) override;
    WebhookAnswer receive(const WebhookRequest& request) override;
    std::optional<bool> cached_view(const ViewQuestion& question) const override;
    std::optional<bool> find_view(const ViewQuestion& question) override;

private:
    using Callbacks = BoundedQueue<InteractionAnswer>;
    struct ChannelJob {
        std::string channel_id;
        std::shared_ptr<ShardMail> mail;
    };
    struct RunningShard {
        std::shared_ptr<ShardMail> mail;
        std::unique_ptr<DiscordShard> shard;
        std::thread thread;
    };
    struct Plan {
        std::string url;
        int shards = 1;
    };

    explicit DiscordPlatform(Parts parts);

    void conduct();  // Learns the gateway's address, then starts the shards.
    std::optional<Plan> learn_plan();
    bool ask_gateway(Plan& plan);
    void start_shards(const Plan& plan);
    ShardHost host_of(int shard, const std::shared_ptr<ShardMail>& mail);
    void submit(
        int shard,
        PlatformArrival arrival,
        const std::optional<ResumePoint>& point,
        std::function<void(InboxAnswer)> done);
    void note(int shard, const std::optional<ResumePoint>& point);
    std::string cursor_with(int shard, const std::optional<ResumePoint>& point);
    void set_identity(const Json& user);
    void give_answers();
    void find_channels();
    void pause(Duration span);
    void set_broken(std::string because);
    std::uint32_t draw();

    const Parts parts_;
    const BotKey bot_;
    DiscordGuilds guilds_;
    IdentifyGate identifies_;
    DiscordRest rest_;
    DiscordViews views_;
    PlatformInbox* inbox_ = nullptr;
    const std::shared_ptr<Callbacks> callbacks_;
    BoundedQueue<ChannelJob> channel_jobs_;

    std::mutex order_mutex_;  // Cursors reach the inbox in the order in which they were made.
    DiscordCursor cursor_;

    mutable std::mutex mutex_;
    std::condition_variable stopping_;
    bool is_started_ = false;
    bool is_stopped_ = false;
    BotIdentity identity_;
    PlatformHealth bootstrap_;
    std::vector<RunningShard> shards_;
    std::vector<std::thread> threads_;
};

}  // namespace interlock
