#include "loop/face/loop_operations.h"

#include <algorithm>

#include "base/check.h"
#include "host/face/answer_reply.h"
#include "host/face/call_arguments.h"
#include "loop/wire/loop_answers.h"

namespace interlock {
namespace {

// What a model reads of a tool.
struct ToolText {
    std::string_view name;
    std::string_view summary;
    std::string_view description;
    bool read_only = false;
};

constexpr ToolText kState{
    "py_get_canonical_state",
    "Read the account; every decision starts here.",
    "strategy_ids: what an intent may name as strategy_id. spendable_cash: what may be spent. "
    "symbols: each market's grid and least order. allowed_envelope: the largest order per symbol "
    "and side that passes now; plan inside it.",
    true};
constexpr ToolText kSnapshot{
    "py_get_market_snapshot",
    "Read bid, ask, spread, volatility and age of markets.",
    "Stale ones are returned all the same, with stale_market_data in errors.",
    true};
constexpr ToolText kValidate{
    "py_validate_plan",
    "Run a plan through all five gates; sends nothing.",
    "When refused, hints has the value that would pass for each of blocking_reasons "
    "(gate:code:symbol). A pass is a ticket for exactly these intents, good for 120 seconds. A "
    "changed plan is a new call.",
    false};
constexpr ToolText kDryRun{
    "py_dry_run_plan",
    "Rehearse a validated plan: costs, limits after the trade, order ids; sends nothing.",
    "projected has the order_client_id of every intent. What fails may come back smaller as "
    "adjusted_plan: validate that.",
    false};
constexpr ToolText kExecute{
    "py_execute_plan",
    "Send the intents that passed validation and dry run.",
    "Nothing is sent unless all gates pass once more. submit_status timeout or unknown: the order "
    "may be live; verify it, never plan it again.",
    false};
constexpr ToolText kVerify{
    "py_verify_execution",
    "Ask the venue what became of orders: matched, drift or uncertain.",
    "",
    true};
constexpr ToolText kRecord{
    "py_record_decision",
    "Add your summary to the record that the executor keeps of a decision.",
    "",
    false};

const LoopToolSchema& schema_of(const std::vector<LoopToolSchema>& schemas, std::string_view name) {
    const auto found = std::find_if(
        schemas.begin(), schemas.end(), [&](const auto& schema) { return schema.name == name; });
    CHECK(found != schemas.end());
    return *found;
}

// A tool: decoded, hashed, run as one turn; what cannot be decoded is on the record as well.
template <class Request>
struct ToolRun {
    Result<Request> (*decode)(const Json&);
    TurnRequest (LoopService::*turn)(LoopService::Caller, Request, LoopService::Reply);
};

template <class Request>
Operation tool(LoopService& loop, const ToolText& text, ToolRun<Request> run) {
    const std::vector<LoopToolSchema> schemas = loop_tool_schemas();
    const LoopToolSchema& schema = schema_of(schemas, text.name);
    return {
        .id = std::string(text.name),
        .method = "POST",
        .path = "/api/{tenant_id}/tools/" + std::string(text.name),
        .summary = std::string(text.summary),
        .description = std::string(text.description),
        .access = {.human = true, .agent = Scope::planner},
        .query = {},
        .request_schema = schema.request,
        .answer_schema = schema.answer,
        .tool = ToolHints{.read_only = text.read_only, .destructive = false, .idempotent = true},
        .handle =
            [&loop, run, name = std::string(text.name)](ApiCall call, ApiReplyTo reply) {
                auto hash = request_hash(call, name);
                LoopService::Caller caller{
                    call.principal, call.tenant_id, hash ? *hash : std::string()};
                auto request = run.decode(call.body);
                if (!request || !hash) {
                    Error error = request ? std::move(hash).error() : std::move(request).error();
                    loop.submit(loop.refusal_turn(
                        std::move(caller),
                        call.body,
                        std::move(error),
                        answer_to(std::move(reply))));
                    return;
                }
                loop.submit((loop.*run.turn)(
                    std::move(caller), *std::move(request), answer_to(std::move(reply))));
            },
    };
}

Operation account_operation(LoopService& loop) {
    return {
        .id = "get_account",
        .method = "GET",
        .path = "/api/{tenant_id}/account",
        .summary = "Read the account as the planner sees it, with recovery and strategies.",
        .description = "The state of py_get_canonical_state without a decision around it.",
        .access = {.host_operator = true, .human = true, .agent = Scope::read},
        .query =
            {{"account_id",
              "Leave out for the main account.",
              Json::object({{"type", "string"}, {"maxLength", 128}})}},
        .request_schema = {},
        .answer_schema = account_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&loop](ApiCall call, ApiReplyTo reply) {
                const auto named = call.query.find("account_id");
                auto account = named == call.query.end() ? Result<AccountId>(default_account_id())
                                                         : AccountId::parse(named->second);
                if (!account) {
                    reply(std::unexpected(std::move(account).error()));
                    return;
                }
                loop.submit(loop.account_turn(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(account),
                    answer_to(std::move(reply))));
            },
    };
}

Operation decision_operation(LoopService& loop) {
    return {
        .id = "get_decision",
        .method = "GET",
        .path = "/api/{tenant_id}/decisions/{decision_id}",
        .summary = "Read one decision: plan, verdicts, orders, verification, replay inputs.",
        .description = "The replay record of the decision with its stage and references.",
        .access = {.host_operator = true, .human = true, .agent = Scope::read},
        .query = {},
        .request_schema = {},
        .answer_schema = decision_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&loop](ApiCall call, ApiReplyTo reply) {
                auto id = DecisionId::parse(call.path["decision_id"]);
                if (!id) {
                    reply(std::unexpected(std::move(id).error()));
                    return;
                }
                loop.submit(loop.decision_turn(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(id),
                    answer_to(std::move(reply))));
            },
    };
}

}  // namespace

void register_loop_operations(OperationTable& table, LoopService& loop, MarketReads reads) {
    table.add(tool<CanonicalStateRequest>(
        loop, kState, {decode_canonical_state_request, &LoopService::state_turn}));
    table.add(tool<MarketSnapshotRequest>(
        loop, kSnapshot, {decode_market_snapshot_request, &LoopService::snapshot_turn}));
    table.add(tool<ValidatePlanRequest>(
        loop, kValidate, {decode_validate_plan_request, &LoopService::validate_turn}));
    table.add(tool<DryRunPlanRequest>(
        loop, kDryRun, {decode_dry_run_plan_request, &LoopService::dry_run_turn}));
    Operation execute = tool<ExecutePlanRequest>(
        loop, kExecute, {decode_execute_plan_request, &LoopService::execute_turn});
    execute.tool->destructive = true;
    table.add(std::move(execute));
    table.add(tool<VerifyExecutionRequest>(
        loop, kVerify, {decode_verify_execution_request, &LoopService::verify_turn}));
    table.add(tool<RecordDecisionRequest>(
        loop, kRecord, {decode_record_decision_request, &LoopService::record_turn}));
    table.add(account_operation(loop));
    table.add(decision_operation(loop));
    register_market_operations(table, loop, reads);
}

}  // namespace interlock
