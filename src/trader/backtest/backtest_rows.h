// One line of recorded market data as a row: Binance klines, trades and aggTrades dumps as they are
// published, and the house's own recording (market/rules/recorded_market.h).
//
// Numbers become whole hundred-millionths by hand: no allocation, no binary float. What is wrong
// with a line is a sentence, never an exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "market/rules/matching/book_order.h"
#include "market/wire/symbol.h"

namespace interlock {

enum class BacktestLayout { klines, trades, agg_trades, recording };
std::string_view to_word(BacktestLayout layout);

// Prices and quantities count hundred-millionths.
inline constexpr std::int64_t kRowUnit = 100'000'000;

struct BacktestRow {
    enum class Kind : std::uint8_t { candle, trade, quote };
    Kind kind = Kind::candle;
    BookSide taker = BookSide::buy;  // Trades, and a quote's trade.
    Timestamp at;
    Timestamp closed_at;  // Candles: the last moment inside.
    std::int64_t open = 0;
    std::int64_t high = 0;
    std::int64_t low = 0;
    std::int64_t close = 0;
    std::int64_t price = 0;  // Trades, and a quote's trade (zero: none).
    std::int64_t quantity = 0;
    std::int64_t bid = 0;  // Quotes; zero: that side is empty.
    std::int64_t bid_quantity = 0;
    std::int64_t ask = 0;
    std::int64_t ask_quantity = 0;
};

// What the first line says of the file; nothing: none of the layouts. A header of a layout counts
// as that layout.
std::optional<BacktestLayout> recognise_layout(std::string_view line);
// Whether the line carries no row: empty, a comment or a header.
bool is_no_row(BacktestLayout layout, std::string_view line);

// Reads a line; what is wrong with it, or an empty text. Rows of a recording that speak of another
// symbol leave `row.at` at the epoch.
std::string_view read_row(
    BacktestLayout layout, std::string_view line, const Symbol& symbol, BacktestRow& row);

}  // namespace interlock
