#include "relay/wire/message_event.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/wire/test_relay.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

TEST(MessageEvent, SurvivesItsOwnTextWhateverItHolds) {
    EXPECT_TRUE(rc::check([] {
        const MessageEvent event = draw_event();
        const auto json = parse_json(to_text(encode(event)));
        RC_ASSERT(json.has_value());
        const auto again = decode_message_event(*json);
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == event);
    }));
}

TEST(MessageEvent, IsEmptyWhenNothingIsSaid) {
    const auto event = decode_message_event(Json::object());
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(*event, MessageEvent{});
    EXPECT_EQ(event->source.platform, "relay");
}

TEST(MessageEvent, TakesAnUnknownTypeForText) {
    const auto event = decode_message_event(Json::object({{"message_type", "image"}}));
    EXPECT_EQ(event.value().type, MessageType::text);
}

TEST(MessageEvent, ReadsNumbersAsIds) {
    const auto event = decode_message_event(Json::object({{"message_id", 5}}));
    EXPECT_EQ(event.value().message_id, "5");
}

TEST(MessageEvent, RefusesATextBeyondItsBound) {
    const std::string fits(kRelayTextBytesMax, 'x');
    EXPECT_TRUE(decode_message_event(Json::object({{"text", fits}})).has_value());
    EXPECT_FALSE(decode_message_event(Json::object({{"text", fits + "x"}})).has_value());
}

TEST(MessageEvent, RefusesMoreMediaThanItsBound) {
    Json urls = Json::array();
    for (std::size_t i = 0; i < kEventMediaMax; ++i) {
        urls.push("u");
    }
    Json json = Json::object({{"media_urls", urls}});
    EXPECT_TRUE(decode_message_event(json).has_value());
    json.find("media_urls")->push("one more");
    EXPECT_FALSE(decode_message_event(json).has_value());
}

TEST(MessageEvent, NamesThePartThatIsWrong) {
    const auto event =
        decode_message_event(Json::object({{"source", Json::object({{"chat_id", true}})}}));
    ASSERT_FALSE(event.has_value());
    EXPECT_NE(event.error().message.find("source: chat_id must be a string"), std::string::npos);
}

TEST(SessionSource, WritesTheEightKeysEvenWhenEmpty) {
    EXPECT_EQ(
        to_text(encode(SessionSource{})),
        R"({"platform":"relay","chat_id":"","chat_name":null,"chat_type":"dm","user_id":null,)"
        R"("user_name":null,"thread_id":null,"chat_topic":null})");
}

TEST(SessionSource, WritesTheGuildUnderBothOfItsNames) {
    SessionSource source;
    source.scope_id = "G1";
    const Json json = encode(source);
    EXPECT_EQ(json.find("guild_id")->as_string(), "G1");
    EXPECT_EQ(json.find("scope_id")->as_string(), "G1");
}

TEST(SessionSource, NeverSaysWhetherTheAuthorIsABot) {
    const auto source = decode_session_source(Json::object({{"is_bot", true}}));
    EXPECT_EQ(encode(*source).find("is_bot"), nullptr);
}

TEST(SessionSource, FoldsPlatformNamesAndMapsUnknownOnesToRelay) {
    EXPECT_EQ(known_platform("DISCORD"), "discord");
    EXPECT_EQ(known_platform("local"), "local");
    EXPECT_EQ(known_platform("nonesuch"), "relay");
    EXPECT_EQ(known_platform(""), "relay");
}

}  // namespace
}  // namespace interlock
