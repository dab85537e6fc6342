#include "relay/platforms/discord/discord_platform.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "base/crypto.h"
#include "relay/platforms/discord/test_discord.h"
#include "testing/fake_clock.h"
#include "testing/fake_id_source.h"

namespace interlock {
namespace {

constexpr std::string_view kToken = "bot-token-canary";
constexpr std::string_view kGuild = R"({"id":"1","owner_id":"9",
    "roles":[{"id":"1","permissions":"1024"}],
    "channels":[{"id":"10","type":0,"name":"general","topic":"all","permission_overwrites":[]}]})";

std::string message(const std::string& id, const std::string& channel = "10") {
    return R"({"id":")" + id + R"(","channel_id":")" + channel +
           R"(","guild_id":"1","type":0,"content":"hi <@100>","mentions":[{"id":"100"}],)"
           R"("author":{"id":"7","username":"alice"},"member":{"roles":[]}})";
}

std::string interaction(const std::string& id, int type = 2) {
    return R"({"id":")" + id + R"(","application_id":"100","type":)" + std::to_string(type) +
           R"(,"token":"itok-canary-1","version":1,"guild_id":"1","channel_id":"10",)"
           R"("channel":{"id":"10","type":0,"name":"general"},"entitlements":[],)"
           R"("member":{"user":{"id":"7","username":"alice"},"roles":[]},)"
           R"("data":{"id":"1","name":"ask","type":1,"custom_id":"hp1:p:o",)"
           R"("webhook_token":"x","options":[{"name":"q","type":3,"value":"why"}]}})";
}

std::string event(std::int64_t sequence, const std::string& type, const std::string& data) {
    return R"({"op":0,"s":)" + std::to_string(sequence) + R"(,"t":")" + type + R"(","d":)" + data +
           "}";
}

std::string ready(std::int64_t sequence = 1) {
    return event(
        sequence,
        "READY",
        R"({"user":{"id":"100","username":"helper"},"session_id":"s1",)"
        R"("resume_gateway_url":"ws://resume.test"})");
}

struct World {
    explicit World(int shards = 1) {
        auto owned = std::make_unique<ScriptedDiscord>();
        wire = owned.get();
        wire->answer(
            "GET /gateway/bot",
            json_answer(
                200,
                R"({"url":"ws://gateway.test","shards":)" + std::to_string(shards) +
                    R"(,"session_start_limit":{"total":1000,"remaining":999,)"
                    R"("reset_after":14400000,"max_concurrency":4}})"));
        DiscordConfig config;
        config.bot_id = "100";
        config.token = SecretString(std::string(kToken));
        config.api_base = "http://discord.test/api/v10";
        auto opened = DiscordPlatform::open(
            {.config = std::move(config), .wire = std::move(owned), .clock = clock, .ids = ids});
        EXPECT_TRUE(opened);
        platform = *std::move(opened);
    }
    std::shared_ptr<ScriptedLine> greet(std::size_t number) {
        auto line = wire->line(number).second;
        line->say(R"({"op":10,"d":{"heartbeat_interval":40000}})");
        return line;
    }
    // Connected, ready, with its guild.
    std::shared_ptr<ScriptedLine> connect() {
        platform->start(inbox, "");
        auto line = greet(0);
        EXPECT_NE(line->heard().find(R"("op":2)"), std::string::npos);
        line->say(ready());
        line->say(event(2, "GUILD_CREATE", std::string(kGuild)));
        return line;
    }
    void let_time_pass(Duration span) { clock.advance(span); }
    void await_loss() {
        while (platform->health().is_connected) {
            std::this_thread::yield();
        }
    }

    FakeClock clock;
    FakeIdSource ids;
    KeepingInbox inbox;
    ScriptedDiscord* wire = nullptr;
    std::unique_ptr<DiscordPlatform> platform;
};

std::string sequence_of(const std::string& cursor) {
    const DiscordCursor read = read_discord_cursor(cursor);
    return read.shards.contains(0) ? std::to_string(read.shards.at(0).sequence) : "none";
}

TEST(DiscordPlatform, HandsOnAMessageWithItsPlace) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500")));
    const PlatformArrival& arrival = world.inbox.arrival(0);
    EXPECT_EQ(arrival.event.event_id, "500");
    EXPECT_EQ(arrival.event.event.text, "hi <@100>");
    EXPECT_EQ(arrival.event.event.source.chat_name, "general");
    EXPECT_EQ(arrival.event.discriminator, "1");
    EXPECT_TRUE(arrival.event.addresses_bot);
    EXPECT_EQ(arrival.bot.platform + "/" + arrival.bot.bot_id, "discord/100");
    EXPECT_EQ(sequence_of(arrival.cursor), "3");
    EXPECT_EQ(world.platform->identity().username, "helper");
    EXPECT_TRUE(world.platform->cached_view({"1", "10", "", "7"}).value_or(false));
    world.platform->stop();
}

TEST(DiscordPlatform, DoesNotHandOnAPositionBeforeAllBeforeItIsStored) {
    World world;
    world.inbox.hold();
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500")));
    line->say(event(4, "MESSAGE_CREATE", message("501")));
    EXPECT_EQ(sequence_of(world.inbox.arrival(0).cursor), "3");
    EXPECT_EQ(sequence_of(world.inbox.arrival(1).cursor), "2");
    world.inbox.release({.is_stored = true, .is_delivered = true, .notice = {}});
    world.inbox.release({.is_stored = true, .is_delivered = true, .notice = {}});
    world.let_time_pass(kCursorPause);
    line->say(R"({"op":11})");
    world.inbox.cursor_with([](const std::string& text) { return sequence_of(text) == "4"; });
}

TEST(DiscordPlatform, AsksAgainForWhatWasNotStored) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500")));
    world.inbox.arrival(0);
    world.inbox.set_answer({.is_stored = false, .is_delivered = false, .notice = {}});
    line->say(event(4, "MESSAGE_CREATE", message("501")));
    EXPECT_EQ(line->close_code(), kGatewayCloseToResume);
    world.await_loss();
    world.inbox.set_answer({.is_stored = true, .is_delivered = true, .notice = {}});
    world.let_time_pass(kGatewayBackoffMax);
    const auto [url, again] = world.wire->line(1);
    EXPECT_EQ(url, "ws://resume.test/?v=10&encoding=json");
    again->say(R"({"op":10,"d":{"heartbeat_interval":40000}})");
    EXPECT_NE(again->heard().find(R"("session_id":"s1","seq":3)"), std::string::npos);
    again->say(event(4, "MESSAGE_CREATE", message("501")));
    EXPECT_EQ(world.inbox.arrival(2).event.event_id, "501");
}

TEST(DiscordPlatform, ResumesWhereItsCursorStands) {
    World world;
    DiscordCursor cursor{.shard_count = 1, .shards = {}};
    cursor.shards[0] = {"old", "ws://there.test", 41};
    world.platform->start(world.inbox, to_text(cursor));
    EXPECT_EQ(world.wire->line(0).first, "ws://there.test/?v=10&encoding=json");
    EXPECT_NE(world.greet(0)->heard().find(R"("session_id":"old","seq":41)"), std::string::npos);
}

TEST(DiscordPlatform, BeginsAnewWhenTheNumberOfShardsChanged) {
    World world;
    DiscordCursor cursor{.shard_count = 2, .shards = {}};
    cursor.shards[0] = {"old", "ws://there.test", 41};
    world.platform->start(world.inbox, to_text(cursor));
    EXPECT_NE(world.greet(0)->heard().find(R"("op":2)"), std::string::npos);
}

TEST(DiscordPlatform, OpensOneConnectionForEachShard) {
    World world(2);
    world.platform->start(world.inbox, "");
    std::string heard = world.greet(0)->heard() + world.greet(1)->heard();
    EXPECT_NE(heard.find(R"("shard":[0,2])"), std::string::npos);
    EXPECT_NE(heard.find(R"("shard":[1,2])"), std::string::npos);
}

TEST(DiscordPlatform, AsksForAChannelThatItDoesNotKnow) {
    World world;
    world.wire->answer(
        "GET /channels/30",
        json_answer(200, R"({"id":"30","guild_id":"1","type":11,"name":"t","parent_id":"10"})"));
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500", "30")));
    line->say(event(4, "MESSAGE_CREATE", message("501")));
    EXPECT_EQ(world.inbox.arrival(0).event.event.source.parent_chat_id, "10");
    EXPECT_EQ(world.inbox.arrival(0).event.event.source.chat_type, "thread");
    EXPECT_EQ(world.inbox.arrival(1).event.event_id, "501");
}

TEST(DiscordPlatform, HandsOnAMessageOfAChannelThatIsNotToBeFound) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500", "31")));
    EXPECT_EQ(world.inbox.arrival(0).event.event.source.chat_name, "");
    EXPECT_FALSE(world.platform->cached_view({"1", "31", "", "7"}).value_or(false));
}

TEST(DiscordPlatform, PassesOverWhatIsNotForAgents) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", R"({"id":"1","no":"message"})"));
    line->say(event(4, "TYPING_START", "{}"));
    line->say(event(5, "MESSAGE_CREATE", message("500")));
    EXPECT_EQ(world.inbox.arrival(0).event.event_id, "500");
    EXPECT_EQ(sequence_of(world.inbox.arrival(0).cursor), "5");
}

TEST(DiscordPlatform, AnswersAnInteractionOnceItIsStored) {
    World world;
    world.inbox.hold();
    const auto line = world.connect();
    line->say(event(3, "INTERACTION_CREATE", interaction("555")));
    const PlatformArrival& arrival = world.inbox.arrival(0);
    EXPECT_EQ(arrival.event.capability.reveal(), "itok-canary-1");
    ASSERT_TRUE(arrival.forward);
    EXPECT_EQ(arrival.forward->body.find("canary"), std::string::npos);
    EXPECT_EQ(arrival.forward->body.find("webhook_token"), std::string::npos);
    EXPECT_EQ(arrival.forward->headers.size(), 1u);
    EXPECT_NE(arrival.forward->body.find(R"("value":"why")"), std::string::npos);
    EXPECT_EQ(world.wire->calls().size(), 1u);  // GET /gateway/bot.
    world.inbox.release({.is_stored = true, .is_delivered = true, .notice = {}});
    EXPECT_EQ(
        world.wire->called("POST /interactions/555/itok-canary-1/callback").body, R"({"type":5})");
}

TEST(DiscordPlatform, TellsWhoAskedThatNobodyIsThere) {
    World world;
    world.inbox.set_answer({.is_stored = true, .is_delivered = false, .notice = "Link it first."});
    const auto line = world.connect();
    line->say(event(3, "INTERACTION_CREATE", interaction("555")));
    EXPECT_EQ(
        world.wire->called("POST /interactions/555/itok-canary-1/callback").body,
        R"({"type":4,"data":{"content":"Link it first.","flags":64,)"
        R"("allowed_mentions":{"parse":[]}}})");
}

TEST(DiscordPlatform, AcknowledgesAPressedButtonWithoutAForward) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "INTERACTION_CREATE", interaction("556", 3)));
    EXPECT_FALSE(world.inbox.arrival(0).forward);
    EXPECT_EQ(world.inbox.arrival(0).event.event.prompt_response->option_id, "o");
    EXPECT_EQ(
        world.wire->called("POST /interactions/556/itok-canary-1/callback").body, R"({"type":6})");
}

TEST(DiscordPlatform, DoesNotActOnAnInteractionThatDiscordGaveUp) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500")));
    world.inbox.arrival(0);
    line->hang_up(4000);
    world.await_loss();
    world.let_time_pass(kGatewayBackoffMax);
    const auto again = world.greet(1);
    again->heard();
    again->say(event(4, "INTERACTION_CREATE", interaction("555")));
    again->say(event(5, "MESSAGE_CREATE", message("501")));
    EXPECT_EQ(world.inbox.arrival(1).event.event_id, "501");
}

TEST(DiscordPlatform, IsBrokenWhenItsTokenIsRefused) {
    World world;
    world.platform->start(world.inbox, "");
    const auto line = world.greet(0);
    line->heard();
    line->hang_up(4004);
    while (!world.platform->health().is_broken) {
        std::this_thread::yield();
    }
    EXPECT_FALSE(world.platform->health().is_connected);
}

TEST(DiscordPlatform, IsBrokenWhenTheApiRefusesItsToken) {
    World world;
    auto owned = std::make_unique<ScriptedDiscord>();
    owned->answer("GET /gateway/bot", json_answer(401, R"({"message":"401","code":0})"));
    DiscordConfig config;
    config.bot_id = "100";
    config.token = SecretString(std::string(kToken));
    config.api_base = "http://discord.test/api/v10";
    auto platform = *DiscordPlatform::open(
        {.config = std::move(config),
         .wire = std::move(owned),
         .clock = world.clock,
         .ids = world.ids});
    platform->start(world.inbox, "");
    while (!platform->health().is_broken) {
        std::this_thread::yield();
    }
    EXPECT_EQ(platform->health().detail.find("canary"), std::string::npos);
}

TEST(DiscordPlatform, KeepsItsSessionWhenItStops) {
    World world;
    const auto line = world.connect();
    line->say(event(3, "MESSAGE_CREATE", message("500")));
    world.inbox.arrival(0);
    world.platform->stop();
    EXPECT_EQ(line->close_code(), kGatewayCloseToResume);
}

TEST(DiscordPlatform, MayBeSettledAfterItIsGone) {
    World world;
    world.inbox.hold();
    const auto line = world.connect();
    line->say(event(3, "INTERACTION_CREATE", interaction("555")));
    world.inbox.arrival(0);
    world.platform.reset();
    world.inbox.release({.is_stored = true, .is_delivered = true, .notice = {}});
}

TEST(DiscordPlatform, RefusesAConfigurationThatCannotWork) {
    FakeClock clock;
    FakeIdSource ids;
    for (int wrong = 0; wrong < 6; ++wrong) {
        DiscordConfig config;
        config.bot_id = wrong == 0 ? "x" : "100";
        config.token = SecretString(wrong == 1 ? "a b" : "t");
        config.public_key = wrong == 2 ? "zz" : "";
        config.api_base = wrong == 3 ? "discord.com" : "https://discord.test/api/v10";
        config.gateway_url = wrong == 4 ? "http://x" : "";
        config.shards = wrong == 5 ? 1000 : 0;
        const auto opened = DiscordPlatform::open(
            {.config = std::move(config),
             .wire = std::make_unique<ScriptedDiscord>(),
             .clock = clock,
             .ids = ids});
        ASSERT_FALSE(opened) << wrong;
        EXPECT_EQ(opened.error().code(), "invalid_config");
    }
}

// The webhook.

WebhookRequest signed_request(const std::string& body, std::int64_t at) {
    const auto key = ed25519_from_seed(std::string(32, 'd'));
    const std::string timestamp = std::to_string(at);
    WebhookRequest request;
    request.body = body;
    request.headers = {
        {"X-Signature-Ed25519", to_hex(ed25519_sign(*key, timestamp + body))},
        {"X-Signature-Timestamp", timestamp}};
    return request;
}

struct Hooked {
    Hooked() {
        DiscordConfig config;
        config.bot_id = "100";
        config.token = SecretString(std::string(kToken));
        config.public_key = to_hex(ed25519_from_seed(std::string(32, 'd'))->public_key);
        platform = *DiscordPlatform::open(
            {.config = std::move(config),
             .wire = std::make_unique<ScriptedDiscord>(),
             .clock = clock,
             .ids = ids});
    }
    WebhookAnswer receive(const std::string& body) {
        return platform->receive(signed_request(body, clock.now().microseconds / 1'000'000));
    }
    FakeClock clock;
    FakeIdSource ids;
    std::unique_ptr<DiscordPlatform> platform;
};

TEST(DiscordWebhook, AnswersAPing) {
    Hooked hooked;
    const WebhookAnswer answer = hooked.receive(R"({"type":1})");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"type":1})");
    EXPECT_TRUE(answer.arrivals.empty());
}

TEST(DiscordWebhook, DefersACommandUntilItIsStored) {
    Hooked hooked;
    const WebhookAnswer answer = hooked.receive(interaction("555"));
    EXPECT_EQ(answer.body, R"({"type":5})");
    ASSERT_EQ(answer.arrivals.size(), 1u);
    EXPECT_EQ(answer.arrivals[0].event.event.text, "/ask why");
    EXPECT_TRUE(answer.arrivals[0].forward);
    EXPECT_EQ(
        answer.undelivered_body({.is_stored = true, .is_delivered = false, .notice = {}})
            .find("canary"),
        std::string::npos);
    EXPECT_EQ(to_text(encode(answer.arrivals[0].event.event)).find("canary"), std::string::npos);
    EXPECT_EQ(hooked.receive(interaction("556", 3)).body, R"({"type":6})");
}

TEST(DiscordWebhook, RefusesABadSignatureAnOldOneAndABadBody) {
    Hooked hooked;
    WebhookRequest tampered = signed_request("{}", hooked.clock.now().microseconds / 1'000'000);
    tampered.body += " ";
    EXPECT_EQ(hooked.platform->receive(tampered).status, 401);
    const std::int64_t old = hooked.clock.now().microseconds / 1'000'000 - 301;
    EXPECT_EQ(hooked.platform->receive(signed_request(R"({"type":1})", old)).status, 401);
    for (const std::string body : {"", "7", "{", "{}", R"({"type":2})", "\xEF\xBB\xBF{}"}) {
        EXPECT_EQ(hooked.receive(body).status, 400) << body;
    }
}

TEST(DiscordWebhook, JudgesTheVectorsAsTheyWereJudged) {
    std::ifstream file(
        std::filesystem::path(INTERLOCK_SOURCE_DIR) / "conformance/vectors" /
        "webhook_discord.json");
    std::stringstream text;
    text << file.rdbuf();
    const Json vectors = *parse_json(text.str());
    int accepted = 0;
    int refused = 0;
    for (const Json& item : vectors.find("cases")->items()) {
        DiscordConfig config;
        config.public_key = item.find("public_key_hex")->as_string();
        WebhookRequest request;
        request.body = *from_base64(item.find("body_b64")->as_string());
        for (const auto& [name, value] : item.find("headers")->members()) {
            request.headers.emplace_back(name, value.as_string());
        }
        const BotKey bot{"discord", "100"};
        const WebhookAnswer answer = receive_interaction(request, {config, bot, {}});
        const bool is_good = item.find("expect")->find("accept")->as_bool();
        // A good signature says nothing about the body.
        EXPECT_EQ(answer.status != 401, is_good) << item.find("id")->as_string();
        EXPECT_TRUE(is_good || answer.arrivals.empty());
        ++(is_good ? accepted : refused);
    }
    EXPECT_GE(accepted, 10);
    EXPECT_GE(refused, 16);
}

}  // namespace
}  // namespace interlock
