#include "api/http/human_operations.h"

#include "api/http/answer_reply.h"

namespace interlock {
namespace {

// `_system` has humans too: those who release the global kill switch.
constexpr Access kInviters{.host_operator = true, .human = true, .system_tenant = true};

Operation invite_operation(PrincipalService& principals) {
    return {
        .id = "invite_human",
        .method = "POST",
        .path = "/api/{tenant_id}/humans",
        .summary = "Invite a human, who may then approve.",
        .description =
            "Answers with a one-time code that is good for 24 hours, shown once. The operator "
            "invites only the first human of a tenant, and may replace that invitation until it is "
            "accepted; after that, humans invite humans. Somebody who has a login on this host "
            "already becomes a member at once and needs no code.",
        .access = kInviters,
        .query = {},
        .request_schema = invite_human_schema(),
        .answer_schema = invitation_schema(),
        .statuses = {201},
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto request = decode_invite_human(call.body);
                if (!request) {
                    reply(std::unexpected(std::move(request).error()));
                    return;
                }
                principals.invite_human(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(request),
                    [reply = std::move(reply)](Result<Invitation> invitation) {
                        if (!invitation) {
                            reply(std::unexpected(std::move(invitation).error()));
                            return;
                        }
                        reply(json_reply(201, encode(*invitation)));
                    });
            },
    };
}

}  // namespace

void register_human_operations(OperationTable& table, PrincipalService& principals) {
    table.add(invite_operation(principals));
    table.add({
        .id = "list_humans",
        .method = "GET",
        .path = "/api/{tenant_id}/humans",
        .summary = "List the humans of a tenant.",
        .description = "Invited and active ones. Which other tenants they belong to is not shown.",
        .access = kInviters,
        .query = {},
        .request_schema = {},
        .answer_schema = humans_schema(),
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                principals.list_humans(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    answer_to(std::move(reply)));
            },
    });
}

}  // namespace interlock
