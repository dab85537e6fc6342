#include "trader/backtest/backtest_rows.h"

#include <array>
#include <limits>

#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kColumnsMax = 12;
constexpr int kDecimals = 8;
// Times with fewer digits than microseconds of this century are milliseconds.
constexpr std::int64_t kMicrosecondsMin = 100'000'000'000'000;
constexpr std::int64_t kMillisecondsMin = 100'000'000'000;
constexpr std::int64_t kTimeMax = 253'402'300'799'999'999;  // The end of the year 9999.

bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') <= 9;
}

// The columns of a line, at most kColumnsMax and one more that says there are too many.
struct Columns {
    std::array<std::string_view, kColumnsMax + 1> text;
    std::size_t count = 0;
    std::string_view operator[](std::size_t i) const { return text[i]; }
};

Columns columns_of(std::string_view line) {
    Columns columns;
    const char* at = line.data();
    const char* const end = at + line.size();
    const char* begin = at;
    for (; columns.count <= kColumnsMax; ++at) {
        if (at == end || *at == ',') {
            columns.text[columns.count++] = {begin, static_cast<std::size_t>(at - begin)};
            if (at == end) {
                break;
            }
            begin = at + 1;
        }
    }
    return columns;
}

enum class Reading { fine, no_number, too_large, too_fine };

// A plain decimal without sign or exponent. What is too large is given as the largest number.
Reading read_units(std::string_view text, std::int64_t& units) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const char* at = text.data();
    const char* const end = at + text.size();
    std::int64_t value = 0;
    bool is_large = false;
    const auto take = [&](char c) {
        is_large = is_large || __builtin_mul_overflow(value, 10, &value) ||
                   __builtin_add_overflow(value, c - '0', &value);
    };
    const char* const whole = at;
    for (; at != end && is_digit(*at); ++at) {
        take(*at);
    }
    bool has_digits = at != whole;
    int decimals = 0;
    bool is_fine = false;
    if (at != end && *at == '.') {
        for (++at; at != end && is_digit(*at); ++at) {
            has_digits = true;
            if (decimals < kDecimals) {
                take(*at);
                ++decimals;
            } else {
                is_fine = is_fine || *at != '0';
            }
        }
    }
    if (!has_digits || at != end) {
        return Reading::no_number;
    }
    for (; decimals < kDecimals; ++decimals) {
        take('0');
    }
    units = is_large ? kMax : value;
    return is_large ? Reading::too_large : is_fine ? Reading::too_fine : Reading::fine;
}

std::string_view read_price(std::string_view text, std::int64_t& price) {
    switch (read_units(text, price)) {
        case Reading::no_number:
            return "a price is not a number";
        case Reading::too_large:
            return "a price is too large";
        case Reading::too_fine:
            return "a price has more than 8 decimals";
        case Reading::fine:
            break;
    }
    return price > 0 ? std::string_view() : "a price is zero";
}

// Huge volumes stay huge: nobody trades them to the end.
std::string_view read_quantity(std::string_view text, std::int64_t& quantity) {
    return read_units(text, quantity) == Reading::no_number ? "a quantity is not a number"
                                                            : std::string_view();
}

std::optional<std::int64_t> read_whole(std::string_view text) {
    std::int64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, c - '0', &value)) {
            return std::nullopt;
        }
    }
    return text.empty() ? std::nullopt : std::optional(value);
}

std::string_view read_time(std::string_view text, Timestamp& at) {
    const auto value = read_whole(text);
    if (!value || *value < kMillisecondsMin) {
        return "the time is not in milliseconds or microseconds since 1970";
    }
    at.microseconds = *value < kMicrosecondsMin ? *value * 1000 : *value;
    return at.microseconds <= kTimeMax
               ? std::string_view()
               : "the time is not in milliseconds or microseconds since 1970";
}

std::optional<bool> read_flag(std::string_view text) {
    if (text == "true" || text == "True" || text == "TRUE") {
        return true;
    }
    if (text == "false" || text == "False" || text == "FALSE") {
        return false;
    }
    return std::nullopt;
}

// The first problem of a list of readings.
std::string_view first_of(std::initializer_list<std::string_view> problems) {
    for (const std::string_view problem : problems) {
        if (!problem.empty()) {
            return problem;
        }
    }
    return {};
}

std::string_view read_candle(const Columns& in, BacktestRow& row) {
    if (in.count != 12) {
        return "a kline has 12 columns";
    }
    row.kind = BacktestRow::Kind::candle;
    if (const auto problem = first_of(
            {read_time(in[0], row.at),
             read_price(in[1], row.open),
             read_price(in[2], row.high),
             read_price(in[3], row.low),
             read_price(in[4], row.close),
             read_quantity(in[5], row.quantity),
             read_time(in[6], row.closed_at)});
        !problem.empty()) {
        return problem;
    }
    if (row.high < std::max({row.open, row.low, row.close}) ||
        row.low > std::min(row.open, row.close)) {
        return "open and close do not lie between low and high";
    }
    return row.closed_at > row.at ? std::string_view() : "the candle closes before it opens";
}

struct TradeColumns {
    std::size_t quantity = 2;
    std::size_t time = 4;
    std::size_t is_buyer_maker = 5;
};

std::string_view read_trade(const Columns& in, const TradeColumns& at, BacktestRow& row) {
    row.kind = BacktestRow::Kind::trade;
    if (const auto problem = first_of(
            {read_price(in[1], row.price),
             read_quantity(in[at.quantity], row.quantity),
             read_time(in[at.time], row.at)});
        !problem.empty()) {
        return problem;
    }
    const auto is_buyer_maker = read_flag(in[at.is_buyer_maker]);
    if (!is_buyer_maker) {
        return "is_buyer_maker is neither true nor false";
    }
    row.taker = *is_buyer_maker ? BookSide::sell : BookSide::buy;
    return row.quantity > 0 ? std::string_view() : "a quantity is zero";
}

// An empty side of a quote has an empty or zero price.
std::string_view read_side(
    std::string_view price,
    std::string_view quantity,
    std::int64_t& price_units,
    std::int64_t& quantity_units) {
    if (price.empty() || price == "0") {
        price_units = 0;
        quantity_units = 0;
        return {};
    }
    return first_of({read_price(price, price_units), read_quantity(quantity, quantity_units)});
}

std::string_view read_quote(const Columns& in, const Symbol& symbol, BacktestRow& row) {
    if (in.count != 6 && in.count != 9) {
        return "a recorded tick has 6 or 9 columns";
    }
    row.kind = BacktestRow::Kind::quote;
    row.at = {};
    const auto at = parse_timestamp(in[0]);
    if (!at) {
        return "the time is not in the form 2026-01-31T12:00:00Z";
    }
    const auto named = Symbol::parse(in[1]);
    if (!named) {
        return "the symbol has other characters than letters and digits";
    }
    if (*named != symbol) {
        return {};
    }
    row.price = 0;
    row.quantity = 0;
    if (const auto problem = first_of(
            {read_side(in[2], in[3], row.bid, row.bid_quantity),
             read_side(in[4], in[5], row.ask, row.ask_quantity)});
        !problem.empty()) {
        return problem;
    }
    if (row.bid > 0 && row.ask > 0 && row.bid >= row.ask) {
        return "the bid is not below the ask";
    }
    if (in.count == 9 && !in[6].empty()) {
        if (const auto problem =
                first_of({read_price(in[6], row.price), read_quantity(in[7], row.quantity)});
            !problem.empty()) {
            return problem;
        }
        if (in[8] != "buy" && in[8] != "sell") {
            return "the side of a trade is neither buy nor sell";
        }
        row.taker = in[8] == "buy" ? BookSide::buy : BookSide::sell;
    }
    row.at = *at;
    return {};
}

// Seven columns are trades of the spot market or aggTrades of the futures market; the sixth tells.
TradeColumns agg_columns() {
    return {.quantity = 2, .time = 5, .is_buyer_maker = 6};
}

}  // namespace

std::string_view to_word(BacktestLayout layout) {
    switch (layout) {
        case BacktestLayout::klines:
            return "klines";
        case BacktestLayout::trades:
            return "trades";
        case BacktestLayout::agg_trades:
            return "aggTrades";
        case BacktestLayout::recording:
            break;
    }
    return "recording";
}

std::optional<BacktestLayout> recognise_layout(std::string_view line) {
    if (line.starts_with('#') || line.starts_with("time,symbol,")) {
        return BacktestLayout::recording;
    }
    if (line.starts_with("open_time,")) {
        return BacktestLayout::klines;
    }
    if (line.starts_with("agg_trade_id,")) {
        return BacktestLayout::agg_trades;
    }
    if (line.starts_with("id,price,") || line.starts_with("trade_id,price,")) {
        return BacktestLayout::trades;
    }
    const Columns columns = columns_of(line);
    if ((columns.count == 6 || columns.count == 9) && columns[0].find('T') == 10) {
        return BacktestLayout::recording;
    }
    if (!read_whole(columns[0])) {
        return std::nullopt;
    }
    if (columns.count == 12) {
        return BacktestLayout::klines;
    }
    if ((columns.count == 6 || columns.count == 7) && read_flag(columns[5])) {
        return BacktestLayout::trades;
    }
    if ((columns.count == 7 || columns.count == 8) && read_flag(columns[6])) {
        return BacktestLayout::agg_trades;
    }
    return std::nullopt;
}

bool is_no_row(BacktestLayout layout, std::string_view line) {
    if (line.empty() || line[0] == '#') {
        return true;
    }
    if (layout == BacktestLayout::recording) {
        return line.starts_with("time,");
    }
    // A header starts with a letter where rows have a number.
    return (line[0] >= 'a' && line[0] <= 'z') && recognise_layout(line) == layout;
}

std::string_view read_row(
    BacktestLayout layout, std::string_view line, const Symbol& symbol, BacktestRow& row) {
    const Columns columns = columns_of(line);
    switch (layout) {
        case BacktestLayout::klines:
            return read_candle(columns, row);
        case BacktestLayout::trades:
            return columns.count == 6 || columns.count == 7 ? read_trade(columns, {}, row)
                                                            : "a trade has 6 or 7 columns";
        case BacktestLayout::agg_trades:
            return columns.count == 7 || columns.count == 8
                       ? read_trade(columns, agg_columns(), row)
                       : "an aggregated trade has 7 or 8 columns";
        case BacktestLayout::recording:
            break;
    }
    return read_quote(columns, symbol, row);
}

}  // namespace interlock
