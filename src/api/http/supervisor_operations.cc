#include "api/http/supervisor_operations.h"

#include "api/call_arguments.h"

namespace interlock {
namespace {

Json whole_number(std::int64_t min, std::int64_t max) {
    return Json::object({{"type", "integer"}, {"minimum", min}, {"maximum", max}});
}

void list(SupervisorService& supervisor, const ApiCall& call, const ApiReplyTo& reply) {
    SupervisorService::Page page;
    if (call.query.contains("before")) {
        page.before = query_integer(call, "before", 0);
    }
    page.limit = query_integer(call, "limit", page.limit);
    const auto only = call.query.find("only_actions");
    page.only_actions = only != call.query.end() && only->second == "true";
    auto listed = supervisor.list(call.tenant_id, page);
    if (!listed) {
        reply(std::unexpected(std::move(listed).error()));
        return;
    }
    reply(json_reply(200, *listed));
}

}  // namespace

void register_supervisor_operations(OperationTable& table, SupervisorService& supervisor) {
    table.add({
        .id = "list_supervisor_decisions",
        .method = "GET",
        .path = "/api/{tenant_id}/supervisor/decisions",
        .summary = "List what the built-in supervisor decided, newest first.",
        .description =
            "Every round of every concern, keep included, with the narrative, the fits and the "
            "hash of the input bundle. `next_before` pages on; docs/supervisor.md explains the "
            "rules.",
        .access = {.host_operator = true, .human = true, .agent = Scope::supervisor},
        .query =
            {{"before",
              "Only records with a smaller sequence number.",
              whole_number(1, std::int64_t{1} << 53U)},
             {"limit", "At most this many.", whole_number(1, SupervisorService::kListMax)},
             {"only_actions",
              "Leave out keeps; false unless given.",
              Json::object({{"type", "string"}, {"enum", Json::array({"true", "false"})}})}},
        .request_schema = {},
        .answer_schema = Json::object({{"type", "object"}}),
        .tool = std::nullopt,
        .handle = [&supervisor](ApiCall call, ApiReplyTo reply) { list(supervisor, call, reply); },
    });
}

}  // namespace interlock
