// The supervising agent's contract: one write, two reads
// (docs/contracts/control-decision.md#rules).
#include "base/check.h"
#include "codec/json_schema.h"
#include "host/face/answer_reply.h"
#include "host/wire/blocked.h"
#include "trader/face/strategy_operations.h"

namespace interlock {
namespace {

constexpr Access kReaders{.host_operator = true, .human = true, .agent = Scope::supervisor};
// The report says why a bot quotes as it does, so its own key may read it, over HTTP. It is no tool
// of that key: those are the calls of a bot.
constexpr Access kReportReaders{
    .host_operator = true, .human = true, .agent = Scope::supervisor, .agent_of_bot = Scope::bot};

Json boolean_schema() {
    return Json::object({{"type", "string"}, {"enum", Json::array({"true", "false"})}});
}

QueryParameter include_parameter(std::string_view name, std::string_view description) {
    return {std::string(name), std::string(description), boolean_schema()};
}

bool wants(const ApiCall& call, const std::string& name, bool otherwise) {
    const auto found = call.query.find(name);
    return found == call.query.end() ? otherwise : found->second == "true";
}

schema::Members strategy_members() {
    return {
        {"id", schema::text()},
        {"strategy_id", schema::text("The id, as other calls name it.")},
        {"name", schema::text()},
        {"strategy_type", schema::text()},
        {"mode", schema::words({"off", "observe", "simulate", "active"})},
        {"status", schema::text()},
        {"blocked", blocked_schema()},
        {"concern_id", schema::or_null(schema::text())},
        {"account_id", schema::text()},
        {"market_symbol", schema::text()},
    };
}

}  // namespace

Json strategy_schema() {
    schema::Members members = strategy_members();
    for (auto& member : schema::Members{
             {"base_currency", schema::text()},
             {"counter_currency", schema::text()},
             {"paused", schema::boolean()},
             {"policy",
              schema::object({
                  {"risk_posture", schema::text()},
                  {"priority", schema::integer()},
                  {"metadata", schema::free("A human's own notes.")},
              })},
             {"last_error", schema::or_null(schema::text())},
             {"version", schema::integer()},
             {"created_at", schema::moment()},
             {"updated_at", schema::moment()},
             {"report?", schema::free("Blocks of docs/contracts/control-decision.md.")},
             {"config?", schema::free("By the config_schema of its type.")},
             {"state?", schema::or_null(schema::free("By the state_schema of its type."))},
             {"render?", schema::list(schema::free("A widget."), "For a page.")},
             {"debug?", schema::free("Counters.")},
             {"audit_ref?", schema::text("Of a call that changed it.")},
         }) {
        members.push_back(std::move(member));
    }
    return schema::object(std::move(members));
}

namespace {

// A store that fails leaves no record of the attempt, and nobody can tell what of it is kept. The
// contract has a word for that: it failed, and is asked for again under the same id.
ControlService::Reply failed_when_unstored(const Json& payload, ControlService::Reply reply) {
    ControlResult failed = control_refusal(payload, {&errors::commit_unknown, {}, {}, {}});
    failed.status = ControlStatus::failed;
    failed.result = Json::object({{"mode_change", "unknown"}, {"reconciled", false}});
    return [failed = std::move(failed), reply = std::move(reply)](Result<Answer> answer) {
        const bool is_unstored = !answer && (answer.error() == errors::commit_failed ||
                                             answer.error() == errors::commit_unknown);
        if (!is_unstored) {
            return reply(std::move(answer));
        }
        ControlResult told = failed;
        told.errors = {std::move(answer).error()};
        told.errors.front().next_step = "Send the same decision again under the same decision_id.";
        reply(Answer{200, to_text(encode(told))});
    };
}

Operation apply_operation(ControlService& control) {
    return {
        .id = "apply_control_decision",
        .method = "POST",
        .path = "/api/{tenant_id}/control_decisions",
        .summary = "Apply one control decision: switch, pause, resume or set_risk_mode.",
        .description =
            "The only write of a supervising agent. Validated, applied at most once and audited; a "
            "rejection is a normal answer and says why in errors. Retry with the same decision_id: "
            "an applied decision is not applied again and comes back as noop. Send "
            "expected_active_strategy_id so that a decision on an old view is refused; dry_run "
            "shows what would happen.",
        .access = {.human = true, .agent = Scope::supervisor},
        .query = {},
        .request_schema = control_decision_schema(),
        .answer_schema = control_result_schema(),
        .tool = ToolHints{.read_only = false, .destructive = true, .idempotent = true},
        .handle =
            [&control](ApiCall call, ApiReplyTo reply) {
                auto answer = failed_when_unstored(call.body, answer_to(std::move(reply)));
                control.submit(control.apply_turn(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    std::move(call.body),
                    std::move(answer)));
            },
    };
}

Operation list_operation(StrategyService& strategies) {
    return {
        .id = "list_strategies",
        .method = "GET",
        .path = "/api/{tenant_id}/instances",
        .summary = "List strategy instances with mode and status.",
        .description = "Compact; get_strategy tells the rest of one.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema =
            schema::object({{"strategies", schema::list(schema::object(strategy_members()))}}),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&strategies](ApiCall call, ApiReplyTo reply) {
                strategies.list(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    answer_to(std::move(reply)));
            },
    };
}

Operation get_operation(StrategyService& strategies) {
    return {
        .id = "get_strategy",
        .method = "GET",
        .path = "/api/{tenant_id}/instances/{strategy_id}",
        .summary = "Read one strategy instance and its report.",
        .description =
            "The report describes identity, control, fit, supervision, position, state, assessment "
            "and execution; it never tells what to do.",
        .access = kReportReaders,
        .query =
            {include_parameter("include_config", "With its configuration; false unless given."),
             include_parameter("include_state", "With its own state; false unless given."),
             include_parameter("include_render", "With widgets for a page; false unless given."),
             include_parameter("include_debug", "With counters; false unless given."),
             include_parameter("include_report", "With the report; true unless given.")},
        .request_schema = {},
        .answer_schema = strategy_schema(),
        .tool = ToolHints{.read_only = true, .destructive = false, .idempotent = true},
        .handle =
            [&strategies](ApiCall call, ApiReplyTo reply) {
                auto id = StrategyId::parse(call.path["strategy_id"]);
                if (!id) {
                    reply(std::unexpected(std::move(id).error()));
                    return;
                }
                const StrategyService::Include include{
                    .config = wants(call, "include_config", false),
                    .state = wants(call, "include_state", false),
                    .render = wants(call, "include_render", false),
                    .debug = wants(call, "include_debug", false),
                    .report = wants(call, "include_report", true)};
                strategies.get(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(id),
                    include,
                    answer_to(std::move(reply)));
            },
    };
}

Operation concerns_operation(StrategyService& strategies) {
    return {
        .id = "list_concerns",
        .method = "GET",
        .path = "/api/{tenant_id}/concerns",
        .summary = "List concerns with their active strategy, risk mode and execution quality.",
        .description = "A concern is one market of one account.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = schema::object(
            {{"concerns",
              schema::list(schema::object({
                  {"concern_id", schema::text()},
                  {"account_id", schema::text()},
                  {"market_symbol", schema::text()},
                  {"status", schema::text()},
                  {"risk_mode", schema::text()},
                  {"active_strategy_id", schema::or_null(schema::text())},
                  {"execution_quality", schema::text()},
                  {"reasons", schema::list(schema::text())},
                  {"switching", schema::boolean()},
                  {"version", schema::integer()},
              }))}}),
        .tool = std::nullopt,
        .handle =
            [&strategies](ApiCall call, ApiReplyTo reply) {
                strategies.list_concerns(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    answer_to(std::move(reply)));
            },
    };
}

Operation types_operation() {
    return {
        .id = "list_strategy_types",
        .method = "GET",
        .path = "/api/{tenant_id}/strategy_types",
        .summary = "List strategy types with the JSON Schemas of their config and state.",
        .description = "docs/strategies explains each.",
        .access = kReaders,
        .query = {},
        .request_schema = {},
        .answer_schema = schema::object(
            {{"strategy_types",
              schema::list(schema::object({
                  {"strategy_type", schema::text()},
                  {"label", schema::text()},
                  {"config_schema", schema::free("A JSON Schema.")},
                  {"state_schema", schema::free("A JSON Schema.")},
              }))}}),
        .tool = std::nullopt,
        .handle = [](ApiCall,
                     ApiReplyTo reply) { reply(json_reply(200, describe_strategy_types())); },
    };
}

}  // namespace

void register_control_operations(
    OperationTable& table, ControlService& control, StrategyService& strategies) {
    table.add(apply_operation(control));
    table.add(list_operation(strategies));
    table.add(get_operation(strategies));
    table.add(concerns_operation(strategies));
    table.add(types_operation());
}

}  // namespace interlock
