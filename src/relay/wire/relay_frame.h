// The frames of /relay, both ways (docs/contracts/relay-connector.md#1-frames): one JSON object per
// line, ended by a newline.
//
// Keys that a frame does not name are ignored, and a frame of an unknown type is an IgnoredFrame: a
// newer client may speak of more than we do. What cannot be used is a FrameProblem; when its
// requestId could be read the sender is told, rather than left to wait.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "relay/wire/descriptor.h"
#include "relay/wire/message_event.h"
#include "relay/wire/relay_action.h"

namespace interlock {

inline constexpr std::size_t kFrameBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kCommandManifestMax = 200;
inline constexpr std::size_t kForwardHeadersMax = 64;

// From a gateway.
struct HelloFrame {
    std::string platform;
    std::string bot_id;
    Json command_manifest;  // A list, or null when there is none.
};
struct OutboundFrame {
    std::string request_id;
    RelayAction action;
    std::string platform;  // Empty: the first hello's.
    std::string bot_id;
};
struct InterruptFrame {
    std::string session_key;
    std::string reason;
};
struct GoingIdleFrame {};
struct InboundAckFrame {
    std::string buffer_id;
};
struct IgnoredFrame {
    std::string type;
};
using GatewayFrame = std::variant<
    HelloFrame,
    OutboundFrame,
    InterruptFrame,
    GoingIdleFrame,
    InboundAckFrame,
    IgnoredFrame>;

struct FrameProblem {
    std::string message;
    std::string request_id;  // Empty: there is nobody to tell.
};
// `line` is without its newline. A lone surrogate escape becomes U+FFFD.
std::expected<GatewayFrame, FrameProblem> decode_gateway_frame(std::string_view line);
std::string encode_line(const GatewayFrame& frame);  // With the newline.

// From the connector.
struct DescriptorFrame {
    CapabilityDescriptor descriptor;
};
struct OutboundResultFrame {
    std::string request_id;
    OutboundResult result;
};
struct InboundFrame {
    MessageEvent event;
    std::string buffer_id;
};
struct InterruptInboundFrame {
    std::string session_key;
    std::string chat_id;
};
struct GoingIdleAckFrame {};
struct PassthroughForward {
    std::string platform;
    std::string bot_id;
    std::string method;
    std::string path;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;  // Raw bytes; base64 on the wire.
    std::string profile;
};
struct PassthroughForwardFrame {
    PassthroughForward forward;
    std::string buffer_id;
};
using ConnectorFrame = std::variant<
    DescriptorFrame,
    OutboundResultFrame,
    InboundFrame,
    InterruptInboundFrame,
    GoingIdleAckFrame,
    PassthroughForwardFrame,
    IgnoredFrame>;
std::string encode_line(const ConnectorFrame& frame);
// What a client makes of a line; for gateways of our own and for tests.
std::expected<ConnectorFrame, FrameProblem> decode_connector_frame(std::string_view line);

// An `inbound` line around an event that is stored as its JSON text.
std::string inbound_line(std::string_view event_text, std::string_view buffer_id);
// Likewise a `passthrough_forward` line around a forward's text.
Json encode(const PassthroughForward& forward);
std::string passthrough_line(std::string_view forward_text, std::string_view buffer_id);

// The text with every \uXXXX escape of half a surrogate pair replaced by \ufffd.
std::string without_lone_surrogates(std::string_view json_text);

}  // namespace interlock
