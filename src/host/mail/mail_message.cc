#include "host/mail/mail_message.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

// RFC 5322 allows 998; some stations are stricter.
constexpr std::size_t kPlainLineMax = 900;
constexpr std::size_t kQuotedLineMax = 76;
// An encoded word has at most 75 characters; 12 of them are "=?UTF-8?B?" and "?=".
constexpr std::size_t kWordBytesMax = 45;

bool is_printable(char c) {
    return c >= 0x20 && c < 0x7f;
}

// A lone carriage return is a line end too: some stations take it for one, others do not, and a
// letter must not mean two things.
std::string with_plain_line_ends(std::string_view text) {
    std::string lines;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\r') {
            lines += text[i];
        } else if (i + 1 == text.size() || text[i + 1] != '\n') {
            lines += '\n';
        }
    }
    if (!lines.empty() && lines.back() != '\n') {
        lines += '\n';
    }
    return lines;
}

bool is_plain(const std::vector<std::string_view>& lines) {
    return std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
        return line.size() <= kPlainLineMax && std::all_of(line.begin(), line.end(), [](char c) {
                   return is_printable(c) || c == '\t';
               });
    });
}

std::string quoted_byte(char c) {
    std::array<char, 4> text;
    std::snprintf(text.data(), text.size(), "=%02X", static_cast<unsigned char>(c));
    return text.data();
}

// Quoted-printable (RFC 2045 6.7); blanks at a line's end are quoted, or they would be lost.
std::string quoted_line(std::string_view line) {
    std::string quoted;
    std::size_t column = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool is_last = i + 1 == line.size();
        const bool is_literal = (is_printable(c) && c != '=' && !(c == ' ' && is_last));
        const std::string piece = is_literal ? std::string(1, c) : quoted_byte(c);
        if (column + piece.size() > kQuotedLineMax - 1) {
            quoted += "=\n";
            column = 0;
        }
        quoted += piece;
        column += piece.size();
    }
    return quoted;
}

std::string host_of(std::string_view address) {
    return std::string(address.substr(address.find('@') + 1));
}

}  // namespace

std::string mail_date(Timestamp at) {
    constexpr std::array<const char*, 7> kDays{"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    constexpr std::array<const char*, 12> kMonths{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::string text = to_text(at);  // "2026-11-15T12:00:00.000Z"
    const std::int64_t days = utc_day_start(at).microseconds / Duration::of_days(1).microseconds;
    const auto month = static_cast<std::size_t>((text[5] - '0') * 10 + (text[6] - '0') - 1);
    return std::string(kDays[static_cast<std::size_t>(((days % 7) + 7) % 7)]) + ", " +
           text.substr(8, 2) + " " + kMonths[month] + " " + text.substr(0, 4) + " " +
           text.substr(11, 8) + " +0000";
}

std::string encode_mail_header(std::string_view text) {
    const bool looks_encoded = text.find("=?") != std::string_view::npos;
    if (!looks_encoded && std::all_of(text.begin(), text.end(), is_printable)) {
        return std::string(text);
    }
    std::string words;
    std::string word;
    const auto flush = [&] {
        words += (words.empty() ? "" : "\n ") + ("=?UTF-8?B?" + to_base64(word)) + "?=";
        word.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = std::max<std::size_t>(1, utf8_length_at(text, at));
        if (word.size() + length > kWordBytesMax) {
            flush();
        }
        word += text.substr(at, length);
        at += length;
    }
    flush();
    return words;
}

std::string compose_mail(const Mail& mail, const MailStamp& stamp) {
    const std::string body = with_plain_line_ends(mail.text);
    const std::vector<std::string_view> lines = split(body, '\n');
    const bool plain = is_plain(lines);
    std::string message;
    message += "From: " + stamp.from + "\n";
    message += "To: " + mail.to + "\n";
    message += "Subject: " + encode_mail_header(mail.subject) + "\n";
    message += "Date: " + mail_date(stamp.at) + "\n";
    message += "Message-ID: <" + stamp.id + "@" + host_of(stamp.from) + ">\n";
    message += "Auto-Submitted: auto-generated\n";
    message += "MIME-Version: 1.0\n";
    message += "Content-Type: text/plain; charset=utf-8\n";
    message += "Content-Transfer-Encoding: ";
    message += plain ? "7bit\n\n" : "quoted-printable\n\n";
    if (plain) {
        return message + body;
    }
    // The last piece is what follows the last line end: nothing.
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        message += quoted_line(lines[i]) + "\n";
    }
    return message;
}

std::string with_crlf(std::string_view text) {
    std::string wire;
    wire.reserve(text.size() + text.size() / 32);
    for (const char c : text) {
        wire += c == '\n' ? "\r\n" : std::string_view(&c, 1);
    }
    return wire;
}

}  // namespace interlock
