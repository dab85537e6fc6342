#include "app/demo/demo_planner.h"

#include <algorithm>

#include "base/bounded_queue.h"
#include "base/errors.h"
#include "engine/system/system_clock.h"

namespace interlock {
namespace {

constexpr std::chrono::milliseconds kAskEvery{50};

Json intent_json(const DemoOrder& order) {
    const bool at_market = order.limit_price.empty();
    return Json::object({
        {"symbol", order.symbol},
        {"side", order.side},
        {"order_type", at_market ? "market" : "limit"},
        {"qty", order.qty},
        {"limit_price", at_market ? Json() : Json(order.limit_price)},
        {"time_in_force", at_market ? "IOC" : "GTC"},
    });
}

const Json* value_in(const Json& json, const std::vector<std::string>& path) {
    const Json* at = &json;
    for (const std::string& key : path) {
        if (at->is_array()) {
            const std::size_t place = static_cast<std::size_t>(std::atoi(key.c_str()));
            at = place < at->items().size() ? &at->items()[place] : nullptr;
        } else {
            at = at->find(key);
        }
        if (at == nullptr) {
            return nullptr;
        }
    }
    return at;
}

}  // namespace

std::string demo_text(const Json& json, const std::vector<std::string>& path) {
    const Json* value = value_in(json, path);
    if (value == nullptr || value->is_null()) {
        return {};
    }
    return value->is_string() ? value->as_string() : to_text(*value);
}

std::string DemoAnswer::audit_ref() const {
    return demo_text(json, {"audit_ref"});
}

DemoPlanner::DemoPlanner(Parts parts)
    : parts_(std::move(parts)),
      client_(HttpClient::create({parts_.data_folder + "/operator.sock", "localhost", 0})) {}

Json DemoPlanner::body_of(const std::string& decision) {
    return Json::object({
        {"decision_id", decision},
        {"tick_id", parts_.run},
        {"idempotency_key", parts_.run + "_key" + std::to_string(++keys_)},
    });
}

Result<DemoAnswer> DemoPlanner::state(const std::string& decision) {
    SystemClock clock;
    Json body = body_of(decision);
    body.set("as_of", to_text(clock.now()));
    return post("py_get_canonical_state", body);
}

Result<DemoAnswer> DemoPlanner::snapshot(const std::string& decision, const std::string& symbol) {
    Json body = body_of(decision);
    body.set("symbols", Json::array({symbol}));
    body.set("max_staleness_sec", 5);
    return post("py_get_market_snapshot", body);
}

Result<DemoAnswer> DemoPlanner::validate(const std::string& decision, const DemoOrder& order) {
    Json intent = intent_json(order);
    intent.set("strategy_id", "external");
    intent.set("expected_edge_bps", 100);
    Json body = body_of(decision);
    body.set(
        "plan",
        Json::object({{"intents", Json::array({std::move(intent)})}, {"reason", "the demo"}}));
    return post("py_validate_plan", body);
}

Result<DemoAnswer> DemoPlanner::dry_run(const std::string& decision, const DemoOrder& order) {
    Json body = body_of(decision);
    body.set("plan", Json::object({{"intents", Json::array({intent_json(order)})}}));
    body.set("assumptions", Json::object({{"slippage_bps", 25}, {"fee_bps", 20}}));
    return post("py_dry_run_plan", body);
}

Json DemoPlanner::execute_body(
    const std::string& decision, const DemoOrder& order, const DemoAnswer& dry_run) {
    Json intent = intent_json(order);
    const std::vector<std::string> row{"dry_run", "projected", "0"};
    for (const std::string key : {"intent_id", "order_client_id"}) {
        std::vector<std::string> path = row;
        path.push_back(key);
        intent.set(key, demo_text(dry_run.json, path));
    }
    Json body = body_of(decision);
    body.set("execution_mode", "paper");
    body.set("approved_intents", Json::array({std::move(intent)}));
    return body;
}

Result<DemoAnswer> DemoPlanner::verify(
    const std::string& decision, const std::string& order_client_id) {
    Json body = body_of(decision);
    body.set("order_client_ids", Json::array({order_client_id}));
    return post("py_verify_execution", body);
}

Result<DemoAnswer> DemoPlanner::post(const std::string& tool, const Json& body) {
    HttpRequest request;
    request.method = "POST";
    request.target = "/api/" + parts_.tenant + "/tools/" + tool;
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = to_text(body);
    return send(std::move(request));
}

Result<DemoAnswer> DemoPlanner::get(const std::string& path) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/api/" + parts_.tenant + path;
    return send(std::move(request));
}

Result<DemoAnswer> DemoPlanner::send(HttpRequest request) {
    request.headers.emplace_back("X-Access-Key", parts_.access_key);
    const auto begun = std::chrono::steady_clock::now();
    TRY_ASSIGN(HttpResponse response, client_->send(request));
    DemoAnswer answer;
    answer.took = std::chrono::steady_clock::now() - begun;
    answer.status = response.status;
    TRY_ASSIGN(answer.json, parse_json(response.body));
    answer.bytes = std::move(response.body);
    return answer;
}

void pause_for(std::chrono::milliseconds time) {
    BoundedQueue<int> bell{1, 1};
    bell.pop(1, time);  // Nobody rings: what is waited for happens in another process.
}

Result<DemoAnswer> ask_until(
    const std::function<Result<DemoAnswer>()>& ask,
    const std::function<bool(const DemoAnswer&)>& is_there,
    std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
        TRY_ASSIGN(DemoAnswer answer, ask());
        if (is_there(answer) || std::chrono::steady_clock::now() > end) {
            return answer;
        }
        pause_for(kAskEvery);
    }
}

}  // namespace interlock
