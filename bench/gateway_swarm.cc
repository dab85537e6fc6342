#include "bench/gateway_swarm.h"

#include <ctime>

#include "base/errors.h"
#include "base/json.h"
#include "net/web_socket_codec.h"
#include "relay/rules/upgrade_token.h"

namespace interlock {
namespace {

constexpr std::chrono::seconds kDialPatience{120};

void append_text_frame(std::string& out, std::string_view payload) {
    append_frame(
        out,
        {.opcode = WebSocketOpcode::text,
         .payload = payload,
         .is_final = true,
         .mask = WebSocketMask{'\x17', '\x2a', '\x33', '\x4c'}});
}

// The body of a whole HTTP answer; nothing while some of it is missing.
std::optional<std::string_view> body_in(std::string_view bytes) {
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t head = bytes.find("\r\n\r\n");
    const std::size_t length = bytes.find(kLength);
    if (head == std::string_view::npos || length == std::string_view::npos || length > head) {
        return std::nullopt;
    }
    const std::size_t size = static_cast<std::size_t>(
        std::strtoull(bytes.data() + length + kLength.size(), nullptr, 10));
    if (bytes.size() < head + 4 + size) {
        return std::nullopt;
    }
    return bytes.substr(head + 4, size);
}

}  // namespace

std::string bench_gateway_id(std::int64_t number) {
    return "gateway-" + std::to_string(number);
}

std::string bench_instance_id(std::int64_t number) {
    return "instance-" + std::to_string(number);
}

FrameSpan find_frame(std::string_view bytes) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
    if (bytes.size() < 2) {
        return {};
    }
    std::size_t head = 2;
    std::uint64_t length = byte(1) & 0x7fU;
    const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (bytes.size() < head + more) {
        return {};
    }
    if (more > 0) {
        length = 0;
        for (; head < 2 + more; ++head) {
            length = (length << 8U) | byte(head);
        }
    }
    if (bytes.size() - head < length) {
        return {};
    }
    return {
        .opcode = static_cast<std::uint8_t>(byte(0) & 0x0fU),
        .payload = head,
        .end = head + static_cast<std::size_t>(length)};
}

std::string_view buffer_id_in(std::string_view line) {
    constexpr std::string_view kKey = R"("bufferId":")";
    const std::size_t key = line.rfind(kKey);
    if (key == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = line.substr(key + kKey.size());
    return rest.substr(0, rest.find('"'));
}

Result<GatewaySwarm> GatewaySwarm::create() {
    TRY_ASSIGN(SocketSwarm swarm, SocketSwarm::create());
    return GatewaySwarm(std::move(swarm));
}

Result<void> GatewaySwarm::begin(const Dial& dial, std::int64_t number) {
    TRY_ASSIGN(const std::size_t at, swarm_.connect(dial.port));
    stages_.resize(at + 1, Stage::upgrading);
    const std::string token = mint_upgrade_token(
        bench_gateway_id(number),
        kBenchGatewaySecret,
        static_cast<std::int64_t>(std::time(nullptr)) + kUpgradeTokenSeconds);
    swarm_.send(
        at,
        "GET /relay HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(dial.port) +
            "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: YmVuY2htYXJrLWtleS0xNg==\r\nSec-WebSocket-Version: 13\r\n"
            "Authorization: Bearer " +
            token + "\r\n\r\n");
    return {};
}

Result<void> GatewaySwarm::dial(const Dial& dial) {
    hello_.clear();
    append_text_frame(
        hello_,
        to_text(Json::object(
            {{"type", "hello"}, {"platform", dial.platform}, {"botId", dial.bot_id}})) +
            "\n");
    const auto deadline = std::chrono::steady_clock::now() + kDialPatience;
    std::int64_t begun = 0;
    ready_ = 0;
    while (ready_ < dial.count) {
        while (begun < dial.count && begun - ready_ < static_cast<std::int64_t>(dial.at_once)) {
            TRY(begin(dial, begun++));
        }
        TRY(swarm_.turn(std::chrono::milliseconds(100), [this](auto number, auto bytes) {
            return take(number, bytes);
        }));
        if (std::chrono::steady_clock::now() > deadline) {
            return fail(
                errors::timed_out,
                "Only " + std::to_string(ready_) + " of " + std::to_string(dial.count) +
                    " gateways were let in in time.");
        }
    }
    return {};
}

Result<void> GatewaySwarm::take_message(std::size_t number, std::string_view payload) {
    if (stages_[number] == Stage::greeting) {
        if (!payload.starts_with(R"({"type":"descriptor")")) {
            return fail(
                errors::unavailable,
                "A hello was answered \"" + std::string(payload.substr(0, 200)) + "\".");
        }
        stages_[number] = Stage::open;
        ++ready_;
        return {};
    }
    // Each line is acknowledged in a message of its own, as the real client does it.
    for (std::size_t end = payload.find('\n'); end != std::string_view::npos;
         end = payload.find('\n')) {
        const std::string_view id = buffer_id_in(payload.substr(0, end));
        payload.remove_prefix(end + 1);
        if (id.empty()) {
            continue;
        }
        std::string line = R"({"type":"inbound_ack","bufferId":")";
        line += id;
        line += "\"}\n";
        std::string frame;
        append_text_frame(frame, line);
        swarm_.send(number, frame);
        ++acknowledged_;
    }
    return {};
}

Result<std::size_t> GatewaySwarm::take(std::size_t number, std::string_view bytes) {
    if (number == asking_) {
        if (const auto body = body_in(bytes)) {
            answer_ = *body;
            has_answer_ = true;
            return bytes.size();
        }
        return std::size_t{0};
    }
    std::size_t done = 0;
    if (stages_[number] == Stage::upgrading) {
        const std::size_t head = bytes.find("\r\n\r\n");
        if (head == std::string_view::npos) {
            return std::size_t{0};
        }
        if (!bytes.starts_with("HTTP/1.1 101")) {
            return fail(
                errors::unavailable,
                "A gateway was answered \"" + std::string(bytes.substr(0, 200)) + "\".");
        }
        done = head + 4;
        stages_[number] = Stage::greeting;
        swarm_.send(number, hello_);
    }
    while (true) {
        const std::string_view rest = bytes.substr(done);
        const FrameSpan frame = find_frame(rest);
        if (frame.end == 0) {
            return done;
        }
        const std::string_view payload = rest.substr(frame.payload, frame.end - frame.payload);
        switch (static_cast<WebSocketOpcode>(frame.opcode)) {
            case WebSocketOpcode::text:
                TRY(take_message(number, payload));
                break;
            case WebSocketOpcode::ping: {
                std::string pong;
                append_frame(
                    pong,
                    {.opcode = WebSocketOpcode::pong,
                     .payload = payload,
                     .is_final = true,
                     .mask = WebSocketMask{}});
                swarm_.send(number, pong);
                break;
            }
            case WebSocketOpcode::close:
                return fail(
                    errors::unavailable,
                    "A gateway's socket was closed: " +
                        std::string(payload.substr(std::min<std::size_t>(2, payload.size()))));
            default:
                break;
        }
        done += frame.end;
    }
}

Result<std::string> GatewaySwarm::serve_while_asking(
    std::uint16_t port, const std::string& path, std::chrono::seconds patience) {
    TRY_ASSIGN(asking_, swarm_.connect(port));
    stages_.resize(asking_ + 1, Stage::open);
    has_answer_ = false;
    swarm_.send(asking_, "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!has_answer_) {
        TRY(swarm_.turn(std::chrono::milliseconds(100), [this](auto number, auto bytes) {
            return take(number, bytes);
        }));
        if (std::chrono::steady_clock::now() > deadline) {
            return fail(
                errors::timed_out,
                path + " was not answered in time; " + std::to_string(acknowledged_) +
                    " messages were acknowledged.");
        }
    }
    return answer_;
}

Result<void> GatewaySwarm::serve_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        TRY(swarm_.turn(std::chrono::milliseconds(20), [this](auto number, auto bytes) {
            return take(number, bytes);
        }));
    }
    return {};
}

}  // namespace interlock
