// Fuzzes the WebSocket frames that strangers send, in both roles. Whatever arrives is read the same
// however it is cut, stays within the bound, and ends with a code that may be sent. What was read
// comes back from its own frame as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/web_socket_codec.h"

namespace interlock {

constexpr std::size_t kMessageMax = 4096;
using Event = WebSocketReader::Event;

struct Heard {
    Event event = Event::need_more;
    std::string payload;
    bool is_text = false;
    std::uint16_t code = 0;

    bool operator==(const Heard&) const = default;
};

Heard take(WebSocketReader& reader, Event event) {
    switch (event) {
        case Event::close:
            CHECK(reader.close().reason.size() <= kCloseReasonMax);
            return {event, reader.close().reason, false, reader.close().code};
        case Event::failed:
            CHECK(is_close_code(reader.fault().code) && !reader.fault().reason.empty());
            return {event, {}, false, reader.fault().code};
        case Event::message:
            CHECK(reader.payload().size() <= kMessageMax);
            return {event, reader.payload(), reader.is_text(), 0};
        case Event::ping:
        case Event::pong:
        case Event::need_more:
            CHECK(reader.payload().size() <= kControlPayloadMax);
            return {event, reader.payload(), false, 0};
    }
    return {};
}

std::vector<Heard> read(WebSocketRole role, std::string_view bytes, std::size_t piece) {
    WebSocketReader reader(role, kMessageMax);
    std::vector<Heard> heard;
    while (!bytes.empty()) {
        std::string_view arrived = bytes.substr(0, std::min(piece, bytes.size()));
        bytes.remove_prefix(arrived.size());
        while (true) {
            const WebSocketReader::Step step = reader.feed(arrived);
            CHECK(step.consumed <= arrived.size());
            arrived.remove_prefix(step.consumed);
            if (step.event == Event::need_more) {
                CHECK(arrived.empty());
                break;
            }
            heard.push_back(take(reader, step.event));
            if (step.event == Event::failed || step.event == Event::close) {
                return heard;
            }
        }
    }
    return heard;
}

void try_again(const Heard& one) {
    if (one.event != Event::message) {
        return;
    }
    const auto opcode = one.is_text ? WebSocketOpcode::text : WebSocketOpcode::binary;
    std::string bytes;
    append_frame(bytes, {.opcode = opcode, .payload = one.payload});
    CHECK(bytes.size() == frame_size(one.payload.size()));
    CHECK(read(WebSocketRole::client, bytes, bytes.size()) == std::vector{one});
}

void try_role(WebSocketRole role, std::string_view bytes, std::size_t piece) {
    const std::vector<Heard> whole = read(role, bytes, bytes.size());
    CHECK(read(role, bytes, piece) == whole);
    for (const Heard& one : whole) {
        try_again(one);
    }
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::size_t piece = data[0] % 16 + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    interlock::try_role(interlock::WebSocketRole::server, bytes, piece);
    interlock::try_role(interlock::WebSocketRole::client, bytes, piece);
    return 0;
}
