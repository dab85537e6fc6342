// Builders for tests of PnL: trades of one small market, ABCUSDT, and lists of them drawn at
// random.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "bots/rules/pnl_report.h"
#include "testing/account_builders.h"

namespace interlock {

inline PnlMarket abc_market(std::string_view mid = "100") {
    return {
        .symbol = symbol_of("ABCUSDT"),
        .base = asset_of("ABC"),
        .quote = asset_of("USDT"),
        .mid = mid.empty() ? std::nullopt : std::optional(dec(mid))};
}

struct FillTerms {
    std::int64_t id = 1;
    std::string qty = "1";
    std::string price = "100";
    std::string fee = "0";
    std::string fee_asset = "USDT";
    std::string fee_price = "";  // None.
    Timestamp at = noon();
};

inline PnlFill pnl_trade(Side side, const FillTerms& terms) {
    return {
        .trade_id = terms.id,
        .at = terms.at,
        .side = side,
        .qty = dec(terms.qty),
        .price = dec(terms.price),
        .fee = dec(terms.fee),
        .fee_asset = asset_of(terms.fee_asset),
        .fee_price = terms.fee_price.empty() ? std::nullopt : std::optional(dec(terms.fee_price))};
}
inline PnlFill bought(const FillTerms& terms) {
    return pnl_trade(Side::buy, terms);
}
inline PnlFill sold(const FillTerms& terms) {
    return pnl_trade(Side::sell, terms);
}

inline Decimal drawn_decimal(std::int64_t least, std::int64_t most, std::int64_t thousandths) {
    const auto units = *rc::gen::inRange<std::int64_t>(least, most + 1);
    return Decimal::from_units(static_cast<__int128>(units) * thousandths * 1'000'000'000'000'000);
}

// Trades ascending in time and id, a minute to a day apart, with fees in any of the four kinds.
inline std::vector<PnlFill> drawn_fills(bool with_unconverted) {
    const auto count = *rc::gen::inRange<std::size_t>(0, 60);
    std::vector<PnlFill> fills;
    Timestamp at = noon();
    for (std::size_t i = 0; i < count; ++i) {
        at = at + Duration::of_minutes(*rc::gen::inRange<std::int64_t>(0, 1440));
        PnlFill fill;
        fill.trade_id = static_cast<std::int64_t>(i) + 1;
        fill.at = at;
        fill.side = *rc::gen::arbitrary<bool>() ? Side::buy : Side::sell;
        fill.qty = drawn_decimal(1, 9'999, 1);
        fill.price = drawn_decimal(1, 99'999, 10);
        const auto kind = *rc::gen::inRange(0, with_unconverted ? 5 : 4);
        fill.fee = kind == 0 ? Decimal() : drawn_decimal(1, 999, 1);
        fill.fee_asset = asset_of(kind == 1 ? "ABC" : kind >= 3 ? "FEE" : "USDT");
        if (kind == 1) {
            fill.fee = divide_round_down(fill.qty, Decimal(7)).value();
        }
        if (kind == 3) {
            fill.fee_price = drawn_decimal(1, 9'999, 1);
        }
        fills.push_back(fill);
    }
    return fills;
}

}  // namespace interlock
