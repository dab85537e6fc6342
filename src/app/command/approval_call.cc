#include "app/command/approval_call.h"

#include <algorithm>

#include "app/command/console.h"
#include "base/errors.h"
#include "base/text.h"
#include "host/wire/approval.h"

namespace interlock {
namespace {

Result<std::vector<TenantId>> places(ServerClient& server, const std::string& tenant) {
    if (!tenant.empty()) {
        return std::vector<TenantId>{TenantId::trusted(tenant)};
    }
    TRY_ASSIGN(std::vector<TenantId> tenants, list_tenants(server));
    tenants.push_back(system_tenant());
    return tenants;
}

std::string desk_path(const TenantId& tenant_id) {
    return "/api/" + percent_encode(tenant_id.text()) + "/approvals";
}

std::unexpected<Error> refused(const ServerAnswer& answer, const TenantId& tenant_id) {
    return fail(
        errors::not_found,
        "The server does not show the approvals of " + tenant_id.text() + ": " +
            answer.error_code() + ".",
        "See `interlock tenant list` for the tenants there are.");
}

std::size_t votes_of(const Json& approval) {
    const Json* votes = approval.find("approvals");
    return votes != nullptr && votes->is_array() ? votes->items().size() : 0;
}

}  // namespace

Result<std::vector<Json>> list_approvals(ServerClient& server, const ApprovalFilter& filter) {
    TRY_ASSIGN(const std::vector<TenantId> tenants, places(server, filter.tenant));
    std::vector<Json> approvals;
    for (const TenantId& tenant_id : tenants) {
        TRY_ASSIGN(
            const ServerAnswer answer,
            server.get(
                desk_path(tenant_id) + (filter.state.empty() ? "" : "?state=" + filter.state)));
        const Json* list = answer.body.find("approvals");
        if (!answer.ok() || list == nullptr || !list->is_array()) {
            return refused(answer, tenant_id);
        }
        approvals.insert(approvals.end(), list->items().begin(), list->items().end());
    }
    std::stable_sort(approvals.begin(), approvals.end(), [](const Json& a, const Json& b) {
        return text_at(a, "created_at") > text_at(b, "created_at");
    });
    return approvals;
}

Result<Json> find_approval(
    ServerClient& server, const std::string& approval_id, const std::string& tenant) {
    TRY_ASSIGN(const std::vector<TenantId> tenants, places(server, tenant));
    for (const TenantId& tenant_id : tenants) {
        TRY_ASSIGN(
            ServerAnswer answer,
            server.get(desk_path(tenant_id) + "/" + percent_encode(approval_id)));
        if (answer.ok()) {
            return std::move(answer.body);
        }
        if (answer.status != 404) {
            return refused(answer, tenant_id);
        }
    }
    return fail(
        errors::not_found,
        "There is no approval " + approval_id + ".",
        "See `interlock approvals list` for the ones there are.");
}

std::string approval_path(const Json& approval) {
    return desk_path(TenantId::trusted(text_at(approval, "tenant_id"))) + "/" +
           percent_encode(text_at(approval, "approval_id"));
}

Result<void> require_decidable(const Json& approval) {
    const std::string state = text_at(approval, "state");
    if (state != "pending") {
        return fail(
            errors::approval_not_pending,
            "The approval " + text_at(approval, "approval_id") + " is " + state + " already.");
    }
    const Json* payload = approval.find("payload");
    const auto hash = payload == nullptr ? Result<std::string>("") : subject_hash_of(*payload);
    if (!hash || *hash != text_at(approval, "subject_hash")) {
        return fail(
            errors::approval_payload_mismatch,
            "The payload of " + text_at(approval, "approval_id") +
                " does not give the hash it is bound to.",
            "Decide nothing; run `interlock audit verify` and look at the server.");
    }
    return {};
}

std::string describe_approvals(const std::vector<Json>& approvals) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& approval : approvals) {
        rows.push_back(
            {text_at(approval, "approval_id"),
             text_at(approval, "tenant_id"),
             text_at(approval, "kind"),
             text_at(approval, "state"),
             text_at(approval, "created_at"),
             text_at(approval, "expires_at"),
             text_at(approval, "summary")});
    }
    return render_table(
        {"APPROVAL", "TENANT", "KIND", "STATE", "CREATED", "EXPIRES", "SUMMARY"}, rows);
}

std::string describe_approval(const Json& approval) {
    const Json* payload = approval.find("payload");
    return render_fields(
               {{"approval", text_at(approval, "approval_id")},
                {"tenant", text_at(approval, "tenant_id")},
                {"kind", text_at(approval, "kind")},
                {"state", text_at(approval, "state")},
                {"summary", text_at(approval, "summary")},
                {"requested by", text_at(approval, "requested_by")},
                {"humans",
                 std::to_string(votes_of(approval)) + " of " + text_at(approval, "required")},
                {"created", text_at(approval, "created_at")},
                {"expires", text_at(approval, "expires_at")},
                {"comment", text_at(approval, "comment")},
                {"payload hash", text_at(approval, "subject_hash")}}) +
           "payload, executed exactly as it stands here:\n" +
           print_safe(payload == nullptr ? "-" : to_pretty_text(*payload), true) + "\n";
}

std::string describe_decision(const Json& before, const Json& after) {
    const std::string state = text_at(after, "state");
    std::string text = print_safe(text_at(after, "approval_id")) + ": " +
                       print_safe(text_at(before, "state")) + " -> " + print_safe(state) + "\n";
    if (state == "pending") {
        text += "Your vote is recorded (" + std::to_string(votes_of(after)) + " of " +
                print_safe(text_at(after, "required")) + "); another human has to approve.\n";
    } else if (state == "consumed") {
        text += "Approved and carried out.\n";
    } else if (state == "rejected") {
        text += "Rejected; nothing is carried out.\n";
    }
    if (text_at(after, "audit_ref") != "-") {
        text += "Recorded as " + print_safe(text_at(after, "audit_ref")) + ".\n";
    }
    return text;
}

}  // namespace interlock
