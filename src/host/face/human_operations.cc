#include "host/face/human_operations.h"

#include "host/face/answer_reply.h"

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

Result<HumanId> human_in(ApiCall& call) {
    return HumanId::parse(call.path["human_id"]);
}

Operation start_operation(PrincipalService& principals) {
    return {
        .id = "start_recovery",
        .method = "POST",
        .path = "/api/{tenant_id}/humans/{human_id}/recovery",
        .summary = "Start the recovery of a human's login.",
        .description =
            "Makes a code by which the person sets a new password. It goes by letter to their "
            "address, or is shown once to hand over. What a colleague starts is good at once and "
            "needs a fresh login; what the operator starts is good after a day at least. Recorded "
            "as an alert and told to everybody of the person's tenants, who may all object. "
            "Whoever helped counts as one person with whom they helped.",
        .access = kInviters,
        .query = {},
        .request_schema = start_recovery_schema(),
        .answer_schema = started_recovery_schema(),
        .statuses = {201},
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto human_id = human_in(call);
                auto request = decode_start_recovery(call.body);
                if (!human_id || !request) {
                    reply(std::unexpected(!request ? request.error() : human_id.error()));
                    return;
                }
                principals.start_recovery(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(human_id),
                    *std::move(request),
                    [reply = std::move(reply)](Result<StartedRecovery> started) {
                        if (!started) {
                            reply(std::unexpected(std::move(started).error()));
                            return;
                        }
                        reply(json_reply(201, encode(*started)));
                    });
            },
    };
}

Operation object_operation(PrincipalService& principals) {
    Json schema = human_schema();
    schema.find("properties")->set("audit_ref", Json::object({{"type", "string"}}));
    Access access = kInviters;
    access.human_at_rest = true;
    return {
        .id = "object_to_recovery",
        .method = "DELETE",
        .path = "/api/{tenant_id}/humans/{human_id}/recovery",
        .summary = "Object to an open recovery: its code is void at once.",
        .description =
            "Any human of the tenant may, the person too. The operator withdraws only what the "
            "operator started. Shows the person as they then are.",
        .access = access,
        .query = {},
        .request_schema = {},
        .answer_schema = std::move(schema),
        .tool = std::nullopt,
        .handle =
            [&principals](ApiCall call, ApiReplyTo reply) {
                auto human_id = human_in(call);
                if (!human_id) {
                    reply(std::unexpected(human_id.error()));
                    return;
                }
                principals.object_to_recovery(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(human_id),
                    answer_to(std::move(reply)));
            },
    };
}

}  // namespace

void register_human_operations(OperationTable& table, PrincipalService& principals) {
    table.add(invite_operation(principals));
    table.add(start_operation(principals));
    table.add(object_operation(principals));
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
