// The Markdown that agents write, as Telegram's MarkdownV2. Gateway clients tell their agents that
// standard Markdown is converted for Telegram, and leave it to the connector to do so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace interlock {

// What to send with parse_mode MarkdownV2; empty when the text is better sent as it is: it has no
// markup, or Telegram might refuse what would be made of it, or that has more than `units_max`
// UTF-16 units. A text that is MarkdownV2 already is left alone. Linear but for unclosed marks, of
// which a text of one message cannot hold many.
std::string telegram_markup(std::string_view text, std::size_t units_max);

}  // namespace interlock
