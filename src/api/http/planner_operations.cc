#include "api/http/planner_operations.h"

#include "api/http/answer_reply.h"
#include "base/field_reader.h"

namespace interlock {
namespace {

Result<PlannerState> decode_start(const Json& json) {
    FieldReader in(json);
    PlannerState wanted;
    wanted.every = Duration::of_seconds(in.required_integer(
        "every_sec",
        LoopTicker::kEveryMin.microseconds / 1'000'000,
        LoopTicker::kEveryMax.microseconds / 1'000'000));
    const Json* settings = in.required_object("settings");
    in.reject_unknown();
    TRY(in.finish(true));
    TRY_ASSIGN(wanted.settings, decode_maker_settings(*settings));
    return wanted;
}

Json decimal_schema() {
    return Json::object({{"type", Json::array({"string", "number"})}});
}

Json start_schema() {
    return Json::object({
        {"type", "object"},
        {"additionalProperties", false},
        {"required", Json::array({"every_sec", "settings"})},
        {"properties",
         Json::object({
             {"every_sec", Json::object({{"type", "integer"}, {"minimum", 1}, {"maximum", 3600}})},
             {"settings",
              Json::object({
                  {"type", "object"},
                  {"additionalProperties", false},
                  {"required",
                   Json::array(
                       {"planner", "strategy_id", "symbol", "order_quote", "step_bps", "levels"})},
                  {"properties",
                   Json::object({
                       {"planner", Json::object({{"enum", Json::array({"maker"})}})},
                       {"strategy_id",
                        Json::object({{"type", "string"}, {"minLength", 1}, {"maxLength", 128}})},
                       {"symbol", Json::object({{"type", "string"}})},
                       {"order_quote", decimal_schema()},
                       {"step_bps", decimal_schema()},
                       {"levels",
                        Json::object({{"type", "integer"}, {"minimum", 1}, {"maximum", 10}})},
                   })},
              })},
         })},
    });
}

}  // namespace

void register_planner_operations(OperationTable& table, LoopService& loop, LoopTicker& ticker) {
    table.add({
        .id = "start_planner",
        .method = "POST",
        .path = "/api/{tenant_id}/planners",
        .summary = "Start a built-in planner, or change the settings of a running one.",
        .description =
            "A built-in planner ticks by itself through the same gates, dry run and ledger as an "
            "outside one. Starting one that runs replaces its settings.",
        .access = {.host_operator = false, .human = true},
        .query = {},
        .request_schema = start_schema(),
        .answer_schema = Json::object({{"type", "object"}}),
        .tool = std::nullopt,
        .handle =
            [&loop, &ticker](ApiCall call, ApiReplyTo reply) {
                auto wanted = decode_start(call.body);
                if (!wanted) {
                    reply(std::unexpected(std::move(wanted).error()));
                    return;
                }
                loop.submit(ticker.start_turn(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(wanted),
                    answer_to(std::move(reply))));
            },
    });
    table.add({
        .id = "stop_planner",
        .method = "DELETE",
        .path = "/api/{tenant_id}/planners/{strategy_id}",
        .summary = "Stop a built-in planner; its open orders stay.",
        .description = "No further tick runs. Cancel open orders with a plan, or stop everything "
                       "with the kill switch.",
        .access = {.host_operator = true, .human = true},
        .query = {},
        .request_schema = {},
        .answer_schema = Json::object({{"type", "object"}}),
        .tool = std::nullopt,
        .handle =
            [&loop, &ticker](ApiCall call, ApiReplyTo reply) {
                auto id = StrategyId::parse(call.path["strategy_id"]);
                if (!id) {
                    reply(std::unexpected(std::move(id).error()));
                    return;
                }
                loop.submit(ticker.stop_turn(
                    {std::move(call.principal), std::move(call.tenant_id), {}},
                    *std::move(id),
                    answer_to(std::move(reply))));
            },
    });
}

}  // namespace interlock
