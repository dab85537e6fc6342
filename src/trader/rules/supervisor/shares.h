// Whole-number arithmetic on shares, which are decimals from 0 to 1: nothing here can overflow or
// fail, because everything is brought into that span first.
#pragma once

#include <algorithm>

#include "base/decimal.h"

namespace interlock {

inline constexpr Decimal kWhole{1};

constexpr Decimal percent(std::int64_t n) {
    return Decimal::from_units(Decimal(n).units() / 100);
}

constexpr Decimal clamp_share(Decimal value) {
    return std::clamp(value, Decimal(), kWhole);
}

// a × percent / 100, toward zero.
constexpr Decimal part_of(Decimal share, std::int64_t percents) {
    return Decimal::from_units(share.units() * percents / 100);
}

constexpr Decimal sum_of(Decimal a, Decimal b) {
    return Decimal::from_units(a.units() + b.units());
}

constexpr Decimal rest_of(Decimal share) {
    return Decimal::from_units(kWhole.units() - share.units());
}

// |value|, from 0 up; more than ten counts as ten.
constexpr Decimal size_of(Decimal value) {
    constexpr Decimal kMost{10};
    const Decimal bounded = std::clamp(value, Decimal(-10), kMost);
    return Decimal::from_units(bounded.is_negative() ? -bounded.units() : bounded.units());
}

// value / whole, at most 1; 1 for a whole that is not positive.
inline Decimal share_of(Decimal value, Decimal whole) {
    if (!whole.is_positive() || value >= whole) {
        return kWhole;
    }
    return clamp_share(divide_round_down(value, whole).value_or(kWhole));
}

// To four decimals, down: what fits and confidences are told in.
constexpr Decimal told(Decimal share) {
    constexpr __int128 kTenThousandth = Decimal(1).units() / 10'000;
    return Decimal::from_units(share.units() / kTenThousandth * kTenThousandth);
}

}  // namespace interlock
