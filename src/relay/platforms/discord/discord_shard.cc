#include "relay/platforms/discord/discord_shard.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/match.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr Duration kWaitMax = Duration::of_seconds(1);
constexpr std::string_view kMessageCreate = "MESSAGE_CREATE";
constexpr std::string_view kInteractionCreate = "INTERACTION_CREATE";

Duration plus(Duration a, Duration b) {
    return {a.microseconds + b.microseconds};
}

std::string text_of(const Json& object, std::string_view key) {
    const Json* const found = object.find(key);
    return found != nullptr ? id_text(*found).value_or("") : "";
}

}  // namespace

void ShardMail::notify() {
    if (socket_ != nullptr) {
        socket_->wake();
    }
    posted_.notify_all();
}

void ShardMail::post_settled(Settled settled) {
    const std::lock_guard lock(mutex_);
    letters_.settled.push_back(settled);
    notify();
}

void ShardMail::post_channel(std::string channel_id) {
    const std::lock_guard lock(mutex_);
    letters_.channels.push_back(std::move(channel_id));
    notify();
}

void ShardMail::post_stop() {
    const std::lock_guard lock(mutex_);
    letters_.is_stopped = true;
    notify();
}

ShardMail::Letters ShardMail::take() {
    const std::lock_guard lock(mutex_);
    const bool is_stopped = letters_.is_stopped;
    Letters taken = std::exchange(letters_, {});
    letters_.is_stopped = is_stopped;
    return taken;
}

void ShardMail::wait(Duration span) {
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, std::chrono::microseconds(span.microseconds), [this] {
        return letters_.is_stopped || !letters_.settled.empty() || !letters_.channels.empty();
    });
}

void ShardMail::set_socket(DiscordSocket* socket) {
    const std::lock_guard lock(mutex_);
    socket_ = socket;
    if (socket != nullptr && (letters_.is_stopped || !letters_.settled.empty())) {
        socket->wake();
    }
}

DiscordShard::DiscordShard(Parts parts)
    : parts_(std::move(parts)),
      shard_(parts_.settings.shard),
      shard_count_(parts_.settings.shard_count),
      machine_(std::move(parts_.settings), parts_.identifies, parts_.resume),
      handed_(parts_.resume) {
    health_.detail = "It has not connected yet.";
}

void DiscordShard::run() {
    while (!is_stopped_) {
        const Duration now = parts_.clock.monotonic();
        read_mail(now);
        work_off(now);
        note_position(now);
        machine_.on_tick(now);
        perform_steps(now);
        publish_health();
        if (!is_stopped_) {
            hear(now);
        }
    }
    note_position(plus(parts_.clock.monotonic(), kCursorPause));
    if (socket_ != nullptr) {
        socket_->close(kGatewayCloseToResume);  // The next start goes on from here.
        drop_socket();
    }
}

void DiscordShard::read_mail(Duration now) {
    const ShardMail::Letters letters = parts_.mail->take();
    for (const ShardMail::Settled& settled : letters.settled) {
        if (settled.is_stored) {
            machine_.settle(settled.epoch, settled.sequence);
        } else {
            machine_.refuse(settled.epoch, now);
        }
    }
    if (std::ranges::find(letters.channels, awaited_channel_) != letters.channels.end()) {
        awaited_until_ = now;  // Known now, or not to be found.
    }
    is_stopped_ = letters.is_stopped;
}

void DiscordShard::perform_steps(Duration now) {
    for (auto steps = machine_.take_steps(); !steps.empty(); steps = machine_.take_steps()) {
        for (GatewayStep& step : steps) {
            perform(std::move(step), now);
        }
    }
}

void DiscordShard::perform(GatewayStep step, Duration now) {
    match(
        std::move(step),
        [this](OpenSocket&& wanted) { open(wanted.url); },
        [this](SendText&& text) {
            if (socket_ != nullptr && !socket_->send(text.text)) {
                drop_socket();
                machine_.on_closed(kGatewayBrokenCode, parts_.clock.monotonic());
            }
        },
        [this](CloseSocket&& wanted) {
            if (socket_ != nullptr) {
                socket_->close(wanted.code);
                drop_socket();
            }
        },
        [this](Dispatched&& event) {
            queue_.emplace_back(std::in_place_type<Dispatched>, std::move(event));
        },
        [this](WentLive&& live) { queue_.emplace_back(std::in_place_type<WentLive>, live); },
        [this, now](WentDown&&) {
            log_info("discord_shard_lost", {{"bot", parts_.bot.bot_id}, {"shard", shard_}});
            parts_.guilds.shard_lost(shard_, shard_count_, now);
        });
}

void DiscordShard::open(const std::string& url) {
    auto opened = parts_.wire.connect(url);
    const Duration now = parts_.clock.monotonic();
    if (!opened) {
        log_warn(
            "discord_unreachable",
            {{"bot", parts_.bot.bot_id}, {"shard", shard_}, {"problem", opened.error().message}});
        return machine_.on_closed(kGatewayBrokenCode, now);
    }
    socket_ = *std::move(opened);
    parts_.mail->set_socket(socket_.get());
    machine_.on_opened(now);
}

void DiscordShard::drop_socket() {
    parts_.mail->set_socket(nullptr);
    socket_.reset();
}

Duration DiscordShard::time_to_wait(Duration now) const {
    Duration until = std::min(machine_.next_wake(), plus(now, kWaitMax));
    if (!queue_.empty()) {
        until = std::min(until, awaited_channel_.empty() ? now : awaited_until_);
    }
    return {std::max<std::int64_t>(until.microseconds - now.microseconds, 0)};
}

void DiscordShard::hear(Duration now) {
    if (socket_ == nullptr) {
        const Duration wait = time_to_wait(now);
        return parts_.wait ? parts_.wait(wait) : parts_.mail->wait(wait);
    }
    match(
        socket_->receive(time_to_wait(now)),
        [](SocketSilence&&) {},
        [this](SocketText&& heard) {
            machine_.on_text(heard.text, parts_.clock.monotonic());
            perform_steps(parts_.clock.monotonic());
        },
        [this](SocketClosed&& closed) {
            log_info(
                "discord_shard_closed",
                {{"bot", parts_.bot.bot_id}, {"shard", shard_}, {"close", closed.code}});
            drop_socket();
            machine_.on_closed(closed.code, parts_.clock.monotonic());
        });
}

// Works events off in the order in which they came: one that waits for the name of its channel
// holds the others up.
void DiscordShard::work_off(Duration now) {
    while (!queue_.empty()) {
        if (const auto* const event = std::get_if<Dispatched>(&queue_.front())) {
            if (!handle(*event, now)) {
                return;
            }
        } else {
            handle_live(std::get<WentLive>(queue_.front()));
        }
        queue_.pop_front();
    }
}

void DiscordShard::handle_live(const WentLive& live) {
    log_info(
        "discord_shard_live",
        {{"bot", parts_.bot.bot_id}, {"shard", shard_}, {"is_new_session", live.is_new_session}});
    if (!live.is_new_session && machine_.is_live() && live.epoch == machine_.epoch()) {
        parts_.guilds.shard_resumed(shard_, shard_count_);
    }
}

bool DiscordShard::handle(const Dispatched& event, Duration now) {
    if (event.type == kMessageCreate && !is_channel_known(event, now)) {
        return false;
    }
    const bool is_of_people = event.type == kMessageCreate || event.type == kInteractionCreate;
    // A replayed message names the roles of the time when it was written, which are no facts now.
    if (!is_of_people || !event.is_replayed) {
        parts_.guilds.on_event(event.type, event.data, now);
    }
    if (event.type == kMessageCreate) {
        handle_message(event);
    } else if (event.type == kInteractionCreate) {
        handle_interaction(event);
    } else {
        if (event.type == "READY") {
            handle_ready(event.data);
        }
        machine_.settle(event.epoch, event.sequence);
    }
    return true;
}

void DiscordShard::handle_ready(const Json& data) {
    parts_.guilds.forget_shard(shard_, shard_count_);
    if (const Json* const user = data.find("user")) {
        parts_.host.set_identity(*user);
    }
}

// Asks for a channel that is not known: whether it is a thread decides where the message belongs.
bool DiscordShard::is_channel_known(const Dispatched& event, Duration now) {
    const std::string guild_id = text_of(event.data, "guild_id");
    const std::string channel_id = text_of(event.data, "channel_id");
    if (guild_id.empty() || parts_.guilds.channel(guild_id, channel_id)) {
        awaited_channel_.clear();
        return true;
    }
    if (awaited_channel_ == channel_id) {
        if (now < awaited_until_) {
            return false;
        }
        awaited_channel_.clear();
        return true;  // It goes on without a name.
    }
    if (!is_snowflake(channel_id) || !parts_.host.find_channel(channel_id)) {
        return true;
    }
    awaited_channel_ = channel_id;
    awaited_until_ = plus(now, kChannelWait);
    return false;
}

void DiscordShard::handle_message(const Dispatched& event) {
    const auto channel =
        parts_.guilds.channel(text_of(event.data, "guild_id"), text_of(event.data, "channel_id"));
    auto made = normalise_discord_message(
        event.data, parts_.host.identity(), channel.value_or(DiscordChannel{}));
    if (!made || !made->event) {
        if (!made) {
            log_warn(
                "discord_message_unreadable",
                {{"bot", parts_.bot.bot_id}, {"problem", made.error().message}});
        }
        return machine_.settle(event.epoch, event.sequence);
    }
    PlatformArrival arrival;
    arrival.bot = parts_.bot;
    arrival.event = *std::move(made->event);
    submit(event, std::move(arrival), nullptr);
}

void DiscordShard::handle_interaction(const Dispatched& event) {
    auto read = read_interaction(event.data, parts_.bot, parts_.host.identity());
    if (!read) {
        log_warn(
            "discord_interaction_unreadable",
            {{"bot", parts_.bot.bot_id}, {"problem", read.error().message}});
        return machine_.settle(event.epoch, event.sequence);
    }
    // Discord has told the person by now that nobody answered, and he may have asked for it
    // elsewhere meanwhile: to act on it after all would do it twice.
    if (event.is_replayed && parts_.clock.now() - snowflake_time(read->id) > kInteractionWait) {
        return machine_.settle(event.epoch, event.sequence);
    }
    const Timestamp not_after = parts_.clock.now() + kInteractionWait;
    if (!read->arrival) {
        parts_.host.answer_interaction(
            {read->id, std::move(read->token), std::move(read->answer), not_after});
        return machine_.settle(event.epoch, event.sequence);
    }
    const auto token = std::make_shared<SecretString>(std::move(read->token));
    submit(
        event,
        *std::move(read->arrival),
        [answer_interaction = parts_.host.answer_interaction,
         id = read->id,
         token,
         accepted = std::move(read->answer),
         not_after](const InboxAnswer& answer) {
            if (answer.is_stored) {
                answer_interaction(
                    {id,
                     token->clone(),
                     answer.is_delivered ? accepted : undelivered_interaction(answer),
                     not_after});
            }
        });
}

void DiscordShard::submit(
    const Dispatched& event, PlatformArrival arrival, std::function<void(InboxAnswer)> also) {
    // While others before it are not stored, the position behind it must not be: if one of them
    // fails and we do too, it would never be sent again.
    const auto after = machine_.point_after(event.epoch, event.sequence);
    if (after) {
        handed_ = after;
    }
    parts_.host.submit(
        std::move(arrival),
        after ? after : machine_.resume_point(),
        [mail = parts_.mail,
         epoch = event.epoch,
         sequence = event.sequence,
         also = std::move(also)](InboxAnswer answer) {
            mail->post_settled({epoch, sequence, answer.is_stored});
            if (also) {
                also(std::move(answer));
            }
        });
}

// Runs before a heartbeat too, so that Discord never hears of a position that was not noted.
void DiscordShard::note_position(Duration now) {
    const auto point = machine_.resume_point();
    const bool is_due = now >= plus(noted_at_, kCursorPause) || now >= machine_.next_wake();
    if (point && is_due && point != handed_) {
        parts_.host.note(point);
        handed_ = point;
        noted_at_ = now;
    }
}

void DiscordShard::publish_health() {
    const std::lock_guard lock(health_mutex_);
    const bool was_broken = health_.is_broken;
    health_.is_connected = machine_.is_live();
    health_.is_broken = machine_.is_broken();
    health_.detail = machine_.is_broken() ? machine_.broken_because()
                     : machine_.is_live() ? "It is connected."
                                          : "It is connecting.";
    if (health_.is_broken && !was_broken) {
        log_error(
            "discord_shard_broken",
            {{"bot", parts_.bot.bot_id}, {"shard", shard_}, {"problem", health_.detail}});
    }
}

PlatformHealth DiscordShard::health() const {
    const std::lock_guard lock(health_mutex_);
    return health_;
}

}  // namespace interlock
