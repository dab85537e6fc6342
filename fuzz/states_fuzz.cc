// Fuzzes every decoder of what is stored or told by a venue: it is refused, or it survives being
// written and read again with the same text, because a state that changes by being read would break
// a replay.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "account/rules/account.h"
#include "account/wire/risk_limits.h"
#include "account/wire/state_facts.h"
#include "account/wire/venue_order.h"
#include "base/check.h"
#include "base/json.h"
#include "bots/wire/onboarding_row.h"
#include "host/rules/kill_step.h"
#include "loop/rules/decision.h"
#include "loop/service/loop_service.h"
#include "market/wire/market_facts.h"
#include "trader/rules/strategy.h"
#include "trader/service/strategy_store.h"

namespace interlock {

// A row of a decision is written as text; held here to what can be read of it.
Json encode(const ControlRow& row) {
    return parse_json(row_text(row)).value();
}

template <class Decode>
void holds(const Json& json, Decode decode) {
    const auto first = decode(json);
    if (!first) {
        CHECK(!first.error().message.empty());
        return;
    }
    const Json written = encode(*first);
    const auto second = decode(written);
    CHECK(second.has_value());
    CHECK(to_text(encode(*second)) == to_text(written));
}

void try_state(std::string_view text) {
    const auto json = parse_json(text);
    if (!json) {
        return;
    }
    holds(*json, decode_account);
    holds(*json, decode_account_books);
    holds(*json, decode_decision);
    holds(*json, decode_order_record);
    holds(*json, decode_kill_state);
    holds(*json, decode_loop_mode);
    holds(*json, decode_strategy_instance);
    holds(*json, decode_concern);
    holds(*json, decode_instance_list);
    holds(*json, decode_control_row);
    holds(*json, decode_onboarding_row);
    holds(*json, decode_planner_input);
    holds(*json, decode_state_facts);
    holds(*json, decode_market_set);
    holds(*json, decode_risk_limits);
    holds(*json, decode_venue_account);
    holds(*json, decode_venue_order_request);
    holds(*json, decode_venue_order);
    holds(*json, decode_venue_fill);
    holds(*json, decode_venue_ack);
    holds(*json, decode_venue_balance);
    if (const auto report = decode_report_answer(*json)) {
        CHECK(decode_report_answer(encode_report_answer(report->report, report->answers)));
    }
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_state(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
