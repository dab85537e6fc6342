#include "sim/planner.h"

#include <algorithm>
#include <array>

#include "base/crypto.h"
#include "codec/json_list.h"

namespace interlock::sim {
namespace {

// In parts of a thousand: plans that aim at a limit instead of trading.
constexpr std::uint64_t kEdgePlans = 550;

std::string hash_of(const Command& command) {
    return sha256_hex(command.tool + "|" + to_text(command.body));
}

// `notional` worth at `price`, in the market's steps; at least one step.
Decimal qty_worth(Decimal notional, Decimal price, Decimal step) {
    const auto raw = divide_round_down(notional, price);
    const auto qty = raw ? floor_to_step(*raw, step) : Result<Decimal>(step);
    return qty && qty->is_positive() ? *qty : step;
}

// The touch moved by so many basis points, on the market's ticks.
Decimal price_off(Decimal touch, std::int64_t bps, Decimal tick) {
    const auto moved = multiply_round_down(
        touch, Decimal::from_units((10'000 + static_cast<__int128>(bps)) * 100'000'000'000'000));
    const auto price = moved ? floor_to_step(*moved, tick) : Result<Decimal>(touch);
    return price && price->is_positive() ? *price : tick;
}

}  // namespace

Command HostilePlanner::call(
    SeededRandom& random, const TenantId& tenant_id, std::string tool, Json body) {
    const std::string number = std::to_string(++numbers_[tenant_id]);
    // A decision keeps its tick; every fiftieth call forgets that.
    constexpr std::uint64_t kOtherTickEvery = 50;
    const Json* decision = body.find("decision_id");
    const bool has_decision = decision != nullptr && decision->is_string();
    const bool forgets = numbers_[tenant_id] % kOtherTickEvery == 0;
    body.set("tick_id", "tick" + (has_decision && !forgets ? decision->as_string() : number));
    body.set("idempotency_key", "t" + number);
    Command command;
    command.kind = Command::Kind::tool;
    command.tenant_id = tenant_id;
    command.principal = random.pick(sight_.people.agents.at(tenant_id));
    command.tool = std::move(tool);
    command.body = std::move(body);
    command.sent_at = sight_.now();
    command.request_hash = hash_of(command);
    if (history_.size() >= kHistoryMax) {
        history_.erase(history_.begin());
    }
    history_.push_back(command);
    return command;
}

std::optional<Json> HostilePlanner::new_intent(SeededRandom& random) {
    const std::vector<Symbol> symbols = sight_.feed->symbols();
    const Symbol symbol = random.pick(symbols);
    const MarketSet set = sight_.feed->facts({&symbol, 1});
    const MarketFacts* market = set.find(symbol);
    if (market == nullptr || !market->best_bid || !market->best_ask) {
        return std::nullopt;
    }
    // Mostly sizes that pass; some at the limits, one beyond all of them.
    constexpr std::array<std::int64_t, 14> kWorths{
        12, 20, 40, 80, 120, 200, 300, 400, 480, 700, 1400, 1900, 2600, 5'000'000};
    const bool buys = random.chance(620);
    const Decimal touch = buys ? *market->best_ask : *market->best_bid;
    // A fresh amount nearly every time, or everything would be a duplicate by content.
    const Decimal worth = Decimal::from_units(
        Decimal(kWorths[random.below(kWorths.size())]).units() +
        static_cast<__int128>(random.below(9000)) * 1'000'000'000'000'000);
    Json intent = Json::object({
        {"symbol", symbol.text()},
        {"side", buys ? "buy" : "sell"},
        {"order_type", "market"},
        {"qty", to_text(qty_worth(worth, touch, market->rules.step_size))},
        {"limit_price", nullptr},
        {"time_in_force", "IOC"},
        {"strategy_id", random.chance(30) ? "nobody" : "external"},
        {"expected_edge_bps", random.chance(500) ? Json("25") : Json()},
    });
    if (random.chance(650)) {
        constexpr std::array<std::string_view, 4> kTifs{"GTC", "GTC", "IOC", "FOK"};
        // From deep in the book to far through it.
        constexpr std::array<std::int64_t, 8> kOffsets{-90, -25, -6, -2, 0, 4, 20, 900};
        const std::int64_t offset = kOffsets[random.below(kOffsets.size())];
        const std::string_view tif = kTifs[random.below(kTifs.size())];
        intent.set("order_type", "limit");
        intent.set(
            "limit_price",
            to_text(price_off(touch, buys ? offset : -offset, market->rules.tick_size)));
        intent.set("time_in_force", tif);
        if (tif == "GTC" && random.chance(300)) {
            intent.set("post_only", true);
        }
    }
    return intent;
}

HostilePlanner::PlanUnderWay& HostilePlanner::new_plan(SeededRandom& random) {
    PlanUnderWay plan;
    plan.tenant_id = random.pick(sight_.people.tenants);
    plan.decision_id = "p" + std::to_string(++numbers_[plan.tenant_id]);
    const auto aimed =
        random.chance(kEdgePlans) ? edge_intents(random, plan.tenant_id) : std::optional<Json>();
    if (aimed) {
        plan.intents = *aimed;
    }
    const std::uint64_t wanted = aimed ? 0 : random.chance(750) ? 1 : random.below(4);
    for (std::uint64_t i = 0; i < wanted; ++i) {
        if (auto intent = new_intent(random)) {
            intent->set("intent_id", "i" + std::to_string(i));
            plan.intents.push(*std::move(intent));
        }
    }
    const std::vector<std::string>& own = orders_[plan.tenant_id];
    if (!own.empty() && random.chance(250)) {
        plan.cancels.push(random.pick(own));
    }
    if (random.chance(30)) {
        // Of another tenant, as likely as not.
        const std::vector<std::string>& others = orders_[random.pick(sight_.people.tenants)];
        plan.cancels.push(others.empty() ? "hnobodysorder" : random.pick(others));
    }
    if (plans_.size() >= kPlansMax) {
        plans_.erase(plans_.begin());
    }
    plans_.push_back(std::move(plan));
    return plans_.back();
}

Command HostilePlanner::validate(SeededRandom& random, PlanUnderWay& plan) {
    std::string reason = "because of " + std::to_string(random.below(100));
    if (random.chance(50)) {
        reason += " (my key is " + std::string(kSlippedKey) + ")";
    }
    return call(
        random,
        plan.tenant_id,
        "py_validate_plan",
        Json::object({
            {"decision_id", plan.decision_id},
            {"plan",
             Json::object({
                 {"intents", plan.intents},
                 {"cancels", plan.cancels},
                 {"reason", std::move(reason)},
             })},
        }));
}

Command HostilePlanner::dry_run(SeededRandom& random, PlanUnderWay& plan) {
    return call(
        random,
        plan.tenant_id,
        "py_dry_run_plan",
        Json::object({
            {"decision_id", plan.decision_id},
            {"plan", Json::object({{"intents", plan.intents}, {"cancels", plan.cancels}})},
            {"assumptions",
             Json::object({
                 {"slippage_bps", random.below(40)},
                 {"fee_bps", random.below(30)},
             })},
        }));
}

Json HostilePlanner::approved_intents(const PlanUnderWay& plan) const {
    Json approved = plan.intents;
    std::size_t at = 0;
    for (Json& intent : approved.items()) {
        intent.set(
            "order_client_id",
            at < plan.order_ids.size() ? plan.order_ids[at] : std::string("hmadeupbythisplanner"));
        ++at;
    }
    return approved;
}

Command HostilePlanner::execute(SeededRandom& random, PlanUnderWay& plan) {
    return call(
        random,
        plan.tenant_id,
        "py_execute_plan",
        Json::object({
            {"decision_id", plan.decision_id},
            {"execution_mode", "paper"},
            {"approved_intents", approved_intents(plan)},
            {"cancels", plan.cancels},
        }));
}

Command HostilePlanner::proceed(SeededRandom& random) {
    std::vector<PlanUnderWay*> open;
    for (PlanUnderWay& plan : plans_) {
        if (plan.stage != Stage::executed && plan.stage != Stage::dead) {
            open.push_back(&plan);
        }
    }
    if (open.empty() || random.chance(150)) {
        return validate(random, new_plan(random));
    }
    // Mostly the one it works on; tickets live for two minutes.
    PlanUnderWay& plan = random.chance(800) ? *open.back() : *random.pick(open);
    switch (plan.stage) {
        case Stage::validated:
            return dry_run(random, plan);
        case Stage::rehearsed:
            return execute(random, plan);
        default:
            return validate(random, plan);
    }
}

Command HostilePlanner::cheat(SeededRandom& random) {
    if (plans_.size() < 2) {
        return validate(random, new_plan(random));
    }
    PlanUnderWay forged = random.pick(plans_);
    const PlanUnderWay& other = random.pick(plans_);
    switch (random.below(6)) {
        case 0:  // Without a ticket, or with one that is old or used up.
            break;
        case 1:  // Another plan under this plan's ticket.
            forged.intents = other.intents;
            forged.order_ids = other.order_ids;
            break;
        case 2:  // More than what was validated.
            for (Json& intent : forged.intents.items()) {
                intent.set("qty", "1000");
            }
            break;
        case 3:  // Another name for the order.
            for (std::string& id : forged.order_ids) {
                id = "h" + sha256_hex(id).substr(0, 31);
            }
            break;
        case 4: {  // In a mode nobody allowed.
            Command command = execute(random, forged);
            command.body.set("execution_mode", random.chance(500) ? "live" : "shadow");
            command.request_hash = hash_of(command);
            history_.back() = command;
            return command;
        }
        default:  // On an account that does not exist.
            Command command = validate(random, forged);
            command.body.set("account_id", "ghost");
            command.request_hash = hash_of(command);
            history_.back() = command;
            return command;
    }
    return execute(random, forged);
}

Json HostilePlanner::ids_of(const PlanUnderWay& plan, SeededRandom& random) {
    const std::vector<std::string>& own = orders_[plan.tenant_id];
    Json ids = json_list(plan.order_ids);
    if (!own.empty() && random.chance(400)) {
        ids = Json::array({random.pick(own)});
    } else if (random.chance(200)) {
        ids.push("hnobodysorder");
    }
    return ids;
}

Command HostilePlanner::read(SeededRandom& random) {
    PlanUnderWay& plan = plans_.empty() ? new_plan(random) : plans_[random.below(plans_.size())];
    const Json decision(plan.decision_id);
    switch (random.below(4)) {
        case 0:
            return call(
                random,
                plan.tenant_id,
                "py_get_canonical_state",
                Json::object({{"decision_id", decision}, {"as_of", to_text(sight_.now())}}));
        case 1:
            return call(
                random,
                plan.tenant_id,
                "py_get_market_snapshot",
                Json::object({
                    {"decision_id", decision},
                    {"symbols", Json::array({"BTCUSDT", "ETHUSDT", "NOSUCHPAIR"})},
                    {"max_staleness_sec", random.below(10)},
                }));
        case 2:
            return call(
                random,
                plan.tenant_id,
                "py_record_decision",
                Json::object({
                    {"decision_id", decision},
                    {"record",
                     Json::object({
                         {"plan_summary", random.chance(300) ? kSlippedKey : "as planned"},
                         {"validation_summary", ""},
                         {"execution_summary", ""},
                         {"verification_summary", ""},
                         {"state_delta", Json::object()},
                         {"metrics", Json::object({{"calls", random.below(9)}})},
                     })},
                }));
        default:
            return call(
                random,
                plan.tenant_id,
                "py_verify_execution",
                Json::object(
                    {{"decision_id", decision}, {"order_client_ids", ids_of(plan, random)}}));
    }
}

// Bodies that mean nothing, or too much.
Command HostilePlanner::nonsense(SeededRandom& random) {
    PlanUnderWay& plan = new_plan(random);
    plan.stage = Stage::dead;
    Command command = validate(random, plan);
    Json& body = command.body;
    Json* intents = body.find("plan")->find("intents");
    Json* first = intents->items().empty() ? nullptr : &intents->items().front();
    switch (random.below(first == nullptr ? 3 : 8)) {
        case 0:
            body.set("withdraw_to", kSlippedKey);
            break;
        case 1:
            body.set("decision_id", 7);
            break;
        case 2:
            body.set("plan", Json::array());
            break;
        case 3:
            first->set("qty", "-1");
            break;
        case 4:
            first->set("qty", "0.0000000000000000001");
            break;
        case 5:
            first->set("limit_price", "99999999999999999999999");
            break;
        case 6:
            first->set("quantity", "1");
            break;
        default:
            for (int i = 0; i < 60; ++i) {
                intents->push(intents->items().front());
            }
    }
    command.request_hash = hash_of(command);
    history_.back() = command;
    return command;
}

Command HostilePlanner::repeat(SeededRandom& random) {
    if (history_.empty()) {
        return proceed(random);
    }
    // The latest most of all: that is what a retry after a lost answer looks like.
    const std::size_t from = random.chance(600) && history_.size() > 10 ? history_.size() - 10 : 0;
    Command command = history_[from + random.below(history_.size() - from)];
    if (random.chance(250)) {
        command.body.set("tick_id", "tickaltered");
        command.request_hash = hash_of(command);
    }
    return command;
}

Command HostilePlanner::compose(SeededRandom& random) {
    const std::uint64_t what = random.below(100);
    if (what < 66) {
        return proceed(random);
    }
    if (what < 74) {
        return cheat(random);
    }
    if (what < 84) {
        return read(random);
    }
    return what < 88 ? nonsense(random) : repeat(random);
}

HostilePlanner::PlanUnderWay* HostilePlanner::find(
    const TenantId& tenant_id, const std::string& decision_id) {
    const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const PlanUnderWay& plan) {
        return plan.tenant_id == tenant_id && plan.decision_id == decision_id;
    });
    return found == plans_.end() ? nullptr : &*found;
}

void HostilePlanner::on_reply(const Command& command, const Result<Answer>& result) {
    const Json* decision = command.body.find("decision_id");
    PlanUnderWay* plan = decision != nullptr && decision->is_string()
                             ? find(command.tenant_id, decision->as_string())
                             : nullptr;
    const auto body = result ? parse_json(result->body) : Result<Json>(Json());
    if (plan == nullptr || !result || !body) {
        return;
    }
    const auto passed = [&](std::string_view part) {
        const Json* report = body->find(part);
        const Json* pass = report == nullptr ? nullptr : report->find("pass");
        return pass != nullptr && pass->is_bool() && pass->as_bool();
    };
    if (command.tool == "py_validate_plan") {
        plan->stage = passed("validation") ? Stage::validated : Stage::dead;
    } else if (command.tool == "py_dry_run_plan") {
        const Json* report = body->find("dry_run");
        if (report == nullptr) {
            plan->stage = Stage::dead;
        } else if (!passed("dry_run")) {
            const Json* adjusted = report->find("adjusted_plan");
            plan->stage = adjusted == nullptr ? Stage::dead : Stage::planned;
            if (adjusted != nullptr) {
                plan->intents = *adjusted->find("intents");
                for (Json& intent : plan->intents.items()) {
                    intent.set("expected_edge_bps", nullptr);
                }
            }
        } else if (plan->stage == Stage::validated) {
            plan->stage = Stage::rehearsed;
            plan->order_ids.clear();
            for (const Json& row : report->find("projected")->items()) {
                const Json* id = row.find("order_client_id");
                plan->order_ids.push_back(id == nullptr ? "" : id->as_string());
            }
        }
    } else if (command.tool == "py_execute_plan") {
        std::vector<std::string>& own = orders_[command.tenant_id];
        const Json* rows = body->find("execution");
        for (const Json& row : rows == nullptr ? Json::Array() : rows->items()) {
            plan->stage = Stage::executed;
            own.push_back(row.find("order_client_id")->as_string());
            if (own.size() > kOrdersMax) {
                own.erase(own.begin());
            }
        }
        if (plan->stage == Stage::rehearsed) {
            plan->stage = Stage::dead;
        }
    }
}

}  // namespace interlock::sim
