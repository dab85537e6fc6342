#include "app/face/backup_operations.h"

#include "base/check.h"
#include "host/face/answer_reply.h"

namespace interlock {
namespace {

Json schema_of(std::string_view text) {
    auto schema = parse_json(text);
    CHECK(schema.has_value());
    return *std::move(schema);
}

Operation confirm_operation(RestoreService& restored) {
    return {
        .id = "confirm_access_key",
        .method = "POST",
        .path = "/api/{tenant_id}/keys/{key_id}/confirm",
        .summary = "Let a key that came back with a backup open doors again.",
        .description =
            "After a restore every access key is locked: it may have been revoked after the "
            "backup was taken. A human who knows that it is still wanted says so here, with a "
            "fresh login. A key that is not locked stays as it is.",
        .access = {.human = true},
        .query = {},
        .request_schema = {},
        .answer_schema = access_key_schema(),
        .tool = std::nullopt,
        .handle =
            [&restored](ApiCall call, ApiReplyTo reply) {
                auto key_id = KeyId::parse(call.path["key_id"]);
                if (!key_id) {
                    reply(std::unexpected(std::move(key_id).error()));
                    return;
                }
                restored.confirm_key(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(key_id),
                    answer_to(std::move(reply)));
            },
    };
}

Operation seal_operation(BackupService& backups) {
    return {
        .id = "seal_backup",
        .method = "POST",
        .path = "/backups",
        .summary = "Vouch for a backup that was just taken of this server's folder.",
        .description =
            "`interlock backup` calls this: the backup is on record, and the sealing key of the "
            "moment signs its manifest.",
        .access = {.place = Access::Place::host, .host_operator = true},
        .query = {},
        .request_schema = schema_of(R"({
            "type": "object",
            "additionalProperties": false,
            "required": ["manifest_sha256", "epoch", "files", "bytes"],
            "properties": {
                "manifest_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "epoch": {"type": "integer", "minimum": 0},
                "files": {"type": "integer", "minimum": 1, "maximum": 200000},
                "bytes": {"type": "integer", "minimum": 0}}})"),
        .answer_schema = schema_of(R"({
            "type": "object",
            "required": ["epoch", "public_key", "keys", "signature", "audit_ref"],
            "properties": {
                "epoch": {"type": "integer"},
                "public_key": {"type": "string"},
                "keys": {"type": "array", "items": {"type": "object",
                    "required": ["epoch", "public_key", "signature"],
                    "properties": {
                        "epoch": {"type": "integer"},
                        "public_key": {"type": "string"},
                        "signature": {"type": "string"}}}},
                "signature": {"type": "string"},
                "audit_ref": {"type": "string"}}})"),
        .tool = std::nullopt,
        .handle =
            [&backups](ApiCall call, ApiReplyTo reply) {
                auto request = decode_seal_backup(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                backups.seal(
                    std::move(call.principal), *std::move(request), answer_to(std::move(reply)));
            },
    };
}

}  // namespace

void register_backup_operations(
    OperationTable& table, BackupService& backups, RestoreService& restored) {
    table.add(seal_operation(backups));
    table.add(confirm_operation(restored));
}

}  // namespace interlock
