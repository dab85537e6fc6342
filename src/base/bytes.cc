// Hex, base64 and base32. The two base-N families share one bit packer: an alphabet of 2^bits
// characters, most significant bits first. Left-over bits of the last character must be zero, so
// that each byte string has exactly one text.
#include "base/bytes.h"

#include <sodium/utils.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBase32Lower = "abcdefghijklmnopqrstuvwxyz234567";

std::string pack(std::string_view bytes, std::string_view alphabet, unsigned bits) {
    std::string out;
    out.reserve((bytes.size() * 8 + bits - 1) / bits);
    const unsigned mask = (1u << bits) - 1;
    unsigned held = 0;
    unsigned held_bits = 0;
    for (const char c : bytes) {
        held = (held << 8) | static_cast<unsigned char>(c);
        held_bits += 8;
        while (held_bits >= bits) {
            held_bits -= bits;
            out += alphabet[(held >> held_bits) & mask];
        }
        held &= (1u << held_bits) - 1;
    }
    if (held_bits > 0) {
        out += alphabet[(held << (bits - held_bits)) & mask];
    }
    return out;
}

std::optional<std::string> unpack(std::string_view text, std::string_view alphabet, unsigned bits) {
    std::string out;
    out.reserve(text.size() * bits / 8);
    unsigned held = 0;
    unsigned held_bits = 0;
    for (const char c : text) {
        const std::size_t value = alphabet.find(c);
        if (value == std::string_view::npos) {
            return std::nullopt;
        }
        held = (held << bits) | static_cast<unsigned>(value);
        held_bits += bits;
        if (held_bits >= 8) {
            held_bits -= 8;
            out += static_cast<char>(held >> held_bits);
            held &= (1u << held_bits) - 1;
        }
    }
    // A whole unused character, or bits no encoder sets, would give a second text for these bytes.
    if (held_bits >= bits || held != 0) {
        return std::nullopt;
    }
    return out;
}

std::string_view without_padding(std::string_view text) {
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    return text;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += kHexDigits[byte >> 4];
        out += kHexDigits[byte & 15];
    }
    return out;
}

Result<std::string> from_hex(std::string_view text) {
    auto bytes = text.size() % 2 == 0 ? unpack(text, kHexDigits, 4) : std::nullopt;
    if (!bytes) {
        return fail(errors::invalid_request, "expected pairs of lower-case hex digits");
    }
    return *std::move(bytes);
}

std::string to_base64(std::string_view bytes) {
    std::string out = pack(bytes, kBase64, 6);
    out.append((4 - out.size() % 4) % 4, '=');
    return out;
}

Result<std::string> from_base64(std::string_view text) {
    const std::string_view body = without_padding(text);
    const bool padded = text.size() % 4 == 0 && text.size() - body.size() <= 2;
    auto bytes = padded ? unpack(body, kBase64, 6) : std::nullopt;
    if (!bytes) {
        return fail(errors::invalid_request, "expected base64 with padding");
    }
    return *std::move(bytes);
}

std::string to_base64url(std::string_view bytes) {
    return pack(bytes, kBase64Url, 6);
}

Result<std::string> from_base64url(std::string_view text) {
    auto bytes = unpack(text, kBase64Url, 6);
    if (!bytes) {
        return fail(errors::invalid_request, "expected url-safe base64 without padding");
    }
    return *std::move(bytes);
}

std::string to_base32(std::string_view bytes) {
    return pack(bytes, kBase32, 5);
}

std::string to_base32_lower(std::string_view bytes) {
    return pack(bytes, kBase32Lower, 5);
}

Result<std::string> from_base32(std::string_view text) {
    const std::string_view body = without_padding(text);
    const bool padding_fits =
        body.size() == text.size() || (text.size() % 8 == 0 && text.size() - body.size() < 8);
    std::string upper(body);
    for (char& c : upper) {
        if (c >= 'a' && c <= 'z') {
            c = static_cast<char>(c - ('a' - 'A'));
        }
    }
    auto bytes = padding_fits ? unpack(upper, kBase32, 5) : std::nullopt;
    if (!bytes) {
        return fail(errors::invalid_request, "expected base32");
    }
    return *std::move(bytes);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace interlock
