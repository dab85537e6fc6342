#include "trader/rules/own_trades.h"

#include <algorithm>

#include "account/rules/symbol_book.h"
#include "codec/field_reader.h"

namespace interlock {

Json encode(const OwnTrades& trades) {
    return Json::object({
        {"tally", trades.tally ? encode(*trades.tally) : Json()},
        {"oldest_unit_cost",
         trades.oldest_unit_cost ? Json(to_text(*trades.oldest_unit_cost)) : Json()},
    });
}

Result<OwnTrades> decode_own_trades(const Json& json) {
    FieldReader in(json);
    OwnTrades trades;
    if (const Json* tally = in.optional_object("tally")) {
        if (auto read = decode_strategy_tally(*tally)) {
            trades.tally = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    trades.oldest_unit_cost = in.required_nullable<Decimal>("oldest_unit_cost");
    in.reject_unknown();
    return in.finish(std::move(trades));
}

OwnTrades gather_own_trades(
    const SymbolBook* book, const StrategyId& strategy_id, Decimal cost_qty) {
    OwnTrades trades;
    if (book == nullptr) {
        return trades;
    }
    if (const StrategyTally* tally = find_tally(book->tallies, strategy_id)) {
        trades.tally = *tally;
    }
    const Decimal qty = std::min(cost_qty, book->position);
    if (qty.is_positive()) {
        const auto cost = cost_of_oldest(*book, qty);
        const auto unit = cost ? divide_round_up(*cost, qty) : cost;
        trades.oldest_unit_cost = unit ? std::optional(*unit) : std::nullopt;
    }
    return trades;
}

}  // namespace interlock
