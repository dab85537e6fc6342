// Exact arithmetic for one rule of a gate. Overflow is remembered instead of returned, so that a
// formula reads like the contract's; the rule asks once, before it compares, and an overflow is
// then a breach, never a pass. Each operation's rounding is in its name.
#pragma once

#include "base/decimal.h"

namespace interlock {

class Reckoning {
public:
    Decimal add(Decimal a, Decimal b) {
        __int128 sum = 0;
        overflowed_ |= __builtin_add_overflow(a.units(), b.units(), &sum);
        return Decimal::from_units(sum);
    }
    Decimal subtract(Decimal a, Decimal b) {
        __int128 difference = 0;
        overflowed_ |= __builtin_sub_overflow(a.units(), b.units(), &difference);
        return Decimal::from_units(difference);
    }
    Decimal multiply_down(Decimal a, Decimal b) { return take(multiply_round_down(a, b)); }
    Decimal multiply_up(Decimal a, Decimal b) { return take(multiply_round_up(a, b)); }
    Decimal divide_down(Decimal a, Decimal b) { return take(divide_round_down(a, b)); }
    Decimal divide_up(Decimal a, Decimal b) { return take(divide_round_up(a, b)); }
    // Basis points as a fraction.
    Decimal fraction_of_bps(Decimal bps) { return multiply_up(bps, kBasisPoint); }

    bool overflowed() const { return overflowed_; }

private:
    static constexpr Decimal kBasisPoint = Decimal::from_units(100'000'000'000'000);

    Decimal take(const Result<Decimal>& result) {
        if (!result) {
            overflowed_ = true;
            return {};
        }
        return *result;
    }

    bool overflowed_ = false;
};

}  // namespace interlock
