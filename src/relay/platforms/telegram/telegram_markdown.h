// Whether a text is MarkdownV2 as Telegram reads it. What is not is sent as plain text: a message
// without its bold is worth more than one that was refused.
#pragma once

#include <string_view>

namespace interlock {

// True when the text has markup or escapes, every reserved character is escaped or part of markup,
// and everything that opens also closes. False for a text without any: it needs no parsing. Errs on
// the side of false.
bool is_markdown_v2(std::string_view text);

}  // namespace interlock
