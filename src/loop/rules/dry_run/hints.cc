#include "loop/rules/dry_run/hints.h"

#include <algorithm>

#include "loop/rules/dry_run/hint_search.h"

namespace interlock {
namespace {

// The reasons that name a switch: with them nothing else in the plan matters.
bool stops_everything(std::string_view reason) {
    return is_of_kill_switch(reason) || reason.starts_with("policy_guardrails:trading_disabled:");
}

std::vector<Hint> hints_of(HintSearch search, std::vector<std::string> reasons) {
    std::stable_partition(reasons.begin(), reasons.end(), stops_everything);
    std::stable_partition(reasons.begin(), reasons.end(), is_of_kill_switch);
    std::vector<Hint> hints;
    hints.reserve(reasons.size());
    for (std::string& reason : reasons) {
        const HintReason parsed = parse_reason(reason);
        Hint hint;
        hint.text = remedy_of(parsed.code);
        hint.changes = search.changes_for(parsed);
        hint.reason = std::move(reason);
        hints.push_back(std::move(hint));
    }
    return hints;
}

}  // namespace

bool is_of_kill_switch(std::string_view reason) {
    return reason.starts_with("policy_guardrails:kill_switch_active:");
}

std::string_view kill_switch_words(const Json& validation) {
    const Json* reasons = validation.find("blocking_reasons");
    const bool is_killed =
        reasons != nullptr && std::ranges::any_of(reasons->items(), [](const Json& reason) {
            return reason.is_string() && is_of_kill_switch(reason.as_string());
        });
    return is_killed ? kKillSwitchWords : std::string_view();
}

std::vector<Hint> gate_hints(const GateInput& input, const GateReport& report) {
    std::vector<std::string> reasons;
    for (const Breach& breach : report.breaches) {
        reasons.push_back(to_text(breach));
    }
    const auto judge = [&input](const Plan& plan) {
        GateInput again{
            .state = input.state,
            .market = input.market,
            .plan = plan,
            .decision_id = input.decision_id,
            .tick_id = input.tick_id,
            .has_idempotency_key = input.has_idempotency_key,
            .wanted_mode = input.wanted_mode,
            .from_outside = input.from_outside,
        };
        std::vector<std::string> left;
        for (const Breach& breach : run_gates(again).breaches) {
            left.push_back(to_text(breach));
        }
        return left;
    };
    return hints_of({input.state, input.market, input.plan, judge}, std::move(reasons));
}

std::vector<Hint> dry_run_hints(const DryRunInput& input, const DryRunReport& report) {
    const auto judge = [&input](const Plan& plan) {
        return run_dry_run({.state = input.state,
                            .market = input.market,
                            .plan = plan,
                            .slippage_bps = input.slippage_bps,
                            .fee_bps = input.fee_bps,
                            .conflicts = input.conflicts})
            .blocking_reasons;
    };
    return hints_of({input.state, input.market, input.plan, judge}, report.blocking_reasons);
}

Json encode(const std::vector<Hint>& hints) {
    Json list = Json::array();
    for (const Hint& hint : hints) {
        Json changes = Json::array();
        for (const HintChange& change : hint.changes) {
            Json one = Json::object();
            if (!change.intent_id.empty()) {
                one.set("intent_id", change.intent_id);
            }
            one.set("field", change.field);
            one.set("relation", change.relation);
            one.set("value", change.value);
            changes.push(std::move(one));
        }
        list.push(Json::object(
            {{"reason", hint.reason}, {"text", hint.text}, {"changes", std::move(changes)}}));
    }
    return list;
}

}  // namespace interlock
