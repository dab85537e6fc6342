#include "base/text_fold.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace interlock {
namespace {

struct Character {
    std::uint32_t code = 0;
    std::size_t length = 1;
};

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// What is no UTF-8 is a byte of its own.
Character character_at(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (length == 1 || at + length > text.size()) {
        return {.code = first, .length = 1};
    }
    std::uint32_t code = first & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[at + i])) {
            return {.code = first, .length = 1};
        }
        code = (code << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    return {.code = code, .length = length};
}

struct Range {
    std::uint32_t from;
    std::uint32_t to;
};

constexpr std::array kInvisible = {
    Range{0x00ad, 0x00ad},  // Soft hyphen.
    Range{0x034f, 0x034f},
    Range{0x061c, 0x061c},
    Range{0x115f, 0x1160},
    Range{0x17b4, 0x17b5},
    Range{0x180b, 0x180e},
    Range{0x200b, 0x200f},  // Zero-width space and joiners, marks of direction.
    Range{0x202a, 0x202e},
    Range{0x2060, 0x206f},
    Range{0xfe00, 0xfe0f},  // Variants of a form.
    Range{0xfeff, 0xfeff},
    Range{0xe0000, 0xe007f}};
constexpr std::array kBlanks = {
    Range{0x00a0, 0x00a0},
    Range{0x2000, 0x200a},
    Range{0x202f, 0x202f},
    Range{0x205f, 0x205f},
    Range{0x3000, 0x3000}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t code) {
    return std::ranges::any_of(
        ranges, [code](const Range& range) { return code >= range.from && code <= range.to; });
}

char letter(std::uint32_t index) {
    return static_cast<char>(index < 26 ? 'A' + index : 'a' + (index - 26));
}

constexpr char kNothing = '\0';

// The ASCII character that it reads as, kNothing for one that cannot be seen; nothing: itself.
std::optional<char> look_of(std::uint32_t code) {
    if (is_in(kInvisible, code)) {
        return kNothing;
    }
    if (is_in(kBlanks, code)) {
        return ' ';
    }
    if (code >= 0xff01 && code <= 0xff5e) {  // Full width.
        return static_cast<char>(code - 0xff01 + '!');
    }
    if (code >= 0x1d400 && code < 0x1d400 + 13 * 52) {  // Bold, italic, script and the like.
        return letter((code - 0x1d400) % 52);
    }
    if (code >= 0x1d7ce && code <= 0x1d7ff) {
        return static_cast<char>('0' + (code - 0x1d7ce) % 10);
    }
    if (code >= 0x24b6 && code <= 0x24e9) {  // Circled.
        return letter(code - 0x24b6);
    }
    switch (code) {
        case 0x2010:
        case 0x2011:
            return '-';
        case 0xfe55:
            return ':';
        case 0xfe66:
            return '=';
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<FoldedText> fold_look_alikes(std::string_view text) {
    const auto is_high = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
    const auto first = std::ranges::find_if(text, is_high);
    if (first == text.end()) {
        return std::nullopt;
    }
    FoldedText out;
    bool is_changed = false;
    for (std::size_t at = 0; at < text.size();) {
        const Character here = character_at(text, at);
        const std::optional<char> look =
            here.length > 1 ? look_of(here.code) : std::optional<char>();
        is_changed = is_changed || look.has_value();
        for (std::size_t i = 0; !look && i < here.length; ++i) {
            out.text += text[at + i];
            out.begins.push_back(at + i);
            out.ends.push_back(at + i + 1);
        }
        if (look && *look != kNothing) {
            out.text += *look;
            out.begins.push_back(at);
            out.ends.push_back(at + here.length);
        }
        at += here.length;
    }
    return is_changed ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace interlock
