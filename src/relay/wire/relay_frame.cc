#include "relay/wire/relay_frame.h"

#include "base/bytes.h"
#include "base/match.h"
#include "relay/wire/wire_reader.h"

namespace interlock {
namespace {

std::string line_of(const Json& json) {
    return to_text(json) + "\n";
}

// The requestId of a line that is no JSON, if it stands there in plain sight: whoever sent it waits
// for an answer by that id.
std::string salvaged_request_id(std::string_view line) {
    constexpr std::string_view kKey = "\"requestId\"";
    const std::size_t key = line.find(kKey);
    if (key == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(key + kKey.size());
    const std::size_t open = line.find_first_not_of(" :");
    if (open == std::string_view::npos || line[open] != '"') {
        return {};
    }
    line.remove_prefix(open + 1);
    const std::string_view id = line.substr(0, line.find('"'));
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const bool is_plain = id.size() < line.size() && id.size() <= kRelayIdBytesMax &&
                          id.find_first_not_of(kAlphabet) == std::string_view::npos;
    return is_plain ? std::string(id) : std::string();
}

std::expected<Json, FrameProblem> parse_frame(std::string_view line) {
    if (line.size() > kFrameBytesMax) {
        return std::unexpected(FrameProblem{
            "the frame is longer than " + std::to_string(kFrameBytesMax) + " bytes", {}});
    }
    auto json = parse_json(line);
    if (!json && line.find("\\u") != std::string_view::npos) {
        json = parse_json(without_lone_surrogates(line));
    }
    if (!json) {
        return std::unexpected(FrameProblem{json.error().message, salvaged_request_id(line)});
    }
    if (!json->is_object()) {
        return std::unexpected(FrameProblem{"the frame is not an object", {}});
    }
    return *std::move(json);
}

std::string request_id_of(const Json& json) {
    const Json* const id = json.find("requestId");
    return id != nullptr && id->is_string() && id->as_string().size() <= kRelayIdBytesMax
               ? id->as_string()
               : std::string();
}

GatewayFrame read_hello(WireReader& in) {
    HelloFrame hello{
        .platform = in.text("platform"), .bot_id = in.text("botId"), .command_manifest = {}};
    if (const Json::Array* const commands = in.array("command_manifest", kCommandManifestMax)) {
        hello.command_manifest = Json(*commands);
    }
    return hello;
}

GatewayFrame read_outbound(WireReader& in) {
    OutboundFrame frame{
        .request_id = in.required_text("requestId"),
        .action = UnknownAction{},
        .platform = in.text("platform"),
        .bot_id = in.text("botId")};
    const Json* const action = in.object("action");
    if (action == nullptr) {
        in.add_problem("action", "is required");
        return frame;
    }
    auto decoded = decode_action(*action);
    if (decoded) {
        frame.action = *std::move(decoded);
    } else {
        in.add_problem("action:", decoded.error().message);
    }
    return frame;
}

GatewayFrame read_gateway_frame(const std::string& type, WireReader& in) {
    if (type == "hello") {
        return read_hello(in);
    }
    if (type == "outbound") {
        return read_outbound(in);
    }
    if (type == "interrupt") {
        return InterruptFrame{
            .session_key = in.required_text("session_key", kSessionKeyBytesMax),
            .reason = in.text("reason", kRelayTextBytesMax)};
    }
    if (type == "going_idle") {
        return GoingIdleFrame{};
    }
    if (type == "inbound_ack") {
        return InboundAckFrame{.buffer_id = in.required_text("bufferId")};
    }
    return IgnoredFrame{.type = type};
}

Json forward_json(const PassthroughForward& forward) {
    Json headers = Json::array();
    for (const auto& [name, value] : forward.headers) {
        headers.push(Json::array({name, value}));
    }
    Json json = Json::object({
        {"platform", forward.platform},
        {"botId", forward.bot_id},
        {"method", forward.method},
        {"path", forward.path},
        {"headers", std::move(headers)},
        {"bodyB64", to_base64(forward.body)},
    });
    set_unless_empty(json, "profile", forward.profile);
    return json;
}

// As the clients read it: what is no pair is no header, and a bad body is an empty one.
PassthroughForward read_forward(WireReader& in) {
    PassthroughForward forward{
        .platform = in.text("platform"),
        .bot_id = in.text("botId"),
        .method = in.text("method"),
        .path = in.text("path", kRelayUrlBytesMax),
        .headers = {},
        .body = from_base64(in.text("bodyB64", kFrameBytesMax)).value_or(""),
        .profile = in.text("profile")};
    if (const Json::Array* const headers = in.array("headers", kForwardHeadersMax)) {
        for (const Json& item : *headers) {
            if (!item.is_array() || item.items().size() != 2) {
                continue;
            }
            auto name = id_text(item.items()[0]);
            auto value = id_text(item.items()[1]);
            if (name && value) {
                forward.headers.emplace_back(*std::move(name), *std::move(value));
            }
        }
    }
    return forward;
}

template <class T, class Decode>
T read_part(WireReader& in, std::string_view key, Decode decode) {
    const Json* const part = in.object(key);
    if (part == nullptr) {
        in.add_problem(key, "is required");
        return T{};
    }
    auto decoded = decode(*part);
    if (!decoded) {
        in.add_problem(key, decoded.error().message);
        return T{};
    }
    return *std::move(decoded);
}

ConnectorFrame read_connector_frame(const std::string& type, WireReader& in) {
    if (type == "descriptor") {
        return DescriptorFrame{
            read_part<CapabilityDescriptor>(in, "descriptor", decode_descriptor)};
    }
    if (type == "outbound_result") {
        return OutboundResultFrame{
            .request_id = in.required_text("requestId"),
            .result = read_part<OutboundResult>(in, "result", decode_outbound_result)};
    }
    if (type == "inbound") {
        return InboundFrame{
            .event = read_part<MessageEvent>(in, "event", decode_message_event),
            .buffer_id = in.text("bufferId")};
    }
    if (type == "interrupt_inbound") {
        return InterruptInboundFrame{
            .session_key = in.required_text("session_key", kSessionKeyBytesMax),
            .chat_id = in.text("chat_id")};
    }
    if (type == "going_idle_ack") {
        return GoingIdleAckFrame{};
    }
    if (type == "passthrough_forward") {
        PassthroughForwardFrame frame{.forward = {}, .buffer_id = in.text("bufferId")};
        if (const Json* const forward = in.object("forward")) {
            WireReader inner(*forward);
            frame.forward = read_forward(inner);
            if (!inner.ok()) {
                in.add_problem("forward:", inner.problem());
            }
        }
        return frame;
    }
    return IgnoredFrame{.type = type};
}

template <class Frame, class Read>
std::expected<Frame, FrameProblem> decode_with(std::string_view line, Read read) {
    auto json = parse_frame(line);
    if (!json) {
        return std::unexpected(std::move(json.error()));
    }
    WireReader in(*json);
    const std::string type = in.required_text("type");
    Frame frame = read(type, in);
    if (!in.ok()) {
        return std::unexpected(FrameProblem{in.problem(), request_id_of(*json)});
    }
    return frame;
}

// The value of four hex digits at `at`; nothing when they are not there.
std::optional<unsigned> hex4(std::string_view text, std::size_t at) {
    if (text.size() < at + 4) {
        return std::nullopt;
    }
    unsigned value = 0;
    for (const char c : text.substr(at, 4)) {
        const char lower = static_cast<char>(c | 0x20);
        if (c >= '0' && c <= '9') {
            value = value * 16 + static_cast<unsigned>(c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value * 16 + static_cast<unsigned>(lower - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

bool is_high(unsigned unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(unsigned unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

std::string without_lone_surrogates(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] != '\\' || at + 1 >= text.size()) {
            out += text[at++];
            continue;
        }
        const auto unit = text[at + 1] == 'u' ? hex4(text, at + 2) : std::nullopt;
        if (!unit) {  // Another escape: both characters stand, so that \\u stays what it is.
            out += text.substr(at, 2);
            at += 2;
            continue;
        }
        const auto next = text.substr(at + 6, 2) == "\\u" ? hex4(text, at + 8) : std::nullopt;
        if (is_high(*unit) && next && is_low(*next)) {
            out += text.substr(at, 12);
            at += 12;
            continue;
        }
        out += is_high(*unit) || is_low(*unit) ? std::string_view("\\ufffd") : text.substr(at, 6);
        at += 6;
    }
    return out;
}

std::expected<GatewayFrame, FrameProblem> decode_gateway_frame(std::string_view line) {
    return decode_with<GatewayFrame>(line, read_gateway_frame);
}

std::expected<ConnectorFrame, FrameProblem> decode_connector_frame(std::string_view line) {
    return decode_with<ConnectorFrame>(line, read_connector_frame);
}

std::string encode_line(const GatewayFrame& frame) {
    const Overloaded json{
        [](const HelloFrame& hello) {
            Json made = Json::object(
                {{"type", "hello"}, {"platform", hello.platform}, {"botId", hello.bot_id}});
            if (hello.command_manifest.is_array()) {
                made.set("command_manifest", hello.command_manifest);
            }
            return made;
        },
        [](const OutboundFrame& outbound) {
            Json made = Json::object({
                {"type", "outbound"},
                {"requestId", outbound.request_id},
                {"action", encode(outbound.action)},
            });
            set_unless_empty(made, "platform", outbound.platform);
            set_unless_empty(made, "botId", outbound.bot_id);
            return made;
        },
        [](const InterruptFrame& interrupt) {
            return Json::object({
                {"type", "interrupt"},
                {"session_key", interrupt.session_key},
                {"reason", text_or_null(interrupt.reason)},
            });
        },
        [](const GoingIdleFrame&) { return Json::object({{"type", "going_idle"}}); },
        [](const InboundAckFrame& ack) {
            return Json::object({{"type", "inbound_ack"}, {"bufferId", ack.buffer_id}});
        },
        [](const IgnoredFrame& ignored) { return Json::object({{"type", ignored.type}}); },
    };
    return line_of(std::visit(json, frame));
}

std::string encode_line(const ConnectorFrame& frame) {
    const Overloaded json{
        [](const DescriptorFrame& descriptor) {
            return Json::object(
                {{"type", "descriptor"}, {"descriptor", encode(descriptor.descriptor)}});
        },
        [](const OutboundResultFrame& result) {
            return Json::object({
                {"type", "outbound_result"},
                {"requestId", result.request_id},
                {"result", encode(result.result)},
            });
        },
        [](const InboundFrame& inbound) {
            Json made = Json::object({{"type", "inbound"}, {"event", encode(inbound.event)}});
            set_unless_empty(made, "bufferId", inbound.buffer_id);
            return made;
        },
        [](const InterruptInboundFrame& interrupt) {
            return Json::object({
                {"type", "interrupt_inbound"},
                {"session_key", interrupt.session_key},
                {"chat_id", interrupt.chat_id},
            });
        },
        [](const GoingIdleAckFrame&) { return Json::object({{"type", "going_idle_ack"}}); },
        [](const PassthroughForwardFrame& passthrough) {
            Json made = Json::object(
                {{"type", "passthrough_forward"}, {"forward", forward_json(passthrough.forward)}});
            set_unless_empty(made, "bufferId", passthrough.buffer_id);
            return made;
        },
        [](const IgnoredFrame& ignored) { return Json::object({{"type", ignored.type}}); },
    };
    return line_of(std::visit(json, frame));
}

namespace {

std::string line_around(
    std::string_view opening, std::string_view json_text, std::string_view buffer_id) {
    std::string line(opening);
    line += json_text;
    if (!buffer_id.empty()) {
        line += R"(,"bufferId":)";
        append_json_string(line, buffer_id);
    }
    line += "}\n";
    return line;
}

}  // namespace

std::string inbound_line(std::string_view event_text, std::string_view buffer_id) {
    return line_around(R"({"type":"inbound","event":)", event_text, buffer_id);
}

std::string passthrough_line(std::string_view forward_text, std::string_view buffer_id) {
    return line_around(R"({"type":"passthrough_forward","forward":)", forward_text, buffer_id);
}

Json encode(const PassthroughForward& forward) {
    return forward_json(forward);
}

}  // namespace interlock
