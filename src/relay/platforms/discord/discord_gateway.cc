#include "relay/platforms/discord/discord_gateway.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "relay/wire/relay_frame.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

constexpr std::int64_t kDispatch = 0;
constexpr std::int64_t kHeartbeat = 1;
constexpr std::int64_t kIdentify = 2;
constexpr std::int64_t kResume = 6;
constexpr std::int64_t kReconnect = 7;
constexpr std::int64_t kInvalidSession = 9;
constexpr std::int64_t kHello = 10;
constexpr std::int64_t kAcknowledged = 11;

struct FatalClose {
    std::uint16_t code;
    std::string_view because;
};
constexpr std::array<FatalClose, 6> kFatalCloses{{
    {4004, "Discord does not accept the bot's token."},
    {4010, "Discord does not accept the shard's number."},
    {4011, "Discord asks for more shards than are configured."},
    {4012, "Discord no longer speaks this version of its gateway."},
    {4013, "Discord does not know one of the configured intents."},
    {4014, "A configured intent is not switched on for the bot at Discord."},
}};
constexpr std::uint16_t kInvalidSequence = 4007;
constexpr std::uint16_t kSessionTimedOut = 4009;
constexpr Duration kMinute = Duration::of_minutes(1);
constexpr Duration kNever{std::int64_t{1} << 62};
constexpr std::uint32_t kRandomRange = 1'000'000;

Duration plus(Duration a, Duration b) {
    return {a.microseconds + b.microseconds};
}

std::optional<Json> read_payload(std::string_view text) {
    if (auto json = parse_json(text)) {
        return *std::move(json);
    }
    // Text of people may hold half a surrogate pair; the rest of the event is not lost for it.
    if (auto json = parse_json(without_lone_surrogates(text))) {
        return *std::move(json);
    }
    return std::nullopt;
}

std::string_view scheme_of(std::string_view url) {
    return url.substr(0, url.find("://"));
}

}  // namespace

std::string gateway_address(std::string_view url) {
    std::string address(url.substr(0, url.find('?')));
    if (address.find('/', address.find("://") + 3) == std::string::npos) {
        address += '/';
    }
    return address + "?v=10&encoding=json";
}

DiscordGateway::DiscordGateway(
    GatewaySettings settings, IdentifyGate& identifies, std::optional<ResumePoint> resume)
    : settings_(std::move(settings)), identifies_(identifies) {
    CHECK(settings_.random != nullptr);
    if (resume) {
        session_id_ = resume->session_id;
        resume_url_ = resume->resume_url;
        stored_ = resume->sequence;
    }
}

void DiscordGateway::on_opened(Duration now) {
    if (state_ == State::opening) {
        state_ = State::greeting;
        wait_until_ = plus(now, kGatewayHelloWait);
    }
}

void DiscordGateway::on_text(std::string_view text, Duration now) {
    if (state_ == State::waiting || state_ == State::opening || state_ == State::broken) {
        return;  // It belongs to a connection that was left meanwhile.
    }
    std::optional<Json> payload = read_payload(text);
    const Json* const op = payload ? payload->find("op") : nullptr;
    if (op == nullptr || !op->is_number()) {
        return;
    }
    const Json* const found = payload->find("d");
    switch (op->as_int64().value_or(-1)) {
        case kDispatch:
            return on_dispatch(*std::move(payload), now);
        case kHeartbeat:
            return send(heartbeat(), now, kGatewayAnswersPerMinute);
        case kReconnect:
            return drop(random_span(kGatewayBackoffFirst), now);
        case kInvalidSession:
            return on_invalid_session(
                found != nullptr && found->is_bool() && found->as_bool(), now);
        case kHello:
            return found != nullptr ? on_hello(*found, now) : drop(backoff(), now);
        case kAcknowledged:
            is_acknowledged_ = true;
            return;
        default:
            return;
    }
}

void DiscordGateway::on_hello(const Json& data, Duration now) {
    if (state_ != State::greeting) {
        return;
    }
    const Json* const found = data.find("heartbeat_interval");
    const std::int64_t milliseconds =
        found != nullptr && found->is_number() ? found->as_int64().value_or(0) : 0;
    if (milliseconds <= 0) {
        return drop(backoff(), now);
    }
    beat_interval_ =
        Duration::of_milliseconds(std::min(milliseconds, kHeartbeatLongest.microseconds / 1000));
    beat_interval_ = std::max(beat_interval_, kHeartbeatShortest);
    beat_at_ = plus(now, random_span(beat_interval_));
    is_acknowledged_ = true;
    resume_url_failures_ = 0;
    start_session(now);
}

void DiscordGateway::start_session(Duration now) {
    ++epoch_;  // Events of the connection before come again and are settled then.
    const auto point = resume_point();
    if (!point) {
        forget_session();
        state_ = State::queueing;
        identify_at_ = now;
        return identify(now);
    }
    window_.clear();
    last_received_ = point->sequence;
    state_ = State::resuming;
    wait_until_ = plus(now, kGatewayReadyWait);
    send(
        Json::object(
            {{"op", kResume},
             {"d",
              Json::object(
                  {{"token", settings_.token.reveal()},
                   {"session_id", point->session_id},
                   {"seq", point->sequence}})}}),
        now);
}

void DiscordGateway::identify(Duration now) {
    const Duration wait = identifies_.try_take(settings_.shard, now);
    if (wait > Duration{}) {
        identify_at_ = plus(now, wait);
        return;
    }
    state_ = State::starting;
    wait_until_ = plus(now, kGatewayReadyWait);
    send(
        Json::object(
            {{"op", kIdentify},
             {"d",
              Json::object(
                  {{"token", settings_.token.reveal()},
                   {"intents", settings_.intents},
                   {"properties",
                    Json::object(
                        {{"os", "linux"}, {"browser", "interlock"}, {"device", "interlock"}})},
                   {"shard", Json::array({settings_.shard, settings_.shard_count})}})}}),
        now);
}

void DiscordGateway::on_dispatch(Json payload, Duration now) {
    const Json* const sequence = payload.find("s");
    const Json* const type = payload.find("t");
    const auto number =
        sequence != nullptr && sequence->is_number() ? sequence->as_int64() : std::nullopt;
    if (!number || type == nullptr || !type->is_string() || *number <= last_received_) {
        return;
    }
    const std::string name = type->as_string();
    Json* const found = payload.find("d");
    if (state_ == State::starting && name == "READY" && found != nullptr) {
        read_ready(*found);
        if (session_id_.empty()) {
            return drop(backoff(), now);
        }
    } else if (state_ != State::resuming && state_ != State::live) {
        return;
    }
    if (window_.size() >= kGatewayUnsettledMax) {
        return drop(kGatewayRefusedPause, now);
    }
    last_received_ = *number;
    window_.push_back({*number, false});
    wait_until_ = plus(now, kGatewayReadyWait);
    steps_.emplace_back(Dispatched{
        .epoch = epoch_,
        .sequence = *number,
        .type = name,
        .data = found != nullptr ? std::move(*found) : Json(),
        .is_replayed = state_ == State::resuming});
    if (state_ == State::starting) {
        go_live(true);
    } else if (state_ == State::resuming && name == "RESUMED") {
        go_live(false);
    }
}

void DiscordGateway::read_ready(const Json& data) {
    WireReader in(data);
    session_id_ = in.text("session_id");
    resume_url_ = in.text("resume_gateway_url", kRelayUrlBytesMax);
    if (!in.ok()) {
        forget_session();
    }
}

void DiscordGateway::go_live(bool is_new_session) {
    state_ = State::live;
    failures_ = 0;
    steps_.emplace_back(WentLive{epoch_, is_new_session});
}

void DiscordGateway::on_invalid_session(bool is_resumable, Duration now) {
    if (!is_resumable) {
        forget_session();
    }
    // As Discord asks: a random time of one to five seconds.
    drop(plus(Duration::of_seconds(1), random_span(Duration::of_seconds(4))), now);
}

void DiscordGateway::on_closed(std::uint16_t code, Duration now) {
    if (state_ == State::waiting || state_ == State::broken) {
        return;
    }
    if (state_ == State::opening || state_ == State::greeting) {
        ++resume_url_failures_;
    }
    const auto* const fatal = std::ranges::find(kFatalCloses, code, &FatalClose::code);
    if (fatal != kFatalCloses.end()) {
        leave({}, now);
        state_ = State::broken;
        broken_because_ = std::string(fatal->because) + " (close " + std::to_string(code) + ")";
        return;
    }
    if (code == kInvalidSequence || code == kSessionTimedOut) {
        forget_session();
    }
    leave(backoff(), now);
}

void DiscordGateway::on_tick(Duration now) {
    switch (state_) {
        case State::broken:
            return;
        case State::waiting:
            if (now >= reopen_at_) {
                state_ = State::opening;
                wait_until_ = plus(now, kGatewayHelloWait);
                steps_.emplace_back(OpenSocket{url_to_open()});
            }
            return;
        case State::opening:
        case State::greeting:
            if (now >= wait_until_) {
                ++resume_url_failures_;
                drop(backoff(), now);
            }
            return;
        case State::queueing:
            if (now >= identify_at_) {
                identify(now);
            }
            break;
        case State::starting:
        case State::resuming:
            if (now >= wait_until_) {
                return drop(backoff(), now);
            }
            break;
        case State::live:
            break;
    }
    if (now >= beat_at_) {
        beat(now);
    }
}

void DiscordGateway::beat(Duration now) {
    if (!is_acknowledged_) {  // The far side is gone, though the socket still stands.
        return drop(random_span(kGatewayBackoffFirst), now);
    }
    is_acknowledged_ = false;
    beat_at_ = plus(now, beat_interval_);
    send(heartbeat(), now);
}

Json DiscordGateway::heartbeat() const {
    return Json::object({{"op", kHeartbeat}, {"d", stored_ ? Json(*stored_) : Json()}});
}

// Beyond the limit nothing is sent: Discord would close the connection for it.
void DiscordGateway::send(const Json& payload, Duration now, int per_minute_max) {
    while (!sent_at_.empty() && plus(sent_at_.front(), kMinute) <= now) {
        sent_at_.pop_front();
    }
    if (sent_at_.size() >= static_cast<std::size_t>(per_minute_max)) {
        return;
    }
    sent_at_.push_back(now);
    steps_.emplace_back(SendText{to_text(payload)});
}

void DiscordGateway::settle(std::uint64_t epoch, std::int64_t sequence) {
    if (epoch != epoch_) {
        return;
    }
    const auto found = std::ranges::lower_bound(window_, sequence, {}, &Received::sequence);
    if (found == window_.end() || found->sequence != sequence) {
        return;
    }
    found->is_settled = true;
    while (!window_.empty() && window_.front().is_settled) {
        stored_ = window_.front().sequence;
        window_.pop_front();
    }
}

void DiscordGateway::refuse(std::uint64_t epoch, Duration now) {
    if (epoch == epoch_ && (state_ == State::resuming || state_ == State::live)) {
        drop(std::max(backoff(), kGatewayRefusedPause), now);
    }
}

// Leaves a connection that still stands.
void DiscordGateway::drop(Duration reopen_after, Duration now) {
    leave(reopen_after, now);
    steps_.emplace_back(CloseSocket{});
}

void DiscordGateway::leave(Duration reopen_after, Duration now) {
    if (state_ == State::live) {
        steps_.emplace_back(WentDown{});
    }
    state_ = State::waiting;
    reopen_at_ = plus(now, reopen_after);
    beat_interval_ = {};
    sent_at_.clear();  // The limit is a connection's.
}

void DiscordGateway::forget_session() {
    session_id_.clear();
    resume_url_.clear();
    stored_.reset();
    last_received_ = 0;
    window_.clear();
}

Duration DiscordGateway::backoff() {
    const int doublings = std::min(failures_, 6);
    ++failures_;
    const Duration longest =
        std::min(kGatewayBackoffMax, Duration{kGatewayBackoffFirst.microseconds << doublings});
    // After a second failure it waits half of the pause at least: many shards must not come back
    // together, and none may dial for ever without a pause.
    const Duration least = doublings == 0 ? Duration{} : Duration{longest.microseconds / 2};
    return plus(least, random_span({longest.microseconds - least.microseconds}));
}

Duration DiscordGateway::random_span(Duration span) const {
    const std::uint64_t drawn = settings_.random() % kRandomRange;
    return {static_cast<std::int64_t>(
        static_cast<std::uint64_t>(span.microseconds) * drawn / kRandomRange)};
}

std::vector<GatewayStep> DiscordGateway::take_steps() {
    return std::exchange(steps_, {});
}

Duration DiscordGateway::next_wake() const {
    switch (state_) {
        case State::broken:
            return kNever;
        case State::waiting:
            return reopen_at_;
        case State::opening:
        case State::greeting:
            return wait_until_;
        case State::queueing:
            return std::min(identify_at_, beat_at_);
        case State::starting:
        case State::resuming:
            return std::min(wait_until_, beat_at_);
        case State::live:
            return beat_at_;
    }
    return kNever;
}

std::optional<ResumePoint> DiscordGateway::resume_point() const {
    if (session_id_.empty() || !stored_) {
        return std::nullopt;
    }
    return ResumePoint{.session_id = session_id_, .resume_url = resume_url_, .sequence = *stored_};
}

std::optional<ResumePoint> DiscordGateway::point_after(
    std::uint64_t epoch, std::int64_t sequence) const {
    if (epoch != epoch_ || session_id_.empty() || window_.empty() ||
        window_.front().sequence != sequence) {
        return std::nullopt;
    }
    return ResumePoint{.session_id = session_id_, .resume_url = resume_url_, .sequence = sequence};
}

// Whoever answers there gets the token, so a session's own address must be protected as well as the
// gateway's.
std::string DiscordGateway::url_to_open() const {
    const bool is_usable =
        resume_point() && resume_url_failures_ < kResumeUrlTriesMax &&
        (scheme_of(resume_url_) == "wss" ||
         (!resume_url_.empty() && scheme_of(resume_url_) == scheme_of(settings_.url)));
    return gateway_address(is_usable ? resume_url_ : settings_.url);
}

}  // namespace interlock
