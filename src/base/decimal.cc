// Exact decimal arithmetic. Products and quotients go through 256 bits, so that only the result can
// overflow, never a step on the way. Everything is done on magnitudes; the sign decides at the end
// which way "down" and "up" point.
#include "base/decimal.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/errors.h"
#include "base/json.h"

namespace interlock {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kUnitsPerOne = 1'000'000'000'000'000'000;
constexpr Wide kMagnitudeMax = Wide{1} << 127;  // Reached by the most negative value only.

enum class Rounding { down, up, half_even };

constexpr Wide magnitude_of(__int128 value) {
    // Two's complement negation in unsigned arithmetic is right for the most negative value too.
    return value < 0 ? Wide{0} - static_cast<Wide>(value) : static_cast<Wide>(value);
}

std::unexpected<Error> overflow() {
    return fail(
        errors::out_of_range, "the result lies outside the range of a decimal, about ±1.7e20");
}

Result<Decimal> from_magnitude(Wide magnitude, bool negative) {
    if (magnitude > kMagnitudeMax || (magnitude == kMagnitudeMax && !negative)) {
        return overflow();
    }
    const Wide bits = negative ? Wide{0} - magnitude : magnitude;
    return Decimal::from_units(static_cast<__int128>(bits));
}

// Least significant limb first.
using Limbs = std::array<std::uint64_t, 4>;

constexpr std::uint64_t low_of(Wide value) {
    return static_cast<std::uint64_t>(value);
}

constexpr std::uint64_t high_of(Wide value) {
    return static_cast<std::uint64_t>(value >> 64);
}

constexpr Wide join(std::uint64_t high, std::uint64_t low) {
    return (Wide{high} << 64) | low;
}

Limbs multiply_full(Wide a, Wide b) {
    const Wide low = Wide{low_of(a)} * low_of(b);
    const Wide cross_a = Wide{high_of(a)} * low_of(b);
    const Wide cross_b = Wide{low_of(a)} * high_of(b);
    const Wide high = Wide{high_of(a)} * high_of(b);
    const Wide middle = Wide{high_of(low)} + low_of(cross_a) + low_of(cross_b);
    const Wide top = high + high_of(cross_a) + high_of(cross_b) + high_of(middle);
    return {low_of(low), low_of(middle), low_of(top), high_of(top)};
}

struct Division {
    Limbs quotient;
    Wide remainder;
};

Division divide_by_limb(const Limbs& dividend, std::uint64_t divisor) {
    Division result{{}, 0};
    for (int i = 3; i >= 0; --i) {
        const auto limb = static_cast<std::size_t>(i);
        const Wide part = join(low_of(result.remainder), dividend[limb]);
        result.quotient[limb] = low_of(part / divisor);
        result.remainder = part % divisor;
    }
    return result;
}

// One digit of long division in base 2^64: (remainder : next) / divisor, for remainder < divisor
// and a divisor with its top bit set. Leaves the new remainder.
std::uint64_t divide_step(Wide& remainder, std::uint64_t next, Wide divisor) {
    const std::uint64_t top = high_of(divisor);
    Wide guess = remainder / top;
    Wide rest = remainder % top;
    // The guess from the top limb is at most two too large; the second limb tells.
    while (high_of(guess) != 0 || guess * low_of(divisor) > join(low_of(rest), next)) {
        --guess;
        rest += top;
        if (high_of(rest) != 0) {
            break;
        }
    }
    // Modulo 2^128 on purpose: what is lost above cancels out.
    remainder = join(low_of(remainder), next) - guess * divisor;
    return low_of(guess);
}

Division divide_full(const Limbs& dividend, Wide divisor) {
    if (high_of(divisor) == 0) {
        return divide_by_limb(dividend, low_of(divisor));
    }
    const int shift = __builtin_clzll(high_of(divisor));
    const Wide scaled = divisor << shift;
    const auto carried = [&](std::uint64_t limb) { return shift == 0 ? 0 : limb >> (64 - shift); };
    Wide remainder = carried(dividend[3]);
    Division result{{}, 0};
    for (int i = 3; i >= 0; --i) {
        const auto limb = static_cast<std::size_t>(i);
        const std::uint64_t below = i == 0 ? 0 : carried(dividend[limb - 1]);
        result.quotient[limb] = divide_step(remainder, (dividend[limb] << shift) | below, scaled);
    }
    result.remainder = remainder >> shift;
    return result;
}

struct Quotient {
    const Division& division;
    Wide divisor;
    bool negative;
};

Result<Decimal> round(const Quotient& exact, Rounding rounding) {
    const Limbs& limbs = exact.division.quotient;
    if (limbs[3] != 0 || limbs[2] != 0) {
        return overflow();
    }
    Wide magnitude = join(limbs[1], limbs[0]);
    const Wide remainder = exact.division.remainder;
    bool away_from_zero = false;
    switch (rounding) {
        case Rounding::down:
            away_from_zero = remainder != 0 && exact.negative;
            break;
        case Rounding::up:
            away_from_zero = remainder != 0 && !exact.negative;
            break;
        case Rounding::half_even: {
            const Wide complement = exact.divisor - remainder;  // Doubling could overflow.
            away_from_zero =
                remainder > complement || (remainder == complement && (magnitude & 1) != 0);
            break;
        }
    }
    if (away_from_zero && ++magnitude == 0) {
        return overflow();
    }
    return from_magnitude(magnitude, exact.negative);
}

Result<Decimal> multiply(Decimal a, Decimal b, Rounding rounding) {
    const Limbs product = multiply_full(magnitude_of(a.units()), magnitude_of(b.units()));
    const Division division = divide_by_limb(product, kUnitsPerOne);
    return round({division, kUnitsPerOne, a.is_negative() != b.is_negative()}, rounding);
}

Result<Decimal> divide(Decimal a, Decimal b, Rounding rounding) {
    if (b.is_zero()) {
        return fail(errors::out_of_range, "division by zero");
    }
    const Wide divisor = magnitude_of(b.units());
    const Limbs scaled = multiply_full(magnitude_of(a.units()), kUnitsPerOne);
    const Division division = divide_full(scaled, divisor);
    return round({division, divisor, a.is_negative() != b.is_negative()}, rounding);
}

Result<Decimal> to_step(Decimal a, Decimal step, Rounding rounding) {
    if (!step.is_positive()) {
        return fail(errors::out_of_range, "a step must be positive");
    }
    const __int128 remainder = a.units() % step.units();
    if (remainder == 0) {
        return a;
    }
    const __int128 toward_zero = a.units() - remainder;
    __int128 result = toward_zero;
    bool wrapped = false;
    if (rounding == Rounding::down && remainder < 0) {
        wrapped = __builtin_sub_overflow(toward_zero, step.units(), &result);
    } else if (rounding == Rounding::up && remainder > 0) {
        wrapped = __builtin_add_overflow(toward_zero, step.units(), &result);
    }
    if (wrapped) {
        return overflow();
    }
    return Decimal::from_units(result);
}

// A number's text taken apart: (-1)^negative × digits × 10^exponent.
struct NumberParts {
    bool negative = false;
    std::string digits;  // Without leading or trailing zeros; empty for zero.
    std::int64_t exponent = 0;
};

// Exponents are cut to this size while reading; anything near it is out of range anyway.
constexpr std::int64_t kExponentCut = 100'000;

NumberParts take_apart(std::string_view text) {
    NumberParts parts;
    parts.negative = text.starts_with('-');
    const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
    bool after_point = false;
    for (const char c : text.substr(0, exponent_at)) {
        if (c == '.') {
            after_point = true;
        } else if (c != '-') {
            parts.digits += c;
            parts.exponent -= after_point ? 1 : 0;
        }
    }
    std::int64_t written = 0;
    for (const char c : text.substr(exponent_at)) {
        if (c >= '0' && c <= '9') {
            written = std::min(written * 10 + (c - '0'), kExponentCut);
        }
    }
    const bool down = text.substr(exponent_at).find('-') != std::string_view::npos;
    parts.exponent += down ? -written : written;
    while (parts.digits.ends_with('0')) {
        parts.digits.pop_back();
        ++parts.exponent;
    }
    parts.digits.erase(0, parts.digits.find_first_not_of('0'));
    return parts;
}

}  // namespace

Result<Decimal> Decimal::parse(std::string_view text) {
    if (text.size() > kTextLengthMax) {
        return fail(
            errors::invalid_request,
            "a number may have at most " + std::to_string(kTextLengthMax) + " characters, found " +
                std::to_string(text.size()));
    }
    if (!is_json_number(text)) {
        return fail(errors::invalid_request, "expected a decimal number such as 12.5");
    }
    const NumberParts parts = take_apart(text);
    if (parts.digits.empty()) {
        return Decimal();
    }
    if (parts.exponent < -kScale) {
        return fail(
            errors::out_of_range,
            "a number may have at most " + std::to_string(kScale) + " decimals");
    }
    Wide magnitude = 0;
    const auto append = [&](unsigned digit) {
        return !__builtin_mul_overflow(magnitude, Wide{10}, &magnitude) &&
               !__builtin_add_overflow(magnitude, Wide{digit}, &magnitude);
    };
    for (const char c : parts.digits) {
        if (!append(static_cast<unsigned>(c - '0'))) {
            return overflow();
        }
    }
    for (std::int64_t zeros = parts.exponent + kScale; zeros > 0; --zeros) {
        if (!append(0)) {
            return overflow();
        }
    }
    return from_magnitude(magnitude, parts.negative);
}

std::string to_text(Decimal decimal) {
    // Split once, so that digits come out of 64-bit divisions: facts are full of decimals.
    const Wide magnitude = magnitude_of(decimal.units());
    Wide whole = magnitude / kUnitsPerOne;
    auto fraction = static_cast<std::uint64_t>(magnitude % kUnitsPerOne);
    std::array<char, 48> buffer{};
    std::size_t at = buffer.size();
    const auto put = [&](std::uint64_t digit) {
        buffer[--at] = static_cast<char>('0' + static_cast<int>(digit));
    };
    if (fraction != 0) {
        int places = Decimal::kScale;
        for (; fraction % 10 == 0; --places) {
            fraction /= 10;
        }
        for (; places > 0; --places) {
            put(fraction % 10);
            fraction /= 10;
        }
        buffer[--at] = '.';
    }
    for (; whole > std::numeric_limits<std::uint64_t>::max(); whole /= 10) {
        put(static_cast<std::uint64_t>(whole % 10));
    }
    auto rest = static_cast<std::uint64_t>(whole);
    do {
        put(rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (decimal.is_negative()) {
        buffer[--at] = '-';
    }
    return std::string(buffer.data() + at, buffer.size() - at);
}

Result<Decimal> add(Decimal a, Decimal b) {
    __int128 sum = 0;
    if (__builtin_add_overflow(a.units(), b.units(), &sum)) {
        return overflow();
    }
    return Decimal::from_units(sum);
}

Result<Decimal> subtract(Decimal a, Decimal b) {
    __int128 difference = 0;
    if (__builtin_sub_overflow(a.units(), b.units(), &difference)) {
        return overflow();
    }
    return Decimal::from_units(difference);
}

Result<Decimal> negate(Decimal a) {
    return subtract(Decimal(), a);
}

Result<Decimal> multiply_round_down(Decimal a, Decimal b) {
    return multiply(a, b, Rounding::down);
}

Result<Decimal> multiply_round_up(Decimal a, Decimal b) {
    return multiply(a, b, Rounding::up);
}

Result<Decimal> multiply_half_even(Decimal a, Decimal b) {
    return multiply(a, b, Rounding::half_even);
}

Result<Decimal> divide_round_down(Decimal a, Decimal b) {
    return divide(a, b, Rounding::down);
}

Result<Decimal> divide_round_up(Decimal a, Decimal b) {
    return divide(a, b, Rounding::up);
}

Result<Decimal> divide_half_even(Decimal a, Decimal b) {
    return divide(a, b, Rounding::half_even);
}

Result<Decimal> floor_to_step(Decimal a, Decimal step) {
    return to_step(a, step, Rounding::down);
}

Result<Decimal> ceil_to_step(Decimal a, Decimal step) {
    return to_step(a, step, Rounding::up);
}

}  // namespace interlock
