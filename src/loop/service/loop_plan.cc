// PLAN, VALIDATE and DRY-RUN: what is decided before anything may leave
// (docs/contracts/agent-loop.md#states).
#include <algorithm>
#include <set>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "base/errors.h"
#include "codec/json_list.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/dry_run/hints.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/order_identity.h"
#include "loop/rules/rehearsal.h"
#include "loop/rules/state_delta.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

// Plans under one decision. Each leaves records, and a receipt holds all records of a decision.
constexpr std::int64_t kAttemptsMax = 100;

std::vector<std::string> reasons_of(const GateReport& report) {
    std::vector<std::string> reasons;
    for (const Breach& breach : report.breaches) {
        reasons.push_back(to_text(breach));
    }
    return reasons;
}

std::string first_or(const std::vector<std::string>& reasons, std::string_view otherwise) {
    return reasons.empty() ? std::string(otherwise) : reasons.front();
}

// Written straight into its text: the verdict would be copied for nothing.
std::string answer_text(
    std::string_view part,
    const Json& value,
    const std::vector<Hint>& hints,
    std::string_view audit_ref) {
    std::string text = R"({"status":"ok",)";
    append_json_string(text, part);
    text += ':';
    text += to_text(value);
    // Beside the verdict, whose hash they must not change; a pass has none.
    if (!hints.empty()) {
        text += R"(,"hints":)";
        text += to_text(encode(hints));
    }
    text += R"(,"errors":[],"audit_ref":)";
    append_json_string(text, audit_ref);
    text += '}';
    return text;
}

// As py_validate_plan takes it: there an intent without an expected edge says so with a null, which
// the stored form of a plan leaves out.
Json plan_request_json(const Plan& plan) {
    Json json = encode(plan);
    for (Json& intent : json.find("intents")->items()) {
        if (intent.find("expected_edge_bps") == nullptr) {
            intent.set("expected_edge_bps", Json());
        }
    }
    return json;
}

Json planned_detail(const Decision& decision) {
    Json detail = Json::object(
        {{"attempt", decision.attempt},
         {"from_outside", decision.from_outside},
         {"intents", decision.plan.intents.size()},
         {"cancels", decision.plan.cancels.size()}});
    if (!decision.planner_input.is_null()) {
        detail.set("planner_input", decision.planner_input);
    }
    return detail;
}

// What the rehearsal assumed, so that it can be repeated from the ledger alone.
Json rehearsal_detail(const DryRunInput& input, std::string hash) {
    Json conflicts = Json::array();
    for (const OrderClientId& id : input.conflicts) {
        conflicts.push(id.text());
    }
    return Json::object({
        {"dry_run_hash", std::move(hash)},
        {"slippage_bps", to_text(input.slippage_bps)},
        {"fee_bps", to_text(input.fee_bps)},
        {"conflicts", std::move(conflicts)},
    });
}

GateTicket ticket_of(std::string hash, const LoopService::Gathered& facts) {
    return {
        .intents_hash = std::move(hash),
        .state_version = facts.state.state_version,
        .market_hash = facts.inputs.market_ref,
        .expires_at = facts.state.now + kTicketLife,
    };
}

}  // namespace

Result<Decision> LoopService::begin_decision(
    Turn& turn, const NewDecision& wanted, const std::shared_ptr<const Decision>& before) {
    if (before && !is_open(before->stage)) {
        return fail(errors::decision_closed, "This decision was executed already.");
    }
    if (before && before->attempt >= kAttemptsMax) {
        return fail(
            errors::decision_closed,
            "This decision was planned " + std::to_string(kAttemptsMax) +
                " times already; begin another.");
    }
    if (before && before->account != wanted.account) {
        return fail(errors::decision_mismatch, "This decision began on another account or mode.");
    }
    if (before) {
        TRY(require_tick(*before, wanted.tick_id));
    }
    Decision decision;
    decision.decision_id = wanted.decision_id;
    decision.tick_id = wanted.tick_id;
    decision.account = wanted.account;
    decision.attempt = before ? before->attempt + 1 : 1;
    decision.planner = wanted.planner;
    decision.from_outside = wanted.from_outside;
    decision.planned_at = turn.now();
    decision.config_ref = config_ref(turn);
    return decision;
}

namespace {

// What VALIDATION_RESULT says of a verdict beside the hash of the intents it is about.
Result<Json> verdict_detail(const GateReport& report, const Json& validation, std::string intents) {
    TRY_ASSIGN(const std::string verdict, canonical_json(validation));
    Json detail = Json::object({
        {"intents_hash", std::move(intents)},
        {"validation_hash", sha256_hex(verdict)},
    });
    if (!report.pass) {
        detail.set("blocking_reasons", json_list(reasons_of(report)));
    }
    return detail;
}

}  // namespace

std::vector<std::string> LoopService::verdict_facts() {
    return {"intents_hash", "validation_hash", "seen"};
}

Result<AuditDraft> LoopService::foresee(
    Turn& turn, const Proposed& proposed, const Gathered& facts) {
    const GateReport report = run_gates({
        .state = facts.state,
        .market = facts.market,
        .plan = proposed.plan,
        .decision_id = proposed.decision_id,
        .tick_id = proposed.tick_id,
        .has_idempotency_key = true,
        .wanted_mode = facts.key.mode,
        .from_outside = false,
    });
    AuditDraft draft = turn.draft("VALIDATION_RESULT");
    draft.tenant_id = facts.key.tenant_id;
    draft.decision_id = proposed.decision_id;
    draft.tick_id = proposed.tick_id;
    draft.step = AuditStep::validate;
    draft.actor = AuditActor::python;
    draft.status = report.pass ? AuditStatus::passed : AuditStatus::failed;
    draft.reason = first_or(reasons_of(report), "all five gates passed");
    TRY_ASSIGN(draft.detail, verdict_detail(report, encode(report), intents_hash(proposed.plan)));
    TRY_ASSIGN(Json looked_at, seen(facts));
    draft.detail.set("seen", std::move(looked_at));
    return draft;
}

GateInput LoopService::gate_input(const Decision& decision, const Gathered& facts) {
    return {
        .state = facts.state,
        .market = facts.market,
        .plan = decision.plan,
        .decision_id = decision.decision_id,
        .tick_id = decision.tick_id,
        .has_idempotency_key = true,
        .wanted_mode = decision.account.mode,
        .from_outside = decision.from_outside,
    };
}

Result<GateReport> LoopService::validate_step(
    Turn& turn, Decision& decision, const Gathered& facts) {
    TRY_ASSIGN(std::string plan_text, canonical_json(encode(decision.plan)));
    const std::string plan_ref = turn.put_artifact(std::move(plan_text));
    TRY(audit_step(
        turn,
        decision,
        {.event = "PLAN_CREATED",
         .step = AuditStep::plan,
         .reason = decision.plan.reason,
         .detail = planned_detail(decision),
         .artifacts = {plan_ref},
         .by_planner = true}));
    GateReport report = run_gates(gate_input(decision, facts));
    decision.validation = encode(report);
    decision.validate_inputs = facts.inputs;
    decision.dry_run_ticket.reset();
    decision.gate_ticket.reset();
    const std::vector<std::string> reasons = reasons_of(report);
    std::string hash = intents_hash(decision.plan);
    TRY_ASSIGN(Json detail, verdict_detail(report, decision.validation, hash));
    TRY(audit_step(
        turn,
        decision,
        {.event = "VALIDATION_RESULT",
         .step = AuditStep::validate,
         .status = report.pass ? AuditStatus::passed : AuditStatus::failed,
         .reason = first_or(reasons, "all five gates passed"),
         .detail = std::move(detail),
         .artifacts = {
             plan_ref, facts.inputs.state_ref, facts.inputs.market_ref, decision.config_ref}}));
    if (report.pass) {
        decision.stage = DecisionStage::validated;
        decision.gate_ticket = ticket_of(std::move(hash), facts);
        return report;
    }
    decision.stage = DecisionStage::rejected;
    TRY(audit_step(
        turn,
        decision,
        {.event = "ACTION_REJECTED",
         .step = AuditStep::validate,
         .status = AuditStatus::failed,
         .reason = first_or(reasons, "a gate failed")}));
    TRY(record_step(turn, decision, AuditStatus::skipped));
    return report;
}

Result<LoopService::Rehearsal> LoopService::dry_run_step(
    Turn& turn, Decision& decision, const Gathered& facts) {
    DryRunInput input{
        .state = facts.state,
        .market = facts.market,
        .plan = decision.plan,
        .slippage_bps = decision.slippage_bps,
        .fee_bps = decision.fee_bps,
        .conflicts = {},
    };
    for (const Intent& intent : decision.plan.intents) {
        const OrderClientId id = derive_order_client_id(decision.decision_id, intent);
        TRY_ASSIGN(const auto taken, load_order(turn, decision.account, id));
        if (taken) {
            input.conflicts.push_back(id);
        }
    }
    const DryRunReport report = interlock::run_dry_run(input);
    decision.dry_run = encode_rehearsal(report, decision.decision_id, decision.plan);
    decision.dry_run_inputs = facts.inputs;
    TRY_ASSIGN(const std::string verdict, canonical_json(decision.dry_run));
    TRY(audit_step(
        turn,
        decision,
        {.event = "DRY_RUN_RESULT",
         .step = AuditStep::dry_run,
         .status = report.pass ? AuditStatus::passed : AuditStatus::failed,
         .reason = first_or(report.blocking_reasons, "within limits after costs"),
         .detail = rehearsal_detail(input, sha256_hex(verdict)),
         .artifacts = {facts.inputs.state_ref, facts.inputs.market_ref}}));
    if (report.pass) {
        decision.stage = DecisionStage::rehearsed;
        decision.dry_run_ticket = ticket_of(intents_hash(decision.plan), facts);
        return Rehearsal{.pass = true, .adjusted = std::nullopt, .hints = {}};
    }
    Adjustment adjustment = adjust_plan(input, gate_input(decision, facts));
    decision.stage = DecisionStage::aborted;
    TRY(audit_step(
        turn,
        decision,
        {.event = "DRY_RUN_ABORTED_OR_ADJUSTED",
         .step = AuditStep::dry_run,
         .status = adjustment.plan ? AuditStatus::passed : AuditStatus::failed,
         .reason = adjustment.plan ? "a smaller plan would pass" : "no smaller plan passes",
         .detail = Json::object({{"rounds", adjustment.rounds}})}));
    Rehearsal rehearsal{.pass = false, .adjusted = std::move(adjustment.plan), .hints = {}};
    if (decision.from_outside) {
        rehearsal.hints = dry_run_hints(input, report);
    }
    return rehearsal;
}

Result<void> LoopService::record_step(Turn& turn, Decision& decision, AuditStatus status) {
    std::vector<OrderClientId> ids;
    for (const Execution& row : decision.execution) {
        ids.push_back(row.order_client_id);
    }
    TRY_ASSIGN(const auto orders, records_of(turn, decision.account, ids));
    TRY_ASSIGN(const Json delta, state_delta(decision, orders));
    TRY_ASSIGN(std::string delta_text, canonical_json(delta));
    decision.state_delta_ref = turn.put_artifact(std::move(delta_text));
    TRY_ASSIGN(
        decision.metrics,
        decision_metrics({
            .execution = encode_execution(decision),
            .timestamps = encode_timestamps(decision),
            .state_delta = delta,
        }));
    TRY_ASSIGN(std::string record, canonical_json(replay_record(decision)));
    const std::string ref = turn.put_artifact(std::move(record));
    decision.ledger_ref = ref;
    decision.recorded_at = turn.now();
    return audit_step(
        turn,
        decision,
        {.event = "DECISION_RECORDED",
         .step = AuditStep::record,
         .status = status,
         .reason = "decision " + std::string(to_word(decision.stage)),
         .artifacts = {ref, decision.state_delta_ref}});
}

Result<void> LoopService::check_opened(Turn& turn, const Plan& plan, const Gathered& facts) {
    if (!asset_rule_) {
        return {};
    }
    const PlanScratch scratch = apply_plan(
        {.state = facts.state,
         .market = facts.market,
         .plan = plan,
         .assumptions = assumptions_of(facts.state.limits)});
    std::set<Symbol> opened;
    for (const IntentScratch& intent : scratch.intents) {
        if (intent.is_entry) {
            opened.insert(intent.intent->symbol);
        }
    }
    const std::vector<Symbol> symbols(opened.begin(), opened.end());
    return symbols.empty() ? Result<void>() : check_assets(turn, symbols);
}

TurnRequest LoopService::validate_turn(Caller caller, ValidatePlanRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_validate_plan", request.call, std::move(reply));
    turn.decide = [this, request = std::move(request)](Turn& t) {
        return run_validate(t, request);
    };
    return turn;
}

Result<TurnReply> LoopService::run_validate(Turn& turn, const ValidatePlanRequest& request) {
    const ToolCall& call = request.call;
    const std::string& name = call.decision_id.text();
    if (name.starts_with(kBuiltinDecisionPrefix) || name.starts_with(kSystemDecisionPrefix)) {
        return refuse(
            turn,
            call,
            fail(errors::invalid_request, "decision_id: names with auto. or sys_ are not yours.")
                .error(),
            AuditStep::validate);
    }
    TRY_ASSIGN(const VenueAccount account, account_of(turn, call.account_id));
    TRY_ASSIGN(const auto before, load_decision(turn, turn.tenant_id(), call.decision_id));
    auto begun = begin_decision(
        turn,
        {.decision_id = call.decision_id,
         .tick_id = call.tick_id,
         .account = account,
         .planner = to_text(turn.principal()),
         .from_outside = true},
        before);
    if (!begun) {
        return refuse(turn, call, begun.error(), AuditStep::validate);
    }
    auto gathered = gather(turn, account, request.plan);
    if (!gathered) {
        return refuse(turn, call, gathered.error(), AuditStep::validate);
    }
    if (const auto allowed = check_opened(turn, request.plan, *gathered); !allowed) {
        return refuse(turn, call, allowed.error(), AuditStep::validate);
    }
    TRY(keep_inputs(turn, *gathered));
    Decision decision = *std::move(begun);
    decision.plan = request.plan;
    TRY_ASSIGN(const GateReport report, validate_step(turn, decision, *gathered));
    std::string text = answer_text(
        "validation",
        decision.validation,
        gate_hints(gate_input(decision, *gathered), report),
        decision.audit_ref);
    save_decision(turn, std::move(decision));
    return Answer{200, std::move(text)};
}

TurnRequest LoopService::dry_run_turn(Caller caller, DryRunPlanRequest request, Reply reply) {
    TurnRequest turn =
        tool_turn(std::move(caller), "py_dry_run_plan", request.call, std::move(reply));
    turn.decide = [this, request = std::move(request)](Turn& t) { return run_dry_run(t, request); };
    return turn;
}

namespace {

std::optional<Error> why_not_rehearsable(
    const std::shared_ptr<const Decision>& decision, const Plan& plan, Timestamp now) {
    const auto refusal = [](const ErrorKind& kind, std::string message) {
        return fail(kind, std::move(message)).error();
    };
    if (!decision) {
        return refusal(errors::gate_not_passed, "Nothing was validated under this decision_id.");
    }
    if (!is_open(decision->stage)) {
        return refusal(errors::decision_closed, "This decision was executed already.");
    }
    if (!decision->gate_ticket) {
        return refusal(
            errors::gate_not_passed,
            std::string(kill_switch_words(decision->validation)) +
                "The plan of this decision did not pass the gates.");
    }
    if (decision->gate_ticket->intents_hash != intents_hash(plan)) {
        return refusal(errors::gate_not_passed, "These are not the intents that passed the gates.");
    }
    if (now > decision->gate_ticket->expires_at) {
        return refusal(errors::gate_ticket_expired, "The gate ticket is older than 120 seconds.");
    }
    return std::nullopt;
}

}  // namespace

Result<TurnReply> LoopService::run_dry_run(Turn& turn, const DryRunPlanRequest& request) {
    const ToolCall& call = request.call;
    TRY_ASSIGN(const auto before, load_decision(turn, turn.tenant_id(), call.decision_id));
    if (const auto why = why_not_rehearsable(before, request.plan, turn.now())) {
        return refuse(turn, call, *why, AuditStep::dry_run);
    }
    if (const auto same = require_tick(*before, call.tick_id); !same) {
        return refuse(turn, call, same.error(), AuditStep::dry_run);
    }
    auto gathered = gather(turn, before->account, before->plan);
    if (!gathered) {
        return refuse(turn, call, gathered.error(), AuditStep::dry_run);
    }
    if (const auto allowed = check_opened(turn, before->plan, *gathered); !allowed) {
        return refuse(turn, call, allowed.error(), AuditStep::dry_run);
    }
    TRY(keep_inputs(turn, *gathered));
    Decision decision = *before;
    decision.slippage_bps = request.slippage_bps;
    decision.fee_bps = request.fee_bps;
    TRY_ASSIGN(const Rehearsal rehearsal, dry_run_step(turn, decision, *gathered));
    Json dry_run = decision.dry_run;
    if (!rehearsal.pass) {
        if (rehearsal.adjusted) {
            dry_run.set("adjusted_plan", plan_request_json(*rehearsal.adjusted));
        } else {
            TRY(record_step(turn, decision, AuditStatus::skipped));
        }
    }
    std::string text = answer_text("dry_run", dry_run, rehearsal.hints, decision.audit_ref);
    save_decision(turn, std::move(decision));
    return Answer{200, std::move(text)};
}

}  // namespace interlock
