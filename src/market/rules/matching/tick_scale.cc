#include "market/rules/matching/tick_scale.h"

#include <string>
#include <string_view>

#include "base/errors.h"

namespace interlock {

namespace {

struct Scale {
    Decimal step;
    std::int64_t count_max;
    std::string_view what;
};

Result<std::int64_t> to_count(Decimal value, const Scale& scale) {
    if (!value.is_positive()) {
        return fail(
            errors::out_of_range,
            std::string(scale.what) + " must be positive, not " + to_text(value));
    }
    if (value.units() % scale.step.units() != 0) {
        return fail(
            errors::out_of_range,
            std::string(scale.what) + " " + to_text(value) + " is no multiple of " +
                to_text(scale.step));
    }
    const __int128 count = value.units() / scale.step.units();
    if (count > scale.count_max) {
        return fail(
            errors::out_of_range,
            std::string(scale.what) + " " + to_text(value) + " is more than " +
                std::to_string(scale.count_max) + " times " + to_text(scale.step));
    }
    return static_cast<std::int64_t>(count);
}

Result<Decimal> to_value(std::int64_t count, const Scale& scale) {
    __int128 units = 0;
    if (__builtin_mul_overflow(static_cast<__int128>(count), scale.step.units(), &units)) {
        return fail(
            errors::out_of_range,
            std::string(scale.what) + " of " + std::to_string(count) + " times " +
                to_text(scale.step) + " is too large");
    }
    return Decimal::from_units(units);
}

}  // namespace

Result<TickScale> TickScale::make(Decimal tick_size, Decimal lot_step) {
    if (!tick_size.is_positive() || !lot_step.is_positive()) {
        return fail(
            errors::out_of_range,
            "tick size and lot step must be positive, not " + to_text(tick_size) + " and " +
                to_text(lot_step));
    }
    return TickScale(tick_size, lot_step);
}

Result<Ticks> TickScale::to_ticks(Decimal price) const {
    TRY_ASSIGN(
        const std::int64_t count, to_count(price, {tick_size_, kBookTicksMax.count, "price"}));
    return Ticks{count};
}

Result<Lots> TickScale::to_lots(Decimal quantity) const {
    TRY_ASSIGN(
        const std::int64_t count, to_count(quantity, {lot_step_, kBookLotsMax.count, "quantity"}));
    return Lots{count};
}

Result<Decimal> TickScale::to_price(Ticks ticks) const {
    return to_value(ticks.count, {tick_size_, kBookTicksMax.count, "price"});
}

Result<Decimal> TickScale::to_quantity(Lots lots) const {
    return to_value(lots.count, {lot_step_, kBookLotsMax.count, "quantity"});
}

}  // namespace interlock
