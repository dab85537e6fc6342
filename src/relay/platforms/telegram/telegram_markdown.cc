#include "relay/platforms/telegram/telegram_markdown.h"

#include <algorithm>
#include <string>
#include <vector>

namespace interlock {
namespace {

constexpr std::string_view kFence = "```";
// Only ever right when escaped; '>' is looked at apart, for it may open a quotation.
constexpr std::string_view kMustBeEscaped = "#+-=|{}.!()";

class MarkdownReader {
public:
    explicit MarkdownReader(std::string_view text) : text_(text) {}

    bool read() {
        while (at_ < text_.size()) {
            if (!read_one()) {
                return false;
            }
        }
        return open_.empty() && has_markup_;
    }

private:
    bool starts_with(std::string_view mark) const { return text_.substr(at_).starts_with(mark); }

    bool is_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

    bool read_one() {
        const char c = text_[at_];
        if (c == '\\') {
            return read_escape();
        }
        if (c == '`') {
            return starts_with(kFence) ? read_code(kFence) : read_code("`");
        }
        if (c == '[' || starts_with("![")) {
            return open_link();
        }
        if (c == ']') {
            return close_link();
        }
        for (const std::string_view mark : {"__", "||", "*", "_", "~"}) {
            if (starts_with(mark)) {
                return toggle(mark);
            }
        }
        if (c == '>') {
            has_markup_ = true;
            return is_line_start() && (++at_, true);
        }
        ++at_;
        return kMustBeEscaped.find(c) == std::string_view::npos;
    }

    // Any character of ASCII may be escaped; at the very end there is nothing to escape.
    bool read_escape() {
        has_markup_ = true;
        at_ += 2;
        return at_ <= text_.size() && static_cast<unsigned char>(text_[at_ - 1]) < 0x80 &&
               text_[at_ - 1] != '\n';
    }

    // Inside code only the backslash is special. An empty one is refused by Telegram.
    bool read_code(std::string_view mark) {
        has_markup_ = true;
        at_ += mark.size();
        const std::size_t start = at_;
        while (at_ < text_.size() && !starts_with(mark)) {
            if (mark == kFence && text_[at_] == '`') {
                return false;  // Reserved inside a block too.
            }
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        if (at_ >= text_.size() || at_ == start) {
            return false;
        }
        at_ += mark.size();
        return true;
    }

    // Markup of one kind may not be inside itself, and closes before what it is in.
    bool toggle(std::string_view mark) {
        has_markup_ = true;
        at_ += mark.size();
        if (!open_.empty() && open_.back() == mark) {
            open_.pop_back();
            return true;
        }
        if (std::ranges::count(open_, mark) > 0) {
            return false;
        }
        open_.push_back(mark);
        return true;
    }

    bool open_link() {
        has_markup_ = true;
        at_ += text_[at_] == '!' ? 2 : 1;
        if (std::ranges::count(open_, "[") > 0) {
            return false;
        }
        open_.push_back("[");
        return true;
    }

    bool close_link() {
        if (open_.empty() || open_.back() != "[" || !text_.substr(at_).starts_with("](")) {
            return false;
        }
        open_.pop_back();
        at_ += 2;
        const std::size_t start = at_;
        while (at_ < text_.size() && text_[at_] != ')' && text_[at_] != '\n') {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        const bool is_closed = at_ < text_.size() && text_[at_] == ')' && at_ > start;
        ++at_;
        return is_closed;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string_view> open_;
    bool has_markup_ = false;
};

}  // namespace

bool is_markdown_v2(std::string_view text) {
    return MarkdownReader(text).read();
}

}  // namespace interlock
