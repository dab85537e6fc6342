// The filters of one market on whole ticks and lots: what turns a request into an order of the
// book, or into the venue's reason for refusing it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "account/wire/venue_order.h"
#include "base/result.h"
#include "market/rules/market_model.h"
#include "market/rules/matching/tick_scale.h"

namespace interlock {

// A refusal of the venue: errors::venue_rejected with "code: sentence".
std::unexpected<Error> reject(std::string_view code, const std::string& sentence);

class PaperFilters {
public:
    struct Terms {
        Ticks price;  // Zero for a market order.
        Lots quantity;
    };

    // Fails with invalid_config when tick size × step size needs more than 18 decimals.
    static Result<PaperFilters> make(const MarketRules& rules);

    // Everything that needs no account: shape, price, lot size, notional, distance from the mid.
    Result<Terms> check(const VenueOrderRequest& request, const MarketView& view) const;

    const MarketRules& rules() const { return rules_; }
    // price × quantity, exact. A product beyond the range of a decimal is its largest value.
    Decimal value_of(Ticks price, Lots quantity) const {
        return value_of(static_cast<__int128>(price.count) * quantity.count);
    }
    Decimal value_of(__int128 tick_lots) const;
    Decimal price_of(Ticks price) const {
        return Decimal::from_units(rules_.tick_size.units() * price.count);
    }
    Decimal quantity_of(Lots quantity) const {
        return Decimal::from_units(rules_.step_size.units() * quantity.count);
    }
    Result<Ticks> ticks_of(Decimal price) const { return scale_.to_ticks(price); }
    Result<Lots> lots_of(Decimal quantity) const { return scale_.to_lots(quantity); }

private:
    PaperFilters(const MarketRules& rules, TickScale scale) : rules_(rules), scale_(scale) {}
    Result<Ticks> check_price(Decimal price, const MarketView& view) const;
    Result<Lots> check_quantity(const VenueOrderRequest& request) const;
    Result<void> check_notional(const Terms& terms, const MarketView& view) const;

    MarketRules rules_;
    TickScale scale_;
    __int128 value_unit_ = 0;  // One tick times one lot, in units of a Decimal.
    std::int64_t up_ppm_ = 0;
    std::int64_t down_ppm_ = 0;
};

}  // namespace interlock
