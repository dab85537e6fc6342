#include "sim/world_limits.h"

#include <array>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/seeded.h"

namespace interlock::sim {
namespace {

struct Tight {
    std::string_view name;
    std::string_view value;
};

LimitChange change(std::string_view name, std::string_view value) {
    const LimitSpec* spec = find_limit_spec(name);
    const auto parsed = Decimal::parse(value);
    CHECK(spec != nullptr && parsed.has_value());
    return {spec, *parsed};
}

// One theme a world, so that the limit it is about is mostly the only one that says no. The deposit
// is 10,000, its reserve 500, and an order that takes is assumed to cost 45 basis points.
std::vector<Tight> theme(std::uint64_t number, std::uint64_t way) {
    constexpr std::array<std::string_view, 3> kAmounts{"300", "600", "1100"};
    const std::string_view amount = kAmounts[way % kAmounts.size()];
    constexpr std::array<std::string_view, 3> kMultiples{"0.03", "0.06", "0.11"};
    switch (number) {
        case 0:
            return {{"max_notional_per_trade", amount}};
        case 1:
            return {{"max_symbol_exposure", amount}};
        case 2:
            return {{"max_portfolio_exposure", amount}};
        case 3:
            return {{"max_leverage", kMultiples[way % kMultiples.size()]}};
        case 4:
            return {{"max_order_qty", way % 2 == 0 ? "0.01" : "0.4"}};
        case 5:
            return {{"daily_loss_limit", way % 2 == 0 ? "2" : "5"}};
        case 6:
            return {{"max_drawdown", way % 2 == 0 ? "0.0006" : "0.001"}};
        case 7:  // 500 of reserve for 480 days at 1 a day: fees of 1.25 are too much.
            return {{"infra_cost_per_day", "1"}, {"hard_min_runway_days", "480"}};
        case 8:
            return {{"max_deficit", way % 2 == 0 ? "1" : "3"}};
        case 9:  // Everything else out of the way: what is free is the limit.
            return {
                {"max_notional_per_trade", "100000"},
                {"max_symbol_exposure", "100000"},
                {"max_portfolio_exposure", "100000"},
                {"max_leverage", "10"}};
        case 10:
            return {{"max_open_orders_per_symbol", way % 2 == 0 ? "3" : "6"}};
        case 11:
            return {{"order_rate_share", way % 2 == 0 ? "0.1" : "0.2"}};
        default:
            return {};  // The defaults.
    }
}

constexpr std::uint64_t kThemes = 14;

}  // namespace

std::vector<LimitChange> draw_limits(std::uint64_t seed) {
    SeededRandom random(mix_seeds(seed, 50));
    std::vector<LimitChange> limits;
    // Themes take turns, so that a few seeds in a row have all of them.
    for (const Tight& tight : theme(seed % kThemes, random.below(6))) {
        limits.push_back(change(tight.name, tight.value));
    }
    return limits;
}

}  // namespace interlock::sim
