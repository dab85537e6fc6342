// A trading plane with strategies: instances made by a person, decisions sent by an agent.
#pragma once

#include <string>

#include "testing/loop_world.h"

namespace interlock {

class StrategyWorld : public LoopWorld {
public:
    using LoopWorld::LoopWorld;

    // A grid whose orders rest near the market, so that it always has some open.
    static Json grid_config() {
        return Json::object({
            {"grid_levels", 2},
            {"grid_step_pct", "0.01"},
            {"order_notional_quote", "100"},
            {"tick_seconds", 1},
        });
    }

    // The id of a new instance on ABCUSDT.
    std::string create(
        const std::string& type, const Json& config = Json::object(), InstanceMode mode = {}) {
        CreateStrategyRequest request;
        request.call.idempotency_key =
            IdempotencyKey::trusted("create" + std::to_string(++created_));
        request.strategy_type = type;
        request.account_id = default_account_id();
        request.market_symbol = "abcusdt";
        request.config = config;
        request.mode = mode;
        const Json answer = answer_of([&](LoopService::Reply reply) {
            plane->strategies->create(caller(), std::move(request), std::move(reply));
        });
        const Json* id = answer.find("id");
        EXPECT_NE(id, nullptr) << to_text(answer);
        return id == nullptr ? "" : id->as_string();
    }

    Json decide(Json payload) {
        return answer_of([&](LoopService::Reply reply) {
            submit(plane->decisions->apply_turn(caller(), std::move(payload), std::move(reply)));
        });
    }
    static Json payload(const std::string& id, const std::string& action) {
        return Json::object({
            {"decision_id", id},
            {"concern_id", "main:abcusdt"},
            {"account_id", "main"},
            {"market_symbol", "ABCUSDT"},
            {"action", action},
            {"reason", "the test wants it"},
            {"confidence", Json::number("0.8")},
        });
    }
    static Json switch_to(const std::string& id, const std::string& target) {
        Json json = payload(id, "switch");
        json.set("target_strategy_id", target);
        return json;
    }
    Json get(const std::string& id) {
        return answer_of([&](LoopService::Reply reply) {
            plane->strategies->get(
                caller(),
                StrategyId::trusted(id),
                {.config = true, .state = true, .render = true, .debug = true, .report = true},
                std::move(reply));
        });
    }
    Json concern() {
        const Json all = answer_of([&](LoopService::Reply reply) {
            plane->strategies->list_concerns(caller(), std::move(reply));
        });
        return all.find("concerns")->items().at(0);
    }
    void set_concern(ConcernStatus status) {
        const std::string key = "concern" + std::to_string(++created_);
        answer_of([&](LoopService::Reply reply) {
            plane->strategies->set_concern(
                caller(),
                ConcernId::trusted("main:abcusdt"),
                {.call = {.idempotency_key = IdempotencyKey::trusted(key), .reason = {}},
                 .status = status},
                std::move(reply));
        });
    }
    std::string active() {
        const Json json = concern();
        const Json* id = json.find("active_strategy_id");
        return id->is_null() ? "" : id->as_string();
    }
    std::size_t open_orders() {
        return paper->report(venue_account(), 0).value().open_orders.size();
    }
    LoopService::Caller caller() const { return {PlaneWorld::agent(), tenant, {}}; }

    // The answer, with effects run; "no answer yet" when it takes longer.
    template <class Ask>
    Json answer_of(Ask ask) {
        auto answer = std::make_shared<std::optional<Result<Answer>>>();
        last_answer = answer;
        ask([answer](Result<Answer> result) { *answer = std::move(result); });
        if (!holds_effects) {
            run_effects();
        }
        return read(*answer);
    }
    static Json read(const std::optional<Result<Answer>>& answer) {
        if (!answer) {
            return Json("no answer yet");
        }
        if (!*answer) {
            return Json::object({{"refused", answer->error().code()}});
        }
        return *parse_json(answer->value().body);
    }
    Json late_answer() const { return read(*last_answer); }

    bool holds_effects = false;  // Leaves what a decision asks for in `waiting`.

private:
    int created_ = 0;
};

inline std::string word(const Json& json, std::string_view key) {
    const Json* value = json.is_object() ? json.find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->as_string() : to_text(json);
}

inline std::string code(const Json& json) {
    const Json* list = json.is_object() ? json.find("errors") : nullptr;
    const bool any = list != nullptr && list->is_array() && !list->items().empty();
    return any ? word(list->items().front(), "code") : to_text(json);
}

}  // namespace interlock
