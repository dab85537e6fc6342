// What a control decision comes to (docs/contracts/control-decision.md#rules): a pure judgement of
// the request on the facts of its concern. The service carries out what is judged `applied`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trader/wire/control_decision.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

// Guards that are off by default, to stay inside the contract.
struct ControlGuards {
    std::optional<Decimal> min_confidence;  // For switch and resume.
    std::optional<Duration> minimum_hold;   // For switch; override waives it.
};

// What became of this decision_id before. Duplicates, conflicts and attempts that met the id's own
// switch under way leave it as it was; otherwise an applied decision could be applied again.
struct ControlHistory {
    std::string fingerprint;
    ControlStatus status = ControlStatus::rejected;  // Of the latest attempt.
    std::int64_t attempts = 0;
};

struct ControlFacts {
    Timestamp now;
    const Concern* concern = nullptr;          // By the request's concern_id; null: none.
    const StrategyInstance* active = nullptr;  // The concern's active instance.
    const StrategyInstance* target = nullptr;  // By the request's target_strategy_id.
    // Why the target cannot run; empty: it can. For a resume that of the active instance, without
    // the error latch, which a resume clears.
    std::string target_problem;
    bool kill_switch_active = true;
    std::string asset_problem;  // Why the caller may start nothing in this market; empty: it may.
    std::string stop;  // Another stop that loosening must respect (recovery, tier 4); empty: none.
    std::optional<ControlHistory> history;  // Never of dry runs.
    ControlGuards guards;
};

struct ControlVerdict {
    // What will result: `applied` means that the change is to be carried out.
    ControlStatus status = ControlStatus::rejected;
    ControlValidation validation;
    std::vector<std::string> warnings;
    std::vector<Error> errors;
    std::int64_t attempt = 1;
    bool is_duplicate = false;  // noop that answers with the first result.
    std::optional<StrategyId> from;
    std::optional<StrategyId> to;
    std::optional<RiskMode> risk_mode;  // The concern's afterwards.
};
// Every check is evaluated for the validation block; the first that fails decides the code.
ControlVerdict judge_control(const ControlDecision& decision, const ControlFacts& facts);
// The answer as far as the judgement makes it: nothing is carried out yet. Takes warnings and
// errors out of the verdict.
ControlResult result_of(
    const ControlDecision& decision, ControlVerdict& verdict, const Concern* concern);

// Pause, and a stricter risk mode: never held up by kill switch, stops or degraded execution.
bool is_risk_reducing(const ControlDecision& decision, const ControlFacts& facts);

}  // namespace interlock
