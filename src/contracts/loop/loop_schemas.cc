// The JSON schemas of the planner's tools, for MCP and OpenAPI.
#include "base/check.h"
#include "contracts/loop/loop_tools.h"

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
        {"decision_id",
         id_schema("Your id of this decision; one decision goes through all tools.")},
        {"tick_id", id_schema("Your id of this loop iteration.")},
        {"idempotency_key",
         id_schema("Reuse the same key when you retry this very call; a new key is a new call.")},
        {"account_id", id_schema("Leave out for the tenant's main account.")},
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

// An answer: status, errors and audit_ref always; the tool's own part only when it succeeded so
// far that there is one.
Json answer_of(std::string_view status_words, Json own_properties) {
    Json properties = Json::object({
        {"status", Json::object({{"enum", schema_of(status_words)}})},
        {"errors", schema_of(R"({"type": "array", "items": {"type": "object"}})")},
        {"audit_ref", schema_of(R"({"type": "string"})")},
    });
    for (auto& [key, value] : own_properties.members()) {
        properties.set(key, std::move(value));
    }
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"status", "errors", "audit_ref"})},
        {"properties", std::move(properties)},
    });
}

Json plan_schema(IntentForm form) {
    Json properties = Json::object({
        {"intents", intents_schema(form)},
        {"cancels", cancels_schema()},
        {"reason", schema_of(R"({"type": "string", "maxLength": 2000})")},
    });
    Json required = Json::array({"intents"});
    if (form == IntentForm::validate) {
        required.push("reason");
    }
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"required", std::move(required)},
        {"properties", std::move(properties)},
    });
}

constexpr std::string_view kOkOrError = R"(["ok", "error"])";
constexpr std::string_view kObject = R"({"type": "object"})";

Json decimal_schema(std::string_view description) {
    Json schema = schema_of(R"({"type": ["string", "number"]})");
    schema.set("description", description);
    return schema;
}

LoopToolSchema state_schema() {
    return {
        "py_get_canonical_state",
        request_of(
            Json::object({{"as_of", schema_of(R"({"type": "string", "format": "date-time"})")}}),
            {"as_of"}),
        answer_of(kOkOrError, Json::object({{"state", schema_of(kObject)}})),
    };
}

LoopToolSchema snapshot_schema() {
    return {
        "py_get_market_snapshot",
        request_of(
            Json::object({
                {"symbols",
                 schema_of(R"({"type": "array", "maxItems": 100, "items": {"type": "string"}})")},
                {"max_staleness_sec", decimal_schema("Older data is flagged stale_market_data.")},
            }),
            {"symbols", "max_staleness_sec"}),
        answer_of(
            kOkOrError,
            Json::object(
                {{"market", schema_of(R"({"type": "array", "items": {"type": "object"}})")}})),
    };
}

LoopToolSchema dry_run_schema() {
    return {
        "py_dry_run_plan",
        request_of(
            Json::object({
                {"plan", plan_schema(IntentForm::dry_run)},
                {"assumptions",
                 Json::object({
                     {"type", "object"},
                     {"additionalProperties", false},
                     {"required", Json::array({"slippage_bps", "fee_bps"})},
                     {"properties",
                      Json::object({
                          {"slippage_bps", decimal_schema("Floored at the account's own value.")},
                          {"fee_bps", decimal_schema("Floored at the account's own value.")},
                      })},
                 })},
            }),
            {"plan", "assumptions"}),
        answer_of(kOkOrError, Json::object({{"dry_run", schema_of(kObject)}})),
    };
}

LoopToolSchema execute_schema() {
    return {
        "py_execute_plan",
        request_of(
            Json::object({
                {"execution_mode", schema_of(R"({"enum": ["paper", "shadow", "live"]})")},
                {"approved_intents", intents_schema(IntentForm::execute)},
                {"cancels", cancels_schema()},
            }),
            {"execution_mode", "approved_intents"}),
        answer_of(
            R"(["ok", "partial", "error"])",
            Json::object(
                {{"execution", schema_of(R"({"type": "array", "items": {"type": "object"}})")}})),
    };
}

LoopToolSchema verify_schema() {
    return {
        "py_verify_execution",
        request_of(
            Json::object({{"order_client_ids", schema_of(R"({"type": "array", "maxItems": 150,
                                         "items": {"type": "string"}})")}}),
            {"order_client_ids"}),
        answer_of(kOkOrError, Json::object({{"verification", schema_of(kObject)}})),
    };
}

LoopToolSchema record_schema() {
    return {
        "py_record_decision",
        request_of(
            Json::object({{"record", schema_of(R"({
                "type": "object",
                "additionalProperties": false,
                "required": ["plan_summary", "validation_summary", "execution_summary",
                             "verification_summary", "state_delta", "metrics"],
                "properties": {
                    "plan_summary": {"type": "string", "maxLength": 4000},
                    "validation_summary": {"type": "string", "maxLength": 4000},
                    "execution_summary": {"type": "string", "maxLength": 4000},
                    "verification_summary": {"type": "string", "maxLength": 4000},
                    "state_delta": {"type": "object"},
                    "metrics": {"type": "object"}
                }})")}}),
            {"record"}),
        answer_of(kOkOrError, Json::object({{"ledger_ref", schema_of(R"({"type": "string"})")}})),
    };
}

}  // namespace

std::vector<LoopToolSchema> loop_tool_schemas() {
    std::vector<LoopToolSchema> schemas;
    schemas.push_back(state_schema());
    schemas.push_back(snapshot_schema());
    schemas.push_back({
        "py_validate_plan",
        request_of(Json::object({{"plan", plan_schema(IntentForm::validate)}}), {"plan"}),
        answer_of(kOkOrError, Json::object({{"validation", schema_of(kObject)}})),
    });
    schemas.push_back(dry_run_schema());
    schemas.push_back(execute_schema());
    schemas.push_back(verify_schema());
    schemas.push_back(record_schema());
    return schemas;
}

}  // namespace interlock
