#include "host/wire/approval.h"

#include <array>

#include "base/canonical_json.h"
#include "base/check.h"
#include "base/crypto.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 8> kKinds{
    "live_mode",
    "risk_limits",
    "kill_release",
    "treasury_transfer",
    "universe_change",
    "alert_suppression",
    "config_proposal",
    "key_provisioning"};
constexpr std::array<std::string_view, 5> kStates{
    "pending", "approved", "rejected", "expired", "consumed"};

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

std::string_view to_word(ApprovalKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view to_word(ApprovalState state) {
    return kStates[static_cast<std::size_t>(state)];
}

std::optional<ApprovalState> parse_approval_state(std::string_view word) {
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        if (kStates[i] == word) {
            return static_cast<ApprovalState>(i);
        }
    }
    return std::nullopt;
}

Json encode(const Approval& approval) {
    Json votes = Json::array();
    for (const ApprovalVote& vote : approval.votes) {
        votes.push(Json::object({{"human_id", vote.human_id.text()}, {"at", to_text(vote.at)}}));
    }
    return Json::object({
        {"approval_id", approval.approval_id.text()},
        {"tenant_id", approval.tenant_id.text()},
        {"kind", to_word(approval.kind)},
        {"state", to_word(approval.state)},
        {"summary", approval.summary},
        {"payload", approval.payload},
        {"subject_hash", approval.subject_hash},
        {"requested_by", approval.requested_by},
        {"required", approval.required},
        {"approvals", std::move(votes)},
        {"rejected_by", approval.rejected_by},
        {"comment", approval.comment},
        {"created_at", to_text(approval.created_at)},
        {"expires_at", to_text(approval.expires_at)},
        {"decided_at", approval.decided_at ? Json(to_text(*approval.decided_at)) : Json()},
    });
}

Result<Approval> decode_approval(const Json& json) {
    FieldReader in(json);
    Approval approval{
        .approval_id = in.required<ApprovalId>("approval_id"),
        .tenant_id = in.required<TenantId>("tenant_id"),
        .kind = static_cast<ApprovalKind>(in.required_word_index("kind", kKinds)),
        .payload = in.required<Json>("payload"),
        .subject_hash = in.required<std::string>("subject_hash"),
        .summary = in.required<std::string>("summary"),
        .requested_by = in.required<std::string>("requested_by"),
        .required = in.required_integer("required", 1, 2),
        .votes = {},
        .rejected_by = in.required<std::string>("rejected_by"),
        .comment = in.required<std::string>("comment"),
        .state = static_cast<ApprovalState>(in.required_word_index("state", kStates)),
        .created_at = in.required<Timestamp>("created_at"),
        .expires_at = in.required<Timestamp>("expires_at"),
        .decided_at = in.optional<Timestamp>("decided_at"),
    };
    for (const Json& item : in.required_array("approvals", 2)) {
        FieldReader vote(item, in.path_of("approvals"));
        approval.votes.push_back(
            {vote.required<HumanId>("human_id"), vote.required<Timestamp>("at")});
        if (auto read = vote.finish(true); !read) {
            in.absorb(read.error());
        }
    }
    in.reject_unknown();
    return in.finish(std::move(approval));
}

Json approval_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["approval_id", "tenant_id", "kind", "state", "summary", "payload",
                     "subject_hash", "requested_by", "required", "approvals", "created_at",
                     "expires_at"],
        "properties": {
            "approval_id": {"type": "string"},
            "tenant_id": {"type": "string"},
            "kind": {"enum": ["live_mode", "risk_limits", "kill_release", "treasury_transfer",
                "universe_change", "alert_suppression", "config_proposal", "key_provisioning"]},
            "state": {"enum": ["pending", "approved", "rejected", "expired", "consumed"]},
            "summary": {"type": "string"},
            "payload": {"type": "object", "additionalProperties": true,
                "description": "What is carried out, exactly so."},
            "subject_hash": {"type": "string"},
            "requested_by": {"type": "string"},
            "required": {"type": "integer", "minimum": 1, "maximum": 2},
            "approvals": {"type": "array", "items": {"type": "object",
                "required": ["human_id", "at"],
                "properties": {"human_id": {"type": "string"},
                               "at": {"type": "string", "format": "date-time"}}}},
            "rejected_by": {"type": "string"},
            "comment": {"type": "string"},
            "created_at": {"type": "string", "format": "date-time"},
            "expires_at": {"type": "string", "format": "date-time"},
            "decided_at": {"type": ["string", "null"], "format": "date-time"},
            "audit_ref": {"type": "string", "description": "Of the vote; in its answer only."}
        }})");
}

Result<ApprovalDecision> decode_approval_decision(const Json& json) {
    FieldReader in(json);
    ApprovalDecision decision{
        .comment = in.optional_text("comment", {.length_min = 0, .length_max = 500}).value_or(""),
        .subject_hash = in.optional_text("subject_hash", {.length_min = 64, .length_max = 64}),
    };
    in.reject_unknown();
    return in.finish(std::move(decision));
}

Json approval_decision_schema() {
    return schema_of(R"({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "comment": {"type": ["string", "null"], "maxLength": 500,
                "description": "Why, for the audit log."},
            "subject_hash": {"type": ["string", "null"], "minLength": 64, "maxLength": 64,
                "description": "Hash of the payload you looked at; refused when it is another one."}
        }})");
}

Result<std::string> subject_hash_of(const Json& payload) {
    TRY_ASSIGN(const std::string text, canonical_json(payload));
    return sha256_hex(text);
}

}  // namespace interlock
