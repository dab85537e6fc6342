// One concern as a machine (docs/contracts/control-decision.md#switching): who is active in it, and
// the switch from one strategy to another.
//
//     running ──a switch, others have orders──► switching ──none of them is left──► running
//       │ ▲                                        │               (handed over: `applied`)
//       └─┘ a switch, nobody has:                  └──deadline, pause, stop, restart──► running
//           handed over at once                                    (rolled back: `failed`)
//
// Invariants, walked over every state and event by concern_step_test.cc:
//   - at most one instance is active: whoever takes the activity finds it free;
//   - a switch under way hands nothing over while an order of another strategy is left, nor ever
//     under the kill switch;
//   - one that began ends exactly once, and has a deadline until then;
//   - one that is rolled back leaves the old one active and the risk mode as it was;
//   - a pause is never held up by it;
//   - it cancels no order of an outside planner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/wire/audit_record.h"
#include "trader/rules/control_step.h"

namespace interlock {

// What happens to a strategy's orders when it is paused.
enum class OnPause { cancel_entries, keep, cancel_all };

struct ControlConfig {
    ControlGuards guards = {};
    OnPause on_pause = OnPause::cancel_entries;
    InstanceMode after_switch = InstanceMode::observe;  // Of the old strategy; or off.
    Duration cancel_timeout = Duration::of_seconds(10);
};

struct ConcernFacts {
    Timestamp now;
    bool kill_switch_active = true;
    // The concern's active instance; null: none.
    std::shared_ptr<const StrategyInstance> active = {};
    // Of the switch asked for or under way; null: there is no such instance any more.
    std::shared_ptr<const StrategyInstance> target = {};
    std::string target_problem = {};  // Why it could not run now; empty: it can.
    // Strategies besides the target with orders in the market. Outside planners are none.
    std::set<StrategyId> others = {};
    ControlConfig config = {};
};

// A decision that was judged `applied`, with its answer but for what carrying it out adds.
struct DecisionPassed {
    const ControlDecision& decision;
    ControlResult answer;
    std::int64_t attempt = 1;
    // Of a switch that has to wait: the decision as it came, and the call that waits with it.
    Json request = {};
    Json operation = {};
};
struct OrdersChanged {};  // The venue's word on orders of the account.
struct DeadlinePassed {};
struct ServerRestarted {
    DecisionId decision_id;  // Of the switch that it interrupted.
};
using ConcernEvent = std::variant<DecisionPassed, OrdersChanged, DeadlinePassed, ServerRestarted>;

struct CancelOrdersOf {
    std::set<StrategyId> strategies;
    bool entries_only = false;
    bool again = false;  // Also those asked for before.
};
struct CancelMarket {  // Whoever's they are: a risk mode binds outside planners too.
    bool entries_only = false;
};
struct TellOpenOrders {  // In the answer: those that the strategy has after its cancels.
    StrategyId strategy_id;
};
struct StartDeadline {
    Timestamp at;
};
struct ClearDeadline {};
// Each with the instance as it is then.
struct SaveStrategy {
    StrategyInstance instance;
};
struct ReleaseActivity {
    StrategyInstance instance;
};
struct TakeActivity {  // On an account that may never have been traded on.
    StrategyInstance instance;
};
struct SettleBlocks {};  // Of strategies that trade no more.
struct EndSwitch {       // On the record, and told to whoever waits for it.
    SwitchUnderWay under_way;
    std::int64_t attempt = 1;
    ControlResult answer = {};
};
using ConcernEffect = std::variant<
    CancelOrdersOf,
    CancelMarket,
    TellOpenOrders,
    StartDeadline,
    ClearDeadline,
    SaveStrategy,
    ReleaseActivity,
    TakeActivity,
    SettleBlocks,
    EndSwitch>;

struct ConcernStep {
    Concern concern;
    std::vector<AuditDraft> audit;       // Without actor, principal and time, which are the turn's.
    std::vector<ConcernEffect> effects;  // In this order.
    std::optional<ControlResult> answer;  // To whoever asked; nothing: the switch has to wait.
};
// Fails only when the row of a switch under way cannot be read. CHECKs what the judgement refuses:
// a switch while one is under way or to nothing, and a pause or resume of nothing.
Result<ConcernStep> step_concern(Concern concern, ConcernEvent event, const ConcernFacts& facts);

// The two halves of a change of who is active.
void make_active(Concern& concern, StrategyInstance& instance, Timestamp now);
void make_inactive(Concern& concern, StrategyInstance& instance, InstanceMode afterwards);

// On the record when a concern's execution quality is no longer `before`; getting worse is an
// alert.
std::optional<AuditDraft> quality_note(const Concern& concern, ExecutionQuality before);

}  // namespace interlock
