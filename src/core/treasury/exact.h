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

    friend Exact operator+(Exact a, Exact b) { return join(a, b, add(a.value_, b.value_)); }
    friend Exact operator-(Exact a, Exact b) { return join(a, b, subtract(a.value_, b.value_)); }
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
