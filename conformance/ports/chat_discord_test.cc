// Holds a bot of Discord to the promises of relay/ports/chat_platform.h, against a Discord that
// keeps sessions: it greets, starts and resumes them, and sends again what comes after a resume's
// sequence.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/bytes.h"
#include "base/crypto.h"
#include "chat_platform_suite.h"
#include "relay/platforms/discord/discord_platform.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"

namespace interlock {
namespace {

constexpr std::string_view kToken = "bot-canary-0d9f6c";
constexpr std::string_view kInteractionToken = "interaction-canary-8a11";

// The far side, shared by its sockets.
class PlayedDiscord {
public:
    std::expected<HttpResponse, WireFailure> call(const WireCall& call) {
        const std::lock_guard lock(mutex_);
        if (call.url.ends_with("/gateway/bot")) {
            return json(200, R"({"url":"ws://gateway.test","shards":1})");
        }
        const bool is_message = call.method == "POST" && call.url.ends_with("/messages");
        if (behaviour_ == FarSide::unreachable) {
            return std::unexpected(WireFailure{false, "nobody"});
        }
        attempts_ += is_message ? 1 : 0;
        switch (behaviour_) {
            case FarSide::refuses:
                return json(403, R"({"code":50001,"message":")" + quoted(call) + R"("})");
            case FarSide::limits_once:
                behaviour_ = FarSide::accepts;
                return json(429, R"({"retry_after":2.0,"global":false})");
            case FarSide::fails:
                return json(502, quoted(call));
            case FarSide::cuts:
                return std::unexpected(WireFailure{true, quoted(call)});
            default:
                break;
        }
        if (is_message) {
            accepted_.push_back(parse_json(call.body)->find("content")->as_string());
        }
        return json(200, R"({"id":")" + std::to_string(++ids_) + R"(","type":0,"name":"n"})");
    }
    void set_behaviour(FarSide behaviour) {
        const std::lock_guard lock(mutex_);
        behaviour_ = behaviour;
    }
    std::size_t attempts() {
        const std::lock_guard lock(mutex_);
        return attempts_;
    }
    std::vector<std::string> accepted() {
        const std::lock_guard lock(mutex_);
        return accepted_;
    }

    // The gateway.
    void write(const std::string& text) {
        const std::lock_guard lock(mutex_);
        const std::string id = std::to_string(++ids_);
        events_.push_back(to_text(Json::object(
            {{"id", id},
             {"channel_id", "60"},
             {"type", 0},
             {"content", text},
             {"author", Json::object({{"id", "7"}, {"username", "alice"}})}})));
        if (is_live_) {
            say(events_.size());
        }
    }
    void begin() {
        const std::lock_guard lock(mutex_);
        is_live_ = false;
        incoming_.assign({R"({"op":10,"d":{"heartbeat_interval":40000}})"});
    }
    void hear(const std::string& text) {
        const std::lock_guard lock(mutex_);
        const Json payload = *parse_json(text);
        const auto op = payload.find("op")->as_int64();
        if (op == 2) {
            incoming_.push_back(
                R"({"op":0,"s":1,"t":"READY","d":{"user":{"id":"100","username":"helper"},)"
                R"("session_id":"s1","resume_gateway_url":"ws://resume.test"}})");
        }
        if (op == 2 || op == 6) {
            // An event's sequence is its place and one, because READY was the first.
            const Json* const stored = payload.find("d")->find("seq");
            const auto seen = stored != nullptr ? stored->as_int64().value_or(1) : 1;
            is_live_ = true;
            for (auto place = static_cast<std::size_t>(seen); place <= events_.size(); ++place) {
                say(place);
            }
        }
        if (op == 6) {
            // Its number is used up, so nothing is written under it later.
            events_.push_back("{}");
            incoming_.push_back(
                R"({"op":0,"t":"RESUMED","d":{},"s":)" + std::to_string(events_.size() + 1) + "}");
        }
        changed_.notify_all();
    }
    void wake() {
        const std::lock_guard lock(mutex_);
        is_woken_ = true;
        changed_.notify_all();
    }
    SocketNews next(Duration wait) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::microseconds(wait.microseconds), [this] {
            return is_woken_ || !incoming_.empty();
        });
        is_woken_ = false;
        if (incoming_.empty()) {
            return SocketSilence{};
        }
        SocketNews news{std::in_place_type<SocketText>, std::move(incoming_.front())};
        incoming_.pop_front();
        return news;
    }

private:
    static HttpResponse json(int status, std::string body) {
        return text_response(status, "application/json", std::move(body));
    }
    static std::string quoted(const WireCall& call) {
        std::string all = call.url;
        for (const HttpHeader& header : call.headers) {
            all += " " + header.second;
        }
        return all;
    }
    void say(std::size_t place) {
        incoming_.push_back(
            R"({"op":0,"t":"MESSAGE_CREATE","s":)" + std::to_string(place + 1) + R"(,"d":)" +
            events_[place - 1] + "}");
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    FarSide behaviour_ = FarSide::accepts;
    std::size_t attempts_ = 0;
    std::int64_t ids_ = 1000;
    std::vector<std::string> accepted_;
    std::vector<std::string> events_;
    std::deque<std::string> incoming_;
    bool is_live_ = false;
    bool is_woken_ = false;
};

class PlayedSocket final : public DiscordSocket {
public:
    explicit PlayedSocket(PlayedDiscord& discord) : discord_(discord) { discord_.begin(); }
    SocketNews receive(Duration wait) override { return discord_.next(wait); }
    bool send(const std::string& text) override {
        discord_.hear(text);
        return true;
    }
    void close(std::uint16_t) override {}
    void wake() override { discord_.wake(); }

private:
    PlayedDiscord& discord_;
};

class PlayedWire final : public DiscordWire {
public:
    explicit PlayedWire(PlayedDiscord& discord) : discord_(discord) {}
    std::expected<HttpResponse, WireFailure> call(const WireCall& call) override {
        return discord_.call(call);
    }
    Result<std::unique_ptr<DiscordSocket>> connect(const std::string&) override {
        return std::make_unique<PlayedSocket>(discord_);
    }

private:
    PlayedDiscord& discord_;
};

class DiscordHarness final : public ChatPlatformHarness {
public:
    DiscordHarness() : key_(*ed25519_from_seed(std::string(32, 'd'))) {
        DiscordConfig config;
        config.bot_id = "100";
        config.token = SecretString(std::string(kToken));
        config.public_key = to_hex(key_.public_key);
        config.api_base = "http://discord.test/api/v10";
        platform_ = *DiscordPlatform::open(
            {.config = std::move(config),
             .wire = std::make_unique<PlayedWire>(discord_),
             .clock = clock_,
             .ids = ids_,
             .wait = [this](Duration span) { clock_.advance(span); }});
    }

    ChatPlatform& platform() override { return *platform_; }
    Timestamp now() override { return clock_.now(); }
    std::vector<std::string> secrets() const override {
        return {std::string(kToken), std::string(kInteractionToken)};
    }
    std::string chat_id(int number) const override { return std::to_string(40 + number); }
    void set_far_side(FarSide behaviour) override { discord_.set_behaviour(behaviour); }
    std::size_t attempts() override { return discord_.attempts(); }
    std::vector<std::string> accepted() override { return discord_.accepted(); }
    bool deduplicates() const override { return true; }
    void write(PlatformInbox&, const std::string& text) override { discord_.write(text); }
    void send_again(PlatformInbox&) override {}  // The gateway does, after the resume.
    std::optional<WebhookRequest> webhook(const std::string& text) override {
        return request(text, key_);
    }
    std::optional<WebhookRequest> forged_webhook(const std::string& text) override {
        return request(text, *ed25519_from_seed(std::string(32, 'e')));
    }

private:
    WebhookRequest request(const std::string& text, const Ed25519KeyPair& key) {
        WebhookRequest made;
        made.body = to_text(Json::object(
            {{"id", "555"},
             {"type", 2},
             {"token", kInteractionToken},
             {"channel_id", "60"},
             {"user", Json::object({{"id", "7"}, {"username", "alice"}})},
             {"data", Json::object({{"name", text}})}}));
        const std::string at = std::to_string(clock_.now().microseconds / 1'000'000);
        made.headers = {
            {"X-Signature-Ed25519", to_hex(ed25519_sign(key, at + made.body))},
            {"X-Signature-Timestamp", at}};
        return made;
    }

    const Ed25519KeyPair key_;
    FakeClock clock_;
    FakeIdSource ids_;
    PlayedDiscord discord_;
    std::unique_ptr<DiscordPlatform> platform_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Discord,
    ChatPlatformSuite,
    ::testing::Values(ChatPlatformKind{
        "gateway", [] { return std::make_unique<DiscordHarness>(); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace interlock
