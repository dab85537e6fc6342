#include "core/bot/bot_money.h"

namespace interlock {
namespace {

constexpr Decimal kHundredth = Decimal::from_units(10'000'000'000'000'000);

// Nothing: no price, or more than can be written down.
std::optional<Decimal> value_of(const BotConfig& config, const MarketFacts& facts) {
    const auto amount = config.amounts.find(facts.symbol);
    const std::optional<Decimal> mid = mid_of(facts);
    if (amount == config.amounts.end() || !mid) {
        return std::nullopt;
    }
    const auto exact = multiply_round_down(amount->second, *mid);
    const auto value = exact ? floor_to_step(*exact, kHundredth) : exact;
    return value ? std::optional(*value) : std::nullopt;
}

template <class Tell>
void for_each_value(const BotConfig& config, const MarketSet& market, Tell tell) {
    for (const Symbol& symbol : config.symbols) {
        const MarketFacts* facts = market.find(symbol);
        const auto value = facts == nullptr ? std::nullopt : value_of(config, *facts);
        if (value) {
            tell(
                std::string(symbol.text()),
                to_text(*value),
                std::string(facts->rules.quote.text()));
        }
    }
}

}  // namespace

Json money_of(const BotConfig& config, const MarketSet& market, Timestamp at) {
    Json values = Json::object();
    for_each_value(
        config,
        market,
        [&](const std::string& symbol, const std::string& value, const std::string& asset) {
            values.set(symbol, Json::object({{"value", value}, {"asset", asset}}));
        });
    return Json::object({{"at", to_text(at)}, {"by_symbol", std::move(values)}});
}

std::string money_words(const BotConfig& config, const MarketSet& market) {
    std::string words;
    for_each_value(
        config,
        market,
        [&](const std::string& symbol, const std::string& value, const std::string& asset) {
            words += (words.empty() ? "" : ", ") + symbol + " " + value + " " + asset;
        });
    return words;
}

std::vector<FieldProblem> too_large_amounts(const BotConfig& config, const AmountBound& bound) {
    std::vector<FieldProblem> problems;
    for (const auto& [symbol, amount] : config.amounts) {
        const auto before = bound.before.amounts.find(symbol);
        const MarketFacts* facts = bound.market.find(symbol);
        const bool stays = before != bound.before.amounts.end() && before->second == amount;
        if (stays || facts == nullptr || facts->rules.quote != bound.quote) {
            continue;
        }
        const std::string path = "amounts_by_symbol." + std::string(symbol.text());
        const std::optional<Decimal> mid = mid_of(*facts);
        if (!mid) {
            problems.push_back({path, "cannot be judged: its market has no price now"});
            continue;
        }
        const auto value = multiply_round_up(amount, *mid);
        if (value && *value <= bound.equity) {
            continue;
        }
        const auto most = divide_round_down(bound.equity, *mid);
        const auto largest = most ? floor_to_step(*most, facts->rules.step_size) : most;
        problems.push_back(
            {path,
             "is worth more than the whole account (" + to_text(bound.equity) + " " +
                 std::string(bound.quote.text()) + "); the largest that passes now is " +
                 (largest ? to_text(*largest) : "0")});
    }
    return problems;
}

}  // namespace interlock
