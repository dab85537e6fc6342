// The words of `interlock bot`, made from the endpoints (bots/wire/bot_endpoints.h), so that
// each of them can be called from the terminal and none can say something else.
#pragma once

#include <string>
#include <string_view>

#include "bots/wire/bot_endpoints.h"

namespace interlock {

// "initialize_bot" → "initialize", "run_pnl" → "run-pnl".
std::string bot_word(const BotEndpoint& endpoint);
// Whether it is a human's own call, so that the command asks for a login; the operator makes the
// others.
bool is_human_word(const BotEndpoint& endpoint);

// "POST /connect-exchange opens it" → "`interlock bot connect-exchange` opens it".
std::string in_bot_words(std::string_view text);

}  // namespace interlock
