#include "relay/platforms/telegram/telegram_json.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

PlatformCall call_of(RelayAction action, std::string thread_id = {}) {
    PlatformCall call;
    call.action = std::move(action);
    call.thread_id = std::move(thread_id);
    return call;
}

std::string fields_of(const PlatformCall& call, const TelegramStyle& style = {}) {
    const auto request = telegram_request(call, style);
    return request ? request->method + " " + to_text(request->fields)
                   : "refused " + request.error().code;
}

TEST(TelegramJson, SendsATextWithItsTopicAndWhatItAnswers) {
    EXPECT_EQ(
        fields_of(call_of(SendAction{"-1009876543210", "hi", "17", {}}, "5"), {"*hi*"}),
        "sendMessage {\"chat_id\":-1009876543210,\"text\":\"*hi*\",\"parse_mode\":\"MarkdownV2\","
        "\"message_thread_id\":5,\"reply_parameters\":{\"message_id\":17,"
        "\"allow_sending_without_reply\":true}}");
}

TEST(TelegramJson, TheGeneralTopicAndThePressOfAButtonAreLeftOut) {
    EXPECT_EQ(
        fields_of(call_of(SendAction{"@channel", "hi", "4382bfdwdsb323b2d9", {}}, "1")),
        "sendMessage {\"chat_id\":\"@channel\",\"text\":\"hi\"}");
    EXPECT_EQ(
        fields_of(call_of(SendAction{"1", "hi", "9223372036854775807", {}}, "general")),
        "sendMessage {\"chat_id\":1,\"text\":\"hi\"}");
}

TEST(TelegramJson, KeepsChatIdsOf64Bits) {
    EXPECT_EQ(
        fields_of(call_of(GetChatInfoAction{"-9007199254740993"})),
        "getChat {\"chat_id\":-9007199254740993}");
    EXPECT_EQ(fields_of(call_of(GetChatInfoAction{"99999999999999999999"})), "refused not_found");
    EXPECT_EQ(fields_of(call_of(GetChatInfoAction{"12x"})), "refused not_found");
    EXPECT_EQ(fields_of(call_of(GetChatInfoAction{""})), "refused not_found");
}

TEST(TelegramJson, CountsUtf16AndRefusesAnEmptyText) {
    std::string text;
    for (int i = 0; i < 2048; ++i) {
        text += "\U0001F600";
    }
    EXPECT_TRUE(telegram_request(call_of(SendAction{"1", text, {}, {}}), {}).has_value());
    EXPECT_EQ(fields_of(call_of(SendAction{"1", text + "a", {}, {}})), "refused too_long");
    EXPECT_EQ(fields_of(call_of(SendAction{"1", " \n", {}, {}})), "refused invalid_request");
    EXPECT_EQ(fields_of(call_of(EditAction{"1", "2", text + "a", {}})), "refused too_long");
}

TEST(TelegramJson, APromptHasItsButtonsInRows) {
    PromptAction prompt;
    prompt.chat_id = "1";
    prompt.content = "Go on?";
    prompt.prompt_id = "p1";
    prompt.options = {{"a", "A", {}}, {"b", "", {}}, {"c", "C", {}}, {"d", "D", {}}};
    EXPECT_EQ(
        fields_of(call_of(prompt)),
        "sendMessage {\"chat_id\":1,\"text\":\"Go on?\",\"reply_markup\":{\"inline_keyboard\":"
        "[[{\"text\":\"A\",\"callback_data\":\"hp1:p1:a\"},"
        "{\"text\":\"b\",\"callback_data\":\"hp1:p1:b\"},"
        "{\"text\":\"C\",\"callback_data\":\"hp1:p1:c\"}],"
        "[{\"text\":\"D\",\"callback_data\":\"hp1:p1:d\"}]]}}");
    prompt.options = {{"a", "a label that needs a row of its own", {}}, {"b", "B", {}}};
    const auto request = telegram_request(call_of(prompt), {});
    EXPECT_EQ(request->fields.find("reply_markup")->find("inline_keyboard")->items().size(), 2u);
}

TEST(TelegramJson, AButtonWhoseDataDoesNotFitIsRefused) {
    PromptAction prompt;
    prompt.chat_id = "1";
    prompt.content = "Go on?";
    prompt.prompt_id = std::string(32, 'p');
    prompt.options = {{std::string(27, 'o'), "A", {}}};
    EXPECT_TRUE(telegram_request(call_of(prompt), {}).has_value());
    prompt.options[0].id += 'o';
    EXPECT_EQ(fields_of(call_of(prompt)), "refused invalid_request");
}

TEST(TelegramJson, EditsReactsTypesAndNamesTopics) {
    EXPECT_EQ(
        fields_of(call_of(EditAction{"1", "9", "new", {}})),
        "editMessageText {\"chat_id\":1,\"message_id\":9,\"text\":\"new\"}");
    EXPECT_EQ(
        fields_of(call_of(ReactAction{"1", "9", "\U0001F44D", false, {}})),
        "setMessageReaction {\"chat_id\":1,\"message_id\":9,\"reaction\":"
        "[{\"type\":\"emoji\",\"emoji\":\"\U0001F44D\"}]}");
    EXPECT_EQ(
        fields_of(call_of(ReactAction{"1", "9", "\U0001F44D", true, {}})),
        "setMessageReaction {\"chat_id\":1,\"message_id\":9,\"reaction\":[]}");
    EXPECT_EQ(
        fields_of(call_of(TypingAction{"1", false, {}}, "7")),
        "sendChatAction {\"chat_id\":1,\"action\":\"typing\",\"message_thread_id\":7}");
    EXPECT_EQ(
        fields_of(call_of(ThreadCreateAction{"1", "soup", {}})),
        "createForumTopic {\"chat_id\":1,\"name\":\"soup\"}");
    EXPECT_EQ(
        fields_of(call_of(ThreadRenameAction{"1", "7", "stew", false, {}, {}})),
        "editForumTopic {\"chat_id\":1,\"message_thread_id\":7,\"name\":\"stew\"}");
    EXPECT_EQ(
        fields_of(call_of(ThreadRenameAction{"1", "7", "stew", false, "soup", {}})),
        "refused unsupported");
    EXPECT_EQ(fields_of(call_of(EditAction{"1", "p1", "new", {}})), "refused not_found");
}

TEST(TelegramJson, MediaGoByUrlUnderTheirKind) {
    SendMediaAction media;
    media.chat_id = "1";
    media.source_url = "https://example.org/a";
    media.content = "a caption";
    for (const auto& [kind, start] : std::vector<std::pair<std::string, std::string>>{
             {"image", "sendPhoto {\"chat_id\":1,\"photo\":"},
             {"voice", "sendVoice {\"chat_id\":1,\"voice\":"},
             {"audio", "sendAudio {\"chat_id\":1,\"audio\":"},
             {"video", "sendVideo {\"chat_id\":1,\"video\":"},
             {"document", "sendDocument {\"chat_id\":1,\"document\":"},
             {"hologram", "sendDocument {\"chat_id\":1,\"document\":"}}) {
        media.media_kind = kind;
        EXPECT_EQ(
            fields_of(call_of(media)),
            start + "\"https://example.org/a\",\"caption\":\"a caption\"}");
    }
    media.source_url = "file:///etc/passwd";
    EXPECT_EQ(fields_of(call_of(media)), "refused invalid_request");
    media.content = std::string(1025, 'a');
    EXPECT_EQ(fields_of(call_of(media)), "refused too_long");
}

TEST(TelegramJson, UploadsAreMultipartAndTheirNamesCannotBreakOut) {
    SendMediaAction media;
    media.chat_id = "1";
    media.media_kind = "image";
    media.filename = "a\"\r\nX: y.png";
    PlatformCall call = call_of(media);
    call.media_bytes = "BYTES\r\n--interlock";
    call.media_type = "image/png\r\nX: y";
    const auto request = telegram_request(call, {});
    ASSERT_TRUE(request.has_value());
    const EncodedRequest encoded = encode(*request);
    const std::string boundary =
        encoded.content_type.substr(std::string("multipart/form-data; boundary=").size());
    EXPECT_EQ(boundary.size(), 74u);
    EXPECT_EQ(
        encoded.body,
        "--" + boundary + "\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n1\r\n--" +
            boundary +
            "\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a___X: y.png\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\nBYTES\r\n--interlock\r\n--" +
            boundary + "--\r\n");
}

TEST(TelegramJson, ReadsAnswersAndRefusals) {
    const auto good = read_telegram_answer(R"({"ok":true,"result":{"message_id":7}})");
    ASSERT_TRUE(good.has_value());
    EXPECT_EQ(taken_by_telegram(SendAction{}, good->result).message_id, "7");
    const auto limited = read_telegram_answer(
        R"({"ok":false,"error_code":429,"description":"Too Many","parameters":{"retry_after":9}})");
    const PlatformReply reply = refused_by_telegram(*limited, "t");
    EXPECT_EQ(reply.code, "rate_limited");
    EXPECT_EQ(reply.retry_after, Duration::of_seconds(9));
    for (const char* const text : {"", "[]", "<html>", R"({"ok":1})", R"({"result":true})"}) {
        EXPECT_FALSE(read_telegram_answer(text).has_value()) << text;
    }
}

TEST(TelegramJson, SaysWhyItWasRefused) {
    const auto code_of = [](std::int64_t code, std::string description) {
        TelegramAnswer answer;
        answer.code = code;
        answer.description = std::move(description);
        return refused_by_telegram(answer, "123:secret").code;
    };
    EXPECT_EQ(code_of(400, "Bad Request: chat not found"), "not_found");
    EXPECT_EQ(code_of(400, "Bad Request: message is too long"), "too_long");
    EXPECT_EQ(code_of(400, "Bad Request: MESSAGE_TOO_LONG"), "too_long");
    EXPECT_EQ(code_of(401, "Unauthorized"), "unauthenticated");
    EXPECT_EQ(code_of(403, "Forbidden: bot was blocked by the user"), "forbidden");
    EXPECT_EQ(code_of(404, "Not Found"), "unauthenticated");
    EXPECT_EQ(code_of(400, "Bad Request: something new"), "refused");
}

TEST(TelegramJson, AGroupThatMovedIsToldWithItsNewId) {
    const auto answer = read_telegram_answer(
        R"({"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded",)"
        R"("parameters":{"migrate_to_chat_id":-1001234567890123}})");
    const PlatformReply reply = refused_by_telegram(*answer, "t");
    EXPECT_EQ(reply.code, "chat_migrated");
    EXPECT_NE(reply.error.find("-1001234567890123"), std::string::npos);
}

TEST(TelegramJson, AHugeWaitIsBounded) {
    const auto answer = read_telegram_answer(
        R"({"ok":false,"error_code":429,"parameters":{"retry_after":9223372036854775807}})");
    EXPECT_EQ(refused_by_telegram(*answer, "t").retry_after, Duration::of_hours(24));
}

TEST(TelegramJson, FindsTheNumberOfAnUpdateThatCannotBeRead) {
    EXPECT_EQ(update_id_in(R"({"ok":true,"result":[{"update_id": 517,"x":)"), 517);
    EXPECT_FALSE(update_id_in(R"({"ok":true,"result":[]})").has_value());
    EXPECT_FALSE(update_id_in(R"("update_id":"x")").has_value());
}

TEST(TelegramJson, ANoticeIsCutToWhatAButtonShows) {
    const TelegramRequest request = answer_callback_request("77", std::string(300, 'a'));
    EXPECT_EQ(request.fields.find("text")->as_string().size(), kTelegramNoticeMax);
    EXPECT_EQ(
        answer_callback_body("77", ""),
        R"({"callback_query_id":"77","method":"answerCallbackQuery"})");
}

}  // namespace
}  // namespace interlock
