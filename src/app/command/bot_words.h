// The words of `interlock bot`, made from the endpoints (bots/wire/bot_endpoints.h), so that
// each of them can be called from the terminal and none can say something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bots/wire/bot_endpoints.h"

namespace interlock {

// "initialize_bot" → "initialize", "run_pnl" → "run-pnl".
std::string bot_word(const BotEndpoint& endpoint);
// Whether it is a human's own call, so that the command asks for a login; the operator makes the
// others.
bool is_human_word(const BotEndpoint& endpoint);

// A field of the request, or a query parameter, as an option.
struct BotOption {
    enum class Kind { text, number, integer, flag, list, map };
    std::string field;
    std::string flag;  // "--cancel-orders"
    Kind kind = Kind::text;
    std::string help;
    bool is_required = false;
};
// Without what no command line takes: secrets, which other users would see, and the idempotency
// key.
std::vector<BotOption> bot_options(const BotEndpoint& endpoint);
// What was typed as the field's value: "BTCUSDT=0.1,ETHUSDT=2" of a map. Of a map's values true,
// false and null are JSON's own.
Result<Json> bot_value(const BotOption& option, const std::string& typed);

// "POST /connect-exchange opens it" → "`interlock bot connect-exchange` opens it".
std::string in_bot_words(std::string_view text);

}  // namespace interlock
