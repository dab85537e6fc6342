// RFC 8785. The two delicate parts are the order of keys (by UTF-16 code units, which differs from
// byte order only above U+FFFF) and the text of numbers (as ECMAScript prints a double).
#include "base/canonical_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/errors.h"

namespace interlock {
namespace {

// A number as digits d1 d2 … dk with value 0.d1d2…dk × 10^point; no digits for zero.
struct Digits {
    std::string text;
    std::int64_t point = 0;
    friend bool operator==(const Digits&, const Digits&) = default;
};

// More exponent than this cannot come back into range by adding digits that fit a document.
constexpr std::int64_t kExponentCut = 1'000'000'000;

// Most texts are shorter; each would otherwise grow in steps.
constexpr std::size_t kTextBytesExpected = 512;

// Of a JSON number's text, or of what std::to_chars prints; the sign is ignored.
Digits digits_of(std::string_view text) {
    Digits digits;
    const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
    bool after_point = false;
    for (const char c : text.substr(0, exponent_at)) {
        if (c == '.') {
            after_point = true;
        } else if (c != '-') {
            digits.text += c;
            digits.point += after_point ? 0 : 1;
        }
    }
    std::int64_t exponent = 0;
    for (const char c : text.substr(exponent_at)) {
        if (c >= '0' && c <= '9') {
            exponent = std::min(exponent * 10 + (c - '0'), kExponentCut);
        }
    }
    const bool down = text.substr(exponent_at).find('-') != std::string_view::npos;
    digits.point += down ? -exponent : exponent;
    const std::size_t leading = std::min(digits.text.find_first_not_of('0'), digits.text.size());
    digits.text.erase(0, leading);
    digits.point -= static_cast<std::int64_t>(leading);
    while (digits.text.ends_with('0')) {
        digits.text.pop_back();
    }
    return digits;
}

// ECMAScript's Number::toString for a positive number, from its shortest digits.
void append_as_ecmascript(std::string& out, const Digits& digits) {
    const auto count = static_cast<std::int64_t>(digits.text.size());
    const std::int64_t point = digits.point;
    if (point > 21 || point <= -6) {
        const std::int64_t exponent = point - 1;
        out += digits.text[0];
        if (count > 1) {
            out += '.';
            out.append(digits.text, 1);
        }
        out += exponent < 0 ? "e-" : "e+";
        out += std::to_string(std::abs(exponent));
    } else if (point >= count) {
        out += digits.text;
        out.append(static_cast<std::size_t>(point - count), '0');
    } else if (point > 0) {
        out.append(digits.text, 0, static_cast<std::size_t>(point));
        out += '.';
        out.append(digits.text, static_cast<std::size_t>(point));
    } else {
        out += "0.";
        out.append(static_cast<std::size_t>(-point), '0');
        out += digits.text;
    }
}

// Short integers print as they are written, which is most numbers there are.
bool is_short_integer(std::string_view text) {
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    return text.size() <= 15 && text != "0" &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<void> append_number(std::string& out, std::string_view text) {
    if (is_short_integer(text)) {
        out += text;
        return {};
    }
    const Digits written = digits_of(text);
    if (written.text.empty()) {
        out += '0';
        return {};
    }
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || !std::isfinite(value) || value == 0) {
        return fail(
            errors::out_of_range, "a number has no IEEE double near it; send it as a string");
    }
    std::array<char, 32> buffer{};
    const auto printed = std::to_chars(
        buffer.data(),
        buffer.data() + buffer.size(),
        std::abs(value),
        std::chars_format::scientific);
    CHECK(printed.ec == std::errc());
    const Digits shortest = digits_of({buffer.data(), printed.ptr});
    const bool integer = written.point >= static_cast<std::int64_t>(written.text.size());
    if (integer && shortest != written) {
        return fail(
            errors::out_of_range,
            "an integer would lose digits as an IEEE double; send it as a string");
    }
    if (value < 0) {
        out += '-';
    }
    append_as_ecmascript(out, shortest);
    return {};
}

// Bytes ranked so that comparing UTF-8 by rank is comparing UTF-16 by code unit: a character above
// U+FFFF (lead byte F0 to F4) begins with a surrogate, hence before U+E000 to U+FFFF (EE, EF).
unsigned utf16_rank(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xF0) {
        return byte - 2u;
    }
    return byte >= 0xEE ? byte + 5u : byte;
}

bool is_before(std::string_view a, std::string_view b) {
    const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (left == a.end() || right == b.end()) {
        return a.size() < b.size();
    }
    return utf16_rank(*left) < utf16_rank(*right);
}

Result<void> append_text(std::string& out, std::string_view text) {
    if (!append_json_string(out, text)) {
        return fail(errors::invalid_json, "a text is not UTF-8 and has no canonical form");
    }
    return {};
}

Result<void> append_canonical(std::string& out, const Json& json);

Result<void> append_members(std::string& out, const Json::Object& members) {
    std::vector<const Json::Member*> sorted;
    sorted.reserve(members.size());
    for (const Json::Member& member : members) {
        sorted.push_back(&member);
    }
    std::sort(sorted.begin(), sorted.end(), [](const Json::Member* a, const Json::Member* b) {
        return is_before(a->first, b->first);
    });
    out += '{';
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0) {
            if (sorted[i]->first == sorted[i - 1]->first) {
                return fail(errors::invalid_json, "an object holds a key twice");
            }
            out += ',';
        }
        TRY(append_text(out, sorted[i]->first));
        out += ':';
        TRY(append_canonical(out, sorted[i]->second));
    }
    out += '}';
    return {};
}

Result<void> append_items(std::string& out, const Json::Array& items) {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) {
            out += ',';
        }
        TRY(append_canonical(out, items[i]));
    }
    out += ']';
    return {};
}

Result<void> append_canonical(std::string& out, const Json& json) {
    if (json.is_object()) {
        return append_members(out, json.members());
    }
    if (json.is_array()) {
        return append_items(out, json.items());
    }
    if (json.is_string()) {
        return append_text(out, json.as_string());
    }
    if (json.is_number()) {
        return append_number(out, json.number_text());
    }
    out += json.is_null() ? "null" : json.as_bool() ? "true" : "false";
    return {};
}

}  // namespace

Result<std::string> canonical_json(const Json& json) {
    std::string out;
    out.reserve(kTextBytesExpected);
    TRY(append_canonical(out, json));
    return out;
}

}  // namespace interlock
