// Calendar arithmetic on the proleptic Gregorian calendar, in UTC, without the C library: its
// functions read the environment's time zone and differ between systems.
//
// Days are counted in eras of 400 years that begin on 1 March, so that the leap day is an era's
// last and no month needs a special case.
#include "base/time.h"

#include <array>
#include <limits>
#include <optional>

#include "base/errors.h"

namespace interlock {
namespace {

constexpr std::int64_t kMicrosecondsPerSecond = 1'000'000;
constexpr std::int64_t kMicrosecondsPerDay = 86'400 * kMicrosecondsPerSecond;
constexpr std::int64_t kDaysPerEra = 146'097;
// From 0000-03-01, where the era count begins, to 1970-01-01.
constexpr std::int64_t kDaysToEpoch = 719'468;
constexpr std::size_t kDecimalsMax = 9;

struct CivilDate {
    std::int64_t year;
    std::int64_t month;  // 1 to 12.
    std::int64_t day;    // 1 to 31.
};

constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

constexpr std::int64_t days_from_civil(CivilDate date) {
    const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    const std::int64_t era = floor_divide(year, 400);
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t months_since_march = (date.month + 9) % 12;
    // 153 days in any five months from March on; the 2 makes the division fall on month ends.
    const std::int64_t day_of_year = (153 * months_since_march + 2) / 5 + date.day - 1;
    const std::int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * kDaysPerEra + day_of_era - kDaysToEpoch;
}

constexpr CivilDate civil_from_days(std::int64_t days) {
    const std::int64_t shifted = days + kDaysToEpoch;
    const std::int64_t era = floor_divide(shifted, kDaysPerEra);
    const std::int64_t day_of_era = shifted - era * kDaysPerEra;
    // Takes out the leap days passed so far: one each 4 years, none each 100, one each 400.
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t months_since_march = (5 * day_of_year + 2) / 153;
    const std::int64_t day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    const std::int64_t month =
        months_since_march < 10 ? months_since_march + 3 : months_since_march - 9;
    return {era * 400 + year_of_era + (month <= 2 ? 1 : 0), month, day};
}

constexpr bool is_leap_year(std::int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
    constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap_year(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

constexpr std::int64_t kTextFirst = days_from_civil({0, 1, 1}) * kMicrosecondsPerDay;
constexpr std::int64_t kTextLast = days_from_civil({10'000, 1, 1}) * kMicrosecondsPerDay - 1;

void append_digits(std::string& out, std::int64_t value, int width) {
    std::array<char, 20> digits{};
    for (int i = width - 1; i >= 0; --i) {
        digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    out.append(digits.data(), static_cast<std::size_t>(width));
}

// Takes a text apart from the left; after the first thing that does not fit, all reads fail.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    std::int64_t number(std::size_t width, std::int64_t min, std::int64_t max) {
        std::int64_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
                good_ = false;
                return min;
            }
            value = value * 10 + (rest_[i] - '0');
        }
        rest_.remove_prefix(width);
        good_ = good_ && value >= min && value <= max;
        return good_ ? value : min;
    }

    char one_of(std::string_view set) {
        if (rest_.empty() || set.find(rest_.front()) == std::string_view::npos) {
            good_ = false;
            return set.front();
        }
        const char found = rest_.front();
        rest_.remove_prefix(1);
        return found;
    }

    bool at(char c) const { return rest_.starts_with(c); }
    std::size_t digits_ahead() const {
        std::size_t count = 0;
        while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
            ++count;
        }
        return count;
    }
    bool finished() const { return good_ && rest_.empty(); }
    bool good() const { return good_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

// Microseconds of ".123456789"; what lies below the microsecond is cut.
std::int64_t scan_decimals(Scanner& in) {
    if (!in.at('.')) {
        return 0;
    }
    in.one_of(".");
    std::int64_t value = 0;
    const std::size_t count = in.digits_ahead();
    if (count < 1 || count > kDecimalsMax) {
        in.number(kDecimalsMax + 1, 0, -1);  // Marks the text as bad.
        return 0;
    }
    for (std::size_t i = 0; i < 6; ++i) {
        value = value * 10 + (i < count ? in.number(1, 0, 9) : 0);
    }
    for (std::size_t i = 6; i < count; ++i) {
        in.number(1, 0, 9);
    }
    return value;
}

std::int64_t scan_offset_minutes(Scanner& in) {
    const char sign = in.one_of("Zz+-");
    if (sign == 'Z' || sign == 'z') {
        return 0;
    }
    const std::int64_t hours = in.number(2, 0, 23);
    in.one_of(":");
    const std::int64_t minutes = hours * 60 + in.number(2, 0, 59);
    return sign == '-' ? -minutes : minutes;
}

std::optional<Timestamp> scan_timestamp(std::string_view text) {
    Scanner in(text);
    CivilDate date{};
    date.year = in.number(4, 0, 9999);
    in.one_of("-");
    date.month = in.number(2, 1, 12);
    in.one_of("-");
    date.day = in.number(2, 1, days_in_month(date.year, date.month));
    in.one_of("Tt");
    std::int64_t seconds = in.number(2, 0, 23) * 3600;
    in.one_of(":");
    seconds += in.number(2, 0, 59) * 60;
    in.one_of(":");
    seconds += in.number(2, 0, 59);
    const std::int64_t microseconds = scan_decimals(in);
    seconds -= scan_offset_minutes(in) * 60;
    if (!in.finished()) {
        return std::nullopt;
    }
    return Timestamp{
        days_from_civil(date) * kMicrosecondsPerDay + seconds * kMicrosecondsPerSecond +
        microseconds};
}

}  // namespace

std::string to_text(Timestamp at) {
    const std::int64_t clamped = at.microseconds < kTextFirst  ? kTextFirst
                                 : at.microseconds > kTextLast ? kTextLast
                                                               : at.microseconds;
    const std::int64_t days = floor_divide(clamped, kMicrosecondsPerDay);
    const std::int64_t milliseconds = (clamped - days * kMicrosecondsPerDay) / 1000;
    const CivilDate date = civil_from_days(days);
    std::string out;
    out.reserve(24);
    append_digits(out, date.year, 4);
    out += '-';
    append_digits(out, date.month, 2);
    out += '-';
    append_digits(out, date.day, 2);
    out += 'T';
    append_digits(out, milliseconds / 3'600'000, 2);
    out += ':';
    append_digits(out, milliseconds / 60'000 % 60, 2);
    out += ':';
    append_digits(out, milliseconds / 1000 % 60, 2);
    out += '.';
    append_digits(out, milliseconds % 1000, 3);
    out += 'Z';
    return out;
}

Result<Timestamp> parse_timestamp(std::string_view text) {
    const std::optional<Timestamp> at = scan_timestamp(text);
    if (!at) {
        return fail(
            errors::invalid_request, "expected an RFC 3339 time such as 2026-11-15T07:37:48.123Z");
    }
    if (at->microseconds < 0 || at->microseconds > kTextLast) {
        return fail(errors::out_of_range, "expected a time in the years 1970 to 9999");
    }
    return *at;
}

Timestamp utc_day_start(Timestamp at) {
    const std::int64_t days = floor_divide(at.microseconds, kMicrosecondsPerDay);
    std::int64_t start = 0;
    if (__builtin_mul_overflow(days, kMicrosecondsPerDay, &start)) {
        return {std::numeric_limits<std::int64_t>::min()};  // The first day is cut short.
    }
    return {start};
}

}  // namespace interlock
