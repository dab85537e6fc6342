// JSON values as text, and the UTF-8 rules behind it. Recursion follows the value's own nesting,
// which the parser bounds.
#include <array>
#include <cstring>

#include "base/json.h"

namespace interlock {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr int kCompact = -1;
constexpr std::size_t kScratchBytesMax = std::size_t{1} << 20;  // More is not kept.

// Bytes that stand for themselves inside a JSON string.
constexpr std::array<bool, 256> plain_bytes() {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x80; ++byte) {
        plain[byte] = byte != '"' && byte != '\\';
    }
    return plain;
}
constexpr std::array<bool, 256> kPlain = plain_bytes();

// The same for eight bytes at a time: whether all of them are plain. The borrow of one byte can
// make the next look like one that is not, never the other way round.
bool is_plain_word(std::uint64_t word) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    constexpr std::uint64_t kHighs = 0x80 * kOnes;
    const auto has_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
    const std::uint64_t is_control = (word - 0x20 * kOnes) & ~word;
    const std::uint64_t is_quote = has_zero(word ^ ('"' * kOnes));
    const std::uint64_t is_backslash = has_zero(word ^ ('\\' * kOnes));
    return ((word | is_control | is_quote | is_backslash) & kHighs) == 0;
}

// How many bytes from `at` on are plain.
std::size_t plain_run(std::string_view text, std::size_t at) {
    const std::size_t start = at;
    while (text.size() - at >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        if (!is_plain_word(word)) {
            break;
        }
        at += sizeof word;
    }
    while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) {
        ++at;
    }
    return at - start;
}

// How many bytes from `at` on are ASCII, looking at eight at a time; may stop up to seven early.
std::size_t ascii_run(std::string_view text, std::size_t at) {
    const std::size_t start = at;
    while (text.size() - at >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, sizeof word);
        if ((word & 0x8080808080808080u) != 0) {
            break;
        }
        at += sizeof word;
    }
    return at - start;
}

void append_escape(std::string& out, char c) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    static constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kNames = "\"\\bfnrt";
    const std::size_t named = kNamed.find(c);
    out += '\\';
    if (named != std::string_view::npos) {
        out += kNames[named];
        return;
    }
    out += "u00";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
}

// Starts a line of pretty text; nothing in compact text.
void append_line_start(std::string& out, int indent) {
    if (indent != kCompact) {
        out += '\n';
        out.append(static_cast<std::size_t>(indent), ' ');
    }
}

void append_value(std::string& out, const Json& json, int indent);

void append_items(std::string& out, const Json::Array& items, int indent) {
    const int inner = indent == kCompact ? kCompact : indent + 2;
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) {
            out += ',';
        }
        append_line_start(out, inner);
        append_value(out, items[i], inner);
    }
    if (!items.empty()) {
        append_line_start(out, indent);
    }
    out += ']';
}

void append_members(std::string& out, const Json::Object& members, int indent) {
    const int inner = indent == kCompact ? kCompact : indent + 2;
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i > 0) {
            out += ',';
        }
        append_line_start(out, inner);
        append_json_string(out, members[i].first);
        out += indent == kCompact ? ":" : ": ";
        append_value(out, members[i].second, inner);
    }
    if (!members.empty()) {
        append_line_start(out, indent);
    }
    out += '}';
}

void append_value(std::string& out, const Json& json, int indent) {
    if (json.is_object()) {
        append_members(out, json.members(), indent);
    } else if (json.is_array()) {
        append_items(out, json.items(), indent);
    } else if (json.is_string()) {
        append_json_string(out, json.as_string());
    } else if (json.is_number()) {
        out += json.number_text();
    } else if (json.is_bool()) {
        out += json.as_bool() ? "true" : "false";
    } else {
        out += "null";
    }
}

}  // namespace

std::size_t utf8_length_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t offset) {
        return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0u;
    };
    const auto continues = [&](std::size_t offset) { return (byte(offset) & 0xC0u) == 0x80; };
    const unsigned lead = byte(0);
    if (at >= text.size()) {
        return 0;
    }
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return continues(1) ? 2 : 0;
    }
    // The second byte's narrower ranges shut out overlong forms, surrogates and beyond U+10FFFF.
    if (lead >= 0xE0 && lead <= 0xEF) {
        const bool allowed = !(lead == 0xE0 && byte(1) < 0xA0) && !(lead == 0xED && byte(1) > 0x9F);
        return allowed && continues(1) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const bool allowed = !(lead == 0xF0 && byte(1) < 0x90) && !(lead == 0xF4 && byte(1) > 0x8F);
        return allowed && continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

bool is_valid_utf8(std::string_view text) {
    std::size_t at = ascii_run(text, 0);
    while (at < text.size()) {
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            ++at;
            continue;
        }
        const std::size_t length = utf8_length_at(text, at);
        if (length == 0) {
            return false;
        }
        at += length;
        at += ascii_run(text, at);
    }
    return true;
}

bool append_json_string(std::string& out, std::string_view text) {
    bool whole = true;
    out += '"';
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t plain = plain_run(text, at);
        out.append(text, at, plain);
        at += plain;
        if (at == text.size()) {
            break;
        }
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            append_escape(out, text[at++]);
            continue;
        }
        const std::size_t length = utf8_length_at(text, at);
        out.append(length == 0 ? kReplacement : text.substr(at, length));
        at += length == 0 ? 1 : length;
        whole = whole && length != 0;
    }
    out += '"';
    return whole;
}

std::string to_text(const Json& json) {
    // Grown once per thread instead of in steps for every text; the result is as large as it is.
    thread_local std::string scratch;
    scratch.clear();
    append_value(scratch, json, kCompact);
    std::string out(scratch);
    if (scratch.capacity() > kScratchBytesMax) {
        scratch = std::string();
    }
    return out;
}

std::string to_pretty_text(const Json& json) {
    std::string out;
    append_value(out, json, 0);
    return out;
}

}  // namespace interlock
