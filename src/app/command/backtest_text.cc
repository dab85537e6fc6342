#include "app/command/backtest_text.h"

#include <algorithm>

#include "app/command/console.h"

namespace interlock {
namespace {

constexpr int kDecimalPlaces = Decimal::kScale;

__int128 power_of_ten(int exponent) {
    __int128 power = 1;
    for (int i = 0; i < exponent; ++i) {
        power *= 10;
    }
    return power;
}

std::string with_thousands(std::string digits) {
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, ",");
    }
    return digits;
}

std::string whole_text(__int128 value) {
    std::string digits;
    do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
        value /= 10;
    } while (value > 0);
    return digits;
}

std::string count(std::int64_t value) {
    return with_thousands(std::to_string(value));
}

Decimal share_of(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? Decimal() : Decimal::from_units(Decimal(part).units() / whole);
}

std::string in(Decimal amount, const Asset& asset) {
    return fixed_text(amount, 2) + " " + std::string(asset.text());
}

std::string drawdown_text(const Drawdown& drawdown) {
    if (drawdown.fraction.is_zero()) {
        return "none";
    }
    return percent_text(drawdown.fraction) + ", " + moment_text(drawdown.peak_at) + " to " +
           moment_text(drawdown.trough_at);
}

std::string sharpe_text(const BacktestFigures& figures) {
    if (!figures.sharpe) {
        return figures.sharpe_of.empty() ? "too little time for one" : "no variation";
    }
    return fixed_text(*figures.sharpe, 2) + " (" + count(figures.sharpe_returns) + " " +
           figures.sharpe_of + " returns, annualised)";
}

std::string data_text(const BacktestResult& result) {
    std::string text = count(result.data.rows) + " rows of " +
                       std::string(to_word(result.data.layout)) + ", " + count(result.events) +
                       " events";
    if (result.warmup_events > 0) {
        text += ", " + count(result.warmup_events) + " of them warming up";
    }
    return text;
}

void add_data_notes(const BacktestResult& result, BacktestRows& rows) {
    if (result.data.bad_rows > 0) {
        rows.emplace_back(
            "bad rows skipped", count(result.data.bad_rows) + ", first " + result.data.bad.front());
    }
    if (result.data.gaps > 0) {
        const BacktestGap& first = result.data.named_gaps.front();
        rows.emplace_back(
            "gaps in the data",
            count(result.data.gaps) + ", together " + span_text(result.data.gaps_length) +
                ", first at " + first.file + ":" + std::to_string(first.line) + " from " +
                moment_text(first.from));
    }
}

void add_loop_rows(const BacktestResult& result, BacktestRows& rows) {
    const BacktestCounts& counts = result.counts;
    rows.emplace_back(
        "ticks",
        count(counts.ticks) + (counts.ticks_failed > 0 ? ", " + count(counts.ticks_failed) +
                                                             " failed (" + result.last_error + ")"
                                                       : ""));
    rows.emplace_back(
        "decisions",
        count(counts.executed) + " executed" +
            (counts.adjusted > 0 ? " (" + count(counts.adjusted) + " in a smaller size)" : "") +
            ", " + count(counts.refused) + " refused");
    std::string orders = count(counts.orders) + " placed, " + count(counts.cancels) + " cancelled";
    for (const auto& [code, times] : counts.rejected_by) {
        orders += ", " + count(times) + " rejected as " + code;
    }
    rows.emplace_back("orders", orders);
    if (result.stop_count > 0) {
        const BacktestStop& first = result.stops.front();
        rows.emplace_back(
            "stops",
            count(result.stop_count) + ", first " + first.code + " at " + moment_text(first.at));
    }
    rows.emplace_back("risk tier at the end", result.tier);
    rows.emplace_back("the strategy's last word", result.last_word);
    rows.emplace_back(
        "books against the venue",
        result.drift.empty() ? "equal" : "DIFFERENT: " + result.drift.front());
}

}  // namespace

std::string fixed_text(Decimal value, int places) {
    const bool is_negative = value.is_negative();
    const __int128 units = is_negative ? -value.units() : value.units();
    const __int128 step = power_of_ten(kDecimalPlaces - places);
    const __int128 rounded = (units + step / 2) / step;
    const __int128 one = power_of_ten(places);
    std::string text = with_thousands(whole_text(rounded / one));
    if (places > 0) {
        std::string decimals = whole_text(rounded % one);
        decimals.insert(0, static_cast<std::size_t>(places) - decimals.size(), '0');
        text += "." + decimals;
    }
    return is_negative && rounded != 0 ? "-" + text : text;
}

std::string percent_text(Decimal fraction, bool with_sign) {
    const std::string text = fixed_text(Decimal::from_units(fraction.units() * 100), 2) + " %";
    return with_sign && fraction.is_positive() ? "+" + text : text;
}

std::string span_text(Duration span) {
    const std::int64_t seconds = span.microseconds / 1'000'000;
    const auto two = [](std::int64_t a, const char* first, std::int64_t b, const char* second) {
        return std::to_string(a) + " " + first +
               (b > 0 ? " " + std::to_string(b) + " " + second : "");
    };
    if (seconds >= 86'400) {
        return two(seconds / 86'400, "d", seconds % 86'400 / 3600, "h");
    }
    if (seconds >= 3600) {
        return two(seconds / 3600, "h", seconds % 3600 / 60, "min");
    }
    return seconds >= 60 ? two(seconds / 60, "min", seconds % 60, "s")
                         : std::to_string(seconds) + " s";
}

std::string moment_text(Timestamp at) {
    std::string text = to_text(at).substr(0, 16);
    text[10] = ' ';
    return text;
}

BacktestRows report_rows(const BacktestResult& result) {
    const BacktestFigures& figures = result.figures;
    const Asset& quote = result.options.rules.quote;
    BacktestRows rows;
    rows.emplace_back(
        "time covered",
        moment_text(figures.first_at) + " to " + moment_text(figures.last_at) + " UTC, " +
            span_text(figures.last_at - figures.first_at));
    rows.emplace_back("data", data_text(result));
    add_data_notes(result, rows);
    rows.emplace_back(
        "equity", in(figures.equity_first, quote) + " to " + in(figures.equity_last, quote));
    rows.emplace_back(
        "return",
        percent_text(figures.total_return, true) +
            " (holding the market: " + percent_text(figures.hold_return, true) + ")");
    rows.emplace_back("max drawdown", drawdown_text(figures.drawdown));
    rows.emplace_back("Sharpe ratio", sharpe_text(figures));
    rows.emplace_back(
        "fills", count(figures.fills) + ", " + count(figures.maker_fills) + " of them as maker");
    rows.emplace_back(
        "fees",
        in(figures.fees, quote) + ", " +
            percent_text(divide_half_even(figures.fees, figures.equity_first).value_or(Decimal())) +
            " of the first equity");
    rows.emplace_back("turnover", in(figures.turnover, quote));
    rows.emplace_back("realised before fees", in(figures.realized, quote));
    rows.emplace_back(
        "round trips",
        count(figures.round_trips) + ", won " +
            percent_text(share_of(figures.round_trips_won, figures.round_trips)));
    rows.emplace_back(
        "exposure",
        percent_text(figures.exposure_mean) + " mean, " + percent_text(figures.exposure_max) +
            " at most");
    rows.emplace_back(
        "held at the end",
        to_text(result.position) + " " + std::string(result.options.rules.base.text()) + ", " +
            count_text(result.open_orders, "open order"));
    add_loop_rows(result, rows);
    return rows;
}

std::vector<std::vector<std::string>> refusal_rows(const BacktestResult& result) {
    std::vector<std::pair<std::string, std::int64_t>> sorted(
        result.counts.refused_by.begin(), result.counts.refused_by.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second > b.second;
    });
    std::vector<std::vector<std::string>> rows;
    for (const auto& [word, times] : sorted) {
        const std::size_t colon = word.find(':');
        rows.push_back(
            {word.substr(0, colon),
             colon == std::string::npos ? "-" : word.substr(colon + 1),
             count(times)});
    }
    return rows;
}

BacktestRows parameter_rows(const BacktestResult& result) {
    BacktestRows rows;
    const Json document = encode(result);
    const Json* parameters = document.find("parameters");
    for (const auto& [name, value] : parameters->members()) {
        if (!value.is_object()) {
            rows.emplace_back(name, value.is_string() ? value.as_string() : to_text(value));
            continue;
        }
        for (const auto& [inner, held] : value.members()) {
            rows.emplace_back(
                name + "." + inner, held.is_string() ? held.as_string() : to_text(held));
        }
    }
    return rows;
}

}  // namespace interlock
