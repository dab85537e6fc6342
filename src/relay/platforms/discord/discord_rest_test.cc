#include "relay/platforms/discord/discord_rest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "relay/platforms/discord/discord_calls.h"
#include "relay/platforms/discord/discord_requests.h"
#include "relay/platforms/discord/test_discord.h"
#include "relay/rules/message_split.h"
#include "testing/fake_clock.h"

namespace interlock {
namespace {

const std::string kSend = "POST /channels/10/messages";

// The REST side with a clock that passes only by waiting.
struct Desk {
    Desk() {
        config.bot_id = "100";
        config.token = SecretString("bot-token-canary");
        config.api_base = "http://discord.test/api/v10";
    }
    PlatformReply run(RelayAction action) {
        PlatformCall call;
        call.action = std::move(action);
        return run(std::move(call));
    }
    PlatformReply run(PlatformCall call) {
        call.not_after = clock.now() + Duration::of_seconds(20);
        return run_discord_call(rest, call, {.application_id = "900", .user_id = "100"});
    }
    Json sent_body(std::size_t number = 0) {
        const auto calls = wire.calls();
        return number < calls.size() ? *parse_json(calls[number].body) : Json();
    }

    DiscordConfig config;
    FakeClock clock;
    ScriptedDiscord wire;
    Duration waited;
    DiscordRest rest{
        {.config = config, .wire = wire, .clock = clock, .wait = [this](Duration span) {
             waited.microseconds += span.microseconds;
             clock.advance(span);
         }}};
};

SendAction hello(std::string content = "hi") {
    return {.chat_id = "10", .content = std::move(content), .reply_to = {}, .metadata = {}};
}

PlatformCall with_nonce(RelayAction action) {
    PlatformCall call;
    call.action = std::move(action);
    call.nonce = "n1";
    return call;
}

std::optional<std::string> header_of(const WireCall& call, std::string_view name) {
    const auto found = std::ranges::find(call.headers, name, &HttpHeader::first);
    return found != call.headers.end() ? std::optional(found->second) : std::nullopt;
}

TEST(DiscordCalls, SendAMessage) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(200, R"({"id":"77"})"));
    SendAction action = hello();
    action.reply_to = "55";
    const PlatformReply reply = desk.run(with_nonce(action));
    EXPECT_EQ(reply.outcome, CallOutcome::sent);
    EXPECT_EQ(reply.message_id, "77");
    EXPECT_EQ(
        desk.wire.calls().at(0).body,
        R"({"content":"hi","allowed_mentions":{"parse":["users"]},"message_reference":)"
        R"({"message_id":"55","fail_if_not_exists":false},"nonce":"n1","enforce_nonce":true})");
    const WireCall call = desk.wire.calls().at(0);
    EXPECT_EQ(header_of(call, "Authorization"), "Bot bot-token-canary");
}

TEST(DiscordCalls, SpeakInTheThreadOfOurRecord) {
    Desk desk;
    desk.wire.answer("POST /channels/11/messages", json_answer(200, R"({"id":"77"})"));
    PlatformCall call = with_nonce(hello());
    call.thread_id = "11";
    EXPECT_EQ(desk.run(std::move(call)).outcome, CallOutcome::sent);
}

TEST(DiscordCalls, PassAMessageOfExactlyTheLimit) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(200, R"({"id":"77"})"));
    std::string emoji;
    for (std::size_t count = 0; count < kDiscordTextMax / 2; ++count) {
        emoji += "\U0001F600";
    }
    EXPECT_EQ(desk.run(hello(std::string(kDiscordTextMax, 'x'))).outcome, CallOutcome::sent);
    EXPECT_EQ(desk.run(hello(emoji)).outcome, CallOutcome::sent);
    const PlatformReply reply = desk.run(hello(std::string(kDiscordTextMax + 1, 'x')));
    EXPECT_EQ(reply.code, "too_long");
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(desk.wire.calls().size(), 2u);
}

TEST(DiscordCalls, RefuseIdsThatWouldChangeThePath) {
    Desk desk;
    for (const std::string id : {"", "../1", "10/messages", "10?x", "123456789012345678901"}) {
        SendAction send = hello();
        send.chat_id = id;
        EXPECT_EQ(desk.run(send).code, "invalid_request");
        EXPECT_EQ(desk.run(GetChatInfoAction{id}).code, "invalid_request");
        EXPECT_EQ(desk.run(EditAction{"10", id, "x", {}}).code, "invalid_request");
        EXPECT_EQ(desk.run(ReactAction{"10", id, "x", false, {}}).code, "invalid_request");
    }
    EXPECT_TRUE(desk.wire.calls().empty());
}

TEST(DiscordCalls, EditAMessage) {
    Desk desk;
    desk.wire.answer("PATCH /channels/10/messages/77", json_answer(200, R"({"id":"77"})"));
    EXPECT_EQ(desk.run(EditAction{"10", "77", "new", {}}).message_id, "77");
    EXPECT_EQ(
        desk.wire.calls().at(0).body,
        R"({"content":"new","allowed_mentions":{"parse":["users"]}})");
}

TEST(DiscordCalls, ShowTyping) {
    Desk desk;
    desk.wire.answer("POST /channels/10/typing", text_response(204, "", ""));
    EXPECT_EQ(desk.run(TypingAction{"10", false, {}}).outcome, CallOutcome::sent);
    EXPECT_EQ(desk.run(TypingAction{"10", true, {}}).outcome, CallOutcome::sent);
    EXPECT_EQ(desk.wire.calls().size(), 1u);
}

TEST(DiscordCalls, TellAChatsNameAndType) {
    Desk desk;
    desk.wire.answer("GET /channels/10", json_answer(200, R"({"name":"general","type":0})"));
    const PlatformReply reply = desk.run(GetChatInfoAction{"10"});
    ASSERT_TRUE(reply.chat_info);
    EXPECT_EQ(reply.chat_info->name, "general");
    EXPECT_EQ(reply.chat_info->type, "group");
    const ChatInfo dm = chat_info_of(
        *parse_json(R"({"type":1,"recipients":[{"username":"al","global_name":"Alice"}]})"));
    EXPECT_EQ(dm.name + "/" + dm.type, "Alice/dm");
    EXPECT_EQ(chat_info_of(*parse_json(R"({"type":11,"name":"t"})")).type, "thread");
}

TEST(DiscordCalls, AskWithButtonsInRowsOfFive) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(200, R"({"id":"78"})"));
    PromptAction prompt;
    prompt.chat_id = "10";
    prompt.content = "Sure?";
    prompt.prompt_id = "p1";
    for (int number = 0; number < 7; ++number) {
        const std::string id = "o" + std::to_string(number);
        prompt.options.push_back({id, number == 1 ? std::string(90, 'l') : "", "danger"});
    }
    EXPECT_EQ(desk.run(prompt).message_id, "78");
    const Json body = desk.sent_body();
    const Json::Array& rows = body.find("components")->items();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].find("components")->items().size(), 5u);
    EXPECT_EQ(
        to_text(rows[0].find("components")->items()[0]),
        R"({"type":2,"style":4,"label":"o0","custom_id":"hp1:p1:o0"})");
    EXPECT_EQ(
        rows[0].find("components")->items()[1].find("label")->as_string().size(),
        kDiscordButtonLabelMax);
    prompt.options.resize(kPromptOptionsMax + 1);
    EXPECT_EQ(desk.run(prompt).code, "invalid_request");
}

TEST(DiscordCalls, ReactAndTakeItBack) {
    Desk desk;
    const std::string path = "/channels/10/messages/77/reactions/%F0%9F%91%8D/@me";
    desk.wire.answer("PUT " + path, text_response(204, "", ""));
    desk.wire.answer("DELETE " + path, text_response(204, "", ""));
    EXPECT_EQ(desk.run(ReactAction{"10", "77", "👍", false, {}}).outcome, CallOutcome::sent);
    EXPECT_EQ(desk.run(ReactAction{"10", "77", "👍", true, {}}).outcome, CallOutcome::sent);
}

TEST(DiscordCalls, OpenAndRenameAThread) {
    Desk desk;
    desk.wire.answer("POST /channels/10/threads", json_answer(201, R"({"id":"12"})"));
    EXPECT_EQ(desk.run(ThreadCreateAction{"10", "Plan", {}}).thread_id, "12");
    desk.wire.answer(
        "GET /channels/12", json_answer(200, R"({"id":"12","name":"Plan","owner_id":"100"})"));
    desk.wire.answer("PATCH /channels/12", json_answer(200, R"({"id":"12"})"));
    EXPECT_EQ(
        desk.run(ThreadRenameAction{"10", "12", "New", true, "Plan", {}}).outcome,
        CallOutcome::sent);
    EXPECT_EQ(
        desk.run(ThreadRenameAction{"10", "12", "New", false, "Other", {}}).code,
        "condition_failed");
}

TEST(DiscordCalls, HangAThreadAtTheMessageThatIsNamed) {
    Desk desk;
    desk.wire.answer("POST /channels/10/messages/77/threads", json_answer(201, R"({"id":"77"})"));
    EXPECT_EQ(desk.run(ThreadCreateAction{"10", "Plan", {}, "77"}).thread_id, "77");
    EXPECT_EQ(desk.wire.calls()[0].body, R"({"name":"Plan","auto_archive_duration":1440})");
    EXPECT_EQ(desk.run(ThreadCreateAction{"10", "Plan", {}, "77/../8"}).code, "invalid_request");
    EXPECT_EQ(desk.wire.calls().size(), 1u);
}

// Discord blocks agents of another form than `DiscordBot (URL, version)`.
TEST(DiscordRest, SaysWhoCallsInDiscordsForm) {
    Desk desk;
    desk.config.bot_id = "100";
    desk.wire.answer(kSend, json_answer(200, R"({"id":"77"})"));
    desk.run(with_nonce(hello()));
    EXPECT_EQ(
        header_of(desk.wire.calls().at(0), "User-Agent"),
        "DiscordBot (https://discord.com/users/100, 1.0)");
    desk.config.public_url = "https://desk.example";
    desk.run(with_nonce(hello()));
    EXPECT_EQ(
        header_of(desk.wire.calls().at(1), "User-Agent"), "DiscordBot (https://desk.example, 1.0)");
}

TEST(DiscordCalls, DoNotRenameAThreadOfSomebodyElse) {
    Desk desk;
    desk.wire.answer(
        "GET /channels/12", json_answer(200, R"({"id":"12","name":"Plan","owner_id":"7"})"));
    EXPECT_EQ(
        desk.run(ThreadRenameAction{"10", "12", "New", true, "", {}}).code, "condition_failed");
}

TEST(DiscordCalls, UploadAFile) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(200, R"({"id":"79"})"));
    PlatformCall call =
        with_nonce(SendMediaAction{"10", "image", "", "look", "", "a\"b\r\n.png", {}});
    call.media_bytes = std::string("\x00\x01--bytes", 9);
    call.media_type = "image/png";
    EXPECT_EQ(desk.run(std::move(call)).message_id, "79");
    const WireCall sent = desk.wire.calls().at(0);
    const std::string type = header_of(sent, "Content-Type").value_or("");
    ASSERT_TRUE(type.starts_with("multipart/form-data; boundary="));
    const std::string boundary = type.substr(30);
    EXPECT_TRUE(sent.body.starts_with("--" + boundary + "\r\n"));
    EXPECT_TRUE(sent.body.ends_with("\r\n--" + boundary + "--\r\n"));
    EXPECT_NE(sent.body.find(R"("attachments":[{"id":"0",)"), std::string::npos);
    EXPECT_NE(sent.body.find("filename=\"a_b__.png\""), std::string::npos);
    EXPECT_NE(sent.body.find(std::string("\r\n\r\n\x00\x01--bytes\r\n", 15)), std::string::npos);
}

TEST(DiscordCalls, GiveTheAddressOfAFileThatIsNotOurs) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(200, R"({"id":"79"})"));
    EXPECT_EQ(
        desk.run(SendMediaAction{"10", "image", "https://x.test/a.png", "look", "", "", {}})
            .outcome,
        CallOutcome::sent);
    EXPECT_EQ(desk.sent_body().find("content")->as_string(), "look\nhttps://x.test/a.png");
}

TEST(DiscordCalls, RefuseAFileThatIsTooLarge) {
    Desk desk;
    PlatformCall call = with_nonce(SendMediaAction{"10", "image", "", "", "", "a.png", {}});
    call.media_bytes = std::string(kDiscordUploadBytesMax + 1, 'x');
    EXPECT_EQ(desk.run(std::move(call)).code, "too_large");
}

TEST(DiscordCalls, ReplaceTheOriginalAnswerOfAnInteraction) {
    Desk desk;
    desk.wire.answer(
        "PATCH /webhooks/900/itok-canary/messages/@original", json_answer(200, R"({"id":"80"})"));
    PlatformCall call = with_nonce(hello());
    call.capability = SecretString("itok-canary");
    call.edits_original = true;
    EXPECT_EQ(desk.run(std::move(call)).message_id, "80");
    const WireCall sent = desk.wire.calls().at(0);
    EXPECT_EQ(header_of(sent, "Authorization"), std::nullopt);
    EXPECT_EQ(header_of(sent, "Content-Type"), "application/json");
    EXPECT_EQ(desk.sent_body().find("nonce"), nullptr);
}

TEST(DiscordCalls, FollowAnInteractionUp) {
    Desk desk;
    desk.wire.answer("POST /webhooks/900/itok?wait=true", json_answer(200, R"({"id":"81"})"));
    PlatformCall call;
    call.action = FollowUpAction{"s", "discord.interaction_token", "more", {}};
    call.capability = SecretString("itok");
    EXPECT_EQ(desk.run(std::move(call)).message_id, "81");
    EXPECT_EQ(desk.run(FollowUpAction{"s", "k", "more", {}}).code, "capability_missing");
}

TEST(DiscordCalls, RefuseATokenThatWouldChangeThePath) {
    Desk desk;
    for (const std::string token : {"a/b", "..", "a?b", "a#b", "a%2f"}) {
        PlatformCall call;
        call.action = hello();
        call.capability = SecretString(token);
        EXPECT_EQ(desk.run(std::move(call)).code, "capability_invalid") << token;
    }
}

TEST(DiscordRest, SaysForCertainThatARefusedCallWasNotSent) {
    for (const auto& [status, code] : std::vector<std::pair<int, std::string>>{
             {400, "invalid_request"},
             {401, "unauthorized"},
             {403, "forbidden"},
             {404, "not_found"},
             {413, "too_large"}}) {
        Desk desk;
        desk.wire.answer(kSend, json_answer(status, R"({"message":"No","code":50001})"));
        const PlatformReply reply = desk.run(with_nonce(hello()));
        EXPECT_EQ(reply.outcome, CallOutcome::not_sent) << status;
        EXPECT_EQ(reply.code, code);
        EXPECT_FALSE(reply.retry_after);
        EXPECT_EQ(desk.wire.calls().size(), 1u);
    }
}

TEST(DiscordRest, MayBeAskedAgainWhenNothingLeft) {
    Desk desk;
    desk.wire.answer(kSend, std::unexpected(WireFailure{false, "no route"}));
    const PlatformReply reply = desk.run(with_nonce(hello()));
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_TRUE(reply.retry_after);
}

TEST(DiscordRest, DoesNotKnowWhatBecameOfACallThatWasCut) {
    Desk desk;
    desk.wire.answer(kSend, std::unexpected(WireFailure{true, "cut"}));
    EXPECT_EQ(desk.run(hello()).outcome, CallOutcome::unknown);
    EXPECT_EQ(desk.wire.calls().size(), 1u);
}

TEST(DiscordRest, RepeatsACutCallOnceUnderItsNonce) {
    Desk desk;
    desk.wire.answer(kSend, std::unexpected(WireFailure{true, "cut"}));
    desk.wire.answer(kSend, json_answer(200, R"({"id":"82"})"));
    EXPECT_EQ(desk.run(with_nonce(hello())).message_id, "82");
    EXPECT_EQ(desk.sent_body(0), desk.sent_body(1));
}

TEST(DiscordRest, StaysInDoubtWhenTheRepetitionIsRefused) {
    for (const ScriptedDiscord::Answer& second : std::vector<ScriptedDiscord::Answer>{
             std::unexpected(WireFailure{false, "no route"}),
             std::unexpected(WireFailure{true, "cut"}),
             json_answer(403, "{}"),
             json_answer(502, "")}) {
        Desk desk;
        desk.wire.answer(kSend, json_answer(500, ""));
        desk.wire.answer(kSend, second);
        EXPECT_EQ(desk.run(with_nonce(hello())).outcome, CallOutcome::unknown);
        EXPECT_EQ(desk.wire.calls().size(), 2u);
    }
}

TEST(DiscordRest, WaitsForARateLimitAndSendsThen) {
    Desk desk;
    HttpResponse refused = json_answer(429, R"({"retry_after":0.3,"global":false})");
    refused.headers.emplace_back("Retry-After", "1");
    desk.wire.answer(kSend, refused);
    desk.wire.answer(kSend, json_answer(200, R"({"id":"83"})"));
    EXPECT_EQ(desk.run(hello()).message_id, "83");
    EXPECT_EQ(desk.waited, Duration::of_milliseconds(300));
}

TEST(DiscordRest, SaysWhenToComeBackIfALimitLastsTooLong) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(429, R"({"retry_after":64.5,"global":false})"));
    const PlatformReply reply = desk.run(hello());
    EXPECT_EQ(reply.outcome, CallOutcome::not_sent);
    EXPECT_EQ(reply.code, "rate_limited");
    EXPECT_EQ(reply.retry_after, Duration::of_milliseconds(64'500));
    EXPECT_EQ(desk.waited, Duration{});
    EXPECT_EQ(desk.wire.calls().size(), 1u);
}

TEST(DiscordRest, GivesUpAfterSoManyRefusals) {
    Desk desk;
    desk.wire.answer(kSend, json_answer(429, R"({"retry_after":0.001})"));
    EXPECT_EQ(desk.run(hello()).code, "rate_limited");
    EXPECT_EQ(desk.wire.calls().size(), std::size_t{kRestTriesMax});
}

TEST(DiscordRest, WaitsWhenTheAnswerBeforeSaidThatNothingRemains) {
    Desk desk;
    HttpResponse last = json_answer(200, R"({"id":"84"})");
    last.headers.emplace_back("X-RateLimit-Remaining", "0");
    last.headers.emplace_back("X-RateLimit-Reset-After", "2.5");
    last.headers.emplace_back("X-RateLimit-Bucket", "b");
    desk.wire.answer(kSend, last);
    desk.run(hello());
    EXPECT_EQ(desk.waited, Duration{});
    desk.run(hello());
    EXPECT_EQ(desk.waited, Duration::of_milliseconds(2500));
}

TEST(DiscordRest, BeginsNoTryAfterItsTime) {
    Desk desk;
    PlatformCall call = with_nonce(hello());
    call.not_after = desk.clock.now() - Duration::of_seconds(1);
    EXPECT_EQ(
        run_discord_call(desk.rest, call, {.application_id = "900", .user_id = "100"}).outcome,
        CallOutcome::not_sent);
    EXPECT_TRUE(desk.wire.calls().empty());
}

TEST(DiscordRest, IsRefusedOnceItIsStopped) {
    Desk desk;
    desk.rest.stop();
    EXPECT_EQ(desk.run(hello()).outcome, CallOutcome::not_sent);
    EXPECT_TRUE(desk.wire.calls().empty());
}

TEST(DiscordRest, NamesNoSecretInItsErrors) {
    for (const ScriptedDiscord::Answer& answer : std::vector<ScriptedDiscord::Answer>{
             std::unexpected(WireFailure{false, "x itok-canary"}),
             std::unexpected(WireFailure{true, "x itok-canary"}),
             json_answer(500, "itok-canary"),
             json_answer(404, R"({"message":"itok-canary"})")}) {
        Desk desk;
        desk.wire.answer("POST /webhooks/900/itok-canary?wait=true", answer);
        PlatformCall call;
        call.action = hello();
        call.capability = SecretString("itok-canary");
        const PlatformReply reply = desk.run(std::move(call));
        EXPECT_NE(reply.outcome, CallOutcome::sent);
        EXPECT_EQ(reply.error.find("canary"), std::string::npos) << reply.error;
        EXPECT_FALSE(reply.error.empty());
    }
}

}  // namespace
}  // namespace interlock
