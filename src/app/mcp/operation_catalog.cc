#include "app/mcp/operation_catalog.h"

#include <algorithm>

#include "base/errors.h"
#include "codec/error_json.h"
#include "host/face/call_arguments.h"
#include "host/face/face_words.h"

namespace interlock {
namespace {

constexpr std::string_view kAuditScheme = "interlock://audit/";
constexpr std::string_view kHead = "head";
constexpr std::string_view kRecent = "recent";
constexpr std::string_view kRecentCount = "50";
constexpr std::size_t kSeqDigitsMax = 19;

struct ResourceCall {
    std::string_view operation_id;
    std::map<std::string, std::string> path = {};
    std::map<std::string, std::string> query = {};
};

// Which operation reads this uri.
std::optional<ResourceCall> resource_call(std::string_view uri) {
    if (!uri.starts_with(kAuditScheme)) {
        return std::nullopt;
    }
    const std::string_view rest = uri.substr(kAuditScheme.size());
    if (rest == kHead) {
        return ResourceCall{"audit_head"};
    }
    if (rest == kRecent) {
        return ResourceCall{"list_audit", {}, {{"limit", std::string(kRecentCount)}}};
    }
    const bool is_seq = !rest.empty() && rest.size() <= kSeqDigitsMax &&
                        std::ranges::all_of(rest, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_seq) {
        return std::nullopt;
    }
    return ResourceCall{"get_audit_record", {{"seq", std::string(rest)}}};
}

RpcOutcome resource_result(const std::string& uri, const Result<ApiReply>& reply) {
    if (!reply && reply.error() == errors::not_found) {
        return no_such_resource(uri);
    }
    if (!reply) {
        return rpc_fail(kRpcInternalError, reply.error().message, encode(reply.error()));
    }
    if (reply->status >= 400) {
        return rpc_fail(
            kRpcInternalError,
            "The resource cannot be read now.",
            parse_json(reply->body).value_or(Json()));
    }
    return Json::object(
        {{"contents",
          Json::array({Json::object(
              {{"uri", uri}, {"mimeType", reply->content_type}, {"text", reply->body}})})}});
}

}  // namespace

std::string OperationCatalog::instructions() const {
    return "Interlock stands between you and real money or other people's chats. Read the state "
           "first: it says what you may plan with. When you get no answer, or one that says it is "
           "retryable, send the very same request with the same key again; a new idempotency_key "
           "means a new action. A refusal is a normal answer: follow its hints, next_step or code, "
           "do not work around it. No agent can approve anything; where an approval is needed, a "
           "person decides, and you wait. Cancelling a call ends your waiting, not the action.";
}

std::optional<TenantId> OperationCatalog::may_use(
    const Operation& operation, const Principal& principal) const {
    const bool is_host = operation.access.place == Access::Place::host;
    if (!is_host && principal.tenants.size() != 1) {
        return std::nullopt;  // Without a path, nothing says which tenant is meant (I5).
    }
    AccessQuestion question{.principal = &principal, .tenant = std::nullopt};
    if (!is_host) {
        question.tenant = *principal.tenants.begin();
        question.tenant_exists = parts_.tenant_exists(*question.tenant);
    }
    if (decide_access(operation.access, question) != AccessVerdict::allowed) {
        return std::nullopt;
    }
    return question.tenant.value_or(TenantId());
}

bool OperationCatalog::may_use(std::string_view operation_id, const Principal& principal) const {
    const Operation* operation = parts_.table.find(operation_id);
    return operation != nullptr && may_use(*operation, principal);
}

std::vector<McpTool> OperationCatalog::tools(const Principal& principal) {
    std::vector<McpTool> tools;
    for (const Operation& operation : parts_.table.all()) {
        if (operation.tool && may_use(operation, principal)) {
            tools.push_back(tool_of(operation));
        }
    }
    return tools;
}

void OperationCatalog::call_tool(McpExchangePtr exchange, std::string name, Json arguments) {
    const Operation* operation = parts_.table.find_tool(name);
    const auto tenant =
        operation != nullptr ? may_use(*operation, exchange->principal()) : std::nullopt;
    if (!tenant) {
        // The same words for a tool that does not exist and one that this key may not see.
        exchange->answer(rpc_fail(kRpcInvalidParams, "There is no tool " + name + "."));
        return;
    }
    exchange->progress(0, 1);
    Result<ToolArguments> split = split_arguments(*operation, arguments);
    if (!split) {
        exchange->answer(tool_result(*operation, std::unexpected(split.error())));
        return;
    }
    ApiCall call{
        .principal = exchange->principal(),
        .tenant_id = *tenant,
        .path = std::move(split->path),
        .query = std::move(split->query),
        .body = std::move(split->body),
    };
    run(*operation, std::move(call), [this, exchange, operation](Result<ApiReply> reply) {
        exchange->progress(1, 1);
        if (!reply) {
            reply = std::unexpected(spoken(std::move(reply).error(), parts_.table, in_tool_words));
        } else {
            reply->body = spoken_answer(reply->body, parts_.table, in_tool_words);
        }
        exchange->answer(tool_result(*operation, reply));
    });
}

void OperationCatalog::run(const Operation& operation, ApiCall call, ApiReplyTo reply) const {
    const auto answer = [this, &operation, reply = std::move(reply)](Result<ApiReply> result) {
        if (parts_.on_answer) {
            parts_.on_answer(operation, result ? result->status : result.error().http_status());
        }
        reply(std::move(result));
    };
    if (parts_.admit) {
        if (Result<void> admitted = parts_.admit(operation, call); !admitted) {
            answer(std::unexpected(std::move(admitted).error()));
            return;
        }
    }
    call.charge = parts_.charge;
    if (Result<void> judged = judge_secrets(operation, call); !judged) {
        answer(std::unexpected(std::move(judged).error()));
        return;
    }
    operation.handle(std::move(call), answer);
}

std::vector<McpResource> OperationCatalog::resources(const Principal& principal) {
    std::vector<McpResource> resources;
    if (may_use("audit_head", principal)) {
        resources.push_back(
            {.uri = std::string(kAuditScheme) + std::string(kHead),
             .name = "audit_head",
             .description = "The signed head of your tenant's audit chain, as of now.",
             .mime_type = "application/json"});
    }
    if (may_use("list_audit", principal)) {
        resources.push_back(
            {.uri = std::string(kAuditScheme) + std::string(kRecent),
             .name = "audit_recent",
             .description = "The last 50 records of your tenant's audit ledger, oldest first.",
             .mime_type = "application/json"});
    }
    return resources;
}

std::vector<McpResource> OperationCatalog::resource_templates(const Principal& principal) {
    if (!may_use("get_audit_record", principal)) {
        return {};
    }
    return {
        {.uri = std::string(kAuditScheme) + "{seq}",
         .name = "audit_record",
         .description = "One audit record by its sequence number.",
         .mime_type = "application/json"}};
}

void OperationCatalog::read_resource(McpExchangePtr exchange, std::string uri) {
    std::optional<ResourceCall> wanted = resource_call(uri);
    const Operation* operation = wanted ? parts_.table.find(wanted->operation_id) : nullptr;
    const auto tenant =
        operation != nullptr ? may_use(*operation, exchange->principal()) : std::nullopt;
    if (!tenant) {
        exchange->answer(no_such_resource(uri));
        return;
    }
    ApiCall call{
        .principal = exchange->principal(),
        .tenant_id = *tenant,
        .path = std::move(wanted->path),
        .query = std::move(wanted->query),
        .body = {},
    };
    run(*operation, std::move(call), [exchange, uri](const Result<ApiReply>& reply) {
        exchange->answer(resource_result(uri, reply));
    });
}

}  // namespace interlock
