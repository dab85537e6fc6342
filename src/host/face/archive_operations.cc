#include "host/face/archive_operations.h"

#include "base/check.h"
#include "host/face/answer_reply.h"

namespace interlock {
namespace {

Json archive_schema(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Operation archive_segment_operation(ArchiveService& archive) {
    return {
        .id = "archive_segment",
        .method = "POST",
        .path = "/archive/segments",
        .summary = "Remove records that were written to a verified segment file.",
        .description =
            "`interlock audit archive` calls this when the file is on the disk and was read back. "
            "The segment is on record before anything is removed; removal goes on in the "
            "background, see GET /archive.",
        .access = {.place = Access::Place::host, .host_operator = true},
        .query = {},
        .request_schema = archive_schema(R"({
            "type": "object",
            "additionalProperties": false,
            "required": ["tenant_id", "folder", "segment"],
            "properties": {
                "tenant_id": {"type": "string"},
                "folder": {"type": "string", "maxLength": 4096},
                "segment": {"type": "object"}}})"),
        .answer_schema = archive_schema(R"({
            "type": "object",
            "required": ["tenant_id", "archived_to", "audit_ref"],
            "properties": {
                "tenant_id": {"type": "string"},
                "archived_to": {"type": "integer"},
                "audit_ref": {"type": "string"}}})"),
        .tool = std::nullopt,
        .handle =
            [&archive](ApiCall call, ApiReplyTo reply) {
                auto request = decode_archive_request(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                archive.archive(
                    std::move(call.principal), *std::move(request), answer_to(std::move(reply)));
            },
    };
}

Operation archive_status_operation(ArchiveService& archive) {
    return {
        .id = "archive_status",
        .method = "GET",
        .path = "/archive",
        .summary = "How far archived records are removed.",
        .description = "For each chain that was archived: up to where, and what is removed so far.",
        .access = {.place = Access::Place::host, .host_operator = true},
        .query = {},
        .request_schema = {},
        .answer_schema = archive_schema(R"({
            "type": "object",
            "required": ["done", "chains"],
            "properties": {
                "done": {"type": "boolean"},
                "chains": {"type": "array", "items": {
                    "type": "object",
                    "required": ["tenant_id", "archived_to", "removed_to"],
                    "properties": {
                        "tenant_id": {"type": "string"},
                        "archived_to": {"type": "integer"},
                        "removed_to": {"type": "integer"}}}}}})"),
        .tool = std::nullopt,
        .handle =
            [&archive](const ApiCall&, const ApiReplyTo& reply) {
                Json chains = Json::array();
                bool is_done = true;
                for (const auto& [tenant_id, progress] : archive.progress()) {
                    is_done = is_done && progress.is_done;
                    chains.push(Json::object({
                        {"tenant_id", tenant_id.text()},
                        {"archived_to", progress.archived_to},
                        {"removed_to", progress.removed_to},
                    }));
                }
                reply(json_reply(
                    200, Json::object({{"done", is_done}, {"chains", std::move(chains)}})));
            },
    };
}

}  // namespace

void register_archive_operations(OperationTable& table, ArchiveService& archive) {
    table.add(archive_segment_operation(archive));
    table.add(archive_status_operation(archive));
}

}  // namespace interlock
