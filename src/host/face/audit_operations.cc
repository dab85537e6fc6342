#include "host/face/audit_operations.h"

#include <charconv>

#include "base/bytes.h"
#include "base/check.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "codec/json_schema.h"
#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"

namespace interlock {
namespace {

constexpr Access kReaders{
    .host_operator = true, .human = true, .agent = Scope::read, .system_tenant = true};
constexpr std::size_t kReasonBytesMax = 500;
const ToolHints kReadTool{.read_only = true, .destructive = false, .idempotent = true};

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

}  // namespace

Json audit_record_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["audit_id", "seq", "tenant_id", "event", "decision_id", "tick_id", "step",
                     "actor", "principal", "status", "severity", "reason", "artifacts", "detail",
                     "timestamp", "prev_hash", "hash"],
        "properties": {
            "audit_id": {"type": "string"},
            "seq": {"type": "integer", "minimum": 1},
            "tenant_id": {"type": "string"},
            "event": {"type": "string"},
            "decision_id": {"type": "string"},
            "tick_id": {"type": "string"},
            "step": {"enum": ["PLAN", "VALIDATE", "DRY_RUN", "EXECUTE", "VERIFY", "RECORD",
                              "CONTROL"]},
            "actor": {"enum": ["codex", "python", "human"]},
            "principal": {"type": "string"},
            "status": {"enum": ["started", "passed", "failed", "skipped"]},
            "severity": {"enum": ["info", "critical"]},
            "reason": {"type": "string"},
            "artifacts": {"type": "array", "items": {"type": "string"}},
            "detail": {"type": "object", "additionalProperties": true,
                "description": "What the event has to say, by its own contract."},
            "timestamp": {"type": "string", "format": "date-time"},
            "prev_hash": {"type": "string"},
            "hash": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
        }})");
}

namespace {

Json list_schema() {
    Json schema = schema_of(R"({
        "type": "object",
        "required": ["records", "head_seq"],
        "properties": {"head_seq": {"type": "integer"}}})");
    schema.find("properties")
        ->set("records", Json::object({{"type", "array"}, {"items", audit_record_schema()}}));
    return schema;
}

Json head_schema() {
    return schema_of(R"({
        "type": "object",
        "required": ["tenant_id", "seq", "hash", "at", "signature", "public_key", "signed_by",
                     "epoch"],
        "properties": {
            "tenant_id": {"type": "string"},
            "seq": {"type": "integer"},
            "hash": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "signature": {"type": "string"},
            "public_key": {"type": "string"},
            "signed_by": {"type": "string"},
            "epoch": {"type": "integer"}
        }})");
}

template <class T>
bool failed(const Result<T>& result, const ApiReplyTo& reply) {
    if (!result) {
        reply(std::unexpected(result.error()));
    }
    return !result;
}

void list(LedgerService& ledger, const ApiCall& call, const ApiReplyTo& reply) {
    const auto head = ledger.head(call.tenant_id);
    if (failed(head, reply)) {
        return;
    }
    const std::int64_t limit = query_integer(call, "limit", 50);
    // Without `after`, the newest ones: that is what someone who just looks wants.
    const std::int64_t after =
        query_integer(call, "after", std::max<std::int64_t>(0, head->seq - limit));
    const auto records = ledger.read(call.tenant_id, after, limit);
    if (failed(records, reply)) {
        return;
    }
    charge_records(call, std::ssize(*records));
    Json items = Json::array();
    for (const AuditRecord& record : *records) {
        items.push(encode(record));
    }
    reply(json_reply(200, Json::object({{"records", std::move(items)}, {"head_seq", head->seq}})));
}

void show(LedgerService& ledger, const ApiCall& call, const ApiReplyTo& reply) {
    const std::string& text = call.path.at("seq");
    std::int64_t seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || seq < 1) {
        reply(fail(errors::not_found, "There is no audit record with this sequence number."));
        return;
    }
    const auto records = ledger.read(call.tenant_id, seq - 1, 1);
    if (failed(records, reply)) {
        return;
    }
    if (records->empty() || records->front().seq != seq) {
        reply(fail(errors::not_found, "There is no audit record with this sequence number."));
        return;
    }
    reply(json_reply(200, encode(records->front())));
}

void show_head(LedgerService& ledger, const ApiCall& call, const ApiReplyTo& reply) {
    const auto head = ledger.signed_head(call.tenant_id);
    if (failed(head, reply)) {
        return;
    }
    Json json = encode(head->head);
    json.set("public_key", to_hex(ledger.public_key()));
    json.set("signed_by", head->key.public_key);
    json.set("epoch", head->key.epoch);
    reply(json_reply(200, json));
}

void list_checkpoints(LedgerService& ledger, const ApiCall& call, const ApiReplyTo& reply) {
    const auto checkpoints = ledger.checkpoints(call.tenant_id);
    if (failed(checkpoints, reply)) {
        return;
    }
    Json items = Json::array();
    for (const Checkpoint& checkpoint : *checkpoints) {
        items.push(encode(checkpoint));
    }
    reply(json_reply(
        200,
        Json::object(
            {{"checkpoints", std::move(items)}, {"public_key", to_hex(ledger.public_key())}})));
}

Operation list_operation(LedgerService& ledger) {
    return {
        .id = "list_audit",
        .method = "GET",
        .path = "/api/{tenant_id}/audit",
        .summary = "Read audit records in order.",
        .description =
            "Without `after` the newest records; with it those that follow, ascending, so that a "
            "reader can page through the whole chain.",
        .access = kReaders,
        .query =
            {{"after",
              "Only records with a larger sequence number.",
              Json::object({{"type", "integer"}, {"minimum", 0}})},
             {"limit",
              "At most this many.",
              Json::object({{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}})}},
        .request_schema = {},
        .answer_schema = list_schema(),
        .tool = kReadTool,
        .handle = [&ledger](ApiCall call, ApiReplyTo reply) { list(ledger, call, reply); },
    };
}

Operation head_operation(LedgerService& ledger) {
    return {
        .id = "audit_head",
        .method = "GET",
        .path = "/api/{tenant_id}/audit/head",
        .summary = "The head of the chain, signed now.",
        .description =
            "Keep it elsewhere: with it and the public key anyone can later tell "
            "whether the ledger "
            "was cut or changed.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = head_schema(),
        .tool = kReadTool,
        .handle = [&ledger](ApiCall call, ApiReplyTo reply) { show_head(ledger, call, reply); },
    };
}

Operation checkpoints_operation(LedgerService& ledger) {
    return {
        .id = "list_checkpoints",
        .method = "GET",
        .path = "/api/{tenant_id}/audit/checkpoints",
        .summary = "The signed checkpoints of the chain.",
        .description =
            "Where the seals stand in the chain: one every 10,000 records or hour, at each start "
            "and at each orderly shutdown.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = schema::object({
            {"checkpoints",
             schema::list(schema::object({
                 {"tenant_id", schema::text()},
                 {"seq", schema::integer("The last record it seals.")},
                 {"hash", schema::text()},
                 {"at", schema::moment()},
                 {"signature", schema::text()},
             }))},
            {"public_key", schema::text()},
        }),
        .tool = std::nullopt,
        .handle = [&ledger](
                      ApiCall call, ApiReplyTo reply) { list_checkpoints(ledger, call, reply); },
    };
}

Operation record_operation(LedgerService& ledger) {
    return {
        .id = "get_audit_record",
        .method = "GET",
        .path = "/api/{tenant_id}/audit/{seq}",
        .summary = "One audit record by its sequence number.",
        .description = "The number before the colon of an audit_ref.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = audit_record_schema(),
        .tool = kReadTool,
        .handle = [&ledger](ApiCall call, ApiReplyTo reply) { show(ledger, call, reply); },
    };
}

Operation artifact_operation(LedgerService& ledger) {
    return {
        .id = "get_artifact",
        .method = "GET",
        .path = "/api/{tenant_id}/artifacts/{hash}",
        .summary = "The bytes behind an artifact of an audit record.",
        .description = "By the hex digits after `sha256:`.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = {},
        .answer_content_types = {"application/octet-stream"},
        .tool = std::nullopt,
        .handle =
            [&ledger](ApiCall call, ApiReplyTo reply) {
                auto bytes = ledger.artifact(call.tenant_id, call.path.at("hash"));
                if (failed(bytes, reply)) {
                    return;
                }
                if (!*bytes) {
                    reply(fail(errors::not_found, "There is no artifact with this hash."));
                    return;
                }
                ApiReply out;
                out.content_type = "application/octet-stream";
                out.body = **std::move(bytes);
                reply(std::move(out));
            },
    };
}

struct AcceptBreak {
    std::string reason;
};

Result<AcceptBreak> decode_accept_break(const Json& json) {
    FieldReader in(json);
    AcceptBreak accept{.reason = in.required<std::string>("reason")};
    if (in.ok() && (accept.reason.empty() || accept.reason.size() > kReasonBytesMax)) {
        in.add_problem("reason", "must say in 1 to 500 bytes what was found");
    }
    in.reject_unknown();
    return in.finish(std::move(accept));
}

Operation accept_break_operation(LedgerService& ledger) {
    return {
        .id = "accept_chain_break",
        .method = "POST",
        .path = "/api/{tenant_id}/audit/accept-break",
        .summary = "Take note, as a human, that the chain was broken.",
        .description =
            "Entries stay off after a break until a human has looked and says so here. The record "
            "stays, and verification reports the break for ever; the stop is released as usual.",
        .access = {.human = true, .system_tenant = true},
        .query = {},
        .request_schema = schema_of(R"({
            "type": "object",
            "required": ["reason"],
            "additionalProperties": false,
            "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": 500}}})"),
        .answer_schema = schema_of(R"({
            "type": "object",
            "required": ["tenant_id", "break_seq", "first_bad_seq", "problem", "breaks", "more",
                         "accepted_by", "audit_ref", "next"],
            "properties": {
                "tenant_id": {"type": "string"},
                "break_seq": {"type": "integer"},
                "first_bad_seq": {"type": "integer"},
                "problem": {"type": "string"},
                "breaks": {
                    "description": "All that are accepted by this, the oldest first.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["break_seq", "first_bad_seq", "problem", "detail"],
                        "properties": {
                            "break_seq": {"type": "integer"},
                            "first_bad_seq": {"type": "integer"},
                            "problem": {"type": "string"},
                            "detail": {"type": "string"}}}},
                "more": {"type": "integer", "description": "Besides those listed."},
                "accepted_by": {"type": "string"},
                "audit_ref": {"type": "string"},
                "next": {"type": "string"}}})"),
        .tool = std::nullopt,
        .handle =
            [&ledger](ApiCall call, ApiReplyTo reply) {
                auto accept = decode_accept_break(call.body);
                if (failed(accept, reply)) {
                    return;
                }
                ledger.accept_break(
                    std::move(call.principal),
                    std::move(call.tenant_id),
                    std::move(accept->reason),
                    answer_to(std::move(reply)));
            },
    };
}

}  // namespace

void register_audit_operations(OperationTable& table, LedgerService& ledger) {
    table.add(list_operation(ledger));
    table.add(head_operation(ledger));
    table.add(checkpoints_operation(ledger));
    table.add(record_operation(ledger));
    table.add(artifact_operation(ledger));
    table.add(accept_break_operation(ledger));
}

}  // namespace interlock
