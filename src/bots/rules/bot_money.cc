#include "bots/rules/bot_money.h"

namespace interlock {
namespace {

// Stands for sums that cannot be written down.
constexpr Decimal kMost = Decimal::from_units(static_cast<__int128>(1) << 126);
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

struct Worth {
    std::string symbol;
    Decimal value;
    std::string asset;
};

std::vector<Worth> worths_of(const BotConfig& config, const MarketSet& market) {
    std::vector<Worth> worths;
    for (const Symbol& symbol : config.symbols) {
        const MarketFacts* facts = market.find(symbol);
        const auto value = facts == nullptr ? std::nullopt : value_of(config, *facts);
        if (value) {
            worths.push_back(
                {std::string(symbol.text()), *value, std::string(facts->rules.quote.text())});
        }
    }
    return worths;
}

// Nothing: none, of several assets, or more than can be written down.
std::optional<Decimal> total_of(const std::vector<Worth>& worths) {
    std::optional<Decimal> total;
    for (const Worth& one : worths) {
        const auto sum = add(total.value_or(Decimal()), one.value);
        if (!sum || one.asset != worths.front().asset) {
            return std::nullopt;
        }
        total = *sum;
    }
    return total;
}

// What an amount costs at the mid, rounded up; nothing: it is not told in this account's money, has
// no price, or is more than can be written down.
std::optional<Decimal> cost_of(
    const Symbol& symbol, const Decimal& amount, const AmountBound& bound) {
    const MarketFacts* facts = bound.market.find(symbol);
    const auto mid =
        facts == nullptr || facts->rules.quote != bound.quote ? std::nullopt : mid_of(*facts);
    const auto cost = mid ? multiply_round_up(amount, *mid) : Result<Decimal>(Decimal());
    return mid && cost ? std::optional(*cost) : std::nullopt;
}

// Together, those that alone are worth more than the account left out on demand.
Decimal sum_of(const BotConfig& config, const AmountBound& bound, bool with_too_large) {
    Decimal sum;
    for (const auto& [symbol, amount] : config.amounts) {
        const std::optional<Decimal> cost = cost_of(symbol, amount, bound);
        const bool counts = cost && (with_too_large || *cost <= bound.equity);
        const auto more = counts ? add(sum, *cost) : Result<Decimal>(sum);
        sum = more ? *more : kMost;
    }
    return sum;
}

std::string money_text(const Decimal& value, const AmountBound& bound) {
    return to_text(value) + " " + std::string(bound.quote.text());
}

std::optional<FieldProblem> too_large_sum(const BotConfig& config, const AmountBound& bound) {
    constexpr Decimal kTenThousandth = Decimal::from_units(100'000'000'000'000);
    const Decimal sum = sum_of(config, bound, true);
    if (sum <= bound.equity || sum <= sum_of(bound.before, bound, true)) {
        return std::nullopt;
    }
    const auto part = divide_round_down(bound.equity, sum);
    const auto fits = part ? floor_to_step(*part, kTenThousandth) : part;
    const auto shown = floor_to_step(sum, kHundredth);
    return FieldProblem{
        "amounts_by_symbol",
        "are worth " + money_text(shown ? *shown : sum, bound) +
            " together, more than the whole account (" + money_text(bound.equity, bound) + "); " +
            (fits ? to_text(*fits) : "0") + " times each of them fits now"};
}

}  // namespace

Json money_of(const BotConfig& config, const MarketSet& market, Timestamp at) {
    const std::vector<Worth> worths = worths_of(config, market);
    Json values = Json::object();
    for (const Worth& one : worths) {
        values.set(one.symbol, Json::object({{"value", to_text(one.value)}, {"asset", one.asset}}));
    }
    const std::optional<Decimal> total = total_of(worths);
    return Json::object({
        {"at", to_text(at)},
        {"by_symbol", std::move(values)},
        {"total",
         total ? Json::object({{"value", to_text(*total)}, {"asset", worths.front().asset}})
               : Json()},
    });
}

std::string money_words(const BotConfig& config, const MarketSet& market) {
    const std::vector<Worth> worths = worths_of(config, market);
    std::string words;
    for (const Worth& one : worths) {
        words +=
            (words.empty() ? "" : ", ") + one.symbol + " " + to_text(one.value) + " " + one.asset;
    }
    const std::optional<Decimal> total = total_of(worths);
    if (total && worths.size() > 1) {
        words += "; " + to_text(*total) + " " + worths.front().asset + " in all";
    }
    return words;
}

std::vector<FieldProblem> too_large_amounts(const BotConfig& config, const AmountBound& bound) {
    std::vector<FieldProblem> problems;
    std::size_t too_large = 0;
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
        const std::optional<Decimal> cost = cost_of(symbol, amount, bound);
        if (cost && *cost <= bound.equity) {
            continue;
        }
        ++too_large;
        // What the others leave; those that are too large themselves have to change anyway.
        const auto room = subtract(bound.equity, sum_of(config, bound, false));
        const bool has_room = room && *room > Decimal();
        const auto most = divide_round_down(has_room ? *room : Decimal(), *mid);
        const auto largest = most ? floor_to_step(*most, facts->rules.step_size) : most;
        problems.push_back(
            {path,
             "is worth more than the whole account (" + money_text(bound.equity, bound) +
                 "); the largest that passes now is " + (largest ? to_text(*largest) : "0")});
    }
    // Whoever follows the advice for a single one is within the sum as well.
    std::optional<FieldProblem> together =
        too_large == 1 ? std::nullopt : too_large_sum(config, bound);
    if (together) {
        problems.push_back(*std::move(together));
    }
    return problems;
}

}  // namespace interlock
