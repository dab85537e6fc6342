#include "loop/rules/decision.h"

#include <algorithm>
#include <array>

#include "codec/field_reader.h"
#include "loop/rules/order_identity.h"
#include "loop/wire/loop_tools.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 8> kStages{
    "planned",
    "rejected",
    "validated",
    "aborted",
    "rehearsed",
    "executing",
    "executed",
    "recorded"};

Json encode(const GateTicket& ticket) {
    return Json::object({
        {"intents_hash", ticket.intents_hash},
        {"state_version", ticket.state_version},
        {"market_hash", ticket.market_hash},
        {"expires_at", to_text(ticket.expires_at)},
    });
}

Json encode(const StepInputs& inputs) {
    return Json::object({{"state", inputs.state_ref}, {"market", inputs.market_ref}});
}

Json encode(const CancelRow& row) {
    return Json::object({{"order_client_id", row.order_client_id.text()}, {"status", row.status}});
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

std::string text_of(FieldReader& in, std::string_view key) {
    return in.optional_text(key, {.length_min = 0, .length_max = 4096}).value_or("");
}

template <class T>
T take(Result<T> part, FieldReader& in) {
    if (!part) {
        in.absorb(part.error());
        return {};
    }
    return *std::move(part);
}

Result<GateTicket> decode_ticket(const Json& json) {
    FieldReader in(json);
    return in.finish(GateTicket{
        .intents_hash = in.required<std::string>("intents_hash"),
        .state_version = in.required<std::int64_t>("state_version"),
        .market_hash = in.required<std::string>("market_hash"),
        .expires_at = in.required<Timestamp>("expires_at"),
    });
}

std::optional<GateTicket> read_ticket(FieldReader& in, std::string_view key) {
    const Json* json = in.optional_object(key);
    if (json == nullptr) {
        return std::nullopt;
    }
    return take(decode_ticket(*json), in);
}

StepInputs read_inputs(FieldReader& in, std::string_view key) {
    const Json* json = in.required_object(key);
    if (json == nullptr) {
        return {};
    }
    FieldReader fields(*json);
    return {.state_ref = text_of(fields, "state"), .market_ref = text_of(fields, "market")};
}

Result<Execution> decode_execution(const Json& json) {
    FieldReader in(json);
    Execution row{
        .intent_id = in.required<IntentId>("intent_id"),
        .order_client_id = in.required<OrderClientId>("order_client_id"),
        .symbol = {},
        .exchange_order_id = text_of(in, "exchange_order_id"),
        .submit_status = in.required<std::string>("submit_status"),
        .reject_code = text_of(in, "reject_code"),
    };
    row.symbol = take(Symbol::parse(in.required<std::string>("symbol")), in);
    return in.finish(std::move(row));
}

Result<CancelRow> decode_cancel(const Json& json) {
    FieldReader in(json);
    return in.finish(CancelRow{
        .order_client_id = in.required<OrderClientId>("order_client_id"),
        .status = in.required<std::string>("status"),
    });
}

template <class Rows>
Json encode_all(const Rows& rows) {
    Json list = Json::array();
    for (const auto& row : rows) {
        list.push(encode(row));
    }
    return list;
}

DecisionStage read_stage(FieldReader& in) {
    return static_cast<DecisionStage>(in.required_word_index("stage", kStages));
}

void read_rows(FieldReader& in, Decision& decision) {
    for (const Json& row : in.required_array("execution", kIntentsMax)) {
        decision.execution.push_back(take(decode_execution(row), in));
    }
    for (const Json& row : in.required_array("cancels", kCancelsMax)) {
        decision.cancels.push_back(take(decode_cancel(row), in));
    }
}

void read_steps(FieldReader& in, Decision& decision) {
    decision.config_ref = text_of(in, "config_ref");
    decision.validate_inputs = read_inputs(in, "validate_inputs");
    decision.dry_run_inputs = read_inputs(in, "dry_run_inputs");
    decision.execute_inputs = read_inputs(in, "execute_inputs");
    decision.gate_ticket = read_ticket(in, "gate_ticket");
    decision.dry_run_ticket = read_ticket(in, "dry_run_ticket");
    decision.validation = in.optional_or<Json>("validation", {});
    decision.dry_run = in.optional_or<Json>("dry_run", {});
    decision.slippage_bps = in.required<Decimal>("slippage_bps");
    decision.fee_bps = in.required<Decimal>("fee_bps");
    decision.operation = in.optional_or<Json>("operation", {});
    decision.verification = in.optional_or<Json>("verification", {});
    decision.record = in.optional_or<Json>("record", {});
    decision.state_delta_ref = text_of(in, "state_delta_ref");
    decision.metrics = in.optional_or<Json>("metrics", {});
    decision.ledger_ref = text_of(in, "ledger_ref");
    decision.audit_ref = text_of(in, "audit_ref");
    decision.planned_at = in.required<Timestamp>("planned_at");
    decision.executed_at = in.optional<Timestamp>("executed_at");
    decision.recorded_at = in.optional<Timestamp>("recorded_at");
}

}  // namespace

std::string_view to_word(DecisionStage stage) {
    return kStages[static_cast<std::size_t>(stage)];
}

bool is_open(DecisionStage stage) {
    return stage < DecisionStage::executing;
}

Json encode(const Execution& execution) {
    return Json::object({
        {"intent_id", execution.intent_id.text()},
        {"order_client_id", execution.order_client_id.text()},
        {"symbol", execution.symbol.text()},
        {"exchange_order_id", text_or_null(execution.exchange_order_id)},
        {"submit_status", execution.submit_status},
        {"reject_code", text_or_null(execution.reject_code)},
    });
}

Json encode(const Decision& decision) {
    return Json::object({
        {"decision_id", decision.decision_id.text()},
        {"tick_id", decision.tick_id.text()},
        {"account", encode(decision.account)},
        {"stage", to_word(decision.stage)},
        {"attempt", decision.attempt},
        {"planner", decision.planner},
        {"from_outside", decision.from_outside},
        {"planner_input", decision.planner_input},
        {"plan", encode(decision.plan)},
        {"config_ref", decision.config_ref},
        {"validate_inputs", encode(decision.validate_inputs)},
        {"dry_run_inputs", encode(decision.dry_run_inputs)},
        {"execute_inputs", encode(decision.execute_inputs)},
        {"gate_ticket", decision.gate_ticket ? encode(*decision.gate_ticket) : Json()},
        {"dry_run_ticket", decision.dry_run_ticket ? encode(*decision.dry_run_ticket) : Json()},
        {"validation", decision.validation},
        {"dry_run", decision.dry_run},
        {"slippage_bps", to_text(decision.slippage_bps)},
        {"fee_bps", to_text(decision.fee_bps)},
        {"execution", encode_all(decision.execution)},
        {"cancels", encode_all(decision.cancels)},
        {"operation", decision.operation},
        {"verification", decision.verification},
        {"record", decision.record},
        {"state_delta_ref", decision.state_delta_ref},
        {"metrics", decision.metrics},
        {"ledger_ref", decision.ledger_ref},
        {"audit_ref", decision.audit_ref},
        {"planned_at", to_text(decision.planned_at)},
        {"executed_at", time_or_null(decision.executed_at)},
        {"recorded_at", time_or_null(decision.recorded_at)},
    });
}

Result<Decision> decode_decision(const Json& json) {
    FieldReader in(json);
    Decision decision;
    decision.decision_id = in.required<DecisionId>("decision_id");
    decision.tick_id = in.required<TickId>("tick_id");
    if (const Json* account = in.required_object("account")) {
        decision.account = take(decode_venue_account(*account), in);
    }
    decision.stage = read_stage(in);
    decision.attempt = in.required<std::int64_t>("attempt");
    decision.planner = text_of(in, "planner");
    decision.from_outside = in.required<bool>("from_outside");
    decision.planner_input = in.optional_or<Json>("planner_input", {});
    if (const Json* plan = in.required_object("plan")) {
        decision.plan = take(decode_stored_plan(*plan), in);
    }
    read_steps(in, decision);
    read_rows(in, decision);
    return in.finish(std::move(decision));
}

Result<void> require_tick(const Decision& decision, const TickId& tick_id) {
    if (decision.tick_id != tick_id) {
        return fail(
            errors::decision_mismatch,
            "This decision began in tick " + decision.tick_id.text() + ".");
    }
    return {};
}

bool is_answered(const Decision& decision) {
    const auto pending = [](const Execution& row) { return row.submit_status == "pending"; };
    const auto waiting = [](const CancelRow& row) { return row.status == "pending"; };
    return std::none_of(decision.execution.begin(), decision.execution.end(), pending) &&
           std::none_of(decision.cancels.begin(), decision.cancels.end(), waiting);
}

std::string_view execution_status(const Decision& decision) {
    const auto good = [](const Execution& row) { return row.submit_status == "acked"; };
    const auto done = [](const CancelRow& row) {
        return row.status == "canceled" || row.status == "not_open";
    };
    const auto acked = std::count_if(decision.execution.begin(), decision.execution.end(), good) +
                       std::count_if(decision.cancels.begin(), decision.cancels.end(), done);
    const auto all =
        static_cast<std::ptrdiff_t>(decision.execution.size() + decision.cancels.size());
    if (acked == all) {
        return "ok";
    }
    return acked > 0 ? "partial" : "error";
}

namespace {

std::optional<Error> refusal(const ErrorKind& kind, std::string message) {
    return fail(kind, std::move(message)).error();
}

// The parts of an intent that its hash does not cover.
std::optional<Error> why_not_same(const Decision& decision, const Intent& claimed) {
    const auto planned = std::find_if(
        decision.plan.intents.begin(), decision.plan.intents.end(), [&](const Intent& intent) {
            return intent.intent_id == claimed.intent_id;
        });
    if (planned == decision.plan.intents.end() || planned->time_in_force != claimed.time_in_force) {
        return refusal(
            errors::gate_not_passed,
            "The time_in_force of " + claimed.intent_id.text() + " is not the validated one.");
    }
    const OrderClientId derived = derive_order_client_id(decision.decision_id, claimed);
    if (derived != claimed.order_client_id) {
        return refusal(
            errors::order_client_id_mismatch,
            "The order_client_id of " + claimed.intent_id.text() + " must be " + derived.text() +
                ".");
    }
    return std::nullopt;
}

}  // namespace

std::optional<Error> why_not_executable(const Decision& decision, const ExecuteClaim& claim) {
    if (!is_open(decision.stage)) {
        return refusal(errors::decision_closed, "This decision was executed already.");
    }
    if (decision.stage != DecisionStage::rehearsed || !decision.gate_ticket ||
        !decision.dry_run_ticket) {
        return refusal(
            errors::gate_not_passed,
            "This decision has not passed validation and dry run; it is " +
                std::string(to_word(decision.stage)) + ".");
    }
    const std::string hash = intents_hash(claim.plan);
    if (hash != decision.gate_ticket->intents_hash ||
        hash != decision.dry_run_ticket->intents_hash) {
        return refusal(errors::gate_not_passed, "These are not the intents that passed the gates.");
    }
    for (const Intent& intent : claim.plan.intents) {
        if (auto why = why_not_same(decision, intent)) {
            return why;
        }
    }
    if (claim.now > decision.gate_ticket->expires_at ||
        claim.now > decision.dry_run_ticket->expires_at) {
        return refusal(errors::gate_ticket_expired, "The gate ticket is older than 120 seconds.");
    }
    return std::nullopt;
}

Json encode_execution(const Decision& decision) {
    return encode_all(decision.execution);
}

Json encode_timestamps(const Decision& decision) {
    return Json::object({
        {"planned_at", to_text(decision.planned_at)},
        {"executed_at", time_or_null(decision.executed_at)},
    });
}

Json replay_record(const Decision& decision) {
    return Json::object({
        {"decision_id", decision.decision_id.text()},
        {"tick_id", decision.tick_id.text()},
        {"inputs",
         Json::object({
             {"state_hash", decision.validate_inputs.state_ref},
             {"market_hash", decision.validate_inputs.market_ref},
             {"config_hash", decision.config_ref},
             {"dry_run", encode(decision.dry_run_inputs)},
             {"execute", encode(decision.execute_inputs)},
         })},
        {"planner_input", decision.planner_input},
        {"plan", encode(decision.plan)},
        {"validation", decision.validation},
        {"dry_run", decision.dry_run},
        {"execution", encode_execution(decision)},
        {"verification", decision.verification},
        {"outputs",
         Json::object({
             {"state_delta_hash", text_or_null(decision.state_delta_ref)},
             {"metrics", decision.metrics},
         })},
        {"timestamps", encode_timestamps(decision)},
    });
}

}  // namespace interlock
