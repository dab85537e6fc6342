// Plans that aim at a limit: the largest that keeps it, one step less, one more, and well over.
//
// The planner knows the facts its last plan was judged on, as a planner that asks for them would;
// the market may have moved since, and then it aims past the edge.
#include <array>

#include "sim/planner.h"

namespace interlock::sim {
namespace {

constexpr std::int64_t kStepsMax = 1'000'000'000'000;
constexpr std::size_t kOrdersAtOnceMax = 12;

bool keeps(const PlanSight& sight, Edge edge) {
    const auto kept = limits_kept(sight);
    return kept && (*kept)[static_cast<std::size_t>(edge)];
}

// The largest number for which `is_kept` holds, by halving; 0 when not even 1 does.
template <class IsKept>
std::int64_t largest_kept(std::int64_t max, IsKept is_kept) {
    std::int64_t low = 0;
    std::int64_t high = 1;
    while (high < max && is_kept(high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (is_kept(middle) ? low : high) = middle;
    }
    return low;
}

Decimal times(Decimal step, std::int64_t count) {
    return Decimal::from_units(step.units() * count);
}

// Below the touch by so many basis points, on a tick.
Decimal passive_price(const MarketFacts& market, std::int64_t bps) {
    const __int128 raw = market.best_bid->units() / 10'000 * (10'000 - bps);
    const __int128 tick = market.rules.tick_size.units();
    return Decimal::from_units(raw - raw % tick);
}

// One less, exactly, one more, or a twentieth more than the largest that is kept.
std::int64_t near(SeededRandom& random, std::int64_t largest) {
    constexpr std::array<std::int64_t, 3> kOff{-1, 0, 1};
    const std::uint64_t way = random.below(5);
    return way < kOff.size() ? largest + kOff[way]
                             : largest + (way == 3 ? 1 : std::max<std::int64_t>(1, largest / 20));
}

Json encode_order(const Intent& intent, std::size_t number) {
    Json json = Json::object({
        {"intent_id", "i" + std::to_string(number)},
        {"symbol", intent.symbol.text()},
        {"side", "buy"},
        {"order_type", to_word(intent.order_type)},
        {"qty", to_text(intent.qty)},
        {"limit_price", intent.limit_price ? Json(to_text(*intent.limit_price)) : Json()},
        {"time_in_force", intent.order_type == OrderType::market ? "IOC" : "GTC"},
        {"strategy_id", "external"},
        {"expected_edge_bps", "100"},
    });
    return json;
}

// The intent with the quantity, or the price, that brings it to the limit.
bool aim(SeededRandom& random, const SeenFacts& seen, Edge edge, Intent& intent) {
    const MarketFacts& market = *seen.market.find(intent.symbol);
    Plan plan;
    plan.intents = {intent};
    if (edge == Edge::price_collar || edge == Edge::touch_collar) {
        const std::int64_t ticks = largest_kept(kStepsMax, [&](std::int64_t count) {
            plan.intents[0].limit_price = times(market.rules.tick_size, count);
            return keeps({seen.state, seen.market, plan}, edge);
        });
        intent.limit_price = times(market.rules.tick_size, near(random, ticks));
        return intent.limit_price->is_positive();
    }
    const std::int64_t steps = largest_kept(kStepsMax, [&](std::int64_t count) {
        plan.intents[0].qty = times(market.rules.step_size, count);
        return keeps({seen.state, seen.market, plan}, edge);
    });
    intent.qty = times(market.rules.step_size, near(random, steps));
    return intent.qty.is_positive();
}

// As many small orders as may be, one less, one more or two more.
std::size_t orders_near(
    SeededRandom& random, const SeenFacts& seen, Edge edge, const Intent& intent) {
    const std::int64_t largest =
        largest_kept(static_cast<std::int64_t>(kOrdersAtOnceMax), [&](std::int64_t count) {
            Plan plan;
            plan.intents.assign(static_cast<std::size_t>(count), intent);
            return keeps({seen.state, seen.market, plan}, edge);
        });
    return static_cast<std::size_t>(std::max<std::int64_t>(1, near(random, largest)));
}

}  // namespace

std::optional<Json> HostilePlanner::edge_intents(SeededRandom& random, const TenantId& tenant_id) {
    const auto seen = sight_.facts ? sight_.facts(tenant_id) : nullptr;
    if (seen == nullptr) {
        return std::nullopt;
    }
    const Symbol symbol = random.pick(sight_.feed->symbols());
    const MarketFacts* market = seen->market.find(symbol);
    if (market == nullptr || !market->best_bid || !market->best_ask) {
        return std::nullopt;
    }
    const Edge edge = static_cast<Edge>(random.below(kPlanEdges));
    Intent intent;
    intent.symbol = symbol;
    intent.side = Side::buy;
    intent.order_type = random.chance(250) ? OrderType::market : OrderType::limit;
    // Worth about 12, in steps, when the size is not what the limit is about.
    const auto worth = divide_round_down(Decimal(12), *market->best_ask);
    const auto small = worth ? ceil_to_step(*worth, market->rules.step_size) : worth;
    intent.qty = small ? *small : market->rules.step_size;
    const bool is_about_price = edge == Edge::price_collar || edge == Edge::touch_collar;
    if (intent.order_type == OrderType::limit || is_about_price) {
        intent.order_type = OrderType::limit;
        intent.limit_price =
            passive_price(*market, static_cast<std::int64_t>(5 + random.below(80)));
    }
    std::size_t orders = 1;
    if (edge == Edge::open_orders || edge == Edge::order_rate) {
        orders = orders_near(random, *seen, edge, intent);
    } else if (!aim(random, *seen, edge, intent)) {
        return std::nullopt;
    }
    Json intents = Json::array();
    for (std::size_t i = 0; i < orders; ++i) {
        intents.push(encode_order(intent, i));
        // Two equal orders of one plan would have one name.
        if (intent.limit_price) {
            intent.limit_price =
                Decimal::from_units(intent.limit_price->units() - market->rules.tick_size.units());
        } else {
            intent.qty = Decimal::from_units(intent.qty.units() + market->rules.step_size.units());
        }
    }
    return intents;
}

}  // namespace interlock::sim
