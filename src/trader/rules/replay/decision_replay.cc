#include "trader/rules/replay/decision_replay.h"

#include <algorithm>
#include <array>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "codec/field_reader.h"
#include "loop/rules/order_identity.h"
#include "loop/rules/rehearsal.h"
#include "loop/rules/state_delta.h"
#include "loop/wire/loop_tools.h"
#include "trader/rules/replay/replay_checks.h"
#include "trader/rules/strategy.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kOutcomes{"ok", "differs", "not_replayable"};
// A decision asks the venue a few times; more different answers than this are not remembered.
constexpr std::size_t kVerificationsMax = 1000;

}  // namespace

std::string_view to_word(ReplayOutcome outcome) {
    return kOutcomes[static_cast<std::size_t>(outcome)];
}

Json encode(const ReplayVerdict& verdict) {
    Json json = Json::object({
        {"decision_id", verdict.decision_id.text()},
        {"outcome", to_word(verdict.outcome)},
        {"steps", verdict.steps},
    });
    if (verdict.outcome != ReplayOutcome::ok) {
        json.set("seq", verdict.seq == 0 ? Json() : Json(verdict.seq));
        json.set("event", verdict.event.empty() ? Json() : Json(verdict.event));
        json.set("detail", verdict.detail);
    }
    return json;
}

bool is_plan(const AuditRecord& record) {
    return record.draft.event == "PLAN_CREATED" && record.draft.status != AuditStatus::skipped;
}

DecisionReplay::DecisionReplay(DecisionId decision_id) {
    verdict_.decision_id = std::move(decision_id);
}

Result<void> DecisionReplay::add(const AuditRecord& record, ReplayInputs& inputs) {
    if (verdict_.outcome != ReplayOutcome::ok) {
        return {};
    }
    if (const auto done = run(record, inputs); !done) {
        if (done.error() != errors::replay_differs && done.error() != errors::not_replayable &&
            done.error() != errors::other_policy) {
            return done;
        }
        note(done.error(), &record);
    }
    return {};
}

void DecisionReplay::note(const Error& error, const AuditRecord* record) {
    verdict_.outcome =
        error == errors::replay_differs ? ReplayOutcome::differs : ReplayOutcome::not_replayable;
    verdict_.is_other_policy = error == errors::other_policy;
    verdict_.detail = error.message;
    if (record != nullptr) {
        verdict_.seq = record->seq;
        verdict_.event = record->draft.event;
    }
}

Result<void> DecisionReplay::run(const AuditRecord& record, ReplayInputs& inputs) {
    const std::string& event = record.draft.event;
    if (is_plan(record)) {
        return run_plan(record, inputs);
    }
    if (event == "VALIDATION_RESULT") {
        return run_validation(record, inputs);
    }
    if (event == "DRY_RUN_RESULT") {
        return run_rehearsal(record, inputs);
    }
    if (event == "DRY_RUN_ABORTED_OR_ADJUSTED") {
        return run_adjustment(record, inputs);
    }
    if (event == "EXECUTION_ATTEMPT") {
        return run_execution(record, inputs);
    }
    if (event == "DECISION_RECORDED") {
        return run_record(record, inputs);
    }
    if (event == "ORDER_ACKED" || event == "ORDER_REJECTED" || event == "ORDER_UNKNOWN" ||
        event == "ORDER_NEVER_ARRIVED") {
        take_outcome(told_orders_, record.draft.detail);
    }
    if (event == "ORDER_CANCELED" && told_cancels_ &&
        record.draft.detail.find("status") != nullptr) {
        take_outcome(*told_cancels_, record.draft.detail);
    }
    // Only the executor's own say what was found; a planner may ask as often as it likes.
    if (event == "VERIFICATION_RESULT" && record.draft.detail.find("overall") != nullptr &&
        verification_hashes_.size() < kVerificationsMax) {
        verification_hashes_.push_back(hash_or_nothing(record.draft.detail));
    }
    return {};
}

Result<void> DecisionReplay::require_planned() const {
    if (!has_plan()) {
        return fail(errors::not_replayable, "The record of its plan is missing.");
    }
    return {};
}

Result<void> DecisionReplay::run_plan(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_count(record, 1));
    const Json* from_outside = record.draft.detail.find("from_outside");
    if (from_outside == nullptr || !from_outside->is_bool()) {
        return fail(errors::not_replayable, "The record does not say whose plan it is.");
    }
    // An outside planner begins anew; a built-in one goes on with the adjusted plan in the same
    // turn.
    if (from_outside->as_bool()) {
        ReplayVerdict verdict = std::move(verdict_);
        const std::int64_t before = attempt_;
        *this = DecisionReplay(verdict.decision_id);
        verdict_ = std::move(verdict);
        attempt_ = before;
    }
    ++attempt_;
    from_outside_ = from_outside->as_bool();
    planner_ = from_outside_ ? record.draft.principal : std::string();
    const Json* planner_input = record.draft.detail.find("planner_input");
    planner_input_ = planner_input == nullptr ? Json() : *planner_input;
    tick_id_ = record.draft.tick_id;
    planned_at_ = record.draft.timestamp;
    plan_ref_ = record.draft.artifacts.front();
    const Json* attempt = record.draft.detail.find("attempt");
    if (attempt == nullptr || attempt->as_int64() != attempt_) {
        return differs("The attempts of the decision are not numbered one after the other.");
    }
    // That the plan is complete: nothing of it may be lost on its way through our types.
    TRY_ASSIGN(const std::string text, inputs.text_of(plan_ref_));
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    TRY_ASSIGN(const std::string again, canonical_json(encode(plan)));
    if (again != text) {
        return differs("The plan does not read back to the same bytes.");
    }
    if (!from_outside_ && attempt_ > 1) {
        TRY(require_equal("the adjusted plan", plan_ref_, adjusted_ref_));
    }
    ++verdict_.steps;
    return {};
}

GateReport DecisionReplay::gates_on(const ReplayInputs::Facts& facts, const Plan& plan) const {
    return run_gates({
        .state = facts.state,
        .market = facts.market,
        .plan = plan,
        .decision_id = verdict_.decision_id,
        .tick_id = tick_id_,
        .has_idempotency_key = true,
        .wanted_mode = facts.state.mode,
        .from_outside = from_outside_,
    });
}

// A built-in planner makes the same plan of the same facts; later attempts are adjusted plans.
Result<void> DecisionReplay::compare_planned(const ReplayInputs::Facts& facts) const {
    if (from_outside_ || attempt_ > 1) {
        return {};
    }
    const auto planned = replan(planner_input_, facts.state, facts.market);
    if (!planned) {
        return fail(
            errors::not_replayable, "The planner does not plan again: " + planned.error().message);
    }
    TRY_ASSIGN(const std::string text, canonical_json(encode(*planned)));
    return require_equal(
        "the plan of the built-in planner", plan_ref_, "sha256:" + sha256_hex(text));
}

Result<void> DecisionReplay::run_validation(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_planned());
    TRY(require_count(record, 4));
    const auto& artifacts = record.draft.artifacts;
    const Json& detail = record.draft.detail;
    TRY(require_equal("the plan validated", artifacts[0], plan_ref_));
    config_ref_ = artifacts[3];
    validate_refs_ = {.state_ref = artifacts[1], .market_ref = artifacts[2]};
    TRY(inputs.require_policy(config_ref_));
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    TRY_ASSIGN(const ReplayInputs::Facts facts, inputs.facts_of(artifacts[1], artifacts[2]));
    account_ = {facts.state.tenant_id, facts.state.account_id, facts.state.mode};
    TRY(compare_planned(facts));
    const GateReport report = gates_on(facts, plan);
    Json validation = encode(report);
    TRY_ASSIGN(const std::string text, canonical_json(validation));
    validation_hash_ = sha256_hex(text);
    if (told_text(detail, "validation_hash") != validation_hash_) {
        replayed_validation_ = std::make_shared<const Json>(std::move(validation));
        return differs("validation_hash", told_text(detail, "validation_hash"), validation_hash_);
    }
    TRY(require_equal("intents_hash", told_text(detail, "intents_hash"), intents_hash(plan)));
    const AuditStatus status = report.pass ? AuditStatus::passed : AuditStatus::failed;
    TRY(require_equal("status", status_word(record.draft.status), status_word(status)));
    stage_ = report.pass ? DecisionStage::validated : DecisionStage::rejected;
    ++verdict_.steps;
    return {};
}

Result<void> DecisionReplay::run_rehearsal(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_planned());
    TRY(require_count(record, 2));
    const Json& detail = record.draft.detail;
    FieldReader in(detail);
    Rehearsed given{
        .refs = {.state_ref = record.draft.artifacts[0], .market_ref = record.draft.artifacts[1]},
        .slippage_bps = in.required<Decimal>("slippage_bps"),
        .fee_bps = in.required<Decimal>("fee_bps"),
        .conflicts = {},
    };
    for (const Json& id : in.required_array("conflicts", kIntentsMax)) {
        given.conflicts.push_back(OrderClientId::trusted(id.is_string() ? id.as_string() : ""));
    }
    if (!in.ok()) {
        return fail(errors::not_replayable, "The record does not say what the dry run assumed.");
    }
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    TRY_ASSIGN(
        const ReplayInputs::Facts facts,
        inputs.facts_of(given.refs.state_ref, given.refs.market_ref));
    const DryRunReport report = run_dry_run({
        .state = facts.state,
        .market = facts.market,
        .plan = plan,
        .slippage_bps = given.slippage_bps,
        .fee_bps = given.fee_bps,
        .conflicts = given.conflicts,
    });
    rehearsed_ = std::move(given);
    Json dry_run = encode_rehearsal(report, verdict_.decision_id, plan);
    TRY_ASSIGN(const std::string text, canonical_json(dry_run));
    dry_run_hash_ = sha256_hex(text);
    if (told_text(detail, "dry_run_hash") != dry_run_hash_) {
        replayed_dry_run_ = std::make_shared<const Json>(std::move(dry_run));
        return differs("dry_run_hash", told_text(detail, "dry_run_hash"), dry_run_hash_);
    }
    const AuditStatus status = report.pass ? AuditStatus::passed : AuditStatus::failed;
    TRY(require_equal("status", status_word(record.draft.status), status_word(status)));
    stage_ = report.pass ? DecisionStage::rehearsed : DecisionStage::aborted;
    ++verdict_.steps;
    return {};
}

Result<void> DecisionReplay::run_adjustment(const AuditRecord& record, ReplayInputs& inputs) {
    if (!rehearsed_) {
        return fail(errors::not_replayable, "The record of the dry run is missing.");
    }
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    TRY_ASSIGN(
        const ReplayInputs::Facts facts,
        inputs.facts_of(rehearsed_->refs.state_ref, rehearsed_->refs.market_ref));
    const Adjustment adjustment = adjust_plan(
        {.state = facts.state,
         .market = facts.market,
         .plan = plan,
         .slippage_bps = rehearsed_->slippage_bps,
         .fee_bps = rehearsed_->fee_bps,
         .conflicts = rehearsed_->conflicts},
        {.state = facts.state,
         .market = facts.market,
         .plan = plan,
         .decision_id = verdict_.decision_id,
         .tick_id = tick_id_,
         .wanted_mode = facts.state.mode,
         .from_outside = from_outside_});
    const Json* rounds = record.draft.detail.find("rounds");
    if (rounds == nullptr || rounds->as_int64() != adjustment.rounds) {
        return differs("The dry run was adjusted in another number of rounds.");
    }
    const AuditStatus status = adjustment.plan ? AuditStatus::passed : AuditStatus::failed;
    TRY(require_equal("status", status_word(record.draft.status), status_word(status)));
    adjusted_ref_.clear();
    if (adjustment.plan) {
        TRY_ASSIGN(const std::string adjusted, canonical_json(encode(*adjustment.plan)));
        adjusted_ref_ = "sha256:" + sha256_hex(adjusted);
    }
    ++verdict_.steps;
    return {};
}

// The gates on the facts of the moment of execution.
Result<void> DecisionReplay::run_recheck(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_count(record, 2));
    execute_refs_ = {
        .state_ref = record.draft.artifacts[0], .market_ref = record.draft.artifacts[1]};
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    TRY_ASSIGN(
        const ReplayInputs::Facts facts,
        inputs.facts_of(execute_refs_.state_ref, execute_refs_.market_ref));
    const GateReport report = gates_on(facts, plan);
    if (told_text(record.draft.detail, "code") == errors::gate_recheck_failed.code) {
        const std::string first = report.pass ? "" : to_text(report.breaches.front());
        return require_equal("the breach", record.draft.reason, first);
    }
    if (!report.pass) {
        return differs("the gates at execution", "a pass", to_text(report.breaches.front()));
    }
    return {};
}

Result<void> DecisionReplay::run_execution(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_planned());
    const bool is_attempt = !record.draft.artifacts.empty();
    if (is_attempt) {
        TRY(run_recheck(record, inputs));
    }
    if (is_attempt && record.draft.status == AuditStatus::failed) {
        stage_ = DecisionStage::rejected;
        ++verdict_.steps;
        return {};
    }
    TRY_ASSIGN(const Plan plan, inputs.plan_of(plan_ref_));
    const Json* orders = record.draft.detail.find("orders");
    TRY(compare_orders(orders, plan));
    told_orders_ = orders->items();
    if (is_attempt) {
        const Json* cancels = record.draft.detail.find("cancels");
        told_cancels_.reset();
        if (cancels != nullptr && cancels->is_array()) {
            told_cancels_ = cancels->items();
        }
        executed_at_ = record.draft.timestamp;
    }
    order_ids_.clear();
    for (const Intent& intent : plan.intents) {
        order_ids_.push_back(derive_order_client_id(verdict_.decision_id, intent));
    }
    stage_ = is_attempt ? DecisionStage::executing : DecisionStage::executed;
    ++verdict_.steps;
    return {};
}

void DecisionReplay::take_outcome(std::vector<Json>& told_rows, const Json& row) {
    for (Json& told : told_rows) {
        if (told_text(told, "order_client_id") == told_text(row, "order_client_id")) {
            told = row;
        }
    }
}

// Intent, derived id and symbol of every order, in the plan's order.
Result<void> DecisionReplay::compare_orders(const Json* orders, const Plan& plan) const {
    if (orders == nullptr || !orders->is_array() || orders->items().size() != plan.intents.size()) {
        return differs("The orders are not those of the plan.");
    }
    for (std::size_t i = 0; i < plan.intents.size(); ++i) {
        const Intent& intent = plan.intents[i];
        const Json& order = orders->items()[i];
        TRY(require_equal("intent_id", told_text(order, "intent_id"), intent.intent_id.text()));
        TRY(require_equal(
            "order_client_id",
            told_text(order, "order_client_id"),
            derive_order_client_id(verdict_.decision_id, intent).text()));
        TRY(require_equal("symbol", told_text(order, "symbol"), std::string(intent.symbol.text())));
    }
    return {};
}

Result<void> DecisionReplay::run_record(const AuditRecord& record, ReplayInputs& inputs) {
    TRY(require_planned());
    const bool is_planners = record.draft.actor == AuditActor::codex;
    TRY(require_count(record, is_planners ? 1 : 2));
    const std::string& ref = record.draft.artifacts.front();
    TRY_ASSIGN(const Json json, inputs.json_of(ref));
    if (is_planners) {
        record_ref_ = ref;
        ++verdict_.steps;
        return {};  // The planner's own words: that they have their hash is all there is to check.
    }
    TRY(compare_record(json));
    state_delta_ref_ = record.draft.artifacts.back();
    TRY(compare_outputs(json, inputs));
    ledger_ref_ = ref;
    recorded_at_ = record.draft.timestamp;
    if (stage_ == DecisionStage::executed) {
        stage_ = DecisionStage::recorded;
    }
    ++verdict_.steps;
    return {};
}

// The metrics come out again of what the record and its state delta say; the delta is of the orders
// that were sent and of no others.
Result<void> DecisionReplay::compare_outputs(const Json& record, ReplayInputs& inputs) {
    const auto part = [](const Json& json, std::string_view key) {
        const Json* found = json.find(key);
        return found == nullptr ? Json() : *found;
    };
    const Json outputs = part(record, "outputs");
    TRY(require_equal("the state delta", told_text(outputs, "state_delta_hash"), state_delta_ref_));
    TRY_ASSIGN(const Json delta, inputs.json_of(state_delta_ref_));
    const Json orders = part(delta, "orders");
    const bool same =
        orders.is_array() && std::equal(
                                 orders.items().begin(),
                                 orders.items().end(),
                                 order_ids_.begin(),
                                 order_ids_.end(),
                                 [](const Json& row, const OrderClientId& id) {
                                     return told_text(row, "order_client_id") == id.text();
                                 });
    if (!same) {
        return differs("The state delta is not of the orders that were sent.");
    }
    const auto metrics = decision_metrics({
        .execution = part(record, "execution"),
        .timestamps = part(record, "timestamps"),
        .state_delta = delta,
    });
    if (!metrics) {
        return fail(errors::not_replayable, "The state delta cannot be read.");
    }
    metrics_hash_ = hash_or_nothing(*metrics);
    return require_equal("the metrics", hash_or_nothing(part(outputs, "metrics")), metrics_hash_);
}

Result<void> DecisionReplay::compare_record(const Json& record) const {
    const auto part = [&](std::string_view key) {
        const Json* found = record.find(key);
        return found == nullptr ? Json() : *found;
    };
    TRY(require_equal("the record's plan", "sha256:" + hash_or_nothing(part("plan")), plan_ref_));
    TRY(require_equal(
        "the record's validation", hash_or_nothing(part("validation")), validation_hash_));
    TRY(require_equal("the record's dry run", hash_or_nothing(part("dry_run")), dry_run_hash_));
    const Json inputs = part("inputs");
    TRY(require_equal(
        "the record's state", told_text(inputs, "state_hash"), validate_refs_.state_ref));
    TRY(require_equal(
        "the record's market", told_text(inputs, "market_hash"), validate_refs_.market_ref));
    TRY(require_equal("the record's config", told_text(inputs, "config_hash"), config_ref_));
    return {};
}

}  // namespace interlock
