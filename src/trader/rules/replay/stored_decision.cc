// The row that the store keeps of a decision, held to what its records tell.
#include <algorithm>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "loop/rules/order_identity.h"
#include "loop/wire/loop_tools.h"
#include "trader/rules/replay/decision_replay.h"
#include "trader/rules/replay/json_difference.h"
#include "trader/rules/replay/replay_checks.h"

namespace interlock {

void DecisionReplay::compare_stored(const Json* row) {
    if (row == nullptr) {
        if (verdict_.outcome == ReplayOutcome::ok) {
            note(differs("The store has no such decision.").error(), nullptr);
        }
        return;
    }
    const auto stored = decode_decision(*row);
    if (verdict_.outcome != ReplayOutcome::ok) {
        // The stored verdict says where the replayed one went another way.
        const auto explain = [&](const std::shared_ptr<const Json>& replayed, const Json& kept) {
            const std::string where =
                replayed && stored ? first_difference(kept, *replayed) : std::string();
            if (!where.empty()) {
                verdict_.detail += "; " + where;
            }
        };
        if (stored) {
            explain(replayed_validation_, stored->validation);
            explain(replayed_dry_run_, stored->dry_run);
        }
        return;
    }
    const auto same =
        stored ? compare_decision(*stored)
               : Result<void>(
                     differs("The stored decision cannot be read: " + stored.error().message));
    if (!same) {
        note(same.error(), nullptr);
        return;
    }
    ++verdict_.steps;
}

Result<void> DecisionReplay::compare_verdicts(const Decision& stored) const {
    TRY_ASSIGN(const std::string plan, canonical_json(encode(stored.plan)));
    TRY(require_equal("the stored plan", "sha256:" + sha256_hex(plan), plan_ref_));
    TRY(require_equal(
        "the stored validation", hash_or_nothing(stored.validation), validation_hash_));
    TRY(require_equal("the stored dry run", hash_or_nothing(stored.dry_run), dry_run_hash_));
    const std::string verification = hash_or_nothing(stored.verification);
    if (!verification.empty() &&
        std::find(verification_hashes_.begin(), verification_hashes_.end(), verification) ==
            verification_hashes_.end()) {
        return differs("The stored verification is none that the ledger tells of.");
    }
    return {};
}

// What no replay can find out again, and only the ledger tells: who planned, where, when, and what
// became of the orders.
Result<void> DecisionReplay::compare_outcomes(const Decision& stored) const {
    const auto time_text = [](const std::optional<Timestamp>& at) {
        return at ? to_text(*at) : std::string();
    };
    TRY(require_equal("executed_at", time_text(stored.executed_at), time_text(executed_at_)));
    TRY(require_equal("recorded_at", time_text(stored.recorded_at), time_text(recorded_at_)));
    if (from_outside_) {
        TRY(require_equal("the stored planner", stored.planner, planner_));
    }
    if (stored.account != account_) {
        return differs("The stored decision names another account than the ledger.");
    }
    const std::string record = hash_or_nothing(stored.record);
    TRY(require_equal(
        "the planner's account", record.empty() ? record : "sha256:" + record, record_ref_));
    const bool same = std::equal(
        stored.execution.begin(),
        stored.execution.end(),
        told_orders_.begin(),
        told_orders_.end(),
        [](const Execution& row, const Json& told) {
            // A record of an outcome tells its reader more of the order than the row keeps.
            const Json kept = encode(row);
            return std::ranges::all_of(kept.members(), [&](const auto& member) {
                const Json* const word = told.find(member.first);
                return word != nullptr && *word == member.second;
            });
        });
    if (!same) {
        return differs("The stored orders came to something else than the ledger tells.");
    }
    return compare_cancels(stored);
}

Result<void> DecisionReplay::compare_cancels(const Decision& stored) const {
    // Records of old name the cancels in the plan alone.
    if (!told_cancels_ && !stored.plan.cancels.empty()) {
        return {};
    }
    const std::vector<Json> told = told_cancels_.value_or(std::vector<Json>());
    const bool same = std::equal(
        stored.cancels.begin(),
        stored.cancels.end(),
        told.begin(),
        told.end(),
        [](const CancelRow& row, const Json& one) {
            return row.order_client_id.text() == told_text(one, "order_client_id") &&
                   row.status == told_text(one, "status");
        });
    if (!same) {
        return differs("The stored cancels came to something else than the ledger tells.");
    }
    return {};
}

Result<void> DecisionReplay::compare_decision(const Decision& stored) const {
    TRY(require_equal("the stored id", stored.decision_id.text(), verdict_.decision_id.text()));
    TRY(require_equal("the stored tick", stored.tick_id.text(), tick_id_.text()));
    TRY(require_equal(
        "the stored stage", std::string(to_word(stored.stage)), std::string(to_word(stage_))));
    TRY(require_equal(
        "the stored attempt", std::to_string(stored.attempt), std::to_string(attempt_)));
    TRY(require_equal("planned_at", to_text(stored.planned_at), to_text(planned_at_)));
    if (stored.from_outside != from_outside_ ||
        hash_or_nothing(stored.planner_input) != hash_or_nothing(planner_input_)) {
        return differs("The stored decision names another planner.");
    }
    TRY(compare_verdicts(stored));
    TRY(compare_outcomes(stored));
    TRY(require_equal("the stored config", stored.config_ref, config_ref_));
    const StepInputs none;
    if (stored.validate_inputs != validate_refs_ ||
        stored.dry_run_inputs != (rehearsed_ ? rehearsed_->refs : none) ||
        stored.execute_inputs != execute_refs_) {
        return differs("The stored decision names other inputs than the ledger.");
    }
    if (rehearsed_ && (stored.slippage_bps != rehearsed_->slippage_bps ||
                       stored.fee_bps != rehearsed_->fee_bps)) {
        return differs("The stored decision assumed other costs than the ledger says.");
    }
    const std::string hash = intents_hash(stored.plan);
    for (const auto& ticket : {stored.gate_ticket, stored.dry_run_ticket}) {
        if (ticket && ticket->intents_hash != hash) {
            return differs("A stored ticket is for other intents.");
        }
    }
    const bool same_orders = std::equal(
        stored.execution.begin(),
        stored.execution.end(),
        order_ids_.begin(),
        order_ids_.end(),
        [](const Execution& row, const OrderClientId& id) { return row.order_client_id == id; });
    if (!same_orders) {
        return differs("The stored orders are not those of the plan.");
    }
    TRY(require_equal("the stored state delta", stored.state_delta_ref, state_delta_ref_));
    TRY(require_equal("the stored metrics", hash_or_nothing(stored.metrics), metrics_hash_));
    return require_equal("the stored record", stored.ledger_ref, ledger_ref_);
}

}  // namespace interlock
