// The JSON schemas of what the planner's tools take, for MCP and OpenAPI. Models read the
// descriptions: short, no sentence twice, and a unit or range wherever there is a number.
#include "base/check.h"
#include "loop/wire/loop_answers.h"
#include "loop/wire/loop_tools.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json id_schema(std::string_view description) {
    Json schema = schema_of(
        R"({"type": "string", "minLength": 1, "maxLength": 128,
            "pattern": "^[!$&-.0->@-\\[\\]-~]+$"})");
    schema.set("description", description);
    return schema;
}

// A request: the four fields every call has, and the tool's own.
Json request_of(Json own_properties, const std::vector<std::string_view>& own_required) {
    Json properties = Json::object({
        {"decision_id", id_schema("Your id of this decision, the same through all tools.")},
        {"tick_id", id_schema("Of your loop iteration; a decision keeps one.")},
        {"idempotency_key", id_schema("The same to repeat this very call, else a new one.")},
        {"account_id", id_schema("Left out: main.")},
    });
    Json required = Json::array({"decision_id", "tick_id", "idempotency_key"});
    for (auto& [key, value] : own_properties.members()) {
        properties.set(key, std::move(value));
    }
    for (const std::string_view key : own_required) {
        required.push(key);
    }
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"required", std::move(required)},
        {"properties", std::move(properties)},
    });
}

Json plan_schema(IntentForm form) {
    const bool is_first = form == IntentForm::validate;
    Json reason = schema_of(R"({"type": "string", "maxLength": 2000})");
    reason.set("description", is_first ? "Why, for the audit log." : "As validated.");
    Json properties = Json::object({
        {"intents", intents_schema(form)},
        {"cancels", cancels_schema()},
        {"reason", std::move(reason)},
    });
    Json required = Json::array({"intents"});
    if (is_first) {
        required.push("reason");
    }
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"description", is_first ? "What you want done." : "The validated plan."},
        {"required", std::move(required)},
        {"properties", std::move(properties)},
    });
}

Json assumptions_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["slippage_bps", "fee_bps"],
        "description": "Never taken lower than the account's own.",
        "properties": {
            "slippage_bps": {"type": ["string", "number"], "description": "Basis points, from 0."},
            "fee_bps": {"type": ["string", "number"], "description": "Basis points, from 0."}
        }})");
}

Json state_request() {
    return request_of(
        Json::object({{"as_of", schema_of(R"({"type": "string", "format": "date-time",
            "description": "Now, RFC 3339."})")}}),
        {"as_of"});
}

Json snapshot_request() {
    return request_of(
        schema_of(R"({
            "symbols": {"type": "array", "maxItems": 100, "items": {"type": "string"},
                "description": "Of state.symbols."},
            "max_staleness_sec": {"type": ["string", "number"],
                "description": "Seconds, from 0; older data is flagged."}})"),
        {"symbols", "max_staleness_sec"});
}

Json execute_request() {
    return request_of(
        Json::object({
            {"execution_mode", schema_of(R"({"enum": ["paper", "shadow", "live"],
                "description": "As runtime_flags.mode."})")},
            {"approved_intents", intents_schema(IntentForm::execute)},
            {"cancels", cancels_schema()},
        }),
        {"execution_mode", "approved_intents"});
}

Json verify_request() {
    return request_of(
        schema_of(R"({"order_client_ids": {"type": "array", "maxItems": 150,
            "items": {"type": "string"}, "description": "Own orders."}})"),
        {"order_client_ids"});
}

Json record_request() {
    return request_of(
        schema_of(R"({"record": {
            "type": "object",
            "description": "In your words; state_delta and metrics are free.",
            "additionalProperties": false,
            "required": ["plan_summary", "validation_summary", "execution_summary",
                         "verification_summary", "state_delta", "metrics"],
            "properties": {
                "plan_summary": {"type": "string", "maxLength": 4000,
                    "description": "What was wanted."},
                "validation_summary": {"type": "string", "maxLength": 4000,
                    "description": "What the gates said."},
                "execution_summary": {"type": "string", "maxLength": 4000,
                    "description": "What was sent."},
                "verification_summary": {"type": "string", "maxLength": 4000,
                    "description": "What became of it."},
                "state_delta": {"type": "object", "additionalProperties": true,
                    "description": "What changed."},
                "metrics": {"type": "object", "additionalProperties": true,
                    "description": "Your figures."}
            }}})"),
        {"record"});
}

}  // namespace

std::vector<LoopToolSchema> loop_tool_schemas() {
    const auto plan = [](IntentForm form) { return Json::object({{"plan", plan_schema(form)}}); };
    Json rehearsal = plan(IntentForm::dry_run);
    rehearsal.set("assumptions", assumptions_schema());
    std::vector<LoopToolSchema> schemas;
    const auto add = [&](std::string_view name, Json request) {
        schemas.push_back({name, std::move(request), loop_answer_schema(name)});
    };
    add("py_get_canonical_state", state_request());
    add("py_get_market_snapshot", snapshot_request());
    add("py_validate_plan", request_of(plan(IntentForm::validate), {"plan"}));
    add("py_dry_run_plan", request_of(std::move(rehearsal), {"plan", "assumptions"}));
    add("py_execute_plan", execute_request());
    add("py_verify_execution", verify_request());
    add("py_record_decision", record_request());
    return schemas;
}

}  // namespace interlock
