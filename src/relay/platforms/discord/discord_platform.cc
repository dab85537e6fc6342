#include "relay/platforms/discord/discord_platform.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "relay/platforms/discord/discord_calls.h"
#include "relay/platforms/discord/discord_inbound.h"
#include "relay/platforms/discord/discord_requests.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::chrono::seconds kQueueWait{1};
constexpr Duration kBootstrapPauseFirst = Duration::of_seconds(1);
constexpr Duration kBootstrapWait = Duration::of_seconds(20);
constexpr std::uint32_t kRandomRange = 1'000'000;

int small_number(WireReader& in, std::string_view key, int otherwise) {
    return static_cast<int>(
        std::clamp<std::int64_t>(in.integer(key).value_or(otherwise), 0, 1'000'000));
}

IdentifyLimits read_limits(const Json& json) {
    IdentifyLimits limits;
    WireReader in(json);
    limits.total = small_number(in, "total", limits.total);
    limits.remaining = small_number(in, "remaining", limits.remaining);
    limits.max_concurrency = small_number(in, "max_concurrency", limits.max_concurrency);
    limits.reset_after = Duration::of_milliseconds(std::clamp<std::int64_t>(
        in.integer("reset_after").value_or(0), 0, Duration::of_days(1).microseconds / 1000));
    return limits;
}

}  // namespace

Result<std::unique_ptr<DiscordPlatform>> DiscordPlatform::open(Parts parts) {
    TRY(check_discord_config(parts.config));
    CHECK(parts.wire != nullptr);
    return std::unique_ptr<DiscordPlatform>(new DiscordPlatform(std::move(parts)));
}

DiscordPlatform::DiscordPlatform(Parts parts)
    : parts_(std::move(parts)),
      bot_{.platform = "discord", .bot_id = parts_.config.bot_id},
      rest_(
          {.config = parts_.config,
           .wire = *parts_.wire,
           .clock = parts_.clock,
           .wait = parts_.wait}),
      views_(guilds_, rest_, parts_.clock),
      callbacks_(std::make_shared<Callbacks>(kInteractionAnswersMax, 0)),
      channel_jobs_(kChannelQuestionsMax, 0),
      identity_{.bot_id = parts_.config.bot_id, .username = {}} {
    bootstrap_.detail = "It was not started.";
}

DiscordPlatform::~DiscordPlatform() {
    stop();
}

BotIdentity DiscordPlatform::identity() const {
    const std::lock_guard lock(mutex_);
    return identity_;
}

CapabilityDescriptor DiscordPlatform::descriptor() const {
    CapabilityDescriptor told;
    told.platform = bot_.platform;
    told.label = "Discord";
    told.max_message_length = static_cast<std::int64_t>(kDiscordTextMax);
    told.supports_edit = true;
    told.supports_threads = true;
    told.markdown_dialect = "discord";
    told.len_unit = kDiscordTextUnit;
    told.emoji = "\U0001F4AC";
    told.platform_hint = "Discord: messages hold 2000 characters of Discord's Markdown.";
    told.supported_ops = {
        "send",
        "edit",
        "typing",
        "follow_up",
        "get_chat_info",
        "send_media",
        "prompt",
        "react",
        "thread_create",
        "thread_rename"};
    return told;
}

LengthUnit DiscordPlatform::length_unit() const {
    return kDiscordTextUnit;
}

PlatformHealth DiscordPlatform::health() const {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) {
        return {.is_connected = false, .is_broken = bootstrap_.is_broken, .detail = "It stopped."};
    }
    if (shards_.empty()) {
        return bootstrap_;
    }
    PlatformHealth all{.is_connected = true, .is_broken = false, .detail = {}};
    for (const RunningShard& running : shards_) {
        const PlatformHealth one = running.shard->health();
        const bool is_worse = (one.is_broken && !all.is_broken) ||
                              (!one.is_connected && all.is_connected) || all.detail.empty();
        all.detail = is_worse ? one.detail : all.detail;
        all.is_connected = all.is_connected && one.is_connected;
        all.is_broken = all.is_broken || one.is_broken;
    }
    return all;
}

void DiscordPlatform::start(PlatformInbox& inbox, std::string cursor) {
    const std::lock_guard lock(mutex_);
    CHECK(!is_started_);
    is_started_ = true;
    inbox_ = &inbox;
    cursor_ = read_discord_cursor(cursor);
    bootstrap_.detail = "It asks Discord where to connect.";
    for (int count = 0; count < kInteractionThreads; ++count) {
        threads_.emplace_back([this] { give_answers(); });
    }
    threads_.emplace_back([this] { find_channels(); });
    threads_.emplace_back([this] { conduct(); });
}

void DiscordPlatform::stop() {
    std::vector<std::thread> threads;
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        stopping_.notify_all();
        for (const RunningShard& running : shards_) {
            running.mail->post_stop();
        }
        threads = std::exchange(threads_, {});
    }
    rest_.stop();
    callbacks_->close();
    channel_jobs_.close();
    for (std::thread& thread : threads) {
        thread.join();
    }
    // No shard is added any more: the thread that does it has ended.
    for (RunningShard& running : shards_) {
        if (running.thread.joinable()) {
            running.thread.join();
        }
    }
}

void DiscordPlatform::pause(Duration span) {
    std::unique_lock lock(mutex_);
    stopping_.wait_for(
        lock, std::chrono::microseconds(span.microseconds), [this] { return is_stopped_; });
}

std::uint32_t DiscordPlatform::draw() {
    // Ids are random where randomness is wanted, and repeatable in a simulation.
    std::uint32_t drawn = 0;
    const std::string id = parts_.ids.new_id("r");
    for (const char c : std::string_view(id).substr(2, 12)) {
        drawn = drawn * 31 + static_cast<unsigned char>(c);
    }
    return drawn % kRandomRange;
}

void DiscordPlatform::set_broken(std::string because) {
    const std::lock_guard lock(mutex_);
    bootstrap_ = {.is_connected = false, .is_broken = true, .detail = std::move(because)};
    log_error("discord_broken", {{"bot", bot_.bot_id}, {"problem", bootstrap_.detail}});
}

void DiscordPlatform::conduct() {
    if (const auto plan = learn_plan()) {
        start_shards(*plan);
    }
}

std::optional<DiscordPlatform::Plan> DiscordPlatform::learn_plan() {
    Plan plan{.url = parts_.config.gateway_url, .shards = std::max(parts_.config.shards, 1)};
    if (!parts_.config.gateway_url.empty() && parts_.config.shards > 0) {
        return plan;
    }
    for (Duration wait = kBootstrapPauseFirst;; wait = {wait.microseconds * 2}) {
        if (ask_gateway(plan)) {
            return plan;
        }
        pause(std::min(wait, kBootstrapPauseMax));
        wait = std::min(wait, kBootstrapPauseMax);
        const std::lock_guard lock(mutex_);
        if (is_stopped_ || bootstrap_.is_broken) {
            return std::nullopt;
        }
    }
}

bool DiscordPlatform::ask_gateway(Plan& plan) {
    const RestAnswer answer = rest_.run(
        rest_get("/gateway/bot", {.route = "GET /gateway/bot", .major = {}}),
        parts_.clock.now() + kBootstrapWait);
    if (answer.status == 401) {
        set_broken("Discord does not accept the bot's token.");
        return false;
    }
    WireReader in(answer.body);
    const std::string url = in.text("url", kRelayUrlBytesMax);
    const std::int64_t shards = in.integer("shards").value_or(1);
    const bool is_plain = parts_.config.api_base.starts_with("http://");
    const bool is_usable = url.starts_with("wss://") || (is_plain && url.starts_with("ws://"));
    if (answer.outcome != CallOutcome::sent || !in.ok() || !is_usable) {
        const std::lock_guard lock(mutex_);
        bootstrap_.detail =
            answer.error.empty() ? "Discord did not say where to connect." : answer.error;
        return false;
    }
    plan.url = parts_.config.gateway_url.empty() ? url : parts_.config.gateway_url;
    if (parts_.config.shards == 0) {
        plan.shards = static_cast<int>(std::clamp<std::int64_t>(shards, 1, kDiscordShardsMax));
    }
    if (const Json* const limits = answer.body.find("session_start_limit")) {
        identifies_.set(read_limits(*limits), parts_.clock.monotonic());
    }
    return true;
}

void DiscordPlatform::start_shards(const Plan& plan) {
    DiscordCursor stored;
    {
        const std::lock_guard lock(order_mutex_);
        if (cursor_.shard_count != plan.shards) {
            cursor_ = {.shard_count = plan.shards, .shards = {}};
        }
        stored = cursor_;
    }
    const std::lock_guard lock(mutex_);
    if (is_stopped_) {
        return;
    }
    for (int shard = 0; shard < plan.shards; ++shard) {
        auto mail = std::make_shared<ShardMail>();
        const auto known = stored.shards.find(shard);
        auto made = std::make_unique<DiscordShard>(DiscordShard::Parts{
            .settings =
                {.token = parts_.config.token.clone(),
                 .intents = parts_.config.intents,
                 .shard = shard,
                 .shard_count = plan.shards,
                 .url = plan.url,
                 .random = [this] { return draw(); }},
            .resume = known != stored.shards.end() ? std::optional(known->second) : std::nullopt,
            .bot = bot_,
            .wire = *parts_.wire,
            .clock = parts_.clock,
            .identifies = identifies_,
            .guilds = guilds_,
            .host = host_of(shard, mail),
            .mail = mail,
            .wait = parts_.wait});
        DiscordShard& running = *made;
        shards_.push_back({mail, std::move(made), std::thread([&running] { running.run(); })});
    }
}

ShardHost DiscordPlatform::host_of(int shard, const std::shared_ptr<ShardMail>& mail) {
    return {
        .identity = [this] { return identity(); },
        .set_identity = [this](const Json& user) { set_identity(user); },
        .submit =
            [this, shard](
                PlatformArrival arrival,
                const std::optional<ResumePoint>& point,
                std::function<void(InboxAnswer)> done) {
                submit(shard, std::move(arrival), point, std::move(done));
            },
        .note = [this, shard](const std::optional<ResumePoint>& point) { note(shard, point); },
        // Called when an arrival is stored, perhaps after we are gone: it holds the queue only.
        .answer_interaction =
            [callbacks = callbacks_, bot = bot_.bot_id](InteractionAnswer answer) {
                const std::string id = answer.id;
                if (!callbacks->push(std::move(answer))) {
                    log_warn("discord_answer_dropped", {{"bot", bot}, {"interaction", id}});
                }
            },
        .find_channel =
            [this, mail](const std::string& channel_id) {
                return channel_jobs_.push({channel_id, mail});
            }};
}

std::string DiscordPlatform::cursor_with(int shard, const std::optional<ResumePoint>& point) {
    if (point) {
        cursor_.shards[shard] = *point;
    } else {
        cursor_.shards.erase(shard);
    }
    return to_text(cursor_);
}

void DiscordPlatform::submit(
    int shard,
    PlatformArrival arrival,
    const std::optional<ResumePoint>& point,
    std::function<void(InboxAnswer)> done) {
    const std::lock_guard lock(order_mutex_);
    arrival.cursor = cursor_with(shard, point);
    inbox_->submit(std::move(arrival), std::move(done));
}

void DiscordPlatform::note(int shard, const std::optional<ResumePoint>& point) {
    const std::lock_guard lock(order_mutex_);
    inbox_->note_cursor(bot_, cursor_with(shard, point));
}

void DiscordPlatform::set_identity(const Json& user) {
    WireReader in(user);
    const std::string id = in.text("id");
    const std::string name = in.text("username", kRelayNameBytesMax);
    if (!in.ok() || id.empty()) {
        return;
    }
    if (id != parts_.config.bot_id) {
        log_warn("discord_bot_id_differs", {{"configured", bot_.bot_id}, {"told", id}});
    }
    const std::lock_guard lock(mutex_);
    identity_ = {.bot_id = id, .username = name};
}

void DiscordPlatform::give_answers() {
    while (true) {
        std::vector<InteractionAnswer> jobs = callbacks_->pop(1, kQueueWait);
        if (jobs.empty() && callbacks_->is_closed()) {
            return;
        }
        for (const InteractionAnswer& job : jobs) {
            const RestAnswer answer =
                rest_.run(interaction_callback(job.id, job.token, job.body), job.not_after);
            if (answer.outcome != CallOutcome::sent) {
                log_warn(
                    "discord_interaction_unanswered",
                    {{"bot", bot_.bot_id}, {"interaction", job.id}, {"problem", answer.error}});
            }
        }
    }
}

void DiscordPlatform::find_channels() {
    while (true) {
        std::vector<ChannelJob> jobs = channel_jobs_.pop(1, kQueueWait);
        if (jobs.empty() && channel_jobs_.is_closed()) {
            return;
        }
        for (ChannelJob& job : jobs) {
            views_.find_channel(job.channel_id);
            job.mail->post_channel(std::move(job.channel_id));
        }
    }
}

PlatformReply DiscordPlatform::call(const PlatformCall& call) {
    return run_discord_call(
        rest_, call, {.application_id = parts_.config.application(), .user_id = identity().bot_id});
}

WebhookAnswer DiscordPlatform::receive(const WebhookRequest& request) {
    WebhookRequest dated = request;
    if (!dated.now_seconds) {
        dated.now_seconds = parts_.clock.now().microseconds / 1'000'000;
    }
    return receive_interaction(
        dated, {.config = parts_.config, .bot = bot_, .identity = identity()});
}

std::optional<bool> DiscordPlatform::cached_view(const ViewQuestion& question) const {
    return guilds_.view(question, parts_.clock.monotonic()).can_view;
}

std::optional<bool> DiscordPlatform::find_view(const ViewQuestion& question) {
    return views_.find(question);
}

}  // namespace interlock
