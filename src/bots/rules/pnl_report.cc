#include "bots/rules/pnl_report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "account/rules/exact.h"

namespace interlock {
namespace {

// In (time, trade id) order; the rest only makes the order of contradicting repeats one.
auto place_of(const PnlFill& fill) {
    return std::tuple(
        fill.at, fill.trade_id, fill.side, fill.qty, fill.price, fill.fee, fill.fee_asset);
}

bool tells_the_same(const PnlFill& a, const PnlFill& b) {
    return a.side == b.side && a.qty == b.qty && a.price == b.price && a.fee == b.fee &&
           a.fee_asset == b.fee_asset;
}

// Leaves each trade once, in order, and counts what it drops.
std::vector<PnlFill> each_once(std::vector<PnlFill> fills, PnlFigures& figures) {
    std::stable_sort(fills.begin(), fills.end(), [](const PnlFill& a, const PnlFill& b) {
        return place_of(a) < place_of(b);
    });
    std::map<std::int64_t, std::size_t> places;
    std::vector<PnlFill> once;
    for (const PnlFill& fill : fills) {
        const auto [place, is_new] = places.try_emplace(fill.trade_id, once.size());
        if (is_new) {
            once.push_back(fill);
            continue;
        }
        PnlFill& first = once[place->second];
        ++figures.repeated_fills;
        figures.unusable_fills += tells_the_same(first, fill) ? 0 : 1;
        if (!first.fee_price && tells_the_same(first, fill)) {
            first.fee_price = fill.fee_price;  // The telling with a price knows more.
        }
    }
    return once;
}

Result<void> count_in_window(PnlFigures& figures, const PnlFill& fill, const PnlOutcome& outcome) {
    TRY_ASSIGN(figures.fees, add(figures.fees, outcome.fee_quote));
    TRY_ASSIGN(figures.volume, add(figures.volume, outcome.notional));
    TRY_ASSIGN(figures.unmatched_qty, add(figures.unmatched_qty, outcome.unmatched_qty));
    TRY_ASSIGN(figures.realised, add(figures.realised, outcome.realised));
    ++figures.fills;
    if (fill.side == Side::sell && outcome.matched_qty.is_positive()) {
        ++figures.sells;
        figures.wins += outcome.realised.is_positive() ? 1 : 0;
    }
    return {};
}

Result<std::optional<Decimal>> value_of(const FifoLots& lots, const PnlMarket& market) {
    if (lots.qty().is_zero()) {
        return Decimal();
    }
    if (!market.mid) {
        return std::nullopt;
    }
    TRY_ASSIGN(
        const Decimal gain, (Exact(lots.qty()).times_even(*market.mid) - lots.cost()).result());
    return gain;
}

Json decimal_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Json symbols_json(const std::vector<Symbol>& symbols) {
    Json list = Json::array();
    for (const Symbol& symbol : symbols) {
        list.push(symbol.text());
    }
    return list;
}

Json head_of(std::string_view kind, const PnlRunName& run) {
    return Json::object({
        {"kind", kind},
        {"run_id", run.run_id},
        {"from", to_text(run.window.from())},
        {"to", to_text(run.window.to)},
        {"lookback_days", run.window.lookback_days},
    });
}

void put_figures(Json& line, const PnlFigures& figures) {
    Json unconverted = Json::object();
    for (const auto& [asset, amount] : figures.unconverted_fees) {
        unconverted.set(std::string(asset.text()), to_text(amount));
    }
    line.set("realized_net", to_text(figures.realised));
    line.set("unrealized_net", decimal_or_null(figures.unrealised));
    line.set("fees", to_text(figures.fees));
    line.set("volume", to_text(figures.volume));
    line.set("fills", figures.fills);
    line.set("sells", figures.sells);
    line.set("wins", figures.wins);
    line.set("win_rate", decimal_or_null(figures.win_rate()));
    line.set("unconverted_fees", std::move(unconverted));
    line.set("unusable_fills", figures.unusable_fills);
    line.set("repeated_fills", figures.repeated_fills);
}

Result<void> add_to(PnlFigures& sum, const PnlFigures& part) {
    TRY_ASSIGN(sum.realised, add(sum.realised, part.realised));
    TRY_ASSIGN(sum.fees, add(sum.fees, part.fees));
    TRY_ASSIGN(sum.volume, add(sum.volume, part.volume));
    sum.fills += part.fills;
    sum.sells += part.sells;
    sum.wins += part.wins;
    if (!part.unrealised || !sum.unrealised) {
        sum.unrealised = std::nullopt;
    } else {
        TRY_ASSIGN(sum.unrealised, add(*sum.unrealised, *part.unrealised));
    }
    for (const auto& [asset, amount] : part.unconverted_fees) {
        Decimal& total = sum.unconverted_fees[asset];
        TRY_ASSIGN(total, add(total, amount));
    }
    sum.unusable_fills += part.unusable_fills;
    sum.repeated_fills += part.repeated_fills;
    return {};
}

}  // namespace

std::optional<Decimal> PnlFigures::win_rate() const {
    if (sells == 0) {
        return std::nullopt;
    }
    const auto rate = divide_half_even(Decimal(wins), Decimal(sells));
    return rate ? std::optional(*rate) : std::nullopt;
}

Result<SymbolPnl> symbol_pnl(
    const PnlMarket& market, const PnlWindow& window, std::vector<PnlFill> fills) {
    SymbolPnl result{.market = market, .figures = {}, .position = {}, .position_cost = {}};
    PnlFigures& figures = result.figures;
    FifoLots lots(market.base, market.quote);
    for (const PnlFill& fill : each_once(std::move(fills), figures)) {
        const auto outcome = lots.apply(fill);
        if (!outcome) {
            ++figures.unusable_fills;
            continue;
        }
        if (outcome->is_fee_unconverted) {
            Decimal& amount = figures.unconverted_fees[fill.fee_asset];
            TRY_ASSIGN(amount, add(amount, fill.fee));
        }
        if (window.holds(fill.at)) {
            TRY(count_in_window(figures, fill, *outcome));
        }
    }
    result.position = lots.qty();
    result.position_cost = lots.cost();
    TRY_ASSIGN(figures.unrealised, value_of(lots, market));
    return result;
}

Result<TotalPnl> total_pnl(Asset quote, std::span<const SymbolPnl> symbols) {
    TotalPnl total{
        .quote = quote,
        .symbols = static_cast<std::int64_t>(symbols.size()),
        .other_quote = {},
        .unmatched = {},
        .figures = {}};
    for (const SymbolPnl& one : symbols) {
        if (one.market.quote != quote) {
            total.other_quote.push_back(one.market.symbol);
            continue;
        }
        TRY(add_to(total.figures, one.figures));
        if (one.figures.unmatched_qty.is_positive()) {
            total.unmatched.push_back(one.market.symbol);
        }
    }
    return total;
}

std::string pnl_line(const PnlRunName& run, const SymbolPnl& symbol) {
    Json line = head_of("symbol", run);
    line.set("symbol", symbol.market.symbol.text());
    line.set("quote", symbol.market.quote.text());
    put_figures(line, symbol.figures);
    line.set("unmatched_qty", to_text(symbol.figures.unmatched_qty));
    line.set("position", to_text(symbol.position));
    line.set("position_cost", to_text(symbol.position_cost));
    line.set("mid", decimal_or_null(symbol.market.mid));
    line.set("incomplete", symbol.figures.is_incomplete());
    return to_text(line);
}

std::string pnl_line(const PnlRunName& run, const TotalPnl& total) {
    Json line = head_of("total", run);
    line.set("quote", total.quote.text());
    line.set("symbols", total.symbols);
    put_figures(line, total.figures);
    line.set("unmatched_symbols", symbols_json(total.unmatched));
    line.set("other_quote_symbols", symbols_json(total.other_quote));
    line.set("incomplete", total.is_incomplete());
    return to_text(line);
}

}  // namespace interlock
