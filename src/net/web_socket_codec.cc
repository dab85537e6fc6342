// Frames and messages.
#include "net/web_socket_codec.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "net/web_socket.h"

namespace interlock {
namespace {

// What an empty reader may keep for the next message.
constexpr std::size_t kKeptBytes = 512;

constexpr std::uint8_t kFinalBit = 0x80;
constexpr std::uint8_t kReservedBits = 0x70;
constexpr std::uint8_t kOpcodeBits = 0x0f;
constexpr std::uint8_t kMaskBit = 0x80;
constexpr std::uint8_t kLengthBits = 0x7f;
constexpr std::uint8_t kLength16 = 126;
constexpr std::uint8_t kLength64 = 127;

std::uint8_t byte_of(char c) {
    return static_cast<std::uint8_t>(c);
}

std::size_t length_bytes(std::uint8_t second) {
    switch (second & kLengthBits) {
        case kLength16:
            return 2;
        case kLength64:
            return 8;
        default:
            return 0;
    }
}

std::size_t head_bytes(std::uint8_t second) {
    return 2 + length_bytes(second) + ((second & kMaskBit) != 0 ? 4 : 0);
}

std::uint64_t read_big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) {
        value = value << 8 | byte_of(c);
    }
    return value;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> shift & 0xff);
    }
}

// Eight bytes at a time; the compiler makes more of it where it can.
void apply_mask(char* bytes, std::size_t size, const WebSocketMask& mask) {
    std::uint64_t wide = 0;
    std::memcpy(&wide, mask.data(), 4);
    std::memcpy(reinterpret_cast<char*>(&wide) + 4, mask.data(), 4);
    std::size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at, 8);
        word ^= wide;
        std::memcpy(bytes + at, &word, 8);
    }
    for (; at < size; ++at) {
        bytes[at] = static_cast<char>(bytes[at] ^ mask[at % 4]);
    }
}

// The mask as it looks from its `by`-th byte on.
WebSocketMask rotated(const WebSocketMask& mask, std::size_t by) {
    return {mask[by % 4], mask[(by + 1) % 4], mask[(by + 2) % 4], mask[(by + 3) % 4]};
}

WebSocketFault protocol_fault(std::string_view reason) {
    return {close_codes::protocol_error, reason};
}

// The length of the longest run of ASCII at the beginning.
std::size_t ascii_prefix(std::string_view bytes) {
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        if ((word & 0x8080808080808080U) != 0) {
            break;
        }
    }
    while (at < bytes.size() && byte_of(bytes[at]) < 0x80) {
        ++at;
    }
    return at;
}

}  // namespace

bool Utf8Checker::feed(std::string_view bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (missing_ == 0) {
            at += ascii_prefix(bytes.substr(at));
            if (at == bytes.size()) {
                break;
            }
        }
        const std::uint8_t byte = byte_of(bytes[at++]);
        if (missing_ > 0) {
            if (byte < low_ || byte > high_) {
                return false;
            }
            --missing_;
            low_ = 0x80;
            high_ = 0xbf;
        } else if (byte >= 0xc2 && byte <= 0xdf) {
            missing_ = 1;
        } else if (byte >= 0xe0 && byte <= 0xef) {
            missing_ = 2;
            low_ = byte == 0xe0 ? 0xa0 : 0x80;   // Not longer written than needed.
            high_ = byte == 0xed ? 0x9f : 0xbf;  // No surrogates.
        } else if (byte >= 0xf0 && byte <= 0xf4) {
            missing_ = 3;
            low_ = byte == 0xf0 ? 0x90 : 0x80;
            high_ = byte == 0xf4 ? 0x8f : 0xbf;  // Not beyond U+10FFFF.
        } else {
            return false;
        }
    }
    return true;
}

// 1000 to 1015 as registered with IANA, of which some are never sent; then those for libraries and
// for applications.
bool is_close_code(std::uint16_t code) {
    if (code >= 3000) {
        return code <= 4999;
    }
    return code >= 1000 && code <= 1014 && code != 1004 && code != close_codes::none &&
           code != close_codes::broken;
}

WebSocketReader::Step WebSocketReader::fail(
    std::size_t consumed, std::uint16_t code, std::string_view reason) {
    fault_ = {code, reason};
    return {consumed, Event::failed};
}

// Lets go of the message that was handed over.
void WebSocketReader::begin_event() {
    if (!has_message_) {
        return;
    }
    has_message_ = false;
    message_.clear();
    if (message_.capacity() > kKeptBytes) {
        std::string().swap(message_);
    }
}

WebSocketReader::Step WebSocketReader::feed(std::string_view bytes) {
    begin_event();
    std::size_t consumed = 0;
    while (true) {
        if (!is_in_frame_) {
            consumed += gather_head(bytes.substr(consumed));
            // What is wrong in the first two bytes is said without waiting for more.
            if (const auto fault = read_head()) {
                return fail(consumed, fault->code, fault->reason);
            }
            if (!is_in_frame_) {
                return {consumed, Event::need_more};
            }
        }
        consumed += take_payload(bytes.substr(consumed));
        if (fault_.code != 0) {
            return {consumed, Event::failed};
        }
        if (left_ > 0) {
            return {consumed, Event::need_more};
        }
        const Step step = end_frame(consumed);
        if (step.event != Event::need_more) {
            return step;
        }
    }
}

std::size_t WebSocketReader::gather_head(std::string_view bytes) {
    std::size_t taken = 0;
    const auto fill = [&](std::size_t wanted) {
        while (head_size_ < wanted && taken < bytes.size()) {
            head_[head_size_++] = bytes[taken++];
        }
    };
    fill(2);
    if (head_size_ >= 2) {
        fill(head_bytes(byte_of(head_[1])));
    }
    return taken;
}

std::optional<WebSocketFault> WebSocketReader::read_head() {
    if (head_size_ == 0) {
        return std::nullopt;
    }
    if (const auto fault = check_opcode(byte_of(head_[0]))) {
        return fault;
    }
    if (head_size_ < 2) {
        return std::nullopt;
    }
    const std::uint8_t second = byte_of(head_[1]);
    const bool is_masked = (second & kMaskBit) != 0;
    if (is_masked != (role_ == WebSocketRole::server)) {
        return protocol_fault(is_masked ? "masked frame of a server" : "unmasked frame");
    }
    if ((byte_of(head_[0]) & kOpcodeBits) >= 8 && (second & kLengthBits) > kControlPayloadMax) {
        return protocol_fault("control frame too large");
    }
    const std::size_t length_end = 2 + length_bytes(second);
    if (head_size_ < length_end) {
        return std::nullopt;
    }
    if (const auto fault = read_length()) {
        return fault;
    }
    if (head_size_ < head_bytes(second)) {
        return std::nullopt;
    }
    opcode_ = static_cast<WebSocketOpcode>(byte_of(head_[0]) & kOpcodeBits);
    is_final_ = (byte_of(head_[0]) & kFinalBit) != 0;
    mask_ = {};
    if (is_masked) {
        std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(length_end), 4, mask_.begin());
    }
    mask_at_ = 0;
    head_size_ = 0;
    is_in_frame_ = true;
    if (is_control()) {
        control_.clear();
    } else if (opcode_ != WebSocketOpcode::continuation) {
        is_text_ = opcode_ == WebSocketOpcode::text;
        utf8_ = {};
    }
    return std::nullopt;
}

std::optional<WebSocketFault> WebSocketReader::check_opcode(std::uint8_t first) {
    if ((first & kReservedBits) != 0) {
        return protocol_fault("reserved bit set");
    }
    const bool is_final = (first & kFinalBit) != 0;
    switch (static_cast<WebSocketOpcode>(first & kOpcodeBits)) {
        case WebSocketOpcode::continuation:
            return is_fragmented_ ? std::nullopt
                                  : std::optional(protocol_fault("nothing to continue"));
        case WebSocketOpcode::text:
        case WebSocketOpcode::binary:
            return is_fragmented_ ? std::optional(protocol_fault("message inside a message"))
                                  : std::nullopt;
        case WebSocketOpcode::close:
        case WebSocketOpcode::ping:
        case WebSocketOpcode::pong:
            return is_final ? std::nullopt
                            : std::optional(protocol_fault("fragmented control frame"));
    }
    return protocol_fault("reserved opcode");
}

// Of the current head, whose length field is complete.
std::optional<WebSocketFault> WebSocketReader::read_length() {
    const std::uint8_t second = byte_of(head_[1]);
    const std::size_t extra = length_bytes(second);
    left_ = second & kLengthBits;
    if (extra > 0) {
        left_ = read_big_endian(std::string_view(head_.data() + 2, extra));
        const std::uint64_t least = extra == 2 ? kLength16 : 0x10000;
        if (left_ < least || left_ >> 63 != 0) {
            return protocol_fault("length not minimal");
        }
    }
    // Refused before it has arrived: nobody gets memory by announcing.
    const bool is_data = (byte_of(head_[0]) & kOpcodeBits) < 8;
    if (is_data && left_ > message_bytes_max_ - message_.size()) {
        return WebSocketFault{close_codes::too_large, "message too large"};
    }
    return std::nullopt;
}

std::size_t WebSocketReader::take_payload(std::string_view bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (count == 0) {
        return 0;
    }
    std::string& into = payload();
    const std::size_t begin = into.size();
    into.append(bytes.substr(0, count));
    if (role_ == WebSocketRole::server) {
        apply_mask(into.data() + begin, count, rotated(mask_, mask_at_));
        mask_at_ = static_cast<std::uint8_t>((mask_at_ + count) % 4);
    }
    left_ -= count;
    if (!is_control() && is_text_ && !utf8_.feed(std::string_view(into).substr(begin))) {
        fault_ = {close_codes::invalid_text, "text is not UTF-8"};
    }
    return count;
}

WebSocketReader::Step WebSocketReader::end_frame(std::size_t consumed) {
    is_in_frame_ = false;
    switch (opcode_) {
        case WebSocketOpcode::ping:
            return {consumed, Event::ping};
        case WebSocketOpcode::pong:
            return {consumed, Event::pong};
        case WebSocketOpcode::close:
            return end_close(consumed);
        case WebSocketOpcode::continuation:
        case WebSocketOpcode::text:
        case WebSocketOpcode::binary:
            break;
    }
    is_fragmented_ = !is_final_;
    if (!is_final_) {
        return {consumed, Event::need_more};
    }
    if (is_text_ && !utf8_.is_whole()) {
        return fail(consumed, close_codes::invalid_text, "text is not UTF-8");
    }
    has_message_ = true;
    return {consumed, Event::message};
}

WebSocketReader::Step WebSocketReader::end_close(std::size_t consumed) {
    if (control_.empty()) {
        close_ = {close_codes::none, {}};
        return {consumed, Event::close};
    }
    if (control_.size() < 2) {
        return fail(consumed, close_codes::protocol_error, "half a close code");
    }
    const auto code =
        static_cast<std::uint16_t>(read_big_endian(std::string_view(control_).substr(0, 2)));
    if (!is_close_code(code)) {
        return fail(consumed, close_codes::protocol_error, "invalid close code");
    }
    Utf8Checker checker;
    if (!checker.feed(std::string_view(control_).substr(2)) || !checker.is_whole()) {
        return fail(consumed, close_codes::invalid_text, "close reason is not UTF-8");
    }
    close_ = {code, control_.substr(2)};
    return {consumed, Event::close};
}

void append_frame(std::string& out, const WebSocketFrame& frame) {
    const std::size_t size = frame.payload.size();
    CHECK(frame.opcode < WebSocketOpcode::close || (frame.is_final && size <= kControlPayloadMax));
    const std::uint8_t mask_bit = frame.mask ? kMaskBit : 0;
    out += static_cast<char>((frame.is_final ? kFinalBit : 0) | std::uint8_t(frame.opcode));
    if (size < kLength16) {
        out += static_cast<char>(mask_bit | size);
    } else if (size <= 0xffff) {
        out += static_cast<char>(mask_bit | kLength16);
        append_big_endian(out, size, 2);
    } else {
        out += static_cast<char>(mask_bit | kLength64);
        append_big_endian(out, size, 8);
    }
    if (!frame.mask) {
        out += frame.payload;
        return;
    }
    out.append(frame.mask->data(), frame.mask->size());
    const std::size_t begin = out.size();
    out += frame.payload;
    apply_mask(out.data() + begin, size, *frame.mask);
}

std::size_t frame_size(std::size_t payload_size) {
    const std::size_t head = payload_size < kLength16 ? 2 : payload_size <= 0xffff ? 4 : 10;
    return head + payload_size;
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
    if (code == close_codes::none) {
        return {};
    }
    CHECK(is_close_code(code));
    Utf8Checker checker;
    if (!checker.feed(reason) || !checker.is_whole()) {
        reason = {};
    }
    std::size_t size = std::min(reason.size(), kCloseReasonMax);
    while (size < reason.size() && size > 0 && (byte_of(reason[size]) & 0xc0) == 0x80) {
        --size;
    }
    std::string payload;
    append_big_endian(payload, code, 2);
    payload += reason.substr(0, size);
    return payload;
}

}  // namespace interlock
