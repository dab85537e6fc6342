// Small text functions; see the header. All of them treat text as bytes and know ASCII only.
#include "base/text.h"

#include <algorithm>

namespace interlock {
namespace {

char lower_letter(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char low = lower_letter(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

bool is_unreserved(char c) {
    return (c >= '0' && c <= '9') || (lower_letter(c) >= 'a' && lower_letter(c) <= 'z') ||
           c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        if (at == std::string_view::npos) {
            parts.push_back(text);
            return parts;
        }
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + 1);
    }
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string to_lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower_letter);
    return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return lower_letter(x) == lower_letter(y);
    });
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '+' && plus_is_space) {
            out += ' ';
            continue;
        }
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        if (text.size() - at < 3) {
            return std::nullopt;
        }
        const int high = hex_value(text[at + 1]);
        const int low = hex_value(text[at + 2]);
        if (high < 0 || low < 0 || (high == 0 && low == 0)) {
            return std::nullopt;
        }
        out += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return out;
}

std::string percent_encode(std::string_view text) {
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_unreserved(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
    }
    return out;
}

}  // namespace interlock
