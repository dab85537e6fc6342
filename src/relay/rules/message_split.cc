#include "relay/rules/message_split.h"

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kFence = "```";
// A longer word after a fence is not a language, and repeating it would eat the message.
constexpr std::size_t kLanguageBytesMax = 12;

std::size_t step_at(std::string_view text, std::size_t at) {
    const std::size_t length = utf8_length_at(text, at);
    return length == 0 ? 1 : length;
}

std::size_t units_of(std::size_t bytes, LengthUnit unit) {
    switch (unit) {
        case LengthUnit::bytes:
            return bytes;
        case LengthUnit::utf16:
            return bytes == 4 ? 2 : 1;
        case LengthUnit::code_points:
            break;
    }
    return 1;
}

// Where to cut a text that is too long, and how much of what follows to leave out.
struct Cut {
    std::size_t at = 0;
    std::size_t skip = 0;
};

Cut find_cut(std::string_view text, std::size_t fits) {
    // The character after the part that fits may itself be the blank to cut at.
    const std::string_view window = text.substr(0, fits + 1);
    const std::size_t line = window.rfind('\n');
    if (line != std::string_view::npos && line > 0) {
        return {line, 1};
    }
    const std::size_t space = window.rfind(' ');
    if (space != std::string_view::npos && space > 0) {
        return {space, 1};
    }
    return {fits, 0};
}

// The language of the code block that is open at the end of `text`; nothing when none is.
struct Block {
    bool is_open = false;
    std::string language;
};

Block block_after(std::string_view text) {
    Block block;
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view trimmed = trim(line);
        if (!trimmed.starts_with(kFence)) {
            continue;
        }
        const std::string_view word = trimmed.substr(kFence.size());
        // ```like this``` opens and closes on one line.
        if (!block.is_open && word.find(kFence) != std::string_view::npos) {
            continue;
        }
        block.is_open = !block.is_open;
        block.language = block.is_open && word.size() <= kLanguageBytesMax &&
                                 word.find(' ') == std::string_view::npos
                             ? std::string(word)
                             : std::string();
    }
    return block;
}

// Where the line begins that ends `text`.
std::size_t last_line(std::string_view text) {
    return text.rfind('\n') + 1;  // npos + 1 is 0.
}

// A cut right behind the line that opens a block would leave an empty one: the block begins in the
// next part, or, when there is nothing before it, its first line is cut.
Cut cut_around_fence(std::string_view text, const Cut& cut, std::size_t fits) {
    const std::string_view part = text.substr(0, cut.at);
    const std::size_t line = last_line(part);
    if (cut.skip == 0 || !trim(part.substr(line)).starts_with(kFence) ||
        !block_after(part).is_open) {
        return cut;
    }
    if (line > 1) {
        return {line - 1, 1};
    }
    const std::size_t space = text.substr(0, fits + 1).rfind(' ');
    return space != std::string_view::npos && space > cut.at ? Cut{space, 1} : Cut{fits, 0};
}

}  // namespace

std::size_t length_in(std::string_view text, LengthUnit unit) {
    if (unit == LengthUnit::bytes) {
        return text.size();
    }
    std::size_t length = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t step = step_at(text, at);
        length += units_of(step, unit);
        at += step;
    }
    return length;
}

std::string_view prefix_in(std::string_view text, std::size_t limit, LengthUnit unit) {
    std::size_t at = 0;
    std::size_t length = 0;
    while (at < text.size()) {
        const std::size_t step = step_at(text, at);
        length += units_of(step, unit);
        if (length > limit) {
            break;
        }
        at += step;
    }
    return text.substr(0, at);
}

std::vector<std::string> split_message(std::string_view text, const SplitRule& rule) {
    CHECK(rule.limit >= kSplitLimitMin);
    const std::string closing = "\n" + std::string(kFence);
    std::vector<std::string> parts;
    std::string opening;  // Repeats the fence that the last cut closed.
    while (!text.empty()) {
        const std::size_t room = rule.limit - length_in(opening, rule.unit);
        if (prefix_in(text, room, rule.unit).size() == text.size()) {
            parts.push_back(opening + std::string(text));
            break;
        }
        const std::size_t reserve = rule.keeps_fences ? closing.size() : 0;
        const std::size_t fits = prefix_in(text, room - reserve, rule.unit).size();
        Cut cut = find_cut(text, fits);
        if (rule.keeps_fences && opening.empty()) {
            cut = cut_around_fence(text, cut, fits);
        }
        std::string part = opening + std::string(text.substr(0, cut.at));
        opening.clear();
        if (const Block block = block_after(part); rule.keeps_fences && block.is_open) {
            part += closing;
            opening = std::string(kFence) + block.language + "\n";
        }
        parts.push_back(std::move(part));
        text.remove_prefix(cut.at + cut.skip);
    }
    return parts;
}

}  // namespace interlock
