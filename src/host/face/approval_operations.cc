#include "host/face/approval_operations.h"

#include "host/face/answer_reply.h"

namespace interlock {
namespace {

constexpr Access kReaders{
    .host_operator = true, .human = true, .agent = Scope::read, .system_tenant = true};
constexpr Access kDeciders{.human = true, .system_tenant = true};
constexpr Access kRefusers{.human = true, .system_tenant = true, .human_at_rest = true};

Json list_schema() {
    return Json::object({
        {"type", "object"},
        {"required", Json::array({"approvals"})},
        {"properties",
         Json::object(
             {{"approvals", Json::object({{"type", "array"}, {"items", approval_schema()}})}})},
    });
}

using Verb = void (ApprovalService::*)(
    ApprovalService::Caller, ApprovalId, ApprovalDecision, ApprovalService::Reply);

void decide(ApprovalService& approvals, Verb verb, ApiCall call, ApiReplyTo reply) {
    auto id = ApprovalId::parse(call.path["approval_id"]);
    if (!id) {
        reply(std::unexpected(std::move(id).error()));
        return;
    }
    auto decision = decode_approval_decision(call.body);
    if (!decision) {
        reply(std::unexpected(std::move(decision).error()));
        return;
    }
    (approvals.*verb)(
        {std::move(call.principal), std::move(call.tenant_id)},
        *std::move(id),
        *std::move(decision),
        answer_to(std::move(reply)));
}

Operation decide_operation(ApprovalService& approvals, const std::string& word, Verb verb) {
    return {
        .id = word + "_approval",
        .method = "POST",
        .path = "/api/{tenant_id}/approvals/{approval_id}/" + word,
        .summary = word == "approve" ? "Approve, as a human, and carry out the payload."
                                     : "Reject, as a human.",
        .description =
            "Needs a human login; access keys and the operator token are refused. The payload that "
            "was hashed is executed in the same turn as the last needed vote, once.",
        .access = word == "approve" ? kDeciders : kRefusers,
        .query = {},
        .request_schema = approval_decision_schema(),
        .answer_schema = approval_schema(),
        .tool = std::nullopt,
        .handle =
            [&approvals, verb](ApiCall call, ApiReplyTo reply) {
                decide(approvals, verb, std::move(call), std::move(reply));
            },
    };
}

}  // namespace

void register_approval_operations(OperationTable& table, ApprovalService& approvals) {
    table.add({
        .id = "list_approvals",
        .method = "GET",
        .path = "/api/{tenant_id}/approvals",
        .summary = "List approvals, newest first.",
        .description = "Everything that waits for a human, and how earlier requests ended.",
        .access = kReaders,
        .query =
            {{"state",
              "Only approvals in this state.",
              Json::object(
                  {{"type", "string"},
                   {"enum",
                    Json::array({"pending", "approved", "rejected", "expired", "consumed"})}})}},
        .request_schema = {},
        .answer_schema = list_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&approvals](ApiCall call, ApiReplyTo reply) {
                std::optional<ApprovalState> state;
                if (const auto word = call.query.find("state"); word != call.query.end()) {
                    state = parse_approval_state(word->second);
                }
                approvals.list(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    state,
                    answer_to(std::move(reply)));
            },
    });
    table.add({
        .id = "get_approval",
        .method = "GET",
        .path = "/api/{tenant_id}/approvals/{approval_id}",
        .summary = "Show one approval with its payload and state.",
        .description = "Read it before deciding: the payload is exactly what will be executed.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = approval_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&approvals](ApiCall call, ApiReplyTo reply) {
                auto id = ApprovalId::parse(call.path["approval_id"]);
                if (!id) {
                    reply(std::unexpected(std::move(id).error()));
                    return;
                }
                approvals.get(
                    {std::move(call.principal), std::move(call.tenant_id)},
                    *std::move(id),
                    answer_to(std::move(reply)));
            },
    });
    table.add(decide_operation(approvals, "approve", &ApprovalService::approve));
    table.add(decide_operation(approvals, "reject", &ApprovalService::reject));
}

}  // namespace interlock
