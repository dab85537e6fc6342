#include "bench/control_requests.h"

#include <fmt/format.h>

#include "account/wire/venue_order.h"
#include "base/check.h"
#include "loop/wire/loop_tools.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kActions{
    "switch", "set_risk_mode", "set_risk_mode", "pause", "resume"};

}  // namespace

std::string next_decision(SupervisedConcern& concern, IdSource& ids) {
    const std::int64_t number = concern.sent++;
    const std::size_t step = static_cast<std::size_t>(number) % kActions.size();
    const std::size_t round = static_cast<std::size_t>(number) / kActions.size();
    const auto symbol = Symbol::parse(concern.symbol);
    CHECK(symbol.has_value());
    std::string text = fmt::format(
        R"({{"decision_id":"{}","concern_id":"{}","account_id":"main","market_symbol":"{}",)"
        R"("action":"{}","reason":"the narrative changed","confidence":0.83)",
        ids.new_id("dec"),
        concern_id_of(default_account_id(), *symbol).text(),
        concern.symbol,
        kActions[step]);
    const std::string& active = concern.strategies[round % 2];
    if (step == 0) {
        text += fmt::format(R"(,"target_strategy_id":"{}")", active);
    } else {
        text += fmt::format(R"(,"expected_active_strategy_id":"{}")", active);
    }
    if (kActions[step] == "set_risk_mode") {
        text += step == 1 ? R"(,"risk_mode":"defensive")" : R"(,"risk_mode":"normal")";
    }
    return text + "}";
}

bool is_applied(std::string_view answer) {
    return answer.starts_with(R"({"ok":true,"status":"applied")");
}

}  // namespace interlock
