#include "account/rules/strategy_tally.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::int64_t kRefusalsMax = 1'000'000;  // Counted no further.

template <class Tallies>
auto tally_at(Tallies& tallies, const StrategyId& strategy_id) {
    return std::lower_bound(
        tallies.begin(),
        tallies.end(),
        strategy_id,
        [](const StrategyTally& tally, const StrategyId& wanted) {
            return tally.strategy_id < wanted;
        });
}

Timestamp last_heard_of(const StrategyTally& tally) {
    const Timestamp traded_at = tally.last_fill ? tally.last_fill->at : Timestamp();
    return std::max({traded_at, tally.buy_refusals.planned_at, tally.sell_refusals.planned_at});
}

RefusalRun& run_of(StrategyTally& tally, Side side) {
    return side == Side::buy ? tally.buy_refusals : tally.sell_refusals;
}

Json encode_run(const RefusalRun& run) {
    return Json::object({{"count", run.count}, {"planned_at_us", run.planned_at.microseconds}});
}

RefusalRun read_run(FieldReader& in, std::string_view key) {
    RefusalRun run;
    if (const Json* json = in.optional_object(key)) {
        FieldReader from(*json, in.path_of(key));
        run.count = from.required_integer("count", 1, kRefusalsMax);
        run.planned_at = read_stored_time(from, "planned_at_us");
        from.reject_unknown();
        if (auto read = from.finish(true); !read) {
            in.absorb(read.error());
        }
    }
    return run;
}

std::optional<LastFill> read_last_fill(FieldReader& in) {
    const Json* json = in.optional_object("last_fill");
    if (json == nullptr) {
        return std::nullopt;
    }
    FieldReader from(*json, in.path_of("last_fill"));
    LastFill fill{
        .price = from.required<Decimal>("price"),
        .side = read_side(from, "side"),
        .trade_id = from.required_integer(
            "trade_id",
            std::numeric_limits<std::int64_t>::min(),
            std::numeric_limits<std::int64_t>::max()),
        .at = read_stored_time(from, "at_us"),
    };
    from.reject_unknown();
    if (auto read = from.finish(true); !read) {
        in.absorb(read.error());
    }
    return fill;
}

}  // namespace

const StrategyTally* find_tally(
    const std::vector<StrategyTally>& tallies, const StrategyId& strategy_id) {
    const auto found = tally_at(tallies, strategy_id);
    return found == tallies.end() || found->strategy_id != strategy_id ? nullptr : &*found;
}

StrategyTally* find_tally(std::vector<StrategyTally>& tallies, const StrategyId& strategy_id) {
    const auto found = tally_at(tallies, strategy_id);
    return found == tallies.end() || found->strategy_id != strategy_id ? nullptr : &*found;
}

StrategyTally& tally_for(std::vector<StrategyTally>& tallies, const StrategyId& strategy_id) {
    if (StrategyTally* found = find_tally(tallies, strategy_id)) {
        return *found;
    }
    if (tallies.size() >= kStrategyTalliesMax) {
        tallies.erase(std::min_element(
            tallies.begin(), tallies.end(), [](const StrategyTally& a, const StrategyTally& b) {
                return last_heard_of(a) < last_heard_of(b);
            }));
    }
    StrategyTally tally;
    tally.strategy_id = strategy_id;
    return *tallies.insert(tally_at(tallies, strategy_id), std::move(tally));
}

Decimal net_qty_of(const std::vector<StrategyTally>& tallies, const StrategyId& strategy_id) {
    const StrategyTally* found = find_tally(tallies, strategy_id);
    return found == nullptr ? Decimal() : found->net_qty;
}

void note_traded(StrategyTally& tally, Decimal net_qty, const LastFill& fill) {
    tally.net_qty = net_qty;
    const bool is_last =
        !tally.last_fill || std::pair(tally.last_fill->at, tally.last_fill->trade_id) <=
                                std::pair(fill.at, fill.trade_id);
    if (is_last) {
        tally.last_fill = fill;
    }
}

void note_refused(StrategyTally& tally, Side side, Timestamp planned_at) {
    RefusalRun& run = run_of(tally, side);
    if (run.count > 0 && planned_at <= run.planned_at) {
        return;
    }
    const bool goes_on = run.count > 0 && planned_at - run.planned_at <= kRefusalGapMax;
    run.count = goes_on ? std::min(run.count + 1, kRefusalsMax) : 1;
    run.planned_at = planned_at;
}

void note_taken(StrategyTally& tally, Side side, Timestamp planned_at) {
    RefusalRun& run = run_of(tally, side);
    if (planned_at > run.planned_at) {
        run = {};
    }
}

Json encode(const StrategyTally& tally) {
    Json json = Json::object({
        {"strategy_id", tally.strategy_id.text()},
        {"net_qty", to_text(tally.net_qty)},
    });
    if (tally.last_fill) {
        json.set(
            "last_fill",
            Json::object({
                {"price", to_text(tally.last_fill->price)},
                {"side", to_word(tally.last_fill->side)},
                {"trade_id", tally.last_fill->trade_id},
                {"at_us", tally.last_fill->at.microseconds},
            }));
    }
    if (tally.buy_refusals.count > 0) {
        json.set("buy_refusals", encode_run(tally.buy_refusals));
    }
    if (tally.sell_refusals.count > 0) {
        json.set("sell_refusals", encode_run(tally.sell_refusals));
    }
    return json;
}

Result<StrategyTally> decode_strategy_tally(const Json& json) {
    FieldReader in(json);
    StrategyTally tally;
    tally.strategy_id = in.required<StrategyId>("strategy_id");
    tally.net_qty = in.required<Decimal>("net_qty");
    tally.last_fill = read_last_fill(in);
    tally.buy_refusals = read_run(in, "buy_refusals");
    tally.sell_refusals = read_run(in, "sell_refusals");
    in.reject_unknown();
    return in.finish(std::move(tally));
}

}  // namespace interlock
