#include "venues/paper/paper_filters.h"

#include <limits>

#include "account/ports/venue.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr __int128 kOneMillionth = 1'000'000'000'000;  // In units of a Decimal.

bool is_within(Decimal value, Decimal min, Decimal max) {
    return (min.is_zero() || value >= min) && (max.is_zero() || value <= max);
}

std::string range_text(Decimal min, Decimal max) {
    return to_text(min) + " to " + (max.is_zero() ? "any" : to_text(max));
}

}  // namespace

std::unexpected<Error> reject(std::string_view code, const std::string& sentence) {
    return fail(errors::venue_rejected, std::string(code) + ": " + sentence);
}

Result<PaperFilters> PaperFilters::make(const MarketRules& rules) {
    TRY_ASSIGN(const TickScale scale, TickScale::make(rules.tick_size, rules.step_size));
    PaperFilters filters(rules, scale);
    const auto down = multiply_round_down(rules.tick_size, rules.step_size);
    const auto up = multiply_round_up(rules.tick_size, rules.step_size);
    if (!down || !up || *down != *up) {
        return fail(
            errors::invalid_config,
            "Tick size " + to_text(rules.tick_size) + " times step size " +
                to_text(rules.step_size) + " of " + std::string(rules.symbol.text()) +
                " needs more than 18 decimals.");
    }
    filters.value_unit_ = down->units();
    filters.up_ppm_ = static_cast<std::int64_t>(rules.percent_up.units() / kOneMillionth);
    filters.down_ppm_ = static_cast<std::int64_t>(rules.percent_down.units() / kOneMillionth);
    return filters;
}

Decimal PaperFilters::value_of(__int128 tick_lots) const {
    __int128 units = 0;
    if (__builtin_mul_overflow(tick_lots, value_unit_, &units)) {
        return Decimal::from_units(std::numeric_limits<__int128>::max());
    }
    return Decimal::from_units(units);
}

Result<PaperFilters::Terms> PaperFilters::check(
    const VenueOrderRequest& request, const MarketView& view) const {
    const bool is_limit = request.order_type == OrderType::limit;
    if (is_limit != request.limit_price.has_value()) {
        return reject(
            "invalid_order",
            is_limit ? "A limit order needs a price." : "A market order has no price.");
    }
    if (request.post_only && (!is_limit || request.time_in_force != TimeInForce::gtc)) {
        return reject("invalid_order", "Only a limit order that may rest can be post-only.");
    }
    Terms terms;
    TRY_ASSIGN(terms.quantity, check_quantity(request));
    if (is_limit) {
        TRY_ASSIGN(terms.price, check_price(*request.limit_price, view));
    }
    TRY(check_notional(terms, view));
    return terms;
}

Result<Ticks> PaperFilters::check_price(Decimal price, const MarketView& view) const {
    if (!price.is_positive() || !is_within(price, rules_.price_min, rules_.price_max)) {
        return reject(
            "filter_price",
            "The price " + to_text(price) + " is not within " +
                range_text(rules_.price_min, rules_.price_max) + ".");
    }
    const auto ticks = scale_.to_ticks(price);
    if (!ticks) {
        return reject("filter_price", ticks.error().message);
    }
    if (view.bids.empty() || view.asks.empty()) {
        return *ticks;
    }
    const __int128 twice_mid = view.bids.front().price.count + view.asks.front().price.count;
    const __int128 scaled = static_cast<__int128>(ticks->count) * 2'000'000;
    if ((up_ppm_ != 0 && scaled > twice_mid * up_ppm_) ||
        (down_ppm_ != 0 && scaled < twice_mid * down_ppm_)) {
        return reject(
            "filter_percent_price", "The price " + to_text(price) + " is too far from the market.");
    }
    return *ticks;
}

Result<Lots> PaperFilters::check_quantity(const VenueOrderRequest& request) const {
    const bool is_limit = request.order_type == OrderType::limit;
    const Decimal max =
        is_limit || rules_.market_qty_max.is_zero() ? rules_.qty_max : rules_.market_qty_max;
    const std::string_view code = is_limit ? "filter_lot_size" : "filter_market_lot_size";
    if (!request.qty.is_positive() || !is_within(request.qty, rules_.qty_min, max)) {
        return reject(
            code,
            "The quantity " + to_text(request.qty) + " is not within " +
                range_text(rules_.qty_min, max) + ".");
    }
    const auto lots = scale_.to_lots(request.qty);
    if (!lots) {
        return reject(code, lots.error().message);
    }
    return *lots;
}

Result<void> PaperFilters::check_notional(const Terms& terms, const MarketView& view) const {
    Ticks price = terms.price;
    if (price.count == 0) {
        // A market order counts at the mid; without one there is nothing to trade with anyway.
        if (view.bids.empty() || view.asks.empty()) {
            return {};
        }
        price = {(view.bids.front().price.count + view.asks.front().price.count) / 2};
    }
    const Decimal notional = value_of(price, terms.quantity);
    if (!is_within(notional, rules_.notional_min, rules_.notional_max)) {
        return reject(
            "filter_notional",
            "The value " + to_text(notional) + " is not within " +
                range_text(rules_.notional_min, rules_.notional_max) + ".");
    }
    return {};
}

}  // namespace interlock
