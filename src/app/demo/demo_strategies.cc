#include "app/demo/demo_strategies.h"

#include <memory>

#include "app/command/console.h"
#include "base/bounded_queue.h"
#include "base/errors.h"
#include "engine/system/random_id_source.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kPatience{30'000};
// Not the scenes' market: what they do to it must not hold up the grid.
constexpr const char* kMarket = "ETHUSDT";
constexpr const char* kGridName = "demo grid";
constexpr const char* kIdleName = "demo idle";

IdempotencyKey new_key() {
    return IdempotencyKey::trusted(RandomIdSource().new_id("demo"));
}

}  // namespace

DemoStrategies::DemoStrategies(Plane& plane, const std::string& tenant) : plane_(plane) {
    caller_ = {internal_principal("demo"), TenantId::trusted(tenant), {}};
}

std::string DemoStrategies::concern() {
    return "main:ethusdt";
}

Result<Json> DemoStrategies::answer_of(const Ask& ask) {
    const auto box = std::make_shared<BoundedQueue<Result<Answer>>>(1, 1);
    ask([box](Result<Answer> answer) { box->push(std::move(answer)); });
    auto answers = box->pop(1, kPatience);
    if (answers.empty()) {
        return fail(errors::unavailable, "The demo's strategies got no answer.");
    }
    TRY_ASSIGN(const Answer answer, std::move(answers.front()));
    TRY_ASSIGN(Json json, parse_json(answer.body));
    if (answer.http_status >= 300) {
        return fail(errors::internal, "The demo's strategies were refused: " + answer.body);
    }
    return json;
}

Result<void> DemoStrategies::find() {
    TRY_ASSIGN(const Json known, answer_of([this](LoopService::Reply reply) {
                   plane_.strategies->list(caller_, std::move(reply));
               }));
    for (const Json& one : known.find("strategies")->items()) {
        const std::string name = text_at(one, "name");
        if (name == kGridName) {
            grid_ = text_at(one, "id");
            is_active_ = text_at(one, "mode") == "active";
            is_paused_ = text_at(one, "status") == "paused";
        } else if (name == kIdleName) {
            idle_ = text_at(one, "id");
        }
    }
    return {};
}

Result<std::string> DemoStrategies::create(const std::string& type, const Json& config) {
    CreateStrategyRequest request;
    request.call = {new_key(), "for the demo"};
    request.strategy_type = type;
    request.account_id = default_account_id();
    request.market_symbol = kMarket;
    request.name = type == "idle" ? kIdleName : kGridName;
    request.config = config;
    TRY_ASSIGN(const Json made, answer_of([&](LoopService::Reply reply) {
                   plane_.strategies->create(caller_, std::move(request), std::move(reply));
               }));
    return text_at(made, "id");
}

Result<Json> DemoStrategies::move(const std::string& id, ControlAction action) {
    StrategyService::Move move{.id = StrategyId::trusted(id), .action = action, .request = {}};
    move.request.call = {new_key(), "for the demo"};
    return answer_of([&](LoopService::Reply reply) {
        plane_.strategies->move(caller_, std::move(move), std::move(reply));
    });
}

Result<void> DemoStrategies::rest() {
    TRY(find());
    if (is_active_ && !is_paused_) {
        TRY(move(grid_, ControlAction::pause));
        is_paused_ = true;
    }
    return {};
}

Result<void> DemoStrategies::trade() {
    TRY(find());
    if (grid_.empty()) {
        TRY_ASSIGN(
            grid_,
            create(
                "grid_trader",
                Json::object(
                    {{"tick_seconds", 5}, {"grid_levels", 3}, {"order_notional_quote", "50"}})));
    }
    if (idle_.empty()) {
        TRY_ASSIGN(idle_, create("idle", Json::object()));
    }
    Json moved = Json::object({{"ok", true}});
    if (!is_active_) {
        TRY_ASSIGN(moved, move(grid_, ControlAction::switch_strategy));
    } else if (is_paused_) {
        TRY_ASSIGN(moved, move(grid_, ControlAction::resume));
    }
    if (text_at(moved, "ok") != "true") {
        return fail(errors::internal, "The demo's grid does not trade: " + to_text(moved));
    }
    return {};
}

}  // namespace interlock
