#include "host/face/witness_operations.h"

#include "base/check.h"
#include "codec/json_list.h"
#include "host/face/answer_reply.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Operation record_operation(WitnessedHeads& heads) {
    return {
        .id = "witness_head",
        .method = "POST",
        .path = "/api/{tenant_id}/witness/heads",
        .summary = "Keep a seal of another server in this tenant's ledger.",
        .description =
            "For the server that is being witnessed: `line` is a line of its heads.log, `chain` "
            "its first public key. A line that goes back behind one that is kept is kept as well, "
            "as a critical record, and `agrees` is false. Sending a line again changes nothing.",
        .access = {.agent = Scope::probe},
        .query = {},
        .request_schema = schema_of(R"({
            "type": "object",
            "required": ["chain", "line"],
            "additionalProperties": false,
            "properties": {
                "chain": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "line": {"type": "string", "minLength": 1, "maxLength": 65536}}})"),
        .answer_schema = schema_of(R"({
            "type": "object",
            "required": ["chain", "seq", "hash", "agrees", "audit_ref"],
            "properties": {
                "chain": {"type": "string"},
                "seq": {"type": "integer"},
                "hash": {"type": "string"},
                "agrees": {"type": "boolean"},
                "audit_ref": {"type": "string"}}})"),
        .body_bytes_max = std::size_t{256} * 1024,
        .handle =
            [&heads](ApiCall call, ApiReplyTo reply) {
                auto request = decode_witness_head(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                heads.record(
                    std::move(call.principal),
                    std::move(call.tenant_id),
                    *std::move(request),
                    answer_to(std::move(reply)));
            },
    };
}

Operation lines_operation(WitnessedHeads& heads) {
    return {
        .id = "witnessed_heads",
        .method = "GET",
        .path = "/api/{tenant_id}/witness/heads",
        .summary = "What this server has of a ledger that it witnesses.",
        .description =
            "The newest line, last, and before it those that a later one went back behind. All "
            "lines are WITNESSED_HEAD records of the tenant's own ledger.",
        .access = {.host_operator = true, .human = true, .agent = Scope::probe},
        .query =
            {{"chain",
              "The first public key of the ledger, 64 hex digits.",
              Json::object({{"type", "string"}})}},
        .request_schema = {},
        .answer_schema = schema_of(R"({
            "type": "object",
            "required": ["chain", "lines"],
            "properties": {
                "chain": {"type": "string"},
                "lines": {"type": "array", "items": {"type": "string"}}}})"),
        .handle =
            [&heads](const ApiCall& call, const ApiReplyTo& reply) {
                const auto asked = call.query.find("chain");
                const std::string chain = asked == call.query.end() ? "" : asked->second;
                const auto lines = heads.lines(call.tenant_id, chain);
                if (!lines) {
                    reply(std::unexpected(lines.error()));
                    return;
                }
                reply(json_reply(
                    200, Json::object({{"chain", chain}, {"lines", json_list(*lines)}})));
            },
    };
}

Operation status_operation(std::function<std::vector<WitnessState>()> states) {
    return {
        .id = "witness_status",
        .method = "GET",
        .path = "/witness",
        .summary = "How this server's own witnesses are.",
        .description =
            "For the operator: for each witness of [audit.witness] the newest seal that it has, "
            "how many it has not got yet, why the last try failed, and whether it has a seal that "
            "this ledger has not.",
        .access = {.place = Access::Place::host, .host_operator = true},
        .query = {},
        .request_schema = {},
        .answer_schema = schema_of(R"({
            "type": "object",
            "required": ["witnesses"],
            "properties": {"witnesses": {"type": "array", "items": {"type": "object",
                "required": ["name", "newest_seq", "newest_hash", "pushed_at", "pushed",
                             "pending", "failures", "problem", "failing_since", "disagreement"],
                "properties": {
                    "name": {"type": "string"},
                    "newest_seq": {"type": "integer"},
                    "newest_hash": {"type": ["string", "null"]},
                    "pushed_at": {"type": ["string", "null"], "format": "date-time"},
                    "pushed": {"type": "integer"},
                    "pending": {"type": "integer"},
                    "failures": {"type": "integer"},
                    "problem": {"type": "string"},
                    "failing_since": {"type": ["string", "null"], "format": "date-time"},
                    "disagreement": {"type": "string"}}}}}})"),
        .handle =
            [states = std::move(states)](const ApiCall&, const ApiReplyTo& reply) {
                Json list = Json::array();
                for (const WitnessState& state : states()) {
                    list.push(encode(state));
                }
                reply(json_reply(200, Json::object({{"witnesses", std::move(list)}})));
            },
    };
}

}  // namespace

void register_witness_operations(
    OperationTable& table,
    WitnessedHeads& heads,
    std::function<std::vector<WitnessState>()> states) {
    table.add(record_operation(heads));
    table.add(lines_operation(heads));
    table.add(status_operation(std::move(states)));
}

}  // namespace interlock
