#include "sim/bot_people.h"

#include <array>

#include "base/check.h"

namespace interlock::sim {
namespace {

constexpr std::int64_t kBudget = 240;  // Of a market, in quote.
constexpr std::int64_t kLevels = 2;

Decimal amount_for(const MarketFeed& feed, const Symbol& symbol, std::int64_t budget) {
    const MarketSet market = feed.facts(std::vector<Symbol>{symbol});
    const MarketFacts* facts = market.find(symbol);
    CHECK(facts != nullptr);
    const Decimal price = facts->best_bid.value_or(facts->best_ask.value_or(Decimal(1)));
    const auto exact = divide_round_down(Decimal(budget), price);
    CHECK(exact.has_value());
    // Whole steps for every level.
    const auto step = add(facts->rules.step_size, facts->rules.step_size);
    CHECK(step.has_value());
    return step->is_positive() ? Decimal::from_units(exact->units() / step->units() * step->units())
                               : *exact;
}

}  // namespace

BotConfig default_bot_of(const MarketFeed& feed) {
    const std::vector<Symbol> symbols = feed.symbols();
    CHECK(symbols.size() >= 3);
    std::map<Symbol, Decimal> amounts;
    for (const std::size_t i : {1U, 2U}) {
        amounts[symbols[i]] = amount_for(feed, symbols[i], kBudget);
    }
    BotConfig config = default_bot_config(std::move(amounts));
    config.pnl_perc = Decimal::from_units(250'000'000'000'000'000);
    config.volatility = Decimal();
    config.levels = kLevels;
    return config;
}

Principal BotPeople::owner(SeededRandom& random, const TenantId& tenant_id) {
    Principal human = random.pick(sight_.people.humans.at(tenant_id));
    human.authenticated_at = sight_.now();
    return human;
}

Command BotPeople::call(const TenantId& tenant_id, Principal by, std::string tool, Json body) {
    Command command;
    command.kind = Command::Kind::bot;
    command.tenant_id = tenant_id;
    command.principal = std::move(by);
    command.tool = std::move(tool);
    command.body = std::move(body);
    command.sent_at = sight_.now();
    return command;
}

Command BotPeople::stop(const TenantId& tenant_id) {
    Principal human = sight_.people.humans.at(tenant_id).front();
    human.authenticated_at = sight_.now();
    return call(tenant_id, std::move(human), "stop", Json::object({{"cancel_orders", true}}));
}

Command BotPeople::put_keys(SeededRandom& random, const TenantId& tenant_id) {
    const std::string number = std::to_string(++numbers_[tenant_id]);
    const bool is_bad = random.chance(80);
    return call(
        tenant_id,
        random.pick(sight_.people.agents.at(tenant_id)),
        "put_keys",
        Json::object({{"api_key", is_bad ? "paper_key_can_withdraw" : "spot key " + number}}));
}

// What comes next on the way to a bot that trades.
Command BotPeople::lead_on(SeededRandom& random, const TenantId& tenant_id) {
    const View seen = sight_.look(tenant_id);
    if (!seen.has_keys) {
        return put_keys(random, tenant_id);
    }
    std::string tool = "restart";
    if (seen.state == BotState::uninitialized && random.chance(700)) {
        tool = "initialize_bot";
    } else if (seen.state == BotState::ready) {
        tool = "start";
    } else if (!seen.is_connected) {
        tool = "connect";
    }
    return call(
        tenant_id,
        random.pick(sight_.people.agents.at(tenant_id)),
        std::move(tool),
        Json::object());
}

Command BotPeople::change(SeededRandom& random, const TenantId& tenant_id) {
    const std::uint64_t who = random.below(100);
    const Principal by = who < 50   ? random.pick(sight_.people.agents.at(tenant_id))
                         : who < 92 ? owner(random, tenant_id)
                                    : sight_.people.host_operator;
    const std::vector<Symbol> symbols = sight_.feed->symbols();
    switch (random.below(5)) {
        case 0:
        case 1:
            return call(
                tenant_id,
                by,
                "update_pnl",
                Json::object(
                    {{"pnl_perc", Json::number("0." + std::to_string(22 + random.below(30)))}}));
        case 2: {
            const Symbol from = random.pick(symbols);
            const Symbol to = random.pick(symbols);
            const auto budget = static_cast<std::int64_t>(80 + random.below(300));
            return call(
                tenant_id,
                by,
                "update_symbol",
                Json::object({
                    {"old_symbol", from.text()},
                    {"new_symbol", to.text()},
                    {"new_amount", Json::number(to_text(amount_for(*sight_.feed, to, budget)))},
                }));
        }
        case 3:
            return call(
                tenant_id,
                by,
                "update_bot_settings",
                Json::object({{"num_bids_ask", 1 + random.below(3)}}));
        default:
            return call(
                tenant_id,
                by,
                "update_bot_settings",
                Json::object({{"volatility", Json::number(random.chance(500) ? "0" : "0.5")}}));
    }
}

Command BotPeople::compose(SeededRandom& random, const TenantId& tenant_id) {
    const View seen = sight_.look(tenant_id);
    const bool trades = seen.state == BotState::running && seen.is_connected && seen.has_keys;
    const std::uint64_t what = random.below(100);
    if (!trades && what < 70) {
        return lead_on(random, tenant_id);
    }
    const Principal agent = random.pick(sight_.people.agents.at(tenant_id));
    if (what < 38) {
        return change(random, tenant_id);
    }
    if (what < 46) {
        return call(tenant_id, agent, "reload_from_config", Json::object());
    }
    if (what < 58) {
        Json body = Json::object();
        if (random.chance(600)) {
            body.set("cancel_orders", random.chance(500));
        }
        return call(tenant_id, agent, "stop", std::move(body));
    }
    if (what < 64) {
        return call(tenant_id, owner(random, tenant_id), "disconnect", Json::object());
    }
    if (what < 69) {
        return call(
            tenant_id,
            owner(random, tenant_id),
            "set_stop_policy",
            Json::object({{"cancel_on_stop", random.chance(500)}}));
    }
    if (what < 75) {
        return put_keys(random, tenant_id);
    }
    constexpr std::array<std::string_view, 7> kAny{
        "restart", "restart", "start", "initialize_bot", "connect", "positions", "exchange_status"};
    return call(tenant_id, agent, std::string(kAny[random.below(kAny.size())]), Json::object());
}

void BotPeople::on_reply(const Command& command, const Result<Answer>& result) {
    if (command.kind == Command::Kind::bot && command.tool == "put_keys" && result) {
        keys_[command.tenant_id] = command.body.find("api_key")->as_string();
    }
}

std::string BotPeople::key_of(const TenantId& tenant_id) const {
    const auto found = keys_.find(tenant_id);
    return found == keys_.end() ? std::string() : found->second;
}

}  // namespace interlock::sim
