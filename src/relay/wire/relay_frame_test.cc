#include "relay/wire/relay_frame.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/wire/frame_lines.h"
#include "relay/wire/test_relay.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

std::string_view without_newline(const std::string& line) {
    EXPECT_TRUE(line.ends_with('\n'));
    return std::string_view(line).substr(0, line.size() - 1);
}

template <class T>
T gateway_frame(std::string_view line) {
    const auto frame = decode_gateway_frame(line);
    EXPECT_TRUE(frame.has_value()) << (frame ? "" : frame.error().message);
    const T* const held = frame ? std::get_if<T>(&*frame) : nullptr;
    EXPECT_NE(held, nullptr) << line;
    return held == nullptr ? T{} : *held;
}

TEST(RelayFrame, ReadsTheHelloOfTheJuneClient) {
    const auto hello =
        gateway_frame<HelloFrame>(R"({"type": "hello", "platform": "relay", "botId": ""})");
    EXPECT_EQ(hello.platform, "relay");
    EXPECT_TRUE(hello.bot_id.empty());
    EXPECT_TRUE(hello.command_manifest.is_null());
}

TEST(RelayFrame, ReadsTheHelloOfANewClientWithItsCommands) {
    const auto hello = gateway_frame<HelloFrame>(
        R"({"type":"hello","platform":"discord","botId":"b","command_manifest":[{"name":"new"}]})");
    EXPECT_EQ(hello.command_manifest.items().size(), 1u);
}

TEST(RelayFrame, RefusesMoreCommandsThanItsBound) {
    HelloFrame hello{.platform = "discord", .bot_id = "b", .command_manifest = Json::array()};
    for (std::size_t i = 0; i <= kCommandManifestMax; ++i) {
        hello.command_manifest.push(Json::object());
    }
    EXPECT_FALSE(decode_gateway_frame(without_newline(encode_line(GatewayFrame(hello)))));
}

TEST(RelayFrame, ReadsASendAsTheClientsWriteIt) {
    const auto frame = gateway_frame<OutboundFrame>(
        R"({"type": "outbound", "requestId": "0a", "action": {"op": "send", "chat_id": "C1", )"
        R"("content": "h\u00e9 \ud83d", "reply_to": null, "metadata": {"guild_id": "G"}}})");
    EXPECT_EQ(frame.request_id, "0a");
    EXPECT_TRUE(frame.platform.empty());
    const auto& send = std::get<SendAction>(frame.action);
    EXPECT_EQ(send.content, "hé \xEF\xBF\xBD");
    EXPECT_TRUE(send.reply_to.empty());
    EXPECT_EQ(send.metadata.find("guild_id")->as_string(), "G");
}

TEST(RelayFrame, KeepsAnUnknownOpForAStructuredAnswer) {
    const auto frame = gateway_frame<OutboundFrame>(
        R"({"type":"outbound","requestId":"r","action":{"op":"task_card","card_id":"x"}})");
    EXPECT_EQ(op_of(frame.action), "task_card");
    EXPECT_TRUE(std::holds_alternative<UnknownAction>(frame.action));
}

TEST(RelayFrame, IgnoresUnknownFramesAndKeys) {
    EXPECT_EQ(gateway_frame<IgnoredFrame>(R"({"type":"pulse","x":1})").type, "pulse");
    EXPECT_EQ(
        gateway_frame<InboundAckFrame>(R"({"type":"inbound_ack","bufferId":"b","new":[]})")
            .buffer_id,
        "b");
}

TEST(RelayFrame, TellsWhichRequestCouldNotBeUsed) {
    const auto missing =
        decode_gateway_frame(R"({"type":"outbound","requestId":"r1","action":{"op":"send"}})");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().request_id, "r1");
    EXPECT_NE(missing.error().message.find("chat_id is required"), std::string::npos);
    const auto broken =
        decode_gateway_frame(R"({"type": "outbound", "requestId": "r2", "action": {NaN}})");
    ASSERT_FALSE(broken.has_value());
    EXPECT_EQ(broken.error().request_id, "r2");
}

TEST(RelayFrame, RefusesWhatIsNoFrame) {
    for (const std::string_view line :
         {"",
          "null",
          "[]",
          "7",
          "{}",
          R"({"type":7.5})",
          R"({"type":"inbound_ack"})",
          "{\"type\":"}) {
        const auto frame = decode_gateway_frame(line);
        ASSERT_FALSE(frame.has_value()) << line;
        EXPECT_FALSE(frame.error().message.empty());
        EXPECT_TRUE(frame.error().request_id.empty());
    }
}

TEST(RelayFrame, RefusesALineBeyondItsBound) {
    std::string line = R"({"type":"going_idle","pad":")";
    line.append(kFrameBytesMax - line.size() - 2, 'x');
    line += "\"}";
    EXPECT_TRUE(decode_gateway_frame(line).has_value());
    EXPECT_FALSE(decode_gateway_frame(line + " ").has_value());
}

TEST(RelayFrame, NeverFailsOnAnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        const auto frame = decode_gateway_frame(bytes);
        RC_ASSERT((frame.has_value() || !frame.error().message.empty()));
        (void)decode_connector_frame(bytes);
        (void)without_lone_surrogates(bytes);
    }));
}

TEST(RelayFrame, WritesEveryGatewayFrameSoThatItReadsTheSame) {
    const Json meta = Json::object({{"thread_id", "T"}});
    const std::vector<RelayAction> actions = {
        SendAction{.chat_id = "c", .content = "x", .reply_to = "m", .metadata = meta},
        EditAction{.chat_id = "c", .message_id = "m", .content = "y", .metadata = meta},
        TypingAction{.chat_id = "c", .is_clear = true, .metadata = meta},
        FollowUpAction{.session_key = "s", .kind = "k", .content = "x", .metadata = meta},
        GetChatInfoAction{.chat_id = "c"},
        SendMediaAction{
            .chat_id = "c",
            .media_kind = "image",
            .source_url = "u",
            .content = "",
            .reply_to = "",
            .filename = "f",
            .metadata = meta},
        PromptAction{
            .chat_id = "c",
            .content = "ok?",
            .prompt_kind = "approval",
            .prompt_id = "p-1",
            .options = {{.id = "yes", .label = "Yes", .style = "danger"}},
            .reply_to = "",
            .timeout_seconds = 60,
            .metadata = meta},
        ReactAction{
            .chat_id = "c", .message_id = "m", .emoji = "👍", .remove = true, .metadata = meta},
        ThreadCreateAction{.chat_id = "c", .thread_name = "n", .metadata = meta},
        ThreadCreateAction{.chat_id = "c", .thread_name = "n", .metadata = meta, .message_id = "m"},
        ThreadRenameAction{
            .chat_id = "c",
            .thread_id = "t",
            .thread_name = "n",
            .only_if_connector_created = true,
            .only_if_current_name = "o",
            .metadata = meta},
        UnknownAction{.op = "later"}};
    std::vector<GatewayFrame> frames = {
        HelloFrame{.platform = "discord", .bot_id = "b", .command_manifest = Json::array()},
        InterruptFrame{.session_key = "s", .reason = ""},
        GoingIdleFrame{},
        InboundAckFrame{.buffer_id = "7"}};
    for (const RelayAction& action : actions) {
        frames.emplace_back(OutboundFrame{
            .request_id = "r", .action = action, .platform = "discord", .bot_id = "b"});
    }
    for (const GatewayFrame& frame : frames) {
        const std::string line = encode_line(frame);
        const auto again = decode_gateway_frame(without_newline(line));
        ASSERT_TRUE(again.has_value()) << line << again.error().message;
        EXPECT_EQ(again->index(), frame.index());
        EXPECT_EQ(encode_line(*again), line);
    }
}

TEST(RelayFrame, WritesEveryConnectorFrameSoThatItReadsTheSame) {
    MessageEvent event;
    event.text = "hi\nthere";
    const std::vector<ConnectorFrame> frames = {
        DescriptorFrame{},
        OutboundResultFrame{.request_id = "r", .result = egress_declined("discord")},
        OutboundResultFrame{
            .request_id = "r",
            .result =
                {.success = true,
                 .message_id = "m",
                 .error = {},
                 .code = {},
                 .ambiguous = true,
                 .thread_id = "t",
                 .chat_info = ChatInfo{.name = "n", .type = "group"}}},
        InboundFrame{.event = event, .buffer_id = "b1"},
        InterruptInboundFrame{.session_key = "s", .chat_id = "c"},
        GoingIdleAckFrame{},
        PassthroughForwardFrame{
            .forward =
                {.platform = "discord",
                 .bot_id = "b",
                 .method = "POST",
                 .path = "/p",
                 .headers = {{"content-type", "application/json"}},
                 .body = std::string("\0\xFF{}", 4),
                 .profile = "p"},
            .buffer_id = "b2"}};
    for (const ConnectorFrame& frame : frames) {
        const std::string line = encode_line(frame);
        EXPECT_EQ(line.find('\n'), line.size() - 1);
        const auto again = decode_connector_frame(without_newline(line));
        ASSERT_TRUE(again.has_value()) << line << again.error().message;
        EXPECT_EQ(encode_line(*again), line);
    }
}

TEST(RelayFrame, WrapsAStoredEventLikeAFreshOne) {
    EXPECT_TRUE(rc::check([] {
        const MessageEvent event = draw_event();
        const std::string id = "b\"" + draw_text();
        RC_ASSERT(
            inbound_line(to_text(encode(event)), id) ==
            encode_line(ConnectorFrame(InboundFrame{.event = event, .buffer_id = id})));
    }));
}

TEST(RelayFrame, ReplacesOnlyHalvesOfSurrogatePairs) {
    EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00")"), R"("\ud83d\ude00")");
    EXPECT_EQ(without_lone_surrogates(R"("\ud83d")"), R"("\ufffd")");
    EXPECT_EQ(without_lone_surrogates(R"("\ude00\ud83d")"), R"("\ufffd\ufffd")");
    EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ud83d\ude00")"), R"("\ufffd\ud83d\ude00")");
    EXPECT_EQ(without_lone_surrogates(R"("\\ud83d")"), R"("\\ud83d")");
    EXPECT_EQ(without_lone_surrogates(R"("\ud8)"), R"("\ud8)");
}

TEST(RelayAction, RefusesPromptsThatNoButtonCanCarry) {
    for (const std::string_view id : {"", "with space", "012345678901234567890123456789012"}) {
        EXPECT_FALSE(is_prompt_id(id)) << id;
    }
    const auto none =
        parse_json(R"({"op":"prompt","chat_id":"c","content":"?","prompt_id":"p","options":[]})");
    EXPECT_FALSE(decode_action(*none).has_value());
}

TEST(RelayAction, CountsTheNameOfAThreadInCharacters) {
    std::string name;
    for (int i = 0; i < 100; ++i) {
        name += "é";
    }
    Json json = Json::object({{"op", "thread_create"}, {"chat_id", "c"}, {"thread_name", name}});
    EXPECT_TRUE(decode_action(json).has_value());
    json.set("thread_name", name + "x");
    EXPECT_FALSE(decode_action(json).has_value());
}

TEST(FrameLines, PutsFramesTogetherWhereverTheyWereCut) {
    EXPECT_TRUE(rc::check([] {
        const std::string stream = "{\"a\":1}\n\n{\"b\":2}\n{\"c\"";
        FrameLines lines;
        std::vector<std::string> got;
        std::size_t at = 0;
        while (at < stream.size()) {
            const auto length = *rc::gen::inRange<std::size_t>(1, 9);
            for (std::string& line : lines.take(std::string_view(stream).substr(at, length))) {
                got.push_back(std::move(line));
            }
            at += length;
        }
        RC_ASSERT(lines.ok());
        RC_ASSERT(lines.held_bytes() == 4u);
        RC_ASSERT(got == std::vector<std::string>({"{\"a\":1}", "{\"b\":2}"}));
    }));
}

TEST(FrameLines, EndsAtALineBeyondItsBound) {
    FrameLines lines(4);
    EXPECT_EQ(lines.take("abcd\nab"), std::vector<std::string>{"abcd"});
    EXPECT_TRUE(lines.take("cde\nok\n").empty());
    EXPECT_FALSE(lines.ok());
    EXPECT_TRUE(lines.take("ok\n").empty());
    EXPECT_EQ(lines.held_bytes(), 0u);
}

}  // namespace
}  // namespace interlock
