// Holds the tables of docs/contracts/relay-connector.md to the codecs: a key that is written and
// not told, or told and not written, fails here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "relay/rules/delivery_gate.h"
#include "relay/wire/relay_frame.h"

namespace interlock {
namespace {

using Keys = std::set<std::string>;

std::string document() {
    std::ifstream in(
        std::filesystem::path(INTERLOCK_SOURCE_DIR) / "docs/contracts/relay-connector.md");
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// The names in the first column of every table of the section that `heading` opens.
Keys told(const std::string& heading) {
    Keys keys;
    bool is_inside = false;
    const std::string text = document();
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with("## ")) {
            is_inside = line.find(heading) != std::string_view::npos;
        }
        if (is_inside && line.starts_with("| `")) {
            keys.emplace(line.substr(3, line.find('`', 3) - 3));
        }
    }
    EXPECT_FALSE(keys.empty()) << heading;
    return keys;
}

Keys written(const Json& json) {
    Keys keys;
    for (const auto& [key, value] : json.members()) {
        keys.insert(key);
    }
    return keys;
}

std::string type_of(const std::string& line) {
    return parse_json(line).value().find("type")->as_string();
}

SessionSource full_source() {
    SessionSource source;
    for (std::string* const text :
         {&source.chat_id,
          &source.chat_name,
          &source.user_id,
          &source.user_name,
          &source.thread_id,
          &source.chat_topic,
          &source.user_id_alt,
          &source.chat_id_alt,
          &source.scope_id,
          &source.parent_chat_id,
          &source.message_id,
          &source.profile,
          &source.auto_thread_initial_name,
          &source.prospective_thread_id}) {
        *text = "x";
    }
    source.auto_thread_created = true;
    return source;
}

TEST(RelayDocument, TellsEveryKeyOfASource) {
    EXPECT_EQ(told("SessionSource"), written(encode(full_source())));
}

TEST(RelayDocument, TellsEveryKeyOfAnEvent) {
    MessageEvent event;
    event.reply_to = RepliedMessage{};
    event.prompt_response = PromptResponse{};
    event.media.emplace_back();
    event.context.emplace_back();
    event.context_error = "x";
    event.bot_id = "x";
    EXPECT_EQ(told("MessageEvent"), written(encode(event)));
}

TEST(RelayDocument, TellsEveryKeyOfADescriptor) {
    EXPECT_EQ(told("Descriptor"), written(encode(CapabilityDescriptor{})));
}

TEST(RelayDocument, TellsEveryFrame) {
    Keys types;
    for (const GatewayFrame& frame : std::vector<GatewayFrame>{
             HelloFrame{},
             OutboundFrame{},
             InterruptFrame{},
             GoingIdleFrame{},
             InboundAckFrame{}}) {
        types.insert(type_of(encode_line(frame)));
    }
    for (const ConnectorFrame& frame : std::vector<ConnectorFrame>{
             DescriptorFrame{},
             OutboundResultFrame{},
             InboundFrame{},
             InterruptInboundFrame{},
             GoingIdleAckFrame{},
             PassthroughForwardFrame{}}) {
        types.insert(type_of(encode_line(frame)));
    }
    EXPECT_EQ(told("Frames"), types);
}

TEST(RelayDocument, TellsEveryActionThatIsRead) {
    Keys ops = told("Actions");
    EXPECT_EQ(ops.size(), std::variant_size_v<RelayAction> - 1);
    for (const std::string& op : ops) {
        // Its fields may be missing here; what counts is that the word is known.
        const auto action = decode_action(Json::object({{"op", op}}));
        EXPECT_TRUE(!action || !std::holds_alternative<UnknownAction>(*action)) << op;
    }
}

TEST(RelayDocument, TellsEveryLayerOfTheGate) {
    Keys layers;
    for (const GateLayer layer :
         {GateLayer::tenant,
          GateLayer::author,
          GateLayer::authorised,
          GateLayer::visible,
          GateLayer::relevant}) {
        layers.emplace(to_word(layer));
    }
    EXPECT_EQ(told("The delivery gate"), layers);
}

}  // namespace
}  // namespace interlock
