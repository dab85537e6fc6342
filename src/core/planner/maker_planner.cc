#include "core/planner/maker_planner.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/errors.h"
#include "base/field_reader.h"

namespace interlock {
namespace {

const Decimal kBps(10'000);
constexpr std::array<std::string_view, 3> kParts{"cancels", "sells", "buys"};

struct Quote {
    Side side = Side::buy;
    Decimal price;
    Decimal qty;
};

// mid × (1 ± level × step), on the tick and never through the touch.
Result<Decimal> level_price(
    const MakerSettings& settings, const MarketFacts& facts, Side side, std::int64_t level) {
    const auto mid = mid_of(facts);
    if (!mid || is_halted(facts)) {
        return fail(errors::unavailable, "The market has no price to quote around.");
    }
    TRY_ASSIGN(const Decimal away_bps, multiply_half_even(settings.step_bps, Decimal(level)));
    TRY_ASSIGN(const Decimal share, divide_half_even(away_bps, kBps));
    if (side == Side::buy) {
        TRY_ASSIGN(const Decimal factor, subtract(Decimal(1), share));
        TRY_ASSIGN(const Decimal price, multiply_round_down(*mid, factor));
        return floor_to_step(std::min(price, *facts.best_bid), facts.rules.tick_size);
    }
    TRY_ASSIGN(const Decimal factor, add(Decimal(1), share));
    TRY_ASSIGN(const Decimal price, multiply_round_up(*mid, factor));
    return ceil_to_step(std::max(price, *facts.best_ask), facts.rules.tick_size);
}

// The wanted size, on the step; lifted to the venue's least notional when the scaled one is below
// it, and nothing when even that cannot be.
Result<Decimal> level_qty(
    const MakerSettings& settings,
    const StateFacts& state,
    const MarketFacts& facts,
    Decimal price) {
    TRY_ASSIGN(
        Decimal quote, multiply_round_down(settings.order_quote, size_factor_of(state.risk_mode)));
    if (quote.is_zero()) {
        return Decimal();
    }
    quote = std::max(quote, facts.rules.notional_min);
    TRY_ASSIGN(const Decimal exact, divide_round_up(quote, price));
    TRY_ASSIGN(const Decimal qty, ceil_to_step(exact, facts.rules.step_size));
    return qty < facts.rules.qty_min ? Decimal() : qty;
}

Result<std::vector<Quote>> wanted_quotes(
    const MakerSettings& settings, const StateFacts& state, const MarketFacts& facts) {
    std::vector<Quote> quotes;
    const SymbolFacts* held = state.find(settings.symbol);
    Decimal left = held == nullptr ? Decimal() : held->position;
    for (std::int64_t level = 1; level <= settings.levels; ++level) {
        if (!state.entries_halted) {
            TRY_ASSIGN(const Decimal price, level_price(settings, facts, Side::buy, level));
            TRY_ASSIGN(const Decimal qty, level_qty(settings, state, facts, price));
            if (qty.is_positive()) {
                quotes.push_back({Side::buy, price, qty});
            }
        }
        TRY_ASSIGN(const Decimal price, level_price(settings, facts, Side::sell, level));
        TRY_ASSIGN(const Decimal full, divide_round_down(settings.order_quote, price));
        TRY_ASSIGN(Decimal qty, floor_to_step(std::min(full, left), facts.rules.step_size));
        TRY_ASSIGN(const Decimal value, multiply_round_down(qty, price));
        if (qty.is_positive() && qty >= facts.rules.qty_min && value >= facts.rules.notional_min) {
            quotes.push_back({Side::sell, price, qty});
            TRY_ASSIGN(left, subtract(left, qty));
        }
    }
    return quotes;
}

// Within a tenth of a step of the price: the order stands for this quote.
bool stands_for(const OpenOrderFacts& order, const Quote& quote, const MakerSettings& settings) {
    if (order.side != quote.side) {
        return false;
    }
    const auto share = divide_round_up(settings.step_bps, Decimal(100'000));
    const auto near = share ? multiply_round_up(quote.price, *share) : share;
    const auto apart =
        subtract(std::max(order.price, quote.price), std::min(order.price, quote.price));
    return near && apart && *apart <= *near;
}

}  // namespace

Json encode(const MakerSettings& settings) {
    return Json::object({
        {"planner", "maker"},
        {"strategy_id", settings.strategy_id.text()},
        {"symbol", settings.symbol.text()},
        {"order_quote", to_text(settings.order_quote)},
        {"step_bps", to_text(settings.step_bps)},
        {"levels", settings.levels},
    });
}

Result<MakerSettings> decode_maker_settings(const Json& json) {
    FieldReader in(json);
    constexpr std::array<std::string_view, 1> kPlanners{"maker"};
    in.required_word_index("planner", kPlanners);
    MakerSettings settings;
    settings.strategy_id = in.required<StrategyId>("strategy_id");
    const std::string symbol = in.required_text("symbol", {.length_min = 1, .length_max = 40});
    if (auto parsed = Symbol::parse(symbol)) {
        settings.symbol = *parsed;
    } else {
        in.add_problem("symbol", parsed.error().message);
    }
    settings.order_quote = in.required<Decimal>("order_quote");
    settings.step_bps = in.required<Decimal>("step_bps");
    settings.levels = in.required_integer("levels", 1, kMakerLevelsMax);
    if (!settings.order_quote.is_positive()) {
        in.add_problem("order_quote", "must be greater than zero");
    }
    if (settings.step_bps < Decimal(1) || settings.step_bps > Decimal(500)) {
        in.add_problem("step_bps", "must be from 1 to 500");
    }
    in.reject_unknown();
    return in.finish(std::move(settings));
}

Result<Plan> plan_maker(
    const MakerSettings& settings, const StateFacts& state, const MarketSet& market) {
    const MarketFacts* facts = market.find(settings.symbol);
    if (facts == nullptr) {
        return fail(errors::unavailable, "There is no market for the planner's symbol.");
    }
    TRY_ASSIGN(std::vector<Quote> quotes, wanted_quotes(settings, state, *facts));
    Plan plan;
    plan.reason = "maker quotes around mid";
    for (const OpenOrderFacts& order : state.open_orders) {
        if (order.symbol != settings.symbol || order.is_uncertain) {
            continue;
        }
        const auto quote = std::find_if(quotes.begin(), quotes.end(), [&](const Quote& wanted) {
            return stands_for(order, wanted, settings);
        });
        if (quote != quotes.end()) {
            quotes.erase(quote);
        } else if (plan.cancels.size() < kCancelsMax) {
            plan.cancels.push_back(order.order_client_id);
        }
    }
    if (!plan.cancels.empty()) {
        return plan;  // What they free is planned with in the next tick.
    }
    for (const Quote& quote : quotes) {
        Intent intent;
        intent.intent_id = IntentId::trusted("i" + std::to_string(plan.intents.size()));
        intent.symbol = settings.symbol;
        intent.side = quote.side;
        intent.order_type = OrderType::limit;
        intent.qty = quote.qty;
        intent.limit_price = quote.price;
        intent.post_only = true;
        intent.strategy_id = settings.strategy_id;
        plan.intents.push_back(std::move(intent));
    }
    return plan;
}

std::string_view to_word(PlanPart part) {
    return kParts[static_cast<std::size_t>(part)];
}

Plan part_of(const Plan& plan, PlanPart part) {
    Plan one;
    one.reason = plan.reason;
    if (part == PlanPart::cancels) {
        one.cancels = plan.cancels;
        return one;
    }
    const Side side = part == PlanPart::sells ? Side::sell : Side::buy;
    for (const Intent& intent : plan.intents) {
        if (intent.side == side) {
            one.intents.push_back(intent);
        }
    }
    return one;
}

Json planner_input(const MakerSettings& settings, PlanPart part) {
    return Json::object({{"settings", encode(settings)}, {"part", to_word(part)}});
}

Result<Plan> replan(const Json& planner_input, const StateFacts& state, const MarketSet& market) {
    FieldReader in(planner_input);
    const auto part = static_cast<PlanPart>(in.required_word_index("part", kParts));
    const Json* stored = in.required_object("settings");
    TRY(in.finish(true));
    TRY_ASSIGN(const MakerSettings settings, decode_maker_settings(*stored));
    TRY_ASSIGN(const Plan plan, plan_maker(settings, state, market));
    return part_of(plan, part);
}

}  // namespace interlock
