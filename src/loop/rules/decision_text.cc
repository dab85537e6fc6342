#include "loop/rules/decision_text.h"

#include "codec/canonical_writer.h"

namespace interlock {
namespace {

// What a decision with one intent needs, by far the most of them.
constexpr std::size_t kRowBytesExpected = 3072;

void append_json(CanonicalWriter& out, std::string_view key, const Json& json) {
    out.raw(key, json.is_null() ? "null" : to_text(json));
}

void append_time(CanonicalWriter& out, std::string_view key, const std::optional<Timestamp>& time) {
    if (time) {
        out.text(key, to_text(*time));
    } else {
        out.raw(key, "null");
    }
}

void append_intent(CanonicalWriter& out, const Intent& intent) {
    out.open_object();
    out.text("intent_id", intent.intent_id.text());
    out.text("symbol", intent.symbol.text());
    out.text("side", to_word(intent.side));
    out.text("order_type", to_word(intent.order_type));
    out.decimal("qty", intent.qty);
    out.decimal("limit_price", intent.limit_price);
    out.text("time_in_force", to_word(intent.time_in_force));
    out.flag("post_only", intent.post_only);
    if (!intent.strategy_id.empty()) {
        out.text("strategy_id", intent.strategy_id.text());
    }
    if (intent.expected_edge_bps) {
        out.decimal("expected_edge_bps", *intent.expected_edge_bps);
    }
    out.close_object();
}

void append_plan(CanonicalWriter& out, const Plan& plan) {
    out.key("plan");
    out.open_object();
    out.key("intents");
    out.open_array();
    for (const Intent& intent : plan.intents) {
        out.next();
        append_intent(out, intent);
    }
    out.close_array();
    out.key("cancels");
    out.open_array();
    for (const OrderClientId& id : plan.cancels) {
        out.item(id.text());
    }
    out.close_array();
    out.text("reason", plan.reason);
    out.close_object();
}

void append_inputs(CanonicalWriter& out, std::string_view key, const StepInputs& inputs) {
    out.key(key);
    out.open_object();
    out.text("state", inputs.state_ref);
    out.text("market", inputs.market_ref);
    out.close_object();
}

void append_ticket(
    CanonicalWriter& out, std::string_view key, const std::optional<GateTicket>& ticket) {
    if (!ticket) {
        out.raw(key, "null");
        return;
    }
    out.key(key);
    out.open_object();
    out.text("intents_hash", ticket->intents_hash);
    out.raw("state_version", std::to_string(ticket->state_version));
    out.text("market_hash", ticket->market_hash);
    out.text("expires_at", to_text(ticket->expires_at));
    out.close_object();
}

void append_rows(CanonicalWriter& out, const Decision& decision) {
    out.key("execution");
    out.open_array();
    for (const Execution& row : decision.execution) {
        out.raw_item(to_text(encode(row)));
    }
    out.close_array();
    out.key("cancels");
    out.open_array();
    for (const CancelRow& row : decision.cancels) {
        out.next();
        out.open_object();
        out.text("order_client_id", row.order_client_id.text());
        out.text("status", row.status);
        out.close_object();
    }
    out.close_array();
}

}  // namespace

std::string row_text(const Decision& decision) {
    std::string text;
    text.reserve(kRowBytesExpected);
    CanonicalWriter out(text);
    out.open_object();
    out.text("decision_id", decision.decision_id.text());
    out.text("tick_id", decision.tick_id.text());
    append_json(out, "account", encode(decision.account));
    out.text("stage", to_word(decision.stage));
    out.raw("attempt", std::to_string(decision.attempt));
    out.text("planner", decision.planner);
    out.flag("from_outside", decision.from_outside);
    append_json(out, "planner_input", decision.planner_input);
    append_plan(out, decision.plan);
    out.text("config_ref", decision.config_ref);
    append_inputs(out, "validate_inputs", decision.validate_inputs);
    append_inputs(out, "dry_run_inputs", decision.dry_run_inputs);
    append_inputs(out, "execute_inputs", decision.execute_inputs);
    append_ticket(out, "gate_ticket", decision.gate_ticket);
    append_ticket(out, "dry_run_ticket", decision.dry_run_ticket);
    append_json(out, "validation", decision.validation);
    append_json(out, "dry_run", decision.dry_run);
    out.decimal("slippage_bps", decision.slippage_bps);
    out.decimal("fee_bps", decision.fee_bps);
    append_rows(out, decision);
    append_json(out, "operation", decision.operation);
    append_json(out, "verification", decision.verification);
    append_json(out, "record", decision.record);
    out.text("state_delta_ref", decision.state_delta_ref);
    append_json(out, "metrics", decision.metrics);
    out.text("ledger_ref", decision.ledger_ref);
    out.text("audit_ref", decision.audit_ref);
    out.text("planned_at", to_text(decision.planned_at));
    append_time(out, "executed_at", decision.executed_at);
    append_time(out, "recorded_at", decision.recorded_at);
    out.close_object();
    return text;
}

}  // namespace interlock
