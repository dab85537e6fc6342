#include "sim/supervisors.h"

#include <algorithm>
#include <array>

#include "account/wire/venue_order.h"
#include "base/crypto.h"
#include "loop/wire/loop_tools.h"
#include "sim/planner.h"
#include "trader/wire/strategy_instance.h"

namespace interlock::sim {
namespace {

std::string hash_of(const Command& command) {
    return sha256_hex(command.tool + "|" + command.strategy_id + "|" + to_text(command.body));
}

std::string concern_of(const std::string& symbol) {
    const auto parsed = Symbol::parse(symbol);
    return parsed ? concern_id_of(default_account_id(), *parsed).text() : std::string("main:none");
}

// What a decision says it believes is active.
Json believed(const Supervisors::View& seen) {
    return seen.active.empty() ? Json() : Json(seen.active);
}

// Small orders near the market and short ticks, so that strategies have orders open most of the
// time and trade within a run.
Json draw_config(SeededRandom& random, const std::string& type) {
    Json config = Json::object({{"tick_seconds", 1 + random.below(4)}});
    const std::string worth = std::to_string(15 + random.below(90));
    if (type == "grid_trader") {
        config.set("grid_levels", 1 + random.below(3));
        config.set("grid_step_pct", random.chance(500) ? "0.006" : "0.01");
        config.set("order_notional_quote", worth);
        config.set("volatility_multiplier", "0");
    } else if (type == "trend_follower") {
        config.set("trend_timeframe", "1m");
        config.set("trend_strength_min", "0.05");
        config.set("order_size", worth);
        config.set("cooldown_ticks", 0);
        config.set("trailing_stop_pct", random.chance(500) ? "0.002" : "0");
    } else if (type == "exposure_protector") {
        config.set("rebalance_target_ratio", "0.0" + std::to_string(1 + random.below(9)));
        config.set("rebalance_step_ratio", "0.01");
        config.set("trail_distance_pct", "0");
        config.set("min_price_move_pct", "0");
        config.set("min_rebalance_seconds", 0);
        config.set("cooldown_ticks", 0);
        config.set("balance_tolerance", "0.005");
        config.set("max_order_notional_quote", worth);
    }
    return config;
}

std::string draw_type(SeededRandom& random) {
    static constexpr std::array<std::string_view, 8> kTypes{
        "grid_trader",
        "grid_trader",
        "grid_trader",
        "grid_trader",
        "exposure_protector",
        "exposure_protector",
        "trend_follower",
        "idle"};
    return std::string(kTypes[random.below(kTypes.size())]);
}

// Mostly what lets trading go on.
std::string_view draw_risk_mode(SeededRandom& random) {
    static constexpr std::array<std::string_view, 9> kModes{
        "normal",
        "normal",
        "normal",
        "normal",
        "reduced",
        "defensive",
        "reduce_only",
        "halted",
        "cautious"};
    return kModes[random.below(kModes.size())];
}

}  // namespace

void Supervisors::remember(const Command& command) {
    if (history_.size() >= kHistoryMax) {
        history_.erase(history_.begin());
    }
    history_.push_back(command);
}

std::vector<const Supervisors::Known*> Supervisors::known_of(const TenantId& tenant_id) const {
    std::vector<const Known*> found;
    for (const Known& one : known_) {
        if (one.tenant_id == tenant_id) {
            found.push_back(&one);
        }
    }
    return found;
}

std::string Supervisors::some_symbol(SeededRandom& random) const {
    const std::vector<Symbol> symbols = sight_.feed->symbols();
    return std::string(symbols[random.below(std::min(symbols.size(), kMarkets))].text());
}

Command Supervisors::control(SeededRandom& random, const TenantId& tenant_id, Json payload) {
    Command command;
    command.kind = Command::Kind::control;
    command.tenant_id = tenant_id;
    command.principal = random.pick(sight_.people.agents.at(tenant_id));
    command.tool = "apply_control_decision";
    command.body = std::move(payload);
    command.sent_at = sight_.now();
    command.request_hash = hash_of(command);
    remember(command);
    return command;
}

Command Supervisors::call(SeededRandom& random, const Known& about, std::string tool, Json body) {
    Command command;
    command.kind = Command::Kind::helper;
    command.tenant_id = about.tenant_id;
    command.principal = random.pick(sight_.people.humans.at(about.tenant_id));
    command.principal.authenticated_at = sight_.now();
    command.tool = std::move(tool);
    command.strategy_id = about.id;
    command.body = std::move(body);
    command.body.set("idempotency_key", "h" + std::to_string(++numbers_[about.tenant_id]));
    command.sent_at = sight_.now();
    command.request_hash = hash_of(command);
    remember(command);
    return command;
}

Command Supervisors::create(SeededRandom& random, const TenantId& tenant_id) {
    Known wanted{tenant_id, some_symbol(random), "", draw_type(random)};
    Json body = Json::object({
        {"strategy_type", wanted.type},
        {"market_symbol", wanted.symbol},
        {"config", draw_config(random, wanted.type)},
        {"mode", random.chance(500) ? "observe" : "off"},
    });
    switch (random.below(40)) {
        case 0:
            body.set("strategy_type", "money_printer");
            break;
        case 1:
            body.set("market_symbol", "NOSUCHPAIR");
            break;
        case 2:
            body.find("config")->set("lever_age", 10);
            break;
        default:
            break;
    }
    return call(random, wanted, "create_strategy", std::move(body));
}

Json Supervisors::payload_for(
    const TenantId& tenant_id, const std::string& symbol, std::string_view action) {
    return Json::object({
        {"decision_id", "c" + std::to_string(++numbers_[tenant_id])},
        {"concern_id", concern_of(symbol)},
        {"account_id", default_account_id().text()},
        {"market_symbol", symbol},
        {"action", action},
        {"reason", "it looked right"},
        {"confidence", Json::number("0.8")},
    });
}

std::string Supervisors::target_on(
    SeededRandom& random, const TenantId& tenant_id, const std::string& symbol) {
    const std::string active = sight_.look(tenant_id, symbol).active;
    std::vector<std::string> ids;
    for (const Known* one : known_of(tenant_id)) {
        // Mostly one of the concern's others; a switch to the active one does nothing.
        if (one->symbol == symbol && (one->id != active || random.chance(100))) {
            ids.push_back(one->id);
        }
    }
    if (ids.empty() || random.chance(25)) {
        const auto all = known_of(tenant_id);
        return all.empty() || random.chance(400) ? "str_nobody" : random.pick(all)->id;
    }
    return random.pick(ids);
}

Command Supervisors::decide(SeededRandom& random, const TenantId& tenant_id) {
    const std::string symbol = random.pick(known_of(tenant_id))->symbol;
    const View seen = sight_.look(tenant_id, symbol);
    const std::uint64_t what = random.below(100);
    std::string_view action = "switch";
    if (!seen.active.empty() && what < 14) {
        action = what < 4 || !seen.is_paused ? "pause" : "resume";
    } else if (!seen.active.empty() && what < 46) {
        action = what < 28 ? "set_risk_mode" : seen.is_paused || what < 31 ? "resume" : "switch";
    }
    Json payload = payload_for(tenant_id, symbol, action);
    if (action == "switch") {
        payload.set("target_strategy_id", target_on(random, tenant_id, symbol));
    }
    if (action == "set_risk_mode" || random.chance(100)) {
        payload.set("risk_mode", draw_risk_mode(random));
    }
    if (random.chance(500)) {
        // What was seen, or what was true some time ago.
        payload.set(
            "expected_active_strategy_id",
            random.chance(750) ? believed(seen) : Json(random.pick(known_of(tenant_id))->id));
    }
    if (random.chance(90)) {
        payload.set("dry_run", true);
    }
    if (random.chance(300)) {
        payload.set("override", true);
    }
    if (random.chance(100)) {
        payload.set("requested_at", to_text(sight_.now()));
    }
    if (random.chance(50)) {
        payload.set("reason", "my key is " + std::string(kSlippedKey));
    }
    return control(random, tenant_id, std::move(payload));
}

std::vector<Command> Supervisors::compose_race(SeededRandom& random) {
    const TenantId tenant_id = random.pick(sight_.people.tenants);
    if (known_of(tenant_id).size() < 2) {
        return {compose(random)};
    }
    const std::string symbol = random.pick(known_of(tenant_id))->symbol;
    const View seen = sight_.look(tenant_id, symbol);
    std::vector<Command> both;
    for (int i = 0; i < 2; ++i) {
        const bool pauses = i == 1 && !seen.active.empty() && random.chance(250);
        Json payload = payload_for(tenant_id, symbol, pauses ? "pause" : "switch");
        if (!pauses) {
            payload.set("target_strategy_id", target_on(random, tenant_id, symbol));
        }
        payload.set("expected_active_strategy_id", believed(seen));
        if (random.chance(200)) {
            payload.set("override", true);
        }
        both.push_back(control(random, tenant_id, std::move(payload)));
    }
    return both;
}

Command Supervisors::nonsense(SeededRandom& random, const TenantId& tenant_id) {
    Json payload = payload_for(tenant_id, some_symbol(random), "switch");
    switch (random.below(7)) {
        case 0:
            payload.set("action", "keep");
            break;
        case 1:
            payload.set("confidence", Json::number("1.5"));
            break;
        case 2:
            payload.set("over_ride", true);
            break;
        case 3:
            payload.set("concern_id", "main:nosuchpair");
            break;
        case 4:
            payload.set("market_symbol", "NOSUCHPAIR");
            break;
        case 5:
            payload.set("decision_id", "auto.not.mine");
            break;
        default:
            payload = Json::array({"switch", std::string(kSlippedKey)});
    }
    return control(random, tenant_id, std::move(payload));
}

Command Supervisors::move(SeededRandom& random, const Known& about) {
    const View seen = sight_.look(about.tenant_id, about.symbol);
    Json body = Json::object({{"reason", "a person says so"}});
    if (random.chance(400)) {
        const bool free = seen.active.empty();
        const std::array<std::string_view, 5> actions{
            "start", "pause", "resume", "stop", "reconcile"};
        body.set("action", free ? "start" : actions[random.below(actions.size())]);
        return call(random, about, "control_strategy", std::move(body));
    }
    if (random.chance(300)) {
        body.set("override", true);
    }
    const bool is_active = about.id == seen.active;
    if (is_active && random.chance(700)) {
        return call(
            random, about, seen.is_paused ? "resume_strategy" : "pause_strategy", std::move(body));
    }
    if (random.chance(300)) {
        body.set("risk_mode", draw_risk_mode(random));
    }
    return call(random, about, "switch_strategy", std::move(body));
}

Command Supervisors::helper(SeededRandom& random, const TenantId& tenant_id) {
    const Known about = *random.pick(known_of(tenant_id));
    switch (random.below(10)) {
        case 0:
            return call(
                random,
                about,
                "update_strategy",
                Json::object({{"config", draw_config(random, about.type)}}));
        case 1:
            return call(
                random,
                about,
                "update_strategy",
                Json::object({{"mode", random.chance(600) ? "observe" : "off"}}));
        case 2:
            return call(
                random,
                about,
                "set_strategy_policy",
                Json::object({{"policy", Json::object({{"priority", random.below(11)}})}}));
        case 3:
            return random.chance(300) ? call(random, about, "delete_strategy", Json::object())
                                      : call(random, about, "reconcile_instance", Json::object());
        case 4: {
            // What holds a concern up is mostly taken back.
            const View seen = sight_.look(tenant_id, about.symbol);
            const bool is_held = seen.status != ConcernStatus::active;
            Known concern = about;
            concern.id = concern_of(about.symbol);
            const std::string_view held = random.chance(500) ? "paused" : "informational";
            return call(
                random,
                concern,
                "set_concern",
                Json::object({{"status", is_held || random.chance(600) ? "active" : held}}));
        }
        default:
            return move(random, about);
    }
}

Command Supervisors::repeat(SeededRandom& random) {
    // The latest most of all: that is what a retry after a lost answer looks like.
    const std::size_t from = random.chance(500) && history_.size() > 12 ? history_.size() - 12 : 0;
    Command command = history_[from + random.below(history_.size() - from)];
    const bool alters = command.body.is_object();
    if (alters && random.chance(250)) {
        command.body.set("reason", "for another reason");
        command.request_hash = hash_of(command);
    }
    return command;
}

Command Supervisors::compose(SeededRandom& random) {
    const TenantId tenant_id = random.pick(sight_.people.tenants);
    const std::size_t have = known_of(tenant_id).size();
    if (have < 3 || (have < kInstancesMax && random.chance(120))) {
        return create(random, tenant_id);
    }
    // Held-up concerns would leave nothing to see: somebody puts them right before long.
    for (const Known* one : known_of(tenant_id)) {
        if (sight_.look(tenant_id, one->symbol).status != ConcernStatus::active &&
            random.chance(200)) {
            Known concern = *one;
            concern.id = concern_of(one->symbol);
            return call(random, concern, "set_concern", Json::object({{"status", "active"}}));
        }
    }
    const std::uint64_t what = random.below(100);
    if (what < 58) {
        return decide(random, tenant_id);
    }
    if (what < 78) {
        return helper(random, tenant_id);
    }
    return what < 85 ? nonsense(random, tenant_id) : repeat(random);
}

std::vector<Command> Supervisors::stop_all(SeededRandom& random) {
    std::vector<Command> stops;
    for (const Known& one : known_) {
        stops.push_back(call(random, one, "control_strategy", Json::object({{"action", "stop"}})));
    }
    return stops;
}

void Supervisors::on_reply(const Command& command, const Result<Answer>& result) {
    if (command.kind != Command::Kind::helper || !result || result->http_status != 200) {
        return;
    }
    const auto body = parse_json(result->body);
    const Json* id = body ? body->find("id") : nullptr;
    if (command.tool == "create_strategy" && id != nullptr && id->is_string()) {
        const bool is_new = std::none_of(known_.begin(), known_.end(), [&](const Known& one) {
            return one.id == id->as_string();
        });
        if (is_new) {
            known_.push_back(
                {command.tenant_id,
                 command.body.find("market_symbol")->as_string(),
                 id->as_string(),
                 command.body.find("strategy_type")->as_string()});
        }
    } else if (command.tool == "delete_strategy") {
        std::erase_if(known_, [&](const Known& one) { return one.id == command.strategy_id; });
    }
}

}  // namespace interlock::sim
