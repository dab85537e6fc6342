// What would have to change so that a refused plan passes
// (docs/contracts/agent-loop.md#what-a-planner-is-told). Every value is tried out: the judge that
// refused the plan is asked again with it, and a hint that does not take its own reason away is not
// given. Pure; never part of a verdict or of its hash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/gates.h"

namespace interlock {

// One value that passes in place of the plan's own.
struct HintChange {
    std::string intent_id;  // Empty: of the call itself.
    // "qty", "limit_price", "strategy_id", or "wait_seconds" before the same plan is tried again.
    std::string_view field;
    std::string_view relation;  // "at_most", "at_least" or "equals".
    std::string value;          // A `qty` of 0: leave the intent out.
};

// One for each reason; with no change where nothing in the plan would make it pass.
struct Hint {
    std::string reason;  // "gate:code:symbol", as in blocking_reasons.
    std::string text;    // One sentence.
    std::vector<HintChange> changes;
};

// A call that the kill switch refuses begins with these words.
inline constexpr std::string_view kKillSwitchWords = "The kill switch is on. ";
bool is_of_kill_switch(std::string_view reason);
// Those words, or nothing, for what a stored verdict says.
std::string_view kill_switch_words(const Json& validation);

// Looks at an intent that all hints of a verdict may cost together; those beyond it have no change.
inline constexpr std::size_t kHintLooksMax = 6'000;

// What stops everything comes first.
std::vector<Hint> gate_hints(const GateInput& input, const GateReport& report);
std::vector<Hint> dry_run_hints(const DryRunInput& input, const DryRunReport& report);
Json encode(const std::vector<Hint>& hints);

// What to do about a reason of this code; empty for one that does not exist.
std::string_view remedy_of(std::string_view code);

}  // namespace interlock
