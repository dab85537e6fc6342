#include "relay/platforms/telegram/telegram_markup.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "relay/platforms/telegram/telegram_markdown.h"
#include "relay/rules/message_split.h"

namespace interlock {
namespace {

constexpr std::string_view kReserved = "_*[]()~`>#+-=|{}.!\\";
constexpr std::string_view kFence = "```";
constexpr std::size_t kHeadingMarksMax = 6;
constexpr std::size_t kNowhere = std::string_view::npos;

// What is open around a piece of text; Telegram has no markup inside its own kind.
enum Open : unsigned {
    kNothing = 0,
    kBold = 1,
    kItalic = 2,
    kStrike = 4,
    kSpoiler = 8,
    kLink = 16,
};

struct Mark {
    std::string_view written;  // By the agent.
    std::string_view opens;    // For Telegram.
    std::string_view closes;
    unsigned kinds;
};
// The longer ones first: "**" is not twice "*".
constexpr std::array<Mark, 7> kMarks{{
    {"***", "*_", "_*", kBold | kItalic},
    {"**", "*", "*", kBold},
    {"__", "*", "*", kBold},
    {"~~", "~", "~", kStrike},
    {"||", "||", "||", kSpoiler},
    {"*", "_", "_", kItalic},
    {"_", "_", "_", kItalic},
}};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

std::size_t run_of(std::string_view text, std::size_t at) {
    const std::size_t end = text.find_first_not_of(text[at], at);
    return (end == kNowhere ? text.size() : end) - at;
}

// Behind a code span that begins here; the next character when none does.
std::size_t past_code(std::string_view text, std::size_t at) {
    const std::size_t run = run_of(text, at);
    for (std::size_t next = text.find('`', at + run); next != kNowhere;) {
        const std::size_t other = run_of(text, next);
        if (other == run) {
            return next + run;
        }
        next = text.find('`', next + other);
    }
    return at + run;
}

// Where what was opened before `from` closes: on the same line, not behind a blank, not in code.
std::size_t close_of(std::string_view text, std::size_t from, std::string_view mark) {
    if (from >= text.size() || is_blank(text[from])) {
        return kNowhere;
    }
    for (std::size_t at = from; at < text.size();) {
        if (text[at] == '\\') {
            at += 2;
        } else if (text[at] == '`') {
            at = past_code(text, at);
        } else if (text[at] != mark.front()) {
            ++at;
        } else {
            const std::size_t run = run_of(text, at);
            const std::size_t end = at + run;
            const bool is_inside_word =
                mark.front() == '_' && end < text.size() && is_word(text[end]);
            // One mark ends with its own run, or with the end of a longer one that also ends
            // others.
            const bool fits = run == mark.size() || (run > mark.size() && mark.size() > 1);
            if (fits && at > from && !is_blank(text[at - 1]) && !is_inside_word) {
                return end - mark.size();
            }
            at = end;
        }
    }
    return kNowhere;
}

bool is_linkable(std::string_view url) {
    return std::ranges::any_of(
        std::array<std::string_view, 4>{"https://", "http://", "tg://", "mailto:"},
        [url](std::string_view scheme) {
            return url.size() > scheme.size() && url.starts_with(scheme);
        });
}

class MarkupWriter {
public:
    std::string write(std::string_view text) {
        bool is_first = true;
        while (is_first || !text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            out_ += is_first ? "" : "\n";
            is_first = false;
            write_line(text.substr(0, end));
            const bool has_more = end < text.size();
            text.remove_prefix(has_more ? end + 1 : end);
            if (has_more && text.empty()) {
                out_ += "\n";
            }
        }
        if (is_code_) {
            out_ += "\n```";
        }
        return has_markup_ ? out_ : std::string();
    }

private:
    void write_line(std::string_view line) {
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
        const std::string_view rest = line.substr(indent);
        if (is_code_ || rest.starts_with(kFence)) {
            write_code_line(line, rest);
            return;
        }
        if (rest.starts_with('>')) {
            has_markup_ = true;
            out_ += '>';
            write_text(trim(rest.substr(1)), kNothing);
            return;
        }
        const std::size_t marks = rest.starts_with('#') ? run_of(rest, 0) : 0;
        if (marks > 0 && marks <= kHeadingMarksMax && rest.size() > marks && rest[marks] == ' ') {
            write_heading(trim(rest.substr(marks)));
            return;
        }
        out_ += line.substr(0, indent);
        const bool is_item = rest.size() > 1 && rest[1] == ' ' &&
                             (rest[0] == '-' || rest[0] == '*' || rest[0] == '+');
        out_ += is_item ? "• " : "";
        write_text(is_item ? rest.substr(2) : rest, kNothing);
    }

    void write_heading(std::string_view text) {
        has_markup_ = true;
        out_ += '*';
        write_text(text, kBold);
        out_ += '*';
    }

    // A fence, or a line between two of them.
    void write_code_line(std::string_view line, std::string_view rest) {
        const bool is_fence = rest.starts_with(kFence);
        if (is_code_ && !(is_fence && trim(rest.substr(run_of(rest, 0))).empty())) {
            write_code(line);
            return;
        }
        is_code_ = !is_code_;
        has_markup_ = true;
        out_ += kFence;
        const std::string_view language = is_code_ ? trim(rest.substr(run_of(rest, 0))) : "";
        if (std::ranges::all_of(
                language, [](char c) { return is_word(c) || c == '+' || c == '-'; })) {
            out_ += language;
        }
    }

    void write_code(std::string_view code) {
        for (const char c : code) {
            out_ += c == '`' || c == '\\' ? "\\" : "";
            out_ += c;
        }
    }

    void write_plain(char c) {
        out_ += kReserved.find(c) != kNowhere ? "\\" : "";
        out_ += c;
    }

    void write_text(std::string_view text, unsigned open) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t used = write_markup(text, at, open);
            if (used == 0) {
                write_plain(text[at]);
            }
            at += std::max<std::size_t>(used, 1);
        }
    }

    // How much of the text was markup that is now written; 0: the character is only itself.
    std::size_t write_markup(std::string_view text, std::size_t at, unsigned open) {
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        switch (text[at]) {
            case '\\':
                if (std::ispunct(static_cast<unsigned char>(next)) == 0) {
                    return 0;
                }
                write_plain(next);
                return 2;
            case '`':
                return write_code_span(text, at);
            case '[':
                return write_link(text, at, open);
            case '!':  // A picture becomes a link to it.
                return next == '[' ? with_mark(write_link(text, at + 1, open)) : 0;
            case '*':
            case '_':
            case '~':
            case '|':
                return write_span(text, at, open);
            default:
                return 0;
        }
    }

    static std::size_t with_mark(std::size_t used) { return used == 0 ? 0 : used + 1; }

    std::size_t write_code_span(std::string_view text, std::size_t at) {
        const std::size_t run = run_of(text, at);
        const std::size_t end = past_code(text, at);
        if (end == at + run) {
            return 0;
        }
        std::string_view code = text.substr(at + run, end - at - 2 * run);
        if (run > 1) {
            code = trim(code);
        }
        if (code.empty()) {
            return 0;
        }
        has_markup_ = true;
        out_ += '`';
        write_code(code);
        out_ += '`';
        return end - at;
    }

    std::size_t write_span(std::string_view text, std::size_t at, unsigned open) {
        const bool is_inside_word = text[at] == '_' && at > 0 && is_word(text[at - 1]);
        for (const Mark& mark : kMarks) {
            if (is_inside_word || !text.substr(at).starts_with(mark.written)) {
                continue;
            }
            const std::size_t start = at + mark.written.size();
            const std::size_t end = close_of(text, start, mark.written);
            const bool is_partly_open =
                (open & mark.kinds) != 0 && (open & mark.kinds) != mark.kinds;
            if (end == kNowhere || is_partly_open) {
                continue;
            }
            const bool is_open = (open & mark.kinds) != 0;
            has_markup_ = true;
            out_ += is_open ? "" : mark.opens;
            write_text(text.substr(start, end - start), open | mark.kinds);
            out_ += is_open ? "" : mark.closes;
            return end + mark.written.size() - at;
        }
        return 0;
    }

    // "[label](url)" or "[label](url "title")".
    std::size_t write_link(std::string_view text, std::size_t at, unsigned open) {
        const std::size_t middle = text.find("](", at);
        if ((open & kLink) != 0 || middle == kNowhere) {
            return 0;
        }
        int depth = 1;
        std::size_t end = middle + 2;
        for (; end < text.size() && depth > 0; ++end) {
            depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        }
        const std::string_view inside = text.substr(middle + 2, end - middle - 3);
        const std::string_view url = inside.substr(0, inside.find(' '));
        const std::string_view label = text.substr(at + 1, middle - at - 1);
        if (depth > 0 || label.contains('[') || !is_linkable(url)) {
            return 0;
        }
        has_markup_ = true;
        out_ += '[';
        write_text(label.empty() ? url : label, open | kLink);
        out_ += "](";
        for (const char c : url) {
            write_plain(c);  // More than must be; an escape is an escape everywhere.
        }
        out_ += ')';
        return end - at;
    }

    std::string out_;
    bool has_markup_ = false;
    bool is_code_ = false;  // Between two fences.
};

// Whoever writes for Telegram has to escape a full stop, and nobody else does. Without any escape
// it may be either, and then it is what agents write: "a_b_c" keeps its underscores.
bool is_for_telegram(std::string_view text) {
    constexpr std::string_view kEscapedByNobodyElse = ".!-=+(){}|~>#";
    bool has_escape = false;
    for (std::size_t at = text.find('\\'); at != kNowhere && !has_escape;
         at = text.find('\\', at + 2)) {
        has_escape = at + 1 < text.size() && kEscapedByNobodyElse.contains(text[at + 1]);
    }
    return has_escape && !text.contains("**") && !text.contains("~~") && is_markdown_v2(text);
}

}  // namespace

std::string telegram_markup(std::string_view text, std::size_t units_max) {
    std::string markup = is_for_telegram(text) ? std::string(text) : MarkupWriter().write(text);
    // What one message holds is counted without the marks; so this errs on the side of plain text.
    const bool is_good =
        is_markdown_v2(markup) && length_in(markup, LengthUnit::utf16) <= units_max;
    return is_good ? markup : std::string();
}

}  // namespace interlock
