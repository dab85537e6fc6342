#include "host/face/key_operations.h"

#include "host/face/answer_reply.h"

namespace interlock {
namespace {

constexpr Access kKeepers{.host_operator = true, .human = true};

Operation create_operation(PrincipalService& principals) {
    return {
        .id = "create_access_key",
        .method = "POST",
        .path = "/api/{tenant_id}/keys",
        .summary = "Make an access key for an agent and show it once.",
        .description =
            "The key is kept only as a hash: store it now. On a retry reuse the idempotency_key: "
            "no second key is made, and access_key is null because it was shown before. A lost key "
            "is revoked and made anew.",
        .access = kKeepers,
        .query = {},
        .request_schema = create_access_key_schema(),
        .answer_schema = new_access_key_schema(),
        .statuses = {201},
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto request = decode_create_access_key(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                principals.create_access_key(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(request),
                    answer_to(std::move(reply)));
            },
    };
}

Operation revoke_operation(PrincipalService& principals) {
    return {
        .id = "revoke_access_key",
        .method = "DELETE",
        .path = "/api/{tenant_id}/keys/{key_id}",
        .summary = "Revoke an access key, for good.",
        .description =
            "The key is refused everywhere from the moment this is answered. Revoking it again "
            "changes nothing and shows when it was revoked.",
        .access = {.host_operator = true, .human = true, .human_at_rest = true},
        .query = {},
        .request_schema = {},
        .answer_schema = access_key_schema(),
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto key_id = KeyId::parse(call.path["key_id"]);
                if (!key_id) {
                    reply(std::unexpected(std::move(key_id).error()));
                    return;
                }
                principals.revoke_access_key(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(key_id),
                    answer_to(std::move(reply)));
            },
    };
}

}  // namespace

void register_key_operations(OperationTable& table, PrincipalService& principals) {
    table.add(create_operation(principals));
    table.add(revoke_operation(principals));
    table.add({
        .id = "list_access_keys",
        .method = "GET",
        .path = "/api/{tenant_id}/keys",
        .summary = "List the tenant's access keys, never the keys themselves.",
        .description =
            "Active ones and those revoked lately, oldest first; each with the last four "
            "characters to recognise it by.",
        .access = kKeepers,
        .query = {},
        .request_schema = {},
        .answer_schema = access_keys_schema(),
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                principals.list_access_keys(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    answer_to(std::move(reply)));
            },
    });
}

}  // namespace interlock
