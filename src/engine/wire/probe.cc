#include "engine/wire/probe.h"

#include "base/check.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

Result<ProbeRequest> decode_probe_request(const Json& json) {
    FieldReader in(json);
    ProbeRequest request{
        .decision_id = in.required<DecisionId>("decision_id"),
        .tick_id = in.required<TickId>("tick_id"),
        .idempotency_key = in.required<IdempotencyKey>("idempotency_key"),
        .note = in.optional_text("note", {.length_min = 0, .length_max = 500}).value_or(""),
        .effect = in.optional_or("effect", false),
        .wait = in.optional_or("wait", false),
    };
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json probe_request_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["decision_id", "tick_id", "idempotency_key"],
        "properties": {
            "decision_id": {"type": "string", "minLength": 1, "maxLength": 128,
                "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
                "description": "Your id of this decision."},
            "tick_id": {"type": "string", "minLength": 1, "maxLength": 128,
                "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
                "description": "Your id of this loop iteration."},
            "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 128,
                "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
                "description": "The same to repeat this very call, else a new one."},
            "note": {"type": ["string", "null"], "maxLength": 500,
                "description": "For the audit log."},
            "effect": {"type": ["boolean", "null"],
                "description": "Also send one harmless effect to the recording sink."},
            "wait": {"type": ["boolean", "null"],
                "description": "With effect: answer when the sink has, instead of at once."}
        }})");
}

Json encode(const ProbeAnswer& answer) {
    return Json::object({
        {"status", answer.ok ? "ok" : "error"},
        {"probe_no", answer.probe_no},
        {"effect_id", answer.effect_id.empty() ? Json() : Json(answer.effect_id.text())},
        {"effect_status", answer.effect_status},
        {"errors", answer.errors},
        {"audit_ref", answer.audit_ref},
    });
}

Json probe_answer_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["status", "probe_no", "effect_id", "effect_status", "errors", "audit_ref"],
        "properties": {
            "status": {"enum": ["ok", "error"]},
            "probe_no": {"type": "integer"},
            "effect_id": {"type": ["string", "null"]},
            "effect_status": {"enum": ["none", "queued", "done", "refused", "unknown",
                                       "never_arrived"]},
            "errors": {"type": "array"},
            "audit_ref": {"type": "string"}
        }})");
    schema.find("properties")->find("errors")->set("items", error_item_schema());
    return schema;
}

}  // namespace interlock
