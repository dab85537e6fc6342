// Fuzzes the reader of recorded market data: a line is a row whose numbers hold together, or has a
// sentence that says what is wrong; the moments of a row are in time order and never crossed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "trader/backtest/backtest_market.h"
#include "trader/backtest/backtest_rows.h"

namespace interlock {

void try_moments(const BacktestRow& row) {
    MarketRules rules;
    rules.tick_size = Decimal::parse("0.01").value();
    rules.step_size = Decimal::parse("0.001").value();
    auto moments = BacktestMoments::make(rules, {});
    CHECK(moments);
    Timestamp before = row.at;
    for (const BacktestMoment& moment : moments->of(row)) {
        CHECK(moment.at >= before);
        before = moment.at;
        const bool is_two_sided = moment.bid.price.count > 0 && moment.ask.price.count > 0;
        CHECK(!is_two_sided || moment.bid.price < moment.ask.price);
        CHECK(moment.bid.quantity.count >= 0 && moment.bid.quantity <= kBookLotsMax);
        CHECK(moment.ask.quantity.count >= 0 && moment.ask.quantity <= kBookLotsMax);
        CHECK(moment.trade.quantity.count >= 0 && moment.trade.quantity <= kBookLotsMax);
    }
}

void try_line(std::string_view line) {
    const auto layout = recognise_layout(line);
    if (!layout || is_no_row(*layout, line)) {
        return;
    }
    BacktestRow row;
    const Symbol symbol = Symbol::parse("ABCUSDT").value();
    if (!read_row(*layout, line, symbol, row).empty() || row.at == Timestamp{}) {
        return;
    }
    if (row.kind == BacktestRow::Kind::candle) {
        CHECK(row.low > 0 && row.low <= row.open && row.open <= row.high);
        CHECK(row.low <= row.close && row.close <= row.high && row.closed_at > row.at);
    }
    try_moments(row);
}

}  // namespace interlock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    interlock::try_line(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
