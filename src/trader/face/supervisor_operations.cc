#include "trader/face/supervisor_operations.h"

#include "codec/json_schema.h"
#include "host/face/call_arguments.h"
#include "host/wire/blocked.h"

namespace interlock {
namespace {

Json whole_number(std::int64_t min, std::int64_t max) {
    return Json::object({{"type", "integer"}, {"minimum", min}, {"maximum", max}});
}

Json narrative_schema() {
    return schema::object({
        {"regime", schema::text()},
        {"evidence", schema::text("From 0 to 1.")},
        {"consensus", schema::text("From -1 to 1.")},
        {"readings",
         schema::list(schema::object({
             {"timeframe", schema::text()},
             {"is_known", schema::boolean()},
             {"direction", schema::integer()},
             {"persistence", schema::text()},
             {"pullback_pct", schema::or_null(schema::text())},
             {"is_volatile", schema::boolean()},
         }))},
        {"sentences", schema::list(schema::text())},
    });
}

Json decided_schema() {
    return schema::object({
        {"action", schema::text()},
        {"rule", schema::text()},
        {"reason", schema::text()},
        {"confidence", schema::text("From 0 to 1.")},
        {"target_strategy_id", schema::or_null(schema::text())},
        {"risk_mode", schema::or_null(schema::text())},
        {"narrative", narrative_schema()},
        {"fits",
         schema::list(schema::object({
             {"strategy_id", schema::text()},
             {"strategy_type", schema::text()},
             {"fit", schema::text("From 0 to 1.")},
             {"excluded", schema::or_null(schema::text("Why it is not to be had."))},
         }))},
    });
}

Json payload_schema() {
    return schema::or_null(schema::object(
        {
            {"decision_id", schema::text()},
            {"concern_id", schema::text()},
            {"account_id", schema::text()},
            {"market_symbol", schema::text()},
            {"action", schema::text()},
            {"target_strategy_id?", schema::text()},
            {"expected_active_strategy_id", schema::or_null(schema::text())},
            {"risk_mode?", schema::text()},
            {"reason", schema::text()},
            {"confidence", schema::number("From 0 to 1.")},
        },
        "The control decision; null when it kept."));
}

Json list_schema() {
    return schema::object({
        {"enabled", schema::boolean()},
        {"allow_actions", schema::boolean("Else it only says what it would do.")},
        {"decisions",
         schema::list(
             schema::object({
                 {"selector", schema::text("The version of its rules.")},
                 {"concern_id", schema::text()},
                 {"now", schema::moment()},
                 {"decision", decided_schema()},
                 {"dispatch", schema::words({"none", "blocked", "sent"})},
                 {"payload", payload_schema()},
                 {"blocked", blocked_schema()},
                 {"decision_id", schema::text()},
                 {"seq", schema::integer("Of its audit record.")},
                 {"bundle", schema::text("Artifact of what it decided by.")},
             }),
             "Newest first.")},
        {"next_before", schema::or_null(schema::integer("Null: there are no older ones."))},
    });
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
        .answer_schema = list_schema(),
        .tool = std::nullopt,
        .handle = [&supervisor](ApiCall call, ApiReplyTo reply) { list(supervisor, call, reply); },
    });
}

}  // namespace interlock
