#include "trader/rules/market_desk.h"

#include <algorithm>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr Decimal kOne{1};
constexpr Decimal kShareStep = Decimal::from_units(100'000'000'000'000);  // 1e-4.
constexpr Decimal kNinetyNine = Decimal::from_units(990'000'000'000'000'000);

std::string_view entry_stop(const MarketDesk& desk) {
    const StateFacts& state = desk.input->state;
    if (state.kill_switch_active) {
        return "the kill switch is on";
    }
    if (desk.risk_mode >= RiskMode::reduce_only) {
        return desk.risk_mode == RiskMode::halted ? "risk mode halted" : "risk mode reduce_only";
    }
    if (state.entries_halted) {
        return "entries are halted";
    }
    if (desk.risk_mode == RiskMode::defensive && desk.facts->is_high_vol) {
        return "defensive risk mode in a market of high volatility";
    }
    return {};
}

// The whole part, cut to what any count can be.
std::int64_t whole_count(Decimal value) {
    constexpr Decimal kCountMax{1'000'000'000};
    return static_cast<std::int64_t>(
        std::clamp(value, Decimal(), kCountMax).units() / kOne.units());
}

// What the venue's limit leaves; a venue without one leaves everything.
std::int64_t rate_left(Decimal share, std::int64_t venue_max, std::int64_t used) {
    if (venue_max <= 0) {
        return static_cast<std::int64_t>(kIntentsMax);
    }
    const auto allowed = multiply_round_down(share, Decimal(venue_max));
    return std::max<std::int64_t>(0, whole_count(allowed.value_or(Decimal())) - used);
}

void count_orders(MarketDesk& desk, const SymbolFacts* held) {
    const StrategyInput& input = *desk.input;
    const RiskLimits& limits = input.state.limits;
    const MarketRules& rules = desk.facts->rules;
    std::int64_t standing = whole_count(limits.max_open_orders_per_symbol);
    if (rules.open_orders_max > 0) {
        standing = std::min(standing, rules.open_orders_max);
    }
    const std::int64_t open = held == nullptr ? 0 : held->open_orders;
    const auto own = static_cast<std::int64_t>(input.own_orders.size());
    desk.standing_allowed =
        std::max<std::int64_t>(0, standing - std::max<std::int64_t>(0, open - own));
    desk.orders_allowed = std::min({
        static_cast<std::int64_t>(kIntentsMax),
        std::max<std::int64_t>(0, standing - std::max(open, own)),
        rate_left(limits.order_rate_share, rules.orders_per_10s_max, input.state.orders_last_10s),
        rate_left(limits.order_rate_share, rules.orders_per_day_max, input.state.orders_today),
    });
}

void count_funds(MarketDesk& desk, const SymbolFacts* held, Reckoning& reckon) {
    const StrategyInput& input = *desk.input;
    Decimal buys;
    Decimal sells;
    for (const OwnOrder& order : input.own_orders) {
        const bool waits = order.is_uncertain || order.cancel_requested;
        if (order.side == Side::buy) {
            desk.buys_wait |= waits;
            buys = reckon.add(buys, reckon.multiply_down(order.price, order.remaining_qty));
        } else {
            desk.sells_wait |= waits;
            sells = reckon.add(sells, order.remaining_qty);
        }
    }
    desk.cash_free = std::max(input.state.cash_free, Decimal());
    desk.cash_total = reckon.add(desk.cash_free, reckon.multiply_down(buys, desk.cost_factor));
    if (held != nullptr) {
        desk.position = std::max(held->position, Decimal());
        desk.sell_free = std::max(reckon.subtract(held->position, held->open_sell_qty), Decimal());
        desk.sell_total = std::min(desk.position, reckon.add(desk.sell_free, sells));
    }
    desk.base_value = reckon.multiply_down(desk.position, desk.mid);
    desk.value = reckon.add(desk.base_value, desk.cash_total);
    const Decimal open_buys = held == nullptr ? Decimal() : held->open_buy_notional;
    desk.exposure_left = reckon.subtract(
        reckon.subtract(input.state.limits.max_symbol_exposure, desk.base_value), open_buys);
}

// A zero step is no rule. What no decimal can hold becomes zero, which is no price and no quantity.
Decimal floored(Decimal value, Decimal step) {
    return step.is_positive() ? floor_to_step(value, step).value_or(Decimal()) : value;
}

Decimal ceiled(Decimal value, Decimal step) {
    return step.is_positive() ? ceil_to_step(value, step).value_or(Decimal()) : value;
}

void bound_prices(MarketDesk& desk, Reckoning& reckon) {
    const MarketRules& rules = desk.facts->rules;
    desk.price_min = rules.price_min;
    if (rules.price_max.is_positive()) {
        desk.price_max = rules.price_max;
    }
    if (rules.percent_down.is_positive()) {
        desk.price_min = std::max(desk.price_min, reckon.multiply_up(desk.mid, rules.percent_down));
    }
    if (rules.percent_up.is_positive()) {
        const Decimal highest = reckon.multiply_down(desk.mid, rules.percent_up);
        desk.price_max = desk.price_max ? std::min(*desk.price_max, highest) : highest;
    }
}

bool is_price_allowed(const MarketDesk& desk, Decimal price) {
    return price.is_positive() && price >= desk.price_min &&
           (!desk.price_max || price <= *desk.price_max);
}

// The largest quantity that filters and limits take; nothing: there is no bound.
std::optional<Decimal> largest_qty(
    const MarketDesk& desk, Decimal price, const SizeWish& wish, Reckoning& reckon) {
    const MarketRules& rules = desk.facts->rules;
    std::optional<Decimal> largest = wish.qty_max;
    const auto narrow = [&](Decimal bound) {
        if (bound.is_positive()) {
            largest = largest ? std::min(*largest, bound) : bound;
        }
    };
    narrow(rules.qty_max);
    narrow(desk.input->state.limits.max_order_qty);
    if (rules.notional_max.is_positive() && wish.value > rules.notional_max) {
        narrow(reckon.divide_down(rules.notional_max, price));
    }
    return largest ? std::optional(floored(*largest, rules.step_size)) : std::nullopt;
}

}  // namespace

Result<MarketDesk> MarketDesk::open(const StrategyInput& input, Decimal fee_rate) {
    MarketDesk desk;
    desk.input = &input;
    desk.facts = input.market.find(input.symbol);
    if (desk.facts == nullptr) {
        return fail(errors::unavailable, "There is no market for the strategy's symbol.");
    }
    Reckoning reckon;
    const RiskLimits& limits = input.state.limits;
    const SymbolFacts* held = input.state.find(input.symbol);
    desk.is_quoted = !is_halted(*desk.facts);
    if (desk.is_quoted) {
        desk.bid = *desk.facts->best_bid;
        desk.ask = *desk.facts->best_ask;
        desk.mid = *mid_of(*desk.facts);
        bound_prices(desk, reckon);
    }
    desk.risk_mode = input.state.risk_mode_in(input.symbol);
    desk.only_cancels = input.state.kill_switch_active || desk.risk_mode == RiskMode::halted;
    desk.entries_stopped = entry_stop(desk);
    desk.entries_wait = input.state.uncertain_orders > 0;
    desk.cost_factor =
        reckon.add(kOne, std::max(fee_rate, reckon.fraction_of_bps(limits.taker_fee_bps)));
    desk.size_factor = size_factor_of(desk.risk_mode);
    desk.entry_below = reckon.multiply_down(limits.max_notional_per_trade, desk.size_factor);
    count_funds(desk, held, reckon);
    count_orders(desk, held);
    if (reckon.overflowed()) {
        return fail(errors::out_of_range, "An amount is too large to plan with.");
    }
    return desk;
}

std::optional<Decimal> MarketDesk::base_share() const {
    if (!value.is_positive()) {
        return std::nullopt;
    }
    const auto share = divide_round_down(base_value, value);
    const auto cut = share ? floor_to_step(*share, kShareStep) : share;
    return cut ? std::optional(*cut) : std::nullopt;
}

std::optional<Quote> shape_quote(
    const MarketDesk& desk, Side side, Decimal price, const SizeWish& wish) {
    Reckoning reckon;
    const MarketRules& rules = desk.facts->rules;
    price = side == Side::buy ? floored(price, rules.tick_size) : ceiled(price, rules.tick_size);
    if (!wish.value.is_positive() || !is_price_allowed(desk, price)) {
        return std::nullopt;
    }
    const std::optional<Decimal> largest = largest_qty(desk, price, wish, reckon);
    Decimal qty = floored(reckon.divide_down(wish.value, price), rules.step_size);
    if (largest) {
        qty = std::min(qty, *largest);
    }
    const bool is_small = !qty.is_positive() || qty < rules.qty_min ||
                          reckon.multiply_down(qty, price) < rules.notional_min;
    if (is_small) {
        const Decimal least = std::max(rules.qty_min, reckon.divide_up(rules.notional_min, price));
        qty = ceiled(least, rules.step_size);
    }
    bool fits = qty.is_positive() && (!largest || qty <= *largest);
    if (is_small || wish.value_below) {
        const Decimal notional = reckon.multiply_up(qty, price);
        fits = fits && (!wish.value_below || notional < *wish.value_below) &&
               (!rules.notional_max.is_positive() || notional <= rules.notional_max);
    }
    if (!fits || reckon.overflowed()) {
        return std::nullopt;
    }
    return Quote{side, price, qty};
}

SizeWish entry_wish(const MarketDesk& desk, Decimal value) {
    Reckoning reckon;
    Decimal scaled = reckon.multiply_down(value, desk.size_factor);
    if (scaled >= desk.entry_below) {
        scaled = reckon.multiply_down(desk.entry_below, kNinetyNine);
    }
    return {
        .value = reckon.overflowed() ? Decimal() : scaled,
        .value_below = desk.entry_below,
        .qty_max = std::nullopt,
    };
}

bool add_order(Plan& plan, MarketDesk& desk, const Quote& quote, OrderStyle style) {
    if (desk.orders_allowed <= 0 || plan.intents.size() >= kIntentsMax) {
        return false;
    }
    Reckoning reckon;
    if (quote.side == Side::buy) {
        const Decimal notional = reckon.multiply_up(quote.qty, quote.price);
        const Decimal cost = desk.buy_cost(notional, reckon);
        if (reckon.overflowed() || cost > desk.cash_free || notional >= desk.exposure_left) {
            return false;
        }
        desk.cash_free = reckon.subtract(desk.cash_free, cost);
        desk.exposure_left = reckon.subtract(desk.exposure_left, notional);
    } else {
        if (quote.qty > desk.sell_free) {
            return false;
        }
        desk.sell_free = reckon.subtract(desk.sell_free, quote.qty);
    }
    --desk.orders_allowed;
    Intent& intent = plan.intents.emplace_back();
    intent.intent_id = IntentId::trusted("i" + std::to_string(plan.intents.size() - 1));
    intent.symbol = desk.input->symbol;
    intent.side = quote.side;
    intent.order_type = OrderType::limit;
    intent.qty = quote.qty;
    intent.limit_price = quote.price;
    intent.post_only = style.post_only;
    intent.strategy_id = desk.input->strategy_id;
    return true;
}

void add_cancel(Plan& plan, const OwnOrder& order) {
    if (!order.cancel_requested && !order.is_uncertain && plan.cancels.size() < kCancelsMax) {
        plan.cancels.push_back(order.order_client_id);
    }
}

void cancel_all(Plan& plan, const StrategyInput& input) {
    for (const OwnOrder& order : input.own_orders) {
        add_cancel(plan, order);
    }
}

void cancel_side(Plan& plan, const StrategyInput& input, Side side) {
    for (const OwnOrder& order : input.own_orders) {
        if (order.side == side) {
            add_cancel(plan, order);
        }
    }
}

Json text_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

std::string_view signal_word(const TimeframeSignals* signals) {
    if (signals == nullptr || !signals->trend_strength) {
        return "none";
    }
    if (*signals->trend_strength >= kOne) {
        return "trend_up";
    }
    return *signals->trend_strength <= Decimal(-1) ? "trend_down" : "range";
}

Json supervision_facts(const MarketDesk& desk, const SupervisionSource& source) {
    const auto share = desk.base_share();
    // (share − 0.5) × 2: from −1, all quote, to 1, all base.
    const std::optional<Decimal> pressure =
        share ? std::optional(Decimal::from_units(share->units() * 2 - kOne.units()))
              : std::nullopt;
    const Decimal order_value = std::max(source.order_value, desk.facts->rules.notional_min);
    const Decimal buy = desk.entries_stopped.empty() ? desk.cash_total : Decimal();
    const Decimal sell = desk.only_cancels
                             ? Decimal()
                             : multiply_round_down(desk.sell_total, desk.mid).value_or(Decimal());
    Json facts = Json::object({
        {"inventory_pressure", text_or_null(pressure)},
        {"capacity_available", buy >= order_value && sell >= order_value},
        {"side_capacity", Json::object({{"buy", to_text(buy)}, {"sell", to_text(sell)}})},
        {"trend_strength",
         source.signals == nullptr ? Json() : text_or_null(source.signals->trend_strength)},
        {"rebalance_needed", source.rebalance_needed},
        {"signal", source.signal},
    });
    return facts;
}

void describe_tick(ConfigFields& fields, std::int64_t& tick_seconds) {
    fields.whole(
        "tick_seconds",
        tick_seconds,
        {kTickEveryMin.microseconds / 1'000'000, kTickEveryMax.microseconds / 1'000'000},
        "Seconds between two ticks.");
}

void describe_fee(ConfigFields& fields, Decimal& fee_rate) {
    fields.decimal(
        "fee_rate", fee_rate, {"0", "0.01"}, "What the venue takes of a fill, as a fraction.");
}

}  // namespace interlock
