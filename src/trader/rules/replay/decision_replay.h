// Re-runs one recorded decision from its audit records and their content-addressed inputs, and
// compares: gates, dry run, adjustment and order ids must come out as the ledger says
// (docs/contracts/replay.md#1-what-is-replayed, I9), and the stored decision must be what the
// ledger tells of it. Pure: no clock, no store.
//
// Every attempt of the decision is re-run. A built-in planner plans again from the recorded facts;
// the plan of an outside planner is an input.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/wire/audit_record.h"
#include "loop/rules/decision.h"
#include "loop/rules/gates/gates.h"
#include "trader/rules/replay/replay_inputs.h"

namespace interlock {

enum class ReplayOutcome { ok, differs, not_replayable };
std::string_view to_word(ReplayOutcome outcome);

struct ReplayVerdict {
    DecisionId decision_id;
    ReplayOutcome outcome = ReplayOutcome::ok;
    std::int64_t steps = 0;  // Re-run and found equal.
    // Of the first thing that is not as recorded:
    std::int64_t seq = 0;          // The audit record; 0: the stored decision.
    std::string event;             // Of that record; "" for the stored decision.
    std::string detail;            // One sentence.
    bool is_other_policy = false;  // Not replayable for that reason and no other.
};
Json encode(const ReplayVerdict& verdict);

// Whether a decision, or a new attempt of one, begins with this record.
bool is_plan(const AuditRecord& record);

class DecisionReplay {
public:
    explicit DecisionReplay(DecisionId decision_id);

    // The next record of this decision, in chain order; those that decide nothing are passed over.
    // After a difference the rest is ignored. An Error means that an input could not be read.
    Result<void> add(const AuditRecord& record, ReplayInputs& inputs);
    // Compares with the stored decision; null: the store has none.
    void compare_stored(const Json* row);

    // Whether anything was planned; without, there is nothing to re-run.
    bool has_plan() const { return attempt_ > 0; }
    const ReplayVerdict& verdict() const { return verdict_; }

private:
    // What the dry run was given, for the adjustment that may follow it.
    struct Rehearsed {
        StepInputs refs;
        Decimal slippage_bps;
        Decimal fee_bps;
        std::vector<OrderClientId> conflicts;
    };
    Result<void> run(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_plan(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_validation(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_rehearsal(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_adjustment(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_execution(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_recheck(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> run_record(const AuditRecord& record, ReplayInputs& inputs);
    Result<void> compare_record(const Json& record) const;
    Result<void> compare_outputs(const Json& record, ReplayInputs& inputs);
    Result<void> compare_orders(const Json* orders, const Plan& plan) const;
    Result<void> compare_decision(const Decision& stored) const;
    Result<void> compare_verdicts(const Decision& stored) const;
    Result<void> compare_outcomes(const Decision& stored) const;
    static void take_outcome(std::vector<Json>& told_rows, const Json& row);
    Result<void> compare_cancels(const Decision& stored) const;
    Result<void> require_planned() const;
    Result<void> compare_planned(const ReplayInputs::Facts& facts) const;
    GateReport gates_on(const ReplayInputs::Facts& facts, const Plan& plan) const;
    void note(const Error& error, const AuditRecord* record);

    ReplayVerdict verdict_;
    // Of the latest attempt:
    std::int64_t attempt_ = 0;
    bool from_outside_ = true;
    Json planner_input_;
    TickId tick_id_;
    Timestamp planned_at_;
    DecisionStage stage_ = DecisionStage::planned;
    std::string plan_ref_;
    std::string config_ref_;
    StepInputs validate_refs_;
    StepInputs execute_refs_;
    std::string validation_hash_;
    std::string dry_run_hash_;  // "" before.
    std::optional<Rehearsed> rehearsed_;
    std::string adjusted_ref_;  // Of the smaller plan that the dry run proposed; "" without one.
    std::vector<OrderClientId> order_ids_;  // As executed.
    std::vector<Json> told_orders_;         // Each order as the ledger told of it last.
    // The cancels likewise; nothing where the record of the execution does not list them.
    std::optional<std::vector<Json>> told_cancels_;
    std::string planner_;  // Who planned; "" for a built-in planner.
    VenueAccount account_;
    std::optional<Timestamp> executed_at_;
    std::optional<Timestamp> recorded_at_;
    std::string record_ref_;  // The planner's own account of it; "" without one.
    std::string ledger_ref_;
    std::string state_delta_ref_;
    std::string metrics_hash_;
    std::vector<std::string> verification_hashes_;
    // A verdict that came out otherwise, until the stored one shows where.
    std::shared_ptr<const Json> replayed_validation_;
    std::shared_ptr<const Json> replayed_dry_run_;
};

}  // namespace interlock
