// Exact: a decimal inside a longer computation. An overflow sticks to the result instead of
// interrupting the formula, so sums read like sums; result() tells at the end. Rounding stays in
// the name of the step that rounds.
#pragma once

#include "base/decimal.h"
#include "base/errors.h"

namespace interlock {

class Exact {
public:
    Exact() = default;
    Exact(Decimal value) : value_(value) {}

    Result<Decimal> result() const {
        if (!is_valid_) {
            return fail(errors::out_of_range, "an amount lies outside the range of a decimal");
        }
        return value_;
    }

    // Inline: sums over a month of days run with every set of facts.
    friend Exact operator+(Exact a, Exact b) {
        __int128 sum = 0;
        const bool fits = !__builtin_add_overflow(a.value_.units(), b.value_.units(), &sum);
        return sum_of(a.is_valid_ && b.is_valid_ && fits, sum);
    }
    friend Exact operator-(Exact a, Exact b) {
        __int128 rest = 0;
        const bool fits = !__builtin_sub_overflow(a.value_.units(), b.value_.units(), &rest);
        return sum_of(a.is_valid_ && b.is_valid_ && fits, rest);
    }
    Exact& operator+=(Exact b) { return *this = *this + b; }
    Exact& operator-=(Exact b) { return *this = *this - b; }

    Exact times_up(Exact b) const { return join(*this, b, multiply_round_up(value_, b.value_)); }
    Exact times_down(Exact b) const {
        return join(*this, b, multiply_round_down(value_, b.value_));
    }
    Exact times_even(Exact b) const { return join(*this, b, multiply_half_even(value_, b.value_)); }
    Exact over_up(Exact b) const { return join(*this, b, divide_round_up(value_, b.value_)); }
    Exact over_down(Exact b) const { return join(*this, b, divide_round_down(value_, b.value_)); }
    Exact over_even(Exact b) const { return join(*this, b, divide_half_even(value_, b.value_)); }

private:
    static Exact sum_of(bool is_valid, __int128 units) {
        Exact sum;
        sum.is_valid_ = is_valid;
        sum.value_ = is_valid ? Decimal::from_units(units) : Decimal();
        return sum;
    }
    static Exact join(Exact a, Exact b, const Result<Decimal>& value) {
        Exact joined;
        joined.is_valid_ = a.is_valid_ && b.is_valid_ && value.has_value();
        joined.value_ = joined.is_valid_ ? *value : Decimal();
        return joined;
    }

    Decimal value_;
    bool is_valid_ = true;
};

}  // namespace interlock
