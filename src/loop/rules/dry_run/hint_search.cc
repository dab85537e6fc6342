#include "loop/rules/dry_run/hint_search.h"

#include <algorithm>
#include <array>
#include <set>

#include "loop/rules/gates/breach_codes.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

constexpr std::string_view kQty = "qty";
constexpr std::string_view kLimitPrice = "limit_price";
constexpr std::string_view kAtMost = "at_most";
constexpr std::string_view kAtLeast = "at_least";
constexpr std::string_view kEquals = "equals";
constexpr Decimal kFinestTick = Decimal::from_units(10'000'000'000);  // 1e-8.

bool is_one_of(std::string_view code, std::span<const std::string_view> codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

HintChange qty_change(const Intent& intent, std::string_view relation, Decimal qty) {
    return {intent.intent_id.text(), kQty, relation, to_text(qty)};
}

HintChange price_change(const Intent& intent, std::string_view relation, Decimal price) {
    return {intent.intent_id.text(), kLimitPrice, relation, to_text(price)};
}

// What one rule says of a price.
struct PriceBounds {
    std::optional<Decimal> highest;
    std::optional<Decimal> lowest;
};

PriceBounds bounds_of(
    std::string_view code, Side side, const MarketFacts& market, const RiskLimits& limits) {
    const MarketRules& rules = market.rules;
    const auto mid = mid_of(market);
    PriceBounds bounds;
    if (!mid || !market.best_ask || !market.best_bid) {
        return bounds;
    }
    Reckoning reckon;
    const Decimal one(1);
    const bool is_buy = side == Side::buy;
    if (code == breach_codes::kPriceRange) {
        if (rules.price_max.is_positive()) {
            bounds.highest = rules.price_max;
        }
        bounds.lowest = rules.price_min;
    } else if (code == breach_codes::kPercentPrice) {
        if (rules.percent_up.is_positive()) {
            bounds.highest = reckon.multiply_down(*mid, rules.percent_up);
        }
        bounds.lowest = reckon.multiply_up(*mid, rules.percent_down);
    } else if (code == breach_codes::kPriceCollar && is_buy) {
        bounds.highest = reckon.multiply_down(*mid, reckon.add(one, limits.price_collar));
    } else if (code == breach_codes::kPriceCollar) {
        bounds.lowest = reckon.multiply_up(*mid, reckon.subtract(one, limits.price_collar));
    } else if (code == breach_codes::kTouchCollar) {
        const Decimal reach = reckon.fraction_of_bps(limits.touch_collar_bps);
        if (is_buy) {
            bounds.highest = reckon.multiply_down(*market.best_ask, reckon.add(one, reach));
        } else {
            bounds.lowest = reckon.multiply_up(*market.best_bid, reckon.subtract(one, reach));
        }
    }
    return reckon.overflowed() ? PriceBounds() : bounds;
}

std::optional<Decimal> value_of(const Result<Decimal>& result) {
    return result ? std::optional(*result) : std::nullopt;
}

// Rules that one intent breaks by its own size.
constexpr std::array<std::string_view, 4> kTooLarge{
    breach_codes::kNotionalPerTrade,
    breach_codes::kOrderQty,
    breach_codes::kQtyMax,
    breach_codes::kNotionalMax};
constexpr std::array<std::string_view, 2> kTooSmall{
    breach_codes::kQtyMin, breach_codes::kNotionalMin};
constexpr std::array<std::string_view, 4> kPriceBound{
    breach_codes::kPriceRange,
    breach_codes::kPercentPrice,
    breach_codes::kPriceCollar,
    breach_codes::kTouchCollar};
constexpr std::array<std::string_view, 4> kStrategy{
    breach_codes::kUnknownStrategy,
    breach_codes::kStrategyInactive,
    breach_codes::kStrategyNotExternal,
    breach_codes::kStrategyDisabled};
// Rules that the plan breaks as a whole.
constexpr std::array<std::string_view, 4> kCosts{
    breach_codes::kDailyLoss,
    breach_codes::kDrawdown,
    breach_codes::kRunway,
    breach_codes::kSurplus};
constexpr std::array<std::string_view, 4> kBuys{
    breach_codes::kSymbolExposure,
    breach_codes::kPortfolioExposure,
    breach_codes::kLeverage,
    breach_codes::kInsufficientFunds};
constexpr std::array<std::string_view, 2> kCounts{
    breach_codes::kOpenOrders, breach_codes::kOrderRate};

}  // namespace

HintReason parse_reason(std::string_view reason) {
    HintReason parsed;
    parsed.text = reason;
    const std::size_t first = reason.find(':');
    const std::size_t last = reason.rfind(':');
    if (first == std::string_view::npos || last <= first) {
        return parsed;
    }
    parsed.code = reason.substr(first + 1, last - first - 1);
    parsed.symbol = reason.substr(last + 1);
    if (parsed.symbol == "-") {
        parsed.symbol = {};
    }
    if (const std::size_t equals = parsed.code.find('='); equals != std::string_view::npos) {
        parsed.extra = parsed.code.substr(equals + 1);
        parsed.code = parsed.code.substr(0, equals);
    }
    return parsed;
}

Plan apply_changes(const Plan& plan, std::span<const HintChange> changes) {
    Plan changed = plan;
    std::set<std::string> left_out;
    for (const HintChange& change : changes) {
        for (Intent& intent : changed.intents) {
            if (intent.intent_id.text() != change.intent_id) {
                continue;
            }
            if (change.field == "strategy_id") {
                intent.strategy_id = StrategyId::trusted(change.value);
                continue;
            }
            const auto value = Decimal::parse(change.value);
            if (!value) {
                continue;
            }
            if (change.field == kLimitPrice) {
                intent.limit_price = *value;
            } else if (value->is_zero()) {
                left_out.insert(change.intent_id);
            } else {
                intent.qty = *value;
            }
        }
    }
    std::erase_if(changed.intents, [&](const Intent& intent) {
        return left_out.contains(intent.intent_id.text());
    });
    return changed;
}

std::vector<HintChange> HintSearch::changes_for(const HintReason& reason) {
    std::vector<HintChange> changes;
    const std::string_view code = reason.code;
    if (plan_.intents.size() > kIntentsMax) {
        return changes;
    }
    if (is_one_of(code, kTooLarge)) {
        changes = each(reason, [&](const Intent& intent) { return smaller(intent, reason); });
    } else if (is_one_of(code, kTooSmall)) {
        changes = each(reason, [&](const Intent& intent) { return larger(intent, reason); });
    } else if (code == breach_codes::kStepSize) {
        changes = each(reason, [&](const Intent& intent) { return on_step(intent); });
    } else if (code == breach_codes::kTickSize) {
        changes = each(reason, [&](const Intent& intent) { return on_tick(intent); });
    } else if (is_one_of(code, kPriceBound)) {
        changes = each(reason, [&](const Intent& intent) { return in_range(intent, code); });
    } else if (is_one_of(code, kStrategy)) {
        changes = each(reason, [&](const Intent& intent) { return usable_strategy(intent); });
    } else if (code == breach_codes::kSelfCross) {
        changes = each(reason, [&](const Intent& intent) { return past_own_order(intent); });
    } else if (is_one_of(code, kCosts)) {
        changes = together(reason, std::nullopt);
    } else if (is_one_of(code, kBuys)) {
        changes = together(reason, Side::buy);
    } else if (code == breach_codes::kShort) {
        changes = together(reason, Side::sell);
    } else if (code == "book_too_thin") {
        changes = together(reason, std::nullopt);
    } else if (code == "would_take") {
        changes = each(reason, [&](const Intent& intent) { return behind_touch(intent); });
    } else if (is_one_of(code, kCounts)) {
        changes = fewer(reason, concerned(reason, std::nullopt));
    } else if (code == breach_codes::kDuplicateOf) {
        return wait_for(reason);
    }
    const Plan changed = apply_changes(plan_, changes);
    // A plan with nothing left of it is no plan that passes.
    const bool is_useful = !changed.intents.empty() && !changes.empty();
    return is_useful && is_gone(changed, reason) ? changes : std::vector<HintChange>();
}

bool HintSearch::is_gone(const Plan& plan, const HintReason& reason) {
    looks_ += std::max<std::size_t>(1, plan.intents.size());
    if (looks_ > kHintLooksMax) {
        return false;
    }
    const std::vector<std::string> left = judge_(plan);
    return std::find(left.begin(), left.end(), reason.text) == left.end();
}

bool HintSearch::breaks_alone(const Intent& intent, const HintReason& reason) {
    Plan one;
    one.intents = {intent};
    return !is_gone(one, reason);
}

HintSearch::Positions HintSearch::concerned(
    const HintReason& reason, std::optional<Side> side) const {
    // The money of a plan is spent in order, so that the symbol named is only where it ran out.
    const bool is_anywhere = reason.symbol.empty() ||
                             reason.code == breach_codes::kInsufficientFunds ||
                             reason.code == breach_codes::kOrderRate;
    Positions places;
    for (std::size_t i = 0; i < plan_.intents.size(); ++i) {
        const Intent& intent = plan_.intents[i];
        if ((is_anywhere || intent.symbol.text() == reason.symbol) &&
            (!side || intent.side == *side)) {
            places.push_back(i);
        }
    }
    return places;
}

Plan HintSearch::without(const Positions& left_out) const {
    Plan plan = plan_;
    for (auto at = left_out.rbegin(); at != left_out.rend(); ++at) {
        plan.intents.erase(plan.intents.begin() + static_cast<std::ptrdiff_t>(*at));
    }
    return plan;
}

std::vector<HintChange> HintSearch::each(const HintReason& reason, const OneChange& change) {
    std::vector<HintChange> changes;
    for (const std::size_t place : concerned(reason, std::nullopt)) {
        const Intent& intent = plan_.intents[place];
        if (plan_.intents.size() > 1 && !breaks_alone(intent, reason)) {
            continue;
        }
        const std::optional<HintChange> one = change(intent);
        if (!one) {
            return {};
        }
        changes.push_back(*one);
    }
    return changes;
}

std::vector<HintChange> HintSearch::fewer(const HintReason& reason, const Positions& places) {
    // How many of the first may stay: the more are left out, the less is broken.
    std::size_t keeps = 0;
    std::size_t breaks = places.size();
    while (breaks - keeps > 1) {
        const std::size_t middle = keeps + (breaks - keeps) / 2;
        const Positions rest(places.begin() + static_cast<std::ptrdiff_t>(middle), places.end());
        (is_gone(without(rest), reason) ? keeps : breaks) = middle;
    }
    std::vector<HintChange> changes;
    for (std::size_t i = keeps; i < places.size(); ++i) {
        changes.push_back(qty_change(plan_.intents[places[i]], kEquals, Decimal()));
    }
    return changes;
}

std::vector<HintChange> HintSearch::together(const HintReason& reason, std::optional<Side> side) {
    const Positions places = concerned(reason, side);
    std::vector<HintChange> changes = fewer(reason, places);
    if (changes.empty()) {
        return changes;
    }
    // The first of those that would have to go may stay at a smaller size.
    const std::size_t first = places[places.size() - changes.size()];
    const Positions rest(
        places.end() - static_cast<std::ptrdiff_t>(changes.size()) + 1, places.end());
    if (const auto qty = largest_qty(without(rest), first, reason)) {
        changes.front() = qty_change(plan_.intents[first], kAtMost, *qty);
    }
    return changes;
}

// Of one intent in a plan, on the grid, below what it wants; nothing when no size passes.
std::optional<Decimal> HintSearch::largest_qty(
    const Plan& plan, std::size_t place, const HintReason& reason) {
    Plan tried = plan;
    const Decimal step = step_of(plan.intents[place]);
    const auto passes = [&](__int128 steps) {
        tried.intents[place].qty = Decimal::from_units(steps * step.units());
        return is_gone(tried, reason);
    };
    __int128 fails = plan.intents[place].qty.units() / step.units() + 1;
    __int128 good = 0;
    while (fails - good > 1 && looks_ <= kHintLooksMax) {
        const __int128 middle = good + (fails - good) / 2;
        (passes(middle) ? good : fails) = middle;
    }
    return good > 0 && looks_ <= kHintLooksMax
               ? std::optional(Decimal::from_units(good * step.units()))
               : std::nullopt;
}

std::optional<HintChange> HintSearch::smaller(const Intent& intent, const HintReason& reason) {
    if (!intent.qty.is_positive()) {
        return std::nullopt;
    }
    Plan one;
    one.intents = {intent};
    const auto qty = largest_qty(one, 0, reason);
    return qty ? std::optional(qty_change(intent, kAtMost, *qty)) : std::nullopt;
}

std::optional<HintChange> HintSearch::larger(const Intent& intent, const HintReason& reason) {
    const MarketFacts* market = market_.find(intent.symbol);
    const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
    if (!mid) {
        return std::nullopt;
    }
    const Decimal step = step_of(intent);
    Decimal least = market->rules.qty_min;
    if (reason.code == breach_codes::kNotionalMin) {
        const auto fill = assess_fill(intent, *market, assumptions_of(state_.limits));
        if (fill.problem != FillProblem::none) {
            return std::nullopt;
        }
        const Decimal price = intent.limit_price.value_or(std::min(fill.estimate.price, *mid));
        const auto qty = divide_round_up(market->rules.notional_min, price);
        if (!qty) {
            return std::nullopt;
        }
        least = *qty;
    }
    const auto qty = value_of(ceil_to_step(std::max(least, step), step));
    return qty ? std::optional(qty_change(intent, kAtLeast, *qty)) : std::nullopt;
}

std::optional<HintChange> HintSearch::on_step(const Intent& intent) const {
    const Decimal step = step_of(intent);
    const auto down = value_of(floor_to_step(intent.qty, step));
    if (!down) {
        return std::nullopt;
    }
    return qty_change(intent, kEquals, down->is_positive() ? *down : step);
}

// To the passive side.
std::optional<HintChange> HintSearch::on_tick(const Intent& intent) const {
    if (!intent.limit_price) {
        return std::nullopt;
    }
    const Decimal tick = tick_of(intent);
    const auto price = value_of(
        intent.side == Side::buy ? floor_to_step(*intent.limit_price, tick)
                                 : ceil_to_step(*intent.limit_price, tick));
    return price && price->is_positive() ? std::optional(price_change(intent, kEquals, *price))
                                         : std::nullopt;
}

std::optional<HintChange> HintSearch::in_range(const Intent& intent, std::string_view code) const {
    const MarketFacts* market = market_.find(intent.symbol);
    if (market == nullptr || !intent.limit_price) {
        return std::nullopt;
    }
    const PriceBounds bounds = bounds_of(code, intent.side, *market, state_.limits);
    if (bounds.highest && *intent.limit_price > *bounds.highest) {
        const auto price = value_of(floor_to_step(*bounds.highest, tick_of(intent)));
        return price && price->is_positive() ? std::optional(price_change(intent, kAtMost, *price))
                                             : std::nullopt;
    }
    if (bounds.lowest && *intent.limit_price < *bounds.lowest) {
        const auto price = value_of(ceil_to_step(*bounds.lowest, tick_of(intent)));
        return price ? std::optional(price_change(intent, kAtLeast, *price)) : std::nullopt;
    }
    return std::nullopt;
}

// One tick behind the own order it would trade with.
std::optional<HintChange> HintSearch::past_own_order(const Intent& intent) const {
    const SymbolFacts* facts = state_.find(intent.symbol);
    if (facts == nullptr || !intent.limit_price) {
        return std::nullopt;
    }
    const Decimal tick = tick_of(intent);
    if (intent.side == Side::buy && facts->best_own_ask) {
        const auto price = value_of(subtract(*facts->best_own_ask, tick));
        return price && price->is_positive() ? std::optional(price_change(intent, kAtMost, *price))
                                             : std::nullopt;
    }
    if (intent.side == Side::sell && facts->best_own_bid) {
        const auto price = value_of(add(*facts->best_own_bid, tick));
        return price ? std::optional(price_change(intent, kAtLeast, *price)) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<HintChange> HintSearch::behind_touch(const Intent& intent) const {
    const MarketFacts* market = market_.find(intent.symbol);
    if (market == nullptr || !intent.limit_price || !market->best_bid || !market->best_ask) {
        return std::nullopt;
    }
    const Decimal tick = tick_of(intent);
    const bool is_buy = intent.side == Side::buy;
    const auto price =
        value_of(is_buy ? subtract(*market->best_ask, tick) : add(*market->best_bid, tick));
    return price && price->is_positive()
               ? std::optional(price_change(intent, is_buy ? kAtMost : kAtLeast, *price))
               : std::nullopt;
}

std::optional<HintChange> HintSearch::usable_strategy(const Intent& intent) const {
    const std::vector<StrategyId> ids = planner_strategies(state_);
    if (ids.empty()) {
        return std::nullopt;
    }
    return HintChange{intent.intent_id.text(), "strategy_id", kEquals, ids.front().text()};
}

// Until the order it repeats has left the window.
std::vector<HintChange> HintSearch::wait_for(const HintReason& reason) const {
    std::optional<Timestamp> latest;
    for (const RecentIntent& recent : state_.recent) {
        if (recent.decision_id.text() == reason.extra && recent.symbol.text() == reason.symbol) {
            latest = latest ? std::max(*latest, recent.at) : recent.at;
        }
    }
    Reckoning reckon;
    constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
    const Decimal age = reckon.divide_down(
        Decimal(latest ? state_.now.microseconds - latest->microseconds : 0),
        Decimal(kMicrosecondsPerSecond));
    const Decimal left = reckon.subtract(state_.limits.duplicate_window_sec, age);
    // The window ends behind its last moment.
    const auto whole = floor_to_step(reckon.add(left, Decimal(1)), Decimal(1));
    if (!latest || !whole || reckon.overflowed() || left.is_negative()) {
        return {};
    }
    return {{{}, "wait_seconds", kAtLeast, to_text(*whole)}};
}

Decimal HintSearch::step_of(const Intent& intent) const {
    const MarketFacts* market = market_.find(intent.symbol);
    return envelope_step(market == nullptr ? MarketRules() : market->rules);
}

Decimal HintSearch::tick_of(const Intent& intent) const {
    const MarketFacts* market = market_.find(intent.symbol);
    const bool has_tick = market != nullptr && market->rules.tick_size.is_positive();
    return has_tick ? market->rules.tick_size : kFinestTick;
}

}  // namespace interlock
