// The adapter over real sockets: a small Discord on this machine, made of our own server.
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "net/http_server.h"
#include "net/web_socket.h"
#include "relay/platforms/discord/discord_net_wire.h"
#include "relay/platforms/discord/discord_platform.h"
#include "relay/platforms/discord/test_discord.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"

namespace interlock {
namespace {

// A gateway that greets, starts a session, says one message, and says what was missed on a resume.
class GatewayPeer final : public WebSocketPeer {
public:
    struct Shared {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::string> heard;
        std::shared_ptr<WebSocket> socket;

        std::string heard_with(const std::string& part) {
            std::unique_lock lock(mutex);
            while (true) {
                for (const std::string& text : heard) {
                    if (text.find(part) != std::string::npos) {
                        return text;
                    }
                }
                changed.wait(lock);
            }
        }
        void say(std::string text) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [this] { return socket != nullptr; });
            socket->send(std::move(text));
        }
    };
    explicit GatewayPeer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

    void on_message(std::string_view payload, bool) override {
        const std::lock_guard lock(shared_->mutex);
        shared_->heard.emplace_back(payload);
        shared_->changed.notify_all();
    }
    void on_closed(std::uint16_t code, std::string_view) override {
        const std::lock_guard lock(shared_->mutex);
        shared_->heard.push_back("closed " + std::to_string(code));
        shared_->socket.reset();
        shared_->changed.notify_all();
    }

private:
    const std::shared_ptr<Shared> shared_;
};

class LoopbackDiscord {
public:
    LoopbackDiscord() {
        auto opened = HttpServer::open({}, [this](HttpRequest request, HttpResponderPtr responder) {
            handle(std::move(request), responder);
        });
        EXPECT_TRUE(opened);
        server_ = *std::move(opened);
        server_->start();
    }
    ~LoopbackDiscord() { server_->stop(std::chrono::milliseconds(100)); }

    std::string address(const std::string& scheme) const {
        return scheme + "://127.0.0.1:" + std::to_string(server_->port());
    }
    const std::shared_ptr<GatewayPeer::Shared>& gateway() const { return gateway_; }

    // Answers of a path, in order; the last one stays.
    void answer(const std::string& call, HttpResponse response) {
        const std::lock_guard lock(mutex_);
        answers_[call].push_back(std::move(response));
    }
    std::vector<HttpRequest> requests() {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

private:
    void handle(HttpRequest request, const HttpResponderPtr& responder) {
        if (is_web_socket_upgrade(request)) {
            auto socket = responder->accept_web_socket(std::make_shared<GatewayPeer>(gateway_));
            socket->send(R"({"op":10,"d":{"heartbeat_interval":40000}})");
            const std::lock_guard lock(gateway_->mutex);
            gateway_->socket = std::move(socket);
            gateway_->changed.notify_all();
            return;
        }
        HttpResponse response = json_answer(404, R"({"message":"no","code":0})");
        {
            const std::lock_guard lock(mutex_);
            const auto found = answers_.find(request.method + " " + request.target);
            if (found != answers_.end()) {
                response = found->second.front();
                if (found->second.size() > 1) {
                    found->second.pop_front();
                }
            }
            requests_.push_back(std::move(request));
        }
        if (response.status == 0) {
            return;  // Dropped: the server answers 500.
        }
        responder->send(std::move(response));
    }

    std::mutex mutex_;
    std::map<std::string, std::deque<HttpResponse>> answers_;
    std::vector<HttpRequest> requests_;
    const std::shared_ptr<GatewayPeer::Shared> gateway_ = std::make_shared<GatewayPeer::Shared>();
    std::unique_ptr<HttpServer> server_;
};

struct NetWorld {
    NetWorld() {
        discord.answer(
            "GET /api/v10/gateway/bot",
            json_answer(200, R"({"url":")" + discord.address("ws") + R"(","shards":1})"));
        DiscordConfig config;
        config.bot_id = "100";
        config.token = SecretString("tok");
        config.api_base = discord.address("http") + "/api/v10";
        platform = *DiscordPlatform::open(
            {.config = std::move(config),
             .wire = std::make_unique<DiscordNetWire>(),
             .clock = clock,
             .ids = ids,
             .wait = [this](Duration span) { clock.advance(span); }});
    }
    PlatformReply send(const std::string& text) {
        PlatformCall call;
        call.action = SendAction{.chat_id = "10", .content = text, .reply_to = {}, .metadata = {}};
        call.not_after = clock.now() + Duration::of_seconds(20);
        return platform->call(call);
    }

    FakeClock clock;
    FakeIdSource ids;
    KeepingInbox inbox;
    LoopbackDiscord discord;
    std::unique_ptr<DiscordPlatform> platform;
};

constexpr std::string_view kSend = "POST /api/v10/channels/10/messages";

TEST(DiscordNet, SendsOverTheWire) {
    NetWorld world;
    world.discord.answer(std::string(kSend), json_answer(200, R"({"id":"77"})"));
    EXPECT_EQ(world.send("hi").message_id, "77");
    const HttpRequest request = world.discord.requests().at(0);
    EXPECT_EQ(request.header("Authorization"), "Bot tok");
    EXPECT_EQ(request.header("Content-Type"), "application/json");
    EXPECT_EQ(request.body, R"({"content":"hi","allowed_mentions":{"parse":["users"]}})");
}

TEST(DiscordNet, HonoursALimitFromRealHeaders) {
    NetWorld world;
    HttpResponse refused = json_answer(429, R"({"retry_after":1.5,"global":false})");
    refused.set("Retry-After", "2");
    refused.set("X-RateLimit-Bucket", "b");
    world.discord.answer(std::string(kSend), refused);
    world.discord.answer(std::string(kSend), json_answer(200, R"({"id":"78"})"));
    const Timestamp before = world.clock.now();
    EXPECT_EQ(world.send("hi").message_id, "78");
    EXPECT_EQ(world.clock.now() - before, Duration::of_milliseconds(1500));
}

TEST(DiscordNet, DoesNotKnowWhatBecameOfAFailedCall) {
    NetWorld world;
    HttpResponse dropped;
    dropped.status = 0;
    world.discord.answer(std::string(kSend), dropped);
    EXPECT_EQ(world.send("hi").outcome, CallOutcome::unknown);
}

TEST(DiscordNet, KnowsThatNothingLeftWhenNobodyIsThere) {
    FakeClock clock;
    DiscordNetWire wire;
    std::string address;
    {
        const LoopbackDiscord gone;
        address = gone.address("http");
    }
    const auto answer = wire.call(
        {.method = "POST",
         .url = address + "/x",
         .headers = {},
         .body = "{}",
         .timeout = Duration::of_seconds(5)});
    ASSERT_FALSE(answer);
    EXPECT_FALSE(answer.error().may_have_left);
    EXPECT_FALSE(wire.connect("ws" + address.substr(4)));
}

TEST(DiscordNet, HearsTheGatewayAndResumesAfterALoss) {
    NetWorld world;
    world.platform->start(world.inbox, "");
    const auto gateway = world.discord.gateway();
    EXPECT_NE(gateway->heard_with(R"("op":2)").find(R"("token":"tok")"), std::string::npos);
    gateway->say(
        R"({"op":0,"s":1,"t":"READY","d":{"user":{"id":"100","username":"b"},"session_id":"s1",)"
        R"("resume_gateway_url":")" +
        world.discord.address("ws") + R"("}})");
    gateway->say(R"({"op":0,"s":2,"t":"MESSAGE_CREATE","d":{"id":"500","channel_id":"60","type":0,)"
                 R"("content":"hello","author":{"id":"7","username":"alice"}}})");
    EXPECT_TRUE(world.inbox.arrival(0).event.is_dm);
    {
        const std::lock_guard lock(gateway->mutex);
        gateway->socket->close(4000, "drop");
    }
    EXPECT_NE(
        gateway->heard_with(R"("op":6)").find(R"("session_id":"s1","seq":2)"), std::string::npos);
    world.platform->stop();
    EXPECT_EQ(gateway->heard_with("closed 4000"), "closed 4000");
}

}  // namespace
}  // namespace interlock
