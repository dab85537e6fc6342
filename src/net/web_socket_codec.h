// WebSocket frames out of bytes and back (RFC 6455 section 5), without sockets, for both roles. Any
// split of the same bytes gives the same events.
//
// What two readers could understand differently is refused: reserved bits and opcodes, lengths that
// are longer written than needed, frames masked (or not) against the rule of their side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

inline constexpr std::size_t kControlPayloadMax = 125;
inline constexpr std::size_t kCloseReasonMax = kControlPayloadMax - 2;
inline constexpr std::size_t kFrameHeadMax = 14;

enum class WebSocketRole { server, client };

enum class WebSocketOpcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

using WebSocketMask = std::array<char, 4>;

// Tells after every piece whether what came so far can still become UTF-8.
class Utf8Checker {
public:
    bool feed(std::string_view bytes);  // False once it is broken.
    bool is_whole() const { return missing_ == 0; }

private:
    std::uint8_t missing_ = 0;  // Bytes of the code point that are still to come ...
    std::uint8_t low_ = 0x80;   // ... and between what the next one must lie.
    std::uint8_t high_ = 0xbf;
};

bool is_close_code(std::uint16_t code);  // One that may stand in a close frame.

struct WebSocketClose {
    std::uint16_t code = 0;  // 1005: the frame had none.
    std::string reason;
};

// Why a peer cannot be listened to any longer: the code to close with, and half a sentence.
struct WebSocketFault {
    std::uint16_t code = 0;
    std::string_view reason;
};

class WebSocketReader {
public:
    enum class Event { need_more, message, ping, pong, close, failed };
    struct Step {
        std::size_t consumed = 0;
        Event event = Event::need_more;
    };

    // `role` is ours; it says which frames must be masked.
    WebSocketReader(WebSocketRole role, std::size_t message_bytes_max)
        : role_(role), message_bytes_max_(message_bytes_max) {}

    // Goes on to the next event at most; `bytes` is what has arrived and was not consumed. After
    // `failed` and `close` there is nothing more to read.
    Step feed(std::string_view bytes);

    std::string& payload() { return is_control() ? control_ : message_; }  // Of the last event.
    bool is_text() const { return is_text_; }                              // After `message`.
    const WebSocketClose& close() const { return close_; }                 // After `close`.
    const WebSocketFault& fault() const { return fault_; }                 // After `failed`.

    // Something of a message has arrived, but not its end.
    bool is_in_message() const { return is_in_frame_ || is_fragmented_ || head_size_ > 0; }

private:
    bool is_control() const { return opcode_ >= WebSocketOpcode::close; }
    Step fail(std::size_t consumed, std::uint16_t code, std::string_view reason);
    void begin_event();
    std::size_t gather_head(std::string_view bytes);
    std::optional<WebSocketFault> read_head();
    std::optional<WebSocketFault> check_opcode(std::uint8_t first);
    std::optional<WebSocketFault> read_length();
    std::size_t take_payload(std::string_view bytes);
    Step end_frame(std::size_t consumed);
    Step end_close(std::size_t consumed);

    const WebSocketRole role_;
    const std::size_t message_bytes_max_;

    std::array<char, kFrameHeadMax> head_{};  // As much of it as has arrived.
    std::uint8_t head_size_ = 0;
    bool is_in_frame_ = false;  // The head is in; `left_` bytes of the payload are missing.
    bool is_final_ = false;
    WebSocketOpcode opcode_ = WebSocketOpcode::text;  // Of the current frame.
    WebSocketMask mask_{};
    std::uint8_t mask_at_ = 0;
    std::uint64_t left_ = 0;

    bool is_fragmented_ = false;  // A message has begun and its last frame has not.
    bool is_text_ = false;
    bool has_message_ = false;  // The last event was one: the next byte begins anew.
    Utf8Checker utf8_;
    std::string message_;
    std::string control_;
    WebSocketClose close_;
    WebSocketFault fault_;
};

struct WebSocketFrame {
    WebSocketOpcode opcode = WebSocketOpcode::text;
    std::string_view payload;
    bool is_final = true;
    std::optional<WebSocketMask> mask{};  // A client must, a server must not.
};
void append_frame(std::string& out, const WebSocketFrame& frame);
std::size_t frame_size(std::size_t payload_size);  // Unmasked.

// The payload of a close frame; the reason is cut between two characters so that it fits, and left
// out when it is no UTF-8.
std::string close_payload(std::uint16_t code, std::string_view reason);

}  // namespace interlock
