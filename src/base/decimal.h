// Exact decimal numbers: fixed point on 128 bits with 18 decimals, range about ±1.7e20.
//
// There is no path to or from double. Overflow is an Error, never a wrap. Rounding is in the name
// of the function that rounds. Canonical text: no exponent, no '+', no trailing zeros, "-0" is "0".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace interlock {

class Decimal {
public:
    static constexpr int kScale = 18;

    constexpr Decimal() = default;
    constexpr explicit Decimal(std::int64_t whole) : units_(static_cast<__int128>(whole) * kOne) {}

    static constexpr Decimal from_units(__int128 units) {
        Decimal decimal;
        decimal.units_ = units;
        return decimal;
    }
    constexpr __int128 units() const { return units_; }

    // Longer texts are refused unread; every value has a text of at most 41 characters.
    static constexpr std::size_t kTextLengthMax = 100;
    // Accepts JSON number syntax (exponents too) and refuses what 18 decimals cannot hold exactly.
    static Result<Decimal> parse(std::string_view text);

    constexpr bool is_zero() const { return units_ == 0; }
    constexpr bool is_negative() const { return units_ < 0; }
    constexpr bool is_positive() const { return units_ > 0; }

    friend constexpr bool operator==(const Decimal&, const Decimal&) = default;
    friend constexpr auto operator<=>(const Decimal& a, const Decimal& b) {
        return a.units_ <=> b.units_;
    }

private:
    static constexpr __int128 kOne = 1'000'000'000'000'000'000;
    __int128 units_ = 0;
};

std::string to_text(Decimal decimal);

Result<Decimal> add(Decimal a, Decimal b);
Result<Decimal> subtract(Decimal a, Decimal b);
Result<Decimal> negate(Decimal a);
// Toward negative infinity / positive infinity / nearest with ties to even.
Result<Decimal> multiply_round_down(Decimal a, Decimal b);
Result<Decimal> multiply_round_up(Decimal a, Decimal b);
Result<Decimal> multiply_half_even(Decimal a, Decimal b);
// Division by zero is an Error.
Result<Decimal> divide_round_down(Decimal a, Decimal b);
Result<Decimal> divide_round_up(Decimal a, Decimal b);
Result<Decimal> divide_half_even(Decimal a, Decimal b);
// The largest multiple of `step` that is <= a (floor) or the smallest >= a (ceiling); step > 0.
Result<Decimal> floor_to_step(Decimal a, Decimal step);
Result<Decimal> ceil_to_step(Decimal a, Decimal step);

}  // namespace interlock
