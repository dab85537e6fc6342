#include "host/wire/kill_switch.h"

#include <array>

#include "base/check.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

constexpr std::size_t kReasonLengthMax = 500;
constexpr std::array<std::string_view, 5> kCauses{"agent", "human", "operator", "file", "rule"};

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

std::string_view to_word(KillCause cause) {
    return kCauses[static_cast<std::size_t>(cause)];
}

Result<SetKillSwitch> decode_py_set_kill_switch(const Json& json) {
    FieldReader in(json);
    SetKillSwitch request{
        .active = in.required<bool>("active"),
        .reason = in.required_text("reason", {.length_min = 1, .length_max = kReasonLengthMax}),
        .decision_id = in.required<DecisionId>("decision_id"),
        .tick_id = in.required<TickId>("tick_id"),
        .idempotency_key = in.required<IdempotencyKey>("idempotency_key"),
        .claimed_actor = in.required_text("actor", {.length_min = 0, .length_max = 128}),
    };
    in.reject_unknown();
    return in.finish(std::move(request));
}

Result<SetKillSwitch> decode_set_kill(const Json& json) {
    FieldReader in(json);
    SetKillSwitch request{
        .active = in.required<bool>("active"),
        .reason = in.optional_text("reason", {.length_min = 0, .length_max = kReasonLengthMax})
                      .value_or(""),
        .decision_id = {},
        .tick_id = {},
        .idempotency_key = in.optional<IdempotencyKey>("idempotency_key"),
        .claimed_actor = {},
        .enable_trading = in.optional<bool>("enable_trading").value_or(false),
    };
    if (request.reason.empty()) {
        request.reason = "no reason given";
    }
    in.reject_unknown();
    return in.finish(std::move(request));
}

Json py_set_kill_switch_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["decision_id", "tick_id", "idempotency_key", "active", "reason", "actor"],
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
            "active": {"type": "boolean",
                "description": "true stops at once; false asks a human to release."},
            "reason": {"type": "string", "minLength": 1, "maxLength": 500,
                "description": "Why, for the audit log."},
            "actor": {"type": "string", "maxLength": 128,
                "description": "Your name for yourself."}
        }})");
}

Json py_set_kill_switch_answer_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["status", "kill_switch_active", "errors", "audit_ref"],
        "properties": {
            "status": {"enum": ["ok", "error"]},
            "kill_switch_active": {"type": "boolean"},
            "errors": {"type": "array"},
            "audit_ref": {"type": "string"}
        }})");
    schema.find("properties")->find("errors")->set("items", error_item_schema());
    return schema;
}

Json set_kill_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "required": ["active"],
        "properties": {
            "active": {"type": "boolean",
                "description": "true stops at once; false asks a human to release."},
            "reason": {"type": ["string", "null"], "maxLength": 500,
                "description": "Why, for the audit log."},
            "idempotency_key": {"type": ["string", "null"], "minLength": 1, "maxLength": 128,
                "pattern": "^[!$&-.0->@-\\[\\]-~]+$",
                "description": "The same to repeat this very call, else a new one."},
            "enable_trading": {"type": ["boolean", "null"],
                "description": "Of a release: the same approval enables trading again."}
        }})");
}

Json kill_status_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["active", "tenant_active", "global_active", "reason", "by", "since",
                     "release_approval_id", "trading_enabled", "blocked", "warnings",
                     "audit_ref"],
        "properties": {
            "active": {"type": "boolean"},
            "tenant_active": {"type": "boolean"},
            "global_active": {"type": "boolean"},
            "reason": {"type": "string"},
            "by": {"type": "string"},
            "since": {"type": ["string", "null"], "format": "date-time"},
            "release_approval_id": {"type": ["string", "null"]},
            "trading_enabled": {"type": "boolean", "description": "Nothing is blocked."},
            "warnings": {"type": "array", "items": {"type": "string"},
                "description": "What makes orders smaller and blocks nothing."},
            "audit_ref": {"type": "string"}
        }})");
    Json properties = *schema.find("properties");
    properties.set("blocked", blocked_schema());
    schema.set("properties", std::move(properties));
    return schema;
}

Json encode(const KillStatus& status) {
    return Json::object({
        {"active", status.active},
        {"tenant_active", status.tenant_active},
        {"global_active", status.global_active},
        {"reason", status.reason},
        {"by", status.by},
        {"since", status.since ? Json(to_text(*status.since)) : Json()},
        {"release_approval_id",
         status.release_approval_id ? Json(status.release_approval_id->text()) : Json()},
        {"trading_enabled", !status.blocked},
        {"blocked", encode(status.blocked)},
        {"warnings", json_list(status.warnings)},
        {"audit_ref", status.audit_ref},
    });
}

Json encode(const PyKillAnswer& answer) {
    return Json::object({
        {"status", answer.ok ? "ok" : "error"},
        {"kill_switch_active", answer.kill_switch_active},
        {"errors", answer.errors},
        {"audit_ref", answer.audit_ref},
    });
}

}  // namespace interlock
