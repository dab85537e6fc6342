// The outbound side of the relay as its documents tell it, from a gateway's line to the line it is
// answered with: each test names the section of seed 003, the fact of relay-wire or the ruling (R…)
// it holds us to.
#include <gtest/gtest.h>

#include "relay/rules/session_key.h"
#include "testing/outbound_desk.h"

namespace interlock {
namespace {

const Json kNull;

// A gateway of instance i1 (tenant acme) that said hello as discord/b1 and telegram/b2.
class Gateway {
public:
    // The action as a client writes it, with the frame's own tags behind it.
    void send(const std::string& action, const std::string& tags = "") {
        const std::string line = R"({"type": "outbound", "requestId": "r)" +
                                 std::to_string(++requests_) + R"(", "action": )" + action + tags +
                                 "}";
        const auto frame = decode_gateway_frame(line);
        ASSERT_TRUE(frame) << frame.error().message;
        OutboundRequest request;
        request.caller = OutboundDesk::caller(instance);
        request.identities = {{"discord", "b1"}, {"telegram", "b2"}};
        request.frame = std::get<OutboundFrame>(*frame);
        request.received_at = desk.clock.now();
        request.reply = [this, id = request.frame.request_id](OutboundResult result) {
            const std::string said = encode_line(
                ConnectorFrame(OutboundResultFrame{.request_id = id, .result = std::move(result)}));
            answers.push_back(parse_json(said).value());
        };
        desk.begin(std::move(request));
    }
    // The result of one action, after everything has run.
    Json result(const std::string& action, const std::string& tags = "") {
        answers.clear();
        send(action, tags);
        desk.run();
        EXPECT_EQ(answers.size(), 1u);
        return answers.empty() ? Json() : *answers.front().find("result");
    }
    static const Json& field(const Json& result, std::string_view key) {
        const Json* const found = result.find(key);
        return found == nullptr ? kNull : *found;
    }

    OutboundDesk desk;
    std::string instance = "i1";
    std::vector<Json> answers;

private:
    int requests_ = 0;
};

class RelayOutboundContract : public testing::Test {
protected:
    static bool is_success(const Json& result) {
        return Gateway::field(result, "success") == Json(true);
    }
    void bind_interaction() {
        SessionSource source;
        source.platform = "discord";
        source.chat_id = "c1";
        source.chat_type = "group";
        source.user_id = "ann";
        source.scope_id = "G1";
        gateway_.desk.change([&](RelayTurn& turn) {
            CapabilityBinding binding;
            binding.tenant_id = TenantId::trusted("acme");
            binding.instance_id = "i1";
            binding.bot = {"discord", "b1"};
            binding.session_keys = interaction_keys(source);
            binding.kind = "discord.interaction_token";
            binding.value = SecretString("interaction-token");
            binding.chat_id = "c1";
            binding.expires_at = turn.now() + Duration::of_minutes(15);
            ASSERT_TRUE(gateway_.desk.process->vault.bind(turn, binding));
        });
    }
    static std::string follow_up(const std::string& session_key) {
        return R"({"op": "follow_up", "session_key": ")" + session_key +
               R"(", "kind": "discord.interaction_token", "content": "done", "metadata": {}})";
    }

    Gateway gateway_;
    const std::string kSend =
        R"({"op": "send", "chat_id": "c1", "content": "hi", "reply_to": null, "metadata": {}})";
    const Json kDeclined = Json::object(
        {{"success", false},
         {"error",
          "discord egress declined: target is not an approved destination for this connection"},
         {"code", "egress_declined"}});
};

TEST_F(RelayOutboundContract, SendAnswersWithTheMessageId) {  // 003 §4
    EXPECT_EQ(gateway_.result(kSend), Json::object({{"success", true}, {"message_id", "m1"}}));
}

TEST_F(RelayOutboundContract, EditAndTypingAnswerWithSuccess) {  // 003 §4
    ASSERT_TRUE(is_success(gateway_.result(kSend)));
    EXPECT_TRUE(is_success(gateway_.result(
        R"({"op": "edit", "chat_id": "c1", "message_id": "m1", "content": "ho"})")));
    EXPECT_TRUE(is_success(gateway_.result(R"({"op": "typing", "chat_id": "c1"})")));
}

TEST_F(RelayOutboundContract, ChatInfoComesInBothShapes) {  // 003 §4; relay-wire §3
    const Json result = gateway_.result(R"({"op": "get_chat_info", "chat_id": "c1"})");
    EXPECT_EQ(Gateway::field(result, "name"), Json("room c1"));
    EXPECT_EQ(Gateway::field(result, "type"), Json("group"));
    EXPECT_EQ(
        Gateway::field(result, "chat_info"),
        Json::object({{"name", "room c1"}, {"type", "group"}}));
}

TEST_F(RelayOutboundContract, AFollowUpNeedsNoTokenFromTheGateway) {  // 003 §4, §6
    bind_interaction();
    // The August client keys an interaction as a group of Discord, the June one as a channel of
    // "relay" (R10).
    for (const std::string key :
         {"agent:main:discord:group:c1:ann", "agent:main:relay:channel:c1:ann"}) {
        const Json result = gateway_.result(follow_up(key));
        EXPECT_TRUE(is_success(result)) << key;
        EXPECT_EQ(to_text(result).find("interaction-token"), std::string::npos);
    }
    EXPECT_EQ(gateway_.desk.discord.calls().front().capability, "interaction-token");
}

TEST_F(RelayOutboundContract, ATenantCannotWieldAnothersCapability) {  // 003 §4
    bind_interaction();
    gateway_.instance = "x1";
    const Json foreign = gateway_.result(follow_up("agent:main:discord:group:c1:ann"));
    EXPECT_FALSE(is_success(foreign));
    gateway_.instance = "i1";
    gateway_.desk.clock.advance(Duration::of_minutes(15));
    EXPECT_EQ(gateway_.result(follow_up("agent:main:discord:group:c1:ann")), foreign);
    EXPECT_EQ(gateway_.result(follow_up("never heard of")), foreign);
    EXPECT_TRUE(gateway_.desk.discord.calls().empty());
}

TEST_F(RelayOutboundContract, TheFirstSendEndsThinking) {  // R10
    bind_interaction();
    ASSERT_TRUE(is_success(gateway_.result(kSend)));
    ASSERT_TRUE(is_success(gateway_.result(kSend)));
    EXPECT_TRUE(gateway_.desk.discord.calls()[0].edits_original);
    EXPECT_FALSE(gateway_.desk.discord.calls()[1].edits_original);
}

TEST_F(RelayOutboundContract, OtherPeoplesChatsAreDeclinedWordForWord) {  // R5; relay-wire §3
    for (
        const std::string op :
        {R"({"op": "send", "chat_id": "c2", "content": "x", "metadata": {"guild_id": "G1"}})",
         R"({"op": "send", "chat_id": "nowhere", "content": "x", "metadata": {}})",
         R"({"op": "typing", "chat_id": "c2"})",
         R"({"op": "get_chat_info", "chat_id": "c2"})",
         R"({"op": "edit", "chat_id": "c1", "message_id": "m9", "content": "x"})",
         R"({"op": "react", "chat_id": "c1", "message_id": "m9", "emoji": "x", "remove": true})"}) {
        EXPECT_EQ(gateway_.result(op), kDeclined) << op;
    }
    EXPECT_TRUE(gateway_.desk.discord.calls().empty());
}

TEST_F(RelayOutboundContract, ATaggedIdentityWithoutHelloIsNotSentFor) {  // relay-wire §3
    EXPECT_EQ(gateway_.result(kSend, R"(, "platform": "discord", "botId": "b7")"), kDeclined);
    EXPECT_EQ(
        Gateway::field(gateway_.result(kSend, R"(, "platform": "slack", "botId": "b1")"), "code"),
        Json("egress_declined"));
    EXPECT_TRUE(is_success(gateway_.result(kSend, R"(, "platform": "discord", "botId": "b1")")));
}

TEST_F(RelayOutboundContract, NewerOpsAreAnsweredAndNeverGuessedAt) {  // R15; relay-wire §3
    const Json result =
        gateway_.result(R"({"op": "draft", "chat_id": "c1", "draft_id": 1, "content": "x"})");
    EXPECT_FALSE(is_success(result));
    EXPECT_EQ(Gateway::field(result, "code"), Json("unsupported"));
}

TEST_F(RelayOutboundContract, LongTextsAreSplitHere) {  // relay-wire §4
    gateway_.desk.discord.described.max_message_length = 100;
    const Json result = gateway_.result(
        R"({"op": "send", "chat_id": "c1", "content": ")" + std::string(250, 'x') +
        R"(", "reply_to": "m0", "metadata": {}})");
    EXPECT_EQ(Gateway::field(result, "message_id"), Json("m1"));
    const auto calls = gateway_.desk.discord.calls();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].reply_to, "m0");
    EXPECT_EQ(calls[2].reply_to, "");
}

TEST_F(RelayOutboundContract, AnAnswerComesWithin25SecondsWhateverHappens) {  // R2
    gateway_.desk.discord.on_call = [this](const PlatformCall&) {
        for (int second = 0; second < 25 && gateway_.answers.empty(); ++second) {
            gateway_.desk.clock.advance(Duration::of_seconds(1));
            gateway_.desk.step();
        }
        EXPECT_EQ(gateway_.answers.size(), 1u);
        return ScriptedPlatform::sent("m1");
    };
    const Json result = gateway_.result(kSend);
    EXPECT_FALSE(is_success(result));
    EXPECT_EQ(Gateway::field(result, "ambiguous"), Json(true));
    EXPECT_EQ(gateway_.desk.log().front().state, "sent");  // What is true is still recorded.
}

TEST_F(RelayOutboundContract, AfterAFailureWasAnsweredNothingIsSent) {  // R2
    gateway_.send(kSend);
    gateway_.desk.step();  // On the record; its platform is busy elsewhere.
    gateway_.desk.clock.advance(Duration::of_seconds(24));
    gateway_.desk.step();
    ASSERT_EQ(gateway_.answers.size(), 1u);
    gateway_.desk.run();
    EXPECT_TRUE(gateway_.desk.discord.calls().empty());
    EXPECT_EQ(gateway_.answers.size(), 1u);
}

TEST_F(RelayOutboundContract, AnUnknownOutcomeIsCalledAmbiguousAndNotTriedAgain) {  // I4, R2
    gateway_.desk.discord.on_call = [](const PlatformCall&) { return ScriptedPlatform::unknown(); };
    const Json result = gateway_.result(kSend);
    EXPECT_EQ(Gateway::field(result, "success"), Json(false));
    EXPECT_EQ(Gateway::field(result, "ambiguous"), Json(true));
    EXPECT_EQ(gateway_.desk.discord.calls().size(), 1u);
}

TEST_F(RelayOutboundContract, NoTextAndNoCredentialEntersTheChain) {  // R16, 003 §6
    bind_interaction();
    ASSERT_TRUE(is_success(gateway_.result(
        R"({"op": "send", "chat_id": "c1", "content": "between us", "metadata": {}})")));
    ASSERT_EQ(gateway_.desk.records().size(), 2u);
    for (const AuditRecord& record : gateway_.desk.records()) {
        const std::string text = to_text(encode(record));
        EXPECT_EQ(text.find("between us"), std::string::npos);
        EXPECT_EQ(text.find("interaction-token"), std::string::npos);
    }
}

}  // namespace
}  // namespace interlock
