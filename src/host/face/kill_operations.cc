#include "host/face/kill_operations.h"

#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"

namespace interlock {
namespace {

// A reason and a few ids.
constexpr std::size_t kKillBodyBytesMax = 16 * 1024;

using Form = KillSwitchService::Form;
using Decode = Result<SetKillSwitch> (*)(const Json&);

void set(KillSwitchService& kill, Form form, Decode decode, ApiCall call, ApiReplyTo reply) {
    auto request = decode(call.body);
    if (!request) {
        reply(std::unexpected(std::move(request).error()));
        return;
    }
    auto hash =
        request_hash(call, form == Form::py_tool ? "py_set_kill_switch" : "set_kill_switch");
    if (!hash) {
        reply(std::unexpected(std::move(hash).error()));
        return;
    }
    kill.set(
        {std::move(call.principal), std::move(call.tenant_id), form, *std::move(hash)},
        *std::move(request),
        answer_to(std::move(reply)));
}

Operation status_operation(KillSwitchService& kill) {
    return {
        .id = "get_kill_switch",
        .method = "GET",
        .path = "/api/{tenant_id}/kill",
        .summary = "Tell whether the kill switch is on, and why.",
        .description =
            "Shows the effective state for this tenant: its own switch or the global one. While it "
            "is on nothing trades; only a human can release it.",
        .access =
            {.host_operator = true, .human = true, .agent = Scope::read, .system_tenant = true},
        .query = {},
        .request_schema = {},
        .answer_schema = kill_status_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&kill](ApiCall call, ApiReplyTo reply) {
                kill.status(
                    {std::move(call.principal), std::move(call.tenant_id), Form::plain, {}},
                    answer_to(std::move(reply)));
            },
    };
}

Operation set_operation(KillSwitchService& kill) {
    return {
        .id = "set_kill_switch",
        .method = "POST",
        .path = "/api/{tenant_id}/kill",
        .summary = "Stop everything at once, or ask a human to release the stop.",
        .description =
            "active=true stops the tenant before the call is even recorded and never "
            "fails for want "
            "of rights. active=false does not release: it files an approval for a human "
            "and answers "
            "202 with its id.",
        .access =
            {.host_operator = true,
             .human = true,
             .agent_with_any_scope = true,
             .system_tenant = true,
             .human_at_rest = true},
        .query = {},
        .request_schema = set_kill_schema(),
        .answer_schema = kill_status_schema(),
        .statuses = {200, 202},
        .tool = std::nullopt,
        .body_bytes_max = kKillBodyBytesMax,
        .handle =
            [&kill](ApiCall call, ApiReplyTo reply) {
                set(kill, Form::plain, decode_set_kill, std::move(call), std::move(reply));
            },
    };
}

Operation py_operation(KillSwitchService& kill) {
    return {
        .id = "py_set_kill_switch",
        .method = "POST",
        .path = "/api/{tenant_id}/tools/py_set_kill_switch",
        .summary = "Turn the kill switch on at once; turning it off needs a human.",
        .description =
            "active=true whenever something looks wrong: all trading of this tenant stops. "
            "active=false only files the approval that a human has to give.",
        .access =
            {.host_operator = true,
             .human = true,
             .agent_with_any_scope = true,
             .human_at_rest = true},
        .query = {},
        .request_schema = py_set_kill_switch_schema(),
        .answer_schema = py_set_kill_switch_answer_schema(),
        .tool = ToolHints{.read_only = false, .destructive = true, .idempotent = true},
        .body_bytes_max = kKillBodyBytesMax,
        .handle =
            [&kill](ApiCall call, ApiReplyTo reply) {
                set(kill,
                    Form::py_tool,
                    decode_py_set_kill_switch,
                    std::move(call),
                    std::move(reply));
            },
    };
}

}  // namespace

void register_kill_operations(OperationTable& table, KillSwitchService& kill) {
    table.add(status_operation(kill));
    table.add(set_operation(kill));
    table.add(py_operation(kill));
}

void register_stop_operations(OperationTable& table, KillSwitchService& kill) {
    table.add(status_operation(kill));
    table.add(set_operation(kill));
}

}  // namespace interlock
