#include "relay/rules/platform_event.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/rules/session_key.h"

namespace interlock {
namespace {

const BotIdentity kDiscordBot{.bot_id = "900", .username = "helper"};
const BotIdentity kTelegramBot{.bot_id = "77", .username = "HelperBot"};

Json parsed(std::string_view text) {
    return parse_json(text).value();
}

PlatformEvent event_of(Result<Normalised> normalised) {
    EXPECT_TRUE(normalised.has_value()) << (normalised ? "" : normalised.error().message);
    EXPECT_TRUE(normalised && normalised->event) << (normalised ? normalised->skipped : "");
    return normalised && normalised->event ? *std::move(normalised->event) : PlatformEvent{};
}

std::string skipped(const Result<Normalised>& normalised) {
    EXPECT_TRUE(normalised && !normalised->event);
    return normalised ? normalised->skipped : "";
}

constexpr std::string_view kGuildMessage =
    R"({"id":"11","type":0,"channel_id":"C1","guild_id":"G1","content":"<@900> hello",)"
    R"("author":{"id":"U1","username":"ann","global_name":"Ann"},"mentions":[{"id":"900"}],)"
    R"("mention_roles":[],"attachments":[],"timestamp":"2026-06-01T00:00:00Z"})";

TEST(NormaliseDiscord, MakesAGuildMessageAnEventOfItsGuild) {
    const PlatformEvent made = event_of(normalise_discord_message(
        parsed(kGuildMessage),
        kDiscordBot,
        {.name = "general", .topic = "talk", .thread_parent_id = {}}));
    EXPECT_EQ(made.event.text, "hello");
    EXPECT_EQ(made.event.message_id, "11");
    EXPECT_EQ(made.event.source.scope_id, "G1");
    EXPECT_EQ(made.event.source.chat_type, "group");
    EXPECT_EQ(made.event.source.chat_name, "general");
    EXPECT_EQ(made.event.source.user_name, "Ann");
    EXPECT_EQ(made.discriminator, "G1");
    EXPECT_TRUE(made.addresses_bot);
    EXPECT_FALSE(made.is_dm);
    EXPECT_EQ(build_session_key(made.event.source), "agent:main:discord:group:C1:U1");
}

TEST(NormaliseDiscord, NamesTheParentOfAThread) {
    const PlatformEvent made = event_of(normalise_discord_message(
        parsed(kGuildMessage), kDiscordBot, {.name = "t", .topic = {}, .thread_parent_id = "P1"}));
    EXPECT_EQ(made.event.source.chat_type, "thread");
    EXPECT_EQ(made.event.source.thread_id, "C1");
    EXPECT_EQ(made.event.source.parent_chat_id, "P1");
}

TEST(NormaliseDiscord, KnowsADirectMessageByItsMissingGuild) {
    Json json = parsed(kGuildMessage);
    std::erase_if(json.members(), [](const auto& member) { return member.first == "guild_id"; });
    const PlatformEvent made = event_of(normalise_discord_message(json, kDiscordBot, {}));
    EXPECT_TRUE(made.is_dm);
    EXPECT_TRUE(made.discriminator.empty());
    EXPECT_EQ(made.event.source.chat_type, "dm");
    EXPECT_TRUE(made.addresses_bot);
}

TEST(NormaliseDiscord, KnowsBotsWebhooksAndItself) {
    Json json = parsed(kGuildMessage);
    json.set("webhook_id", "5");
    EXPECT_TRUE(event_of(normalise_discord_message(json, kDiscordBot, {})).is_author_bot);
    json = parsed(kGuildMessage);
    json.find("author")->set("id", "900");
    EXPECT_TRUE(event_of(normalise_discord_message(json, kDiscordBot, {})).is_own_bot);
}

TEST(NormaliseDiscord, TakesAnAnswerToTheBotForAnAddress) {
    Json json = parsed(kGuildMessage);
    json.set("type", 19);
    json.set("mentions", Json::array());
    json.set("message_reference", parsed(R"({"message_id":"9"})"));
    json.set(
        "referenced_message", parsed(R"({"content":"q","author":{"id":"900","username":"h"}})"));
    const PlatformEvent made = event_of(normalise_discord_message(json, kDiscordBot, {}));
    EXPECT_TRUE(made.addresses_bot);
    EXPECT_EQ(made.event.reply_to_message_id, "9");
    EXPECT_TRUE(made.event.reply_to->is_own);
    json.find("referenced_message")->find("author")->set("id", "901");
    EXPECT_FALSE(event_of(normalise_discord_message(json, kDiscordBot, {})).addresses_bot);
}

TEST(NormaliseDiscord, CarriesAttachments) {
    Json json = parsed(kGuildMessage);
    json.set(
        "attachments",
        parsed(R"([{"url":"https://cdn.example/a.png","content_type":"image/png","size":5,)"
               R"("filename":"a.png"}])"));
    const PlatformEvent made = event_of(normalise_discord_message(json, kDiscordBot, {}));
    EXPECT_EQ(made.event.type, MessageType::photo);
    EXPECT_EQ(made.event.media_urls, std::vector<std::string>{"https://cdn.example/a.png"});
    EXPECT_EQ(made.event.media.front().kind, "image");
}

TEST(NormaliseDiscord, SkipsNoticesAndEmptyMessages) {
    Json json = parsed(kGuildMessage);
    json.set("type", 7);
    EXPECT_FALSE(skipped(normalise_discord_message(json, kDiscordBot, {})).empty());
    json.set("type", 0);
    json.set("content", "");
    EXPECT_FALSE(skipped(normalise_discord_message(json, kDiscordBot, {})).empty());
}

TEST(NormaliseDiscord, RefusesWhatDiscordDoesNotSend) {
    for (const std::string_view text :
         {"null",
          "[]",
          "{}",
          R"({"id":"1","channel_id":"2"})",
          R"({"id":"1","channel_id":"2","author":[]})",
          R"({"id":"1","channel_id":"2","author":{"id":"3"},"content":7.5})"}) {
        EXPECT_FALSE(normalise_discord_message(parsed(text), kDiscordBot, {}).has_value()) << text;
    }
}

constexpr std::string_view kCommand =
    R"({"id":"31","application_id":"A","type":2,"token":"CANARY-TOKEN","guild_id":"G1",)"
    R"("channel_id":"C1","channel":{"id":"C1","type":11,"parent_id":"P1","name":"t"},)"
    R"("member":{"user":{"id":"U1","username":"ann"},"permissions":"0"},)"
    R"("data":{"name":"model","options":[{"name":"set","type":1,"options":[)"
    R"({"name":"name","type":3,"value":"big"},{"name":"on","type":5,"value":true},)"
    R"({"name":"n","type":10,"value":1.5}]}]}})";

TEST(NormaliseDiscord, KeepsTheInteractionTokenOutOfTheEvent) {
    const PlatformEvent made =
        event_of(normalise_discord_interaction(parsed(kCommand), kDiscordBot));
    EXPECT_EQ(made.capability.reveal(), "CANARY-TOKEN");
    EXPECT_EQ(made.capability_kind, "discord.interaction_token");
    EXPECT_EQ(to_text(encode(made.event)).find("CANARY"), std::string::npos);
}

TEST(NormaliseDiscord, WritesACommandAsItWouldBeTyped) {
    const PlatformEvent made =
        event_of(normalise_discord_interaction(parsed(kCommand), kDiscordBot));
    EXPECT_EQ(made.event.text, "/model set big true 1.5");
    EXPECT_EQ(made.event.type, MessageType::command);
    EXPECT_EQ(made.event.source.chat_type, "thread");
    EXPECT_EQ(made.event.message_id, "31");
}

TEST(NormaliseDiscord, ReadsAPressOfOurButton) {
    Json json = parsed(kCommand);
    json.set("type", 3);
    json.set("data", Json::object({{"custom_id", prompt_button("p-1", "yes")}}));
    json.set("message", parsed(R"({"id":"M9"})"));
    const PlatformEvent made = event_of(normalise_discord_interaction(json, kDiscordBot));
    ASSERT_TRUE(made.event.prompt_response.has_value());
    EXPECT_EQ(made.event.prompt_response->prompt_id, "p-1");
    EXPECT_EQ(made.event.prompt_response->option_id, "yes");
    EXPECT_EQ(made.event.prompt_response->prompt_message_id, "M9");
    json.set("data", Json::object({{"custom_id", "somebody else's"}}));
    EXPECT_FALSE(skipped(normalise_discord_interaction(json, kDiscordBot)).empty());
}

TEST(NormaliseDiscord, SkipsPings) {
    EXPECT_EQ(
        skipped(normalise_discord_interaction(parsed(R"({"type":1})"), kDiscordBot)), "a ping");
}

constexpr std::string_view kForumMessage =
    R"({"update_id":10,"message":{"message_id":5,"date":1,"is_topic_message":true,)"
    R"("message_thread_id":3,"chat":{"id":-1001234567890,"type":"supergroup","title":"T",)"
    R"("is_forum":true},"from":{"id":42,"is_bot":false,"first_name":"Ann","last_name":"B"},)"
    R"("text":"😀 @helperbot hi","entities":[{"type":"mention","offset":3,"length":10}]}})";

TEST(NormaliseTelegram, MakesATopicOfAForumAThread) {
    const PlatformEvent made = event_of(normalise_telegram(parsed(kForumMessage), kTelegramBot));
    const SessionSource& source = made.event.source;
    EXPECT_EQ(source.chat_id, "-1001234567890");
    EXPECT_EQ(source.chat_type, "forum");
    EXPECT_EQ(source.thread_id, "3");
    EXPECT_EQ(source.user_id, "42");
    EXPECT_EQ(source.user_name, "Ann B");
    EXPECT_EQ(made.discriminator, "-1001234567890");
    EXPECT_EQ(made.event_id, "10");
    EXPECT_TRUE(made.addresses_bot);
}

TEST(NormaliseTelegram, CountsMentionsInUtf16Units) {
    Json json = parsed(kForumMessage);
    Json& entity = json.find("message")->find("entities")->items()[0];
    entity.set("offset", 2);  // As if the face were one unit: cuts another text.
    EXPECT_FALSE(event_of(normalise_telegram(json, kTelegramBot)).addresses_bot);
    entity.set("offset", -5);
    EXPECT_FALSE(event_of(normalise_telegram(json, kTelegramBot)).addresses_bot);
}

TEST(NormaliseTelegram, TakesAThreadIdOnlyInATopic) {
    Json json = parsed(kForumMessage);
    json.find("message")->set("is_topic_message", false);
    EXPECT_TRUE(event_of(normalise_telegram(json, kTelegramBot)).event.source.thread_id.empty());
}

TEST(NormaliseTelegram, CutsTheBotsNameOutOfACommand) {
    Json json = parsed(kForumMessage);
    json.find("message")->set("text", "/stop@HELPERBOT now");
    const PlatformEvent made = event_of(normalise_telegram(json, kTelegramBot));
    EXPECT_EQ(made.event.text, "/stop now");
    EXPECT_EQ(made.event.type, MessageType::command);
    json.find("message")->set("text", "/stop@another now");
    EXPECT_EQ(event_of(normalise_telegram(json, kTelegramBot)).event.text, "/stop@another now");
}

TEST(NormaliseTelegram, AsksForFilesByIdAndWritesNoUrl) {
    const PlatformEvent made = event_of(normalise_telegram(
        parsed(R"({"update_id":1,"message":{"message_id":2,"chat":{"id":42,"type":"private"},)"
               R"("from":{"id":42},"caption":"look","photo":[{"file_id":"small"},)"
               R"({"file_id":"large","file_size":9}]}})"),
        kTelegramBot));
    EXPECT_EQ(made.event.type, MessageType::photo);
    EXPECT_EQ(made.event.text, "look");
    ASSERT_EQ(made.files.size(), 1u);
    EXPECT_EQ(made.files.front().file_id, "large");
    EXPECT_EQ(made.files.front().mime, "image/jpeg");  // Which Telegram does not say.
    EXPECT_TRUE(made.event.media_urls.empty());
    EXPECT_TRUE(made.is_dm);
    EXPECT_TRUE(made.discriminator.empty());
}

TEST(NormaliseTelegram, KnowsWhatFilesAreThatTelegramDoesNotName) {
    const auto mime_of = [](const std::string& file) {
        const PlatformEvent made = event_of(normalise_telegram(
            parsed(
                R"({"update_id":1,"message":{"message_id":2,"chat":{"id":42,"type":"private"},)"
                R"("from":{"id":42},)" +
                file + "}}"),
            kTelegramBot));
        return made.files.empty() ? "no file" : made.files.front().mime;
    };
    EXPECT_EQ(mime_of(R"("voice":{"file_id":"f"})"), "audio/ogg");
    EXPECT_EQ(mime_of(R"("voice":{"file_id":"f","mime_type":"audio/mpeg"})"), "audio/mpeg");
    EXPECT_EQ(mime_of(R"("video_note":{"file_id":"f"})"), "video/mp4");
    EXPECT_EQ(mime_of(R"("sticker":{"file_id":"f","is_animated":false})"), "image/webp");
    EXPECT_EQ(mime_of(R"("sticker":{"file_id":"f","is_animated":true})"), "");
    EXPECT_EQ(mime_of(R"("document":{"file_id":"f"})"), "");
}

TEST(NormaliseTelegram, GivesEachPressOfAButtonAnIdOfItsOwn) {
    const PlatformEvent made = event_of(normalise_telegram(
        parsed(
            R"({"update_id":1,"callback_query":{"id":"cb9","from":{"id":42},)"
            R"("data":"hp1:p:yes","message":{"message_id":2,"chat":{"id":42,"type":"private"}}}})"),
        kTelegramBot));
    EXPECT_EQ(made.event.message_id, "cb9");
    EXPECT_EQ(made.event.prompt_response->prompt_message_id, "2");
}

TEST(NormaliseTelegram, TellsUnderWhichIdAGroupGoesOn) {
    const PlatformEvent made = event_of(normalise_telegram(
        parsed(R"({"update_id":9,"message":{"message_id":4,"date":1,
            "from":{"id":7,"is_bot":false,"first_name":"Ann"},
            "chat":{"id":-5,"type":"group","title":"Crew"},"migrate_to_chat_id":-1005}})"),
        kTelegramBot));
    EXPECT_EQ(made.moved_to, "-1005");
    EXPECT_EQ(made.discriminator, "-5");
    EXPECT_TRUE(made.event.text.empty());
}

TEST(NormaliseTelegram, SkipsOtherUpdatesAndRefusesOtherThings) {
    EXPECT_FALSE(
        skipped(normalise_telegram(parsed(R"({"update_id":1,"poll":{}})"), kTelegramBot)).empty());
    for (const std::string_view text :
         {"[]",
          "{}",
          R"({"update_id":1,"message":7})",
          R"({"update_id":1,"message":{}})",
          R"({"update_id":1,"message":{"message_id":1,"chat":{"id":1}}})",
          R"({"update_id":1,"callback_query":{"id":"x"}})"}) {
        EXPECT_FALSE(normalise_telegram(parsed(text), kTelegramBot).has_value()) << text;
    }
}

TEST(NormaliseTwilio, MakesAnSmsADirectMessage) {
    const PlatformEvent made = event_of(normalise_twilio(
        {{"MessageSid", "SM1"},
         {"From", "+1"},
         {"To", "+2"},
         {"Body", "hi"},
         {"NumMedia", "1"},
         {"MediaUrl0", "https://m.example/1"},
         {"MediaContentType0", "image/png"}}));
    EXPECT_EQ(made.event_id, "SM1");
    EXPECT_EQ(build_session_key(made.event.source), "agent:main:sms:dm:+1");
    EXPECT_EQ(made.event.type, MessageType::photo);
    // The address may need the account's credential: it is for us alone.
    ASSERT_EQ(made.files.size(), 1u);
    EXPECT_EQ(made.files[0].file_id, "https://m.example/1");
    EXPECT_EQ(made.files[0].kind, "image");
    EXPECT_EQ(to_text(encode(made.event)).find("m.example"), std::string::npos);
    EXPECT_TRUE(made.is_dm);
    EXPECT_FALSE(normalise_twilio({{"From", "+1"}}).has_value());
    EXPECT_FALSE(
        normalise_twilio({{"MessageSid", "SM1"}, {"From", "+1"}, {"Body", "\xFF"}}).has_value());
    EXPECT_FALSE(skipped(normalise_twilio({{"MessageSid", "SM1"}, {"From", "+1"}})).empty());
}

TEST(NormaliseWecom, MakesAMessageADirectMessage) {
    const PlatformEvent made = event_of(normalise_wecom(
        "<xml><ToUserName><![CDATA[ww1]]></ToUserName><FromUserName><![CDATA[ann]]></FromUserName>"
        "<CreateTime>1</CreateTime><MsgType><![CDATA[text]]></MsgType>"
        "<Content><![CDATA[hi <there>]]></Content><MsgId>77</MsgId><AgentID>1</AgentID></xml>"));
    EXPECT_EQ(made.event.text, "hi <there>");
    EXPECT_EQ(made.event_id, "77");
    EXPECT_EQ(build_session_key(made.event.source), "agent:main:wecom:dm:ann");
    EXPECT_FALSE(
        skipped(normalise_wecom("<xml><MsgType>event</MsgType><Event>x</Event></xml>")).empty());
    EXPECT_FALSE(normalise_wecom("<xml><MsgType>text</MsgType></xml>").has_value());
    EXPECT_FALSE(normalise_wecom("not xml").has_value());
}

TEST(NormaliseWecom, AsksForFilesById) {
    const PlatformEvent made = event_of(normalise_wecom(
        "<xml><FromUserName>ann</FromUserName><MsgType>image</MsgType><MsgId>78</MsgId>"
        "<PicUrl>http://p.example/1</PicUrl><MediaId>media-1</MediaId></xml>"));
    EXPECT_EQ(made.event.type, MessageType::photo);
    ASSERT_EQ(made.files.size(), 1u);
    EXPECT_EQ(made.files[0].file_id, "media-1");
    EXPECT_EQ(made.files[0].kind, "image");
    EXPECT_EQ(made.files[0].public_url, "http://p.example/1");
    EXPECT_TRUE(made.event.media_urls.empty());
    const PlatformEvent file = event_of(normalise_wecom(
        "<xml><FromUserName>ann</FromUserName><MsgType>file</MsgType><MsgId>79</MsgId>"
        "<FileName>plan.pdf</FileName><MediaId>media-2</MediaId></xml>"));
    EXPECT_EQ(file.event.type, MessageType::document);
    EXPECT_EQ(file.files[0].kind, "document");
    EXPECT_EQ(file.files[0].filename, "plan.pdf");
    // Without a way to fetch it, the picture's open address is better than nothing.
    const PlatformEvent open = event_of(normalise_wecom(
        "<xml><FromUserName>ann</FromUserName><MsgType>image</MsgType><MsgId>80</MsgId>"
        "<PicUrl>http://p.example/2</PicUrl></xml>"));
    EXPECT_EQ(open.event.media_urls, std::vector<std::string>{"http://p.example/2"});
}

TEST(PromptButton, ReadsOnlyItsOwnForm) {
    EXPECT_TRUE(read_prompt_button("hp1:a:b").has_value());
    for (const std::string_view data :
         {"", "hp1", "hp1:a", "hp1:a:", "hp1::b", "hp2:a:b", "hp1:a:b:c"}) {
        EXPECT_FALSE(read_prompt_button(data).has_value()) << data;
    }
    const std::string longest = prompt_button(std::string(29, 'p'), std::string(30, 'o'));
    EXPECT_LE(longest.size(), 64u);
}

// Replaces one value anywhere in the document by something that does not belong there.
void spoil(Json& json) {
    static const std::vector<std::string> kOdd = {
        "null", "7", "-1", "1.5", "true", "\"\"", "\"x\"", "[]", "{}", "[[{}]]"};
    if (json.is_object() && !json.members().empty() && *rc::gen::inRange(0, 4) != 0) {
        const auto at = *rc::gen::inRange<std::size_t>(0, json.members().size());
        return spoil(json.members()[at].second);
    }
    if (json.is_array() && !json.items().empty() && *rc::gen::inRange(0, 4) != 0) {
        return spoil(json.items()[*rc::gen::inRange<std::size_t>(0, json.items().size())]);
    }
    json = parsed(*rc::gen::elementOf(kOdd));
}

TEST(Normalise, AnswersWhateverAPlatformMightSend) {
    EXPECT_TRUE(rc::check([] {
        Json message = parsed(kGuildMessage);
        Json command = parsed(kCommand);
        Json update = parsed(kForumMessage);
        for (Json* const json : {&message, &command, &update}) {
            spoil(*json);
        }
        const auto made = {
            normalise_discord_message(message, kDiscordBot, {}).has_value(),
            normalise_discord_interaction(command, kDiscordBot).has_value(),
            normalise_telegram(update, kTelegramBot).has_value()};
        RC_ASSERT(made.size() == 3u);
        if (auto again = normalise_telegram(update, kTelegramBot); again && again->event) {
            RC_ASSERT(decode_message_event(encode(again->event->event)).has_value());
        }
    }));
}

}  // namespace
}  // namespace interlock
