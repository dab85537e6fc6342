// The exact edge of the matching engine: decimal prices and quantities to whole ticks and lots and
// back. A value that is no multiple of its step is refused, never rounded.
#pragma once

#include "base/decimal.h"
#include "base/result.h"
#include "market/rules/matching/book_order.h"

namespace interlock {

class TickScale {
public:
    // Both positive, or out_of_range.
    static Result<TickScale> make(Decimal tick_size, Decimal lot_step);

    Decimal tick_size() const { return tick_size_; }
    Decimal lot_step() const { return lot_step_; }

    // Fail with out_of_range for what is not positive, no multiple, or beyond kBookTicksMax,
    // kBookLotsMax.
    Result<Ticks> to_ticks(Decimal price) const;
    Result<Lots> to_lots(Decimal quantity) const;

    // Fail with out_of_range when a decimal cannot hold the product.
    Result<Decimal> to_price(Ticks ticks) const;
    Result<Decimal> to_quantity(Lots lots) const;

private:
    TickScale(Decimal tick_size, Decimal lot_step) : tick_size_(tick_size), lot_step_(lot_step) {}

    Decimal tick_size_;
    Decimal lot_step_;
};

}  // namespace interlock
