#include "loop/wire/loop_answers.h"

#include "account/wire/risk_limits.h"
#include "base/check.h"
#include "codec/json_schema.h"
#include "host/wire/blocked.h"

namespace interlock {
namespace {

Json side() {
    return schema::words({"buy", "sell"});
}

Json mode() {
    return schema::words({"paper", "shadow", "live"});
}

Json risk_mode() {
    return schema::words({"normal", "reduced", "defensive", "reduce_only", "halted"});
}

Json decimal(std::string_view about = {}) {
    return schema::text(about);
}

Json reasons(std::string_view about = "gate:code:symbol, '-' for the whole plan.") {
    return schema::list(schema::text(), about);
}

Json order_state() {
    return schema::words({"new", "partially_filled", "filled", "canceled", "rejected", "unknown"});
}

Json limits() {
    schema::Members members;
    for (const LimitSpec& spec : limit_specs()) {
        members.emplace_back(spec.name, decimal(spec.meaning));
    }
    return schema::object(std::move(members));
}

Json flags() {
    return schema::object({
        {"trading_enabled", schema::boolean()},
        {"kill_switch_active", schema::boolean("While true only cancels pass.")},
        {"mode", mode()},
        {"risk_mode", risk_mode()},
        {"size_factor", decimal("Entries are held to this share of max_notional_per_trade.")},
        {"entries_halted", schema::boolean()},
        {"entries_halted_reason", schema::text()},
        {"uncertain_orders", schema::integer("Orders whose fate is not known yet.")},
    });
}

Json open_orders() {
    return schema::list(schema::object({
        {"order_client_id", schema::text()},
        {"symbol", schema::text()},
        {"side", side()},
        {"qty", decimal("Base units.")},
        {"price", schema::or_null(decimal("Null: a market order."))},
        {"state", order_state()},
        {"filled_qty", decimal("Base units.")},
        {"uncertain?", schema::boolean("Its fate is not known.")},
    }));
}

Json symbols() {
    return schema::list(
        schema::object({
            {"symbol", schema::text()},
            {"tick_size", schema::or_null(decimal("A limit_price is a multiple of it."))},
            {"step_size", schema::or_null(decimal("A qty is a multiple of it."))},
            {"qty_min", schema::or_null(decimal("Base units."))},
            {"notional_min", schema::or_null(decimal("Least value of an order, in quote."))},
        }),
        "The approved markets.");
}

Json market_modes() {
    return schema::list(
        schema::object({
            {"symbol", schema::text()},
            {"concern_mode", risk_mode()},
            {"risk_mode", risk_mode()},
            {"size_factor", decimal()},
        }),
        "The stricter of the account's mode and the concern's, in each market.");
}

Json envelope() {
    return schema::list(
        schema::object({
            {"symbol", schema::text()},
            {"side", side()},
            {"max_qty", decimal("Base units; 0: nothing passes.")},
            {"max_notional", decimal("In quote.")},
            {"blocked_by", reasons()},
        }),
        "The largest order that would pass all gates now.");
}

schema::Members state_members() {
    return {
        {"balances",
         schema::list(schema::object(
             {{"asset", schema::text()}, {"free", decimal()}, {"locked", decimal()}}))},
        {"positions",
         schema::list(schema::object({
             {"symbol", schema::text()},
             {"qty", decimal("Base units.")},
             {"avg_price", decimal()},
             {"notional", schema::or_null(decimal("Null: no price."))},
             {"dust", schema::boolean("Less than the venue's least order.")},
         }))},
        {"unpriced", schema::list(schema::text(), "Assets held that no market here prices.")},
        {"open_orders", open_orders()},
        {"risk_limits", limits()},
        {"runtime_flags", flags()},
        {"pnl",
         schema::object({
             {"realized", decimal()},
             {"unrealized", decimal()},
             {"pnl_today", decimal("Since 00:00 UTC, net of fees.")},
             {"fees_today", decimal()},
         })},
        {"treasury",
         schema::object({
             {"principal_baseline", decimal()},
             {"rolling_surplus_30d", decimal()},
             {"runway_days", schema::number()},
             {"daily_total_cost", decimal()},
             {"principal_protected", schema::boolean()},
             {"ops_reserve", decimal()},
             {"profit", decimal()},
         })},
        {"equity", schema::or_null(decimal("Null: something held has no price."))},
        {"peak_equity", decimal()},
        {"account_id", schema::text()},
        {"state_version", schema::integer()},
        {"strategy_ids",
         schema::list(schema::text(), "What an intent may name as strategy_id now.")},
        {"spendable_cash", decimal("In quote; free less the operating reserve.")},
        {"symbols", symbols()},
        {"as_of?", schema::moment("When this was so.")},
        {"market_modes?", market_modes()},
        {"allowed_envelope", envelope()},
    };
}

Json hints() {
    return schema::list(
        schema::object({
            {"reason", schema::text("The blocking reason it is about.")},
            {"text", schema::text()},
            {"changes",
             schema::list(
                 schema::object({
                     {"intent_id?", schema::text()},
                     {"field",
                      schema::words({"qty", "limit_price", "strategy_id", "wait_seconds"})},
                     {"relation", schema::words({"at_most", "at_least", "equals"})},
                     {"value", schema::text("Passes this check; a qty of 0: leave it out.")},
                 }),
                 "Empty: nothing in the plan would make it pass.")},
        }),
        "When refused: what would pass.");
}

Json market() {
    const Json decimal_or_null = schema::or_null(decimal());
    return schema::list(schema::object({
        {"symbol", schema::text()},
        {"best_bid", decimal_or_null},
        {"best_ask", decimal_or_null},
        {"mid", decimal_or_null},
        {"spread_bps", schema::or_null(schema::number())},
        {"vol_1m", schema::number("A fraction: 0.001 is 10 bps.")},
        {"vol_samples", schema::integer()},
        {"staleness_sec", schema::number()},
        {"halted", schema::boolean()},
    }));
}

Json validation() {
    return schema::object({
        {"pass", schema::boolean()},
        {"checks",
         schema::list(schema::object({
             {"name",
              schema::words(
                  {"risk_limits",
                   "runway_budget",
                   "exposure_leverage",
                   "market_sanity",
                   "policy_guardrails"})},
             {"pass", schema::boolean()},
             {"detail", schema::text()},
         }))},
        {"blocking_reasons", reasons()},
        {"warnings", schema::list(schema::text())},
    });
}

Json intent(bool is_request) {
    schema::Members members{
        {"intent_id", schema::text()},
        {"symbol", schema::text()},
        {"side", side()},
        {"order_type", schema::words({"market", "limit"})},
        {"qty", decimal()},
        {"limit_price", schema::or_null(decimal())},
        {"time_in_force", schema::words({"GTC", "IOC", "FOK"})},
        {"post_only", schema::boolean()},
        {"strategy_id?", schema::text()},
    };
    if (is_request) {
        members.emplace_back("expected_edge_bps", schema::or_null(decimal()));
    } else {
        members.emplace_back("expected_edge_bps?", decimal());
    }
    return schema::object(std::move(members));
}

Json plan(bool is_request) {
    return schema::object({
        {"intents", schema::list(intent(is_request))},
        {"cancels", schema::list(schema::text())},
        {"reason", schema::text()},
    });
}

Json dry_run(bool with_adjusted) {
    schema::Members members{
        {"pass", schema::boolean()},
        {"projected",
         schema::list(schema::object({
             {"symbol", schema::text()},
             {"est_fill_price", decimal()},
             {"est_fee", decimal("In quote.")},
             {"est_pnl_impact", decimal("In quote.")},
             {"post_trade_exposure", decimal("In quote.")},
             {"intent_id?", schema::text()},
             {"order_client_id?", schema::text("What py_execute_plan wants.")},
         }))},
        {"idempotency_conflicts", schema::list(schema::text())},
        {"blocking_reasons", reasons()},
    };
    if (with_adjusted) {
        Json adjusted = plan(true);
        adjusted.set("description", "A smaller plan that would pass.");
        members.emplace_back("adjusted_plan?", std::move(adjusted));
    }
    return schema::object(std::move(members));
}

Json execution() {
    return schema::list(schema::object({
        {"intent_id", schema::text()},
        {"order_client_id", schema::text()},
        {"symbol", schema::text()},
        {"exchange_order_id", schema::or_null(schema::text())},
        {"submit_status",
         schema::words(
             {"acked", "rejected", "timeout", "unknown"},
             "timeout and unknown: the order may be live.")},
        {"reject_code", schema::or_null(schema::text())},
    }));
}

Json cancels() {
    return schema::list(
        schema::object({{"order_client_id", schema::text()}, {"status", schema::text()}}));
}

Json verification() {
    return schema::object({
        {"overall", schema::words({"matched", "drift", "uncertain"})},
        {"orders",
         schema::list(schema::object({
             {"order_client_id", schema::text()},
             {"exchange_order_id", schema::or_null(schema::text())},
             {"final_state", order_state()},
             {"fill_qty", decimal("Base units.")},
             {"avg_fill_price", schema::or_null(decimal())},
         }))},
        {"drift_reasons", reasons("Why it is drift.")},
        {"uncertain_reasons", reasons("Why it is uncertain.")},
    });
}

// A tool's answer: status, errors and audit_ref always; its own part only when it came so far that
// there is one.
Json answer_of(schema::Members own) {
    schema::Members members{
        {"status", schema::words({"ok", "error"})},
        {"errors", schema::list(tool_error_schema())},
        {"audit_ref", schema::text("Its record in the audit ledger; empty: none was written.")},
        {"error?", tool_error_schema()},
    };
    for (auto& member : own) {
        members.push_back(std::move(member));
    }
    return schema::object(std::move(members));
}

Json inputs() {
    return schema::object({{"state", schema::text()}, {"market", schema::text()}});
}

// Of a stage that was not reached: null, or an object without members.
Json if_reached(Json json) {
    Json reached = schema::or_null(std::move(json));
    reached.set("required", Json::array());
    return reached;
}

// Null before the record, and without members in records of the first policy.
Json metrics() {
    return if_reached(schema::object(
        {
            {"orders", schema::integer("Sent.")},
            {"acked", schema::integer()},
            {"rejected", schema::integer()},
            {"unknown", schema::integer()},
            {"filled_quote", decimal("In quote.")},
            {"fee_quote", decimal("In quote.")},
            {"slippage_bps",
             schema::or_null(decimal("Against the touch, mean by value; null: nothing to tell."))},
            {"planned_to_executed_ms",
             schema::or_null(schema::integer("Milliseconds; null: nothing was sent."))},
        },
        "As of the moment of recording; null until then."));
}

}  // namespace

Json tool_error_schema() {
    return schema::object({
        {"code", schema::text()},
        {"message", schema::text()},
        {"retryable?", schema::boolean("The same request, with the same key, may be sent again.")},
        {"next_step?", schema::text()},
        {"approval_id?", schema::text()},
        {"order_client_id?", schema::text()},
        {"problems?",
         schema::list(schema::object({{"path", schema::text()}, {"problem", schema::text()}}))},
    });
}

Json canonical_state_schema() {
    return schema::object(state_members());
}

Json account_schema() {
    schema::Members members = state_members();
    members.emplace_back(
        "recovery",
        schema::object({
            {"phase", schema::words({"normal", "recovering", "escalated"})},
            {"reasons", schema::list(schema::text())},
            {"entered_at", schema::or_null(schema::integer("Microseconds since 1970."))},
            {"next_cycle_at", schema::or_null(schema::integer("Microseconds since 1970."))},
            {"cycles", schema::integer()},
            {"clean_cycles", schema::integer()},
            {"exposure_at_entry", decimal()},
            {"exposure_grew", schema::boolean()},
            {"duplicate_seen", schema::boolean()},
            {"cancels_failed", schema::boolean()},
            {"only_looks",
             schema::boolean("After a start nothing is cancelled until doubt is found.")},
        }));
    members.emplace_back(
        "tier",
        schema::object({
            {"tier", schema::text()},
            {"candidate", schema::text()},
            {"better_ticks", schema::integer()},
            {"daily_stop_day", schema::or_null(schema::integer("Microseconds since 1970."))},
            {"drawdown_latched_at", schema::or_null(schema::integer("Microseconds since 1970."))},
            {"stops", schema::list(schema::text())},
        }));
    members.emplace_back(
        "strategies",
        schema::list(schema::object({
            {"strategy_id", schema::text()},
            {"type", schema::text()},
            {"is_active", schema::boolean()},
            {"is_disabled", schema::boolean()},
            {"disabled_reason", schema::text()},
        })));
    members.emplace_back("blocked", blocked_schema());
    members.emplace_back(
        "warnings", schema::list(schema::text(), "What makes orders smaller and blocks nothing."));
    return schema::object(std::move(members));
}

Json decision_schema() {
    return schema::object({
        {"decision_id", schema::text()},
        {"tick_id", schema::text()},
        {"inputs",
         schema::object({
             {"state_hash", schema::text()},
             {"market_hash", schema::text()},
             {"config_hash", schema::text()},
             {"dry_run", inputs()},
             {"execute", inputs()},
         })},
        {"planner_input", schema::or_null(schema::free("What a built-in planner saw."))},
        {"plan", plan(false)},
        {"validation", if_reached(validation())},
        {"dry_run", if_reached(dry_run(false))},
        {"execution", execution()},
        {"verification", if_reached(verification())},
        {"outputs",
         schema::object({
             {"state_delta_hash",
              schema::or_null(schema::text("Artifact of what changed; null until recorded."))},
             {"metrics", metrics()},
         })},
        {"timestamps",
         schema::object({
             {"planned_at", schema::moment()},
             {"executed_at", schema::or_null(schema::moment())},
         })},
        {"stage", schema::text()},
        {"attempt", schema::integer()},
        {"account",
         schema::object({
             {"tenant_id", schema::text()},
             {"mode", mode()},
             {"account_id", schema::text()},
         })},
        {"planner", schema::text()},
        {"planner_record", schema::or_null(schema::free("What py_record_decision brought."))},
        {"ledger_ref", schema::text()},
        {"audit_ref", schema::text()},
    });
}

Json loop_answer_schema(std::string_view tool) {
    if (tool == "py_get_canonical_state") {
        return answer_of({{"state?", canonical_state_schema()}});
    }
    if (tool == "py_get_market_snapshot") {
        return answer_of({{"market?", market()}});
    }
    if (tool == "py_validate_plan") {
        return answer_of({{"validation?", validation()}, {"hints?", hints()}});
    }
    if (tool == "py_dry_run_plan") {
        return answer_of({{"dry_run?", dry_run(true)}, {"hints?", hints()}});
    }
    if (tool == "py_execute_plan") {
        Json answer =
            answer_of({{"execution?", execution()}, {"cancels?", cancels()}, {"hints?", hints()}});
        answer.find("properties")->set("status", schema::words({"ok", "partial", "error"}));
        return answer;
    }
    if (tool == "py_verify_execution") {
        return answer_of({{"verification?", verification()}});
    }
    CHECK(tool == "py_record_decision");
    return answer_of({{"ledger_ref?", schema::text()}});
}

}  // namespace interlock
