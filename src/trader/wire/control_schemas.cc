// The JSON schemas of a control decision and its answer, for the MCP tool and OpenAPI. What is
// required only for some actions stands in the descriptions: several clients refuse a tool whose
// schema branches at its root.
#include "base/check.h"
#include "codec/error_json.h"
#include "trader/wire/control_decision.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Json described(Json schema, std::string_view description) {
    schema.set("description", description);
    return schema;
}

Json id_schema(std::string_view description) {
    return described(
        schema_of(R"({"type": "string", "minLength": 1, "maxLength": 128,
                      "pattern": "^[!$&-.0->@-\\[\\]-~]+$"})"),
        description);
}

Json optional_id_schema(std::string_view description) {
    Json schema = id_schema(description);
    schema.set("type", Json::array({"string", "null"}));
    return schema;
}

}  // namespace

Json control_decision_schema() {
    Json properties = Json::object({
        {"decision_id",
         id_schema("Your stable id of this decision. Send the same id and payload to retry; a "
                   "decision that was applied is never applied again.")},
        {"concern_id", id_schema("account_id:market in lower case, as list_strategies shows it.")},
        {"account_id", id_schema("The account of the concern.")},
        {"market_symbol", schema_of(R"({"type": "string", "minLength": 1, "maxLength": 64,
                       "description": "The market of the concern, in any case."})")},
        {"action",
         schema_of(R"({"type": "string", "enum": ["switch", "pause", "resume", "set_risk_mode"],
                       "description": "What to do. To keep things as they are, send nothing."})")},
        {"target_strategy_id",
         optional_id_schema("Required for switch: the instance to make active. For pause and "
                            "resume it may only name the active one.")},
        {"expected_active_strategy_id",
         optional_id_schema("What you believe is active now, null for nothing; the decision is "
                            "rejected when it is not so. Left out, it is not checked. Strongly "
                            "recommended.")},
        {"risk_mode",
         described(
             schema_of(
                 R"({"type": ["string", "null"],
                     "enum": ["normal", "reduced", "defensive", "reduce_only", "halted",
                              "cautious", "observe_only", null]})"),
             "Required for set_risk_mode; with switch it is set in the same step. "
             "cautious is read as reduced, observe_only as halted.")},
        {"reason", schema_of(R"({"type": "string", "minLength": 1, "maxLength": 2000,
                       "pattern": "[^ \\t\\r\\n]",
                       "description": "Why, short and concrete, for the audit log."})")},
        {"confidence", schema_of(R"({"type": ["number", "string"], "minimum": 0, "maximum": 1,
                       "description": "From 0 to 1, as a number or a decimal string."})")},
        {"dry_run", schema_of(R"({"type": "boolean", "default": false,
                       "description": "Only say what would happen; changes nothing."})")},
        {"override",
         described(
             schema_of(R"({"type": "boolean", "default": false})"),
             "Emergency only: waives the expected-active, degraded-execution and "
             "minimum-hold guards, nothing else, and is always recorded.")},
        {"requested_at", schema_of(R"({"type": ["string", "null"], "format": "date-time",
                       "description": "When you decided, RFC 3339."})")},
    });
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"required",
         Json::array(
             {"decision_id",
              "concern_id",
              "account_id",
              "market_symbol",
              "action",
              "reason",
              "confidence"})},
        {"properties", std::move(properties)},
    });
}

Json control_result_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["ok", "status", "decision_id", "concern_id", "action", "from_strategy_id",
                     "to_strategy_id", "risk_mode", "dry_run", "validation", "warnings", "errors",
                     "result", "applied_at"],
        "properties": {
            "ok": {"type": "boolean"},
            "status": {"type": "string", "enum": ["applied", "rejected", "noop", "failed"]},
            "decision_id": {"type": "string"},
            "concern_id": {"type": "string"},
            "action": {"type": "string"},
            "from_strategy_id": {"type": ["string", "null"]},
            "to_strategy_id": {"type": ["string", "null"]},
            "risk_mode": {"type": ["string", "null"]},
            "dry_run": {"type": "boolean"},
            "validation": {
                "type": "object",
                "additionalProperties": false,
                "required": ["concern_match", "account_match", "market_match",
                             "expected_active_match", "target_exists", "target_runnable"],
                "properties": {
                    "concern_match": {"type": "boolean"},
                    "account_match": {"type": "boolean"},
                    "market_match": {"type": "boolean"},
                    "expected_active_match": {"type": "boolean"},
                    "target_exists": {"type": "boolean"},
                    "target_runnable": {"type": "boolean"}
                }},
            "warnings": {"type": "array", "items": {"type": "string"}},
            "errors": {"type": "array"},
            "result": {"type": "object", "additionalProperties": true,
                "description": "What became of the action; its members are its own."},
            "applied_at": {"type": ["string", "null"], "format": "date-time"}
        }})");
    schema.find("properties")->find("errors")->set("items", error_item_schema());
    return schema;
}

}  // namespace interlock
