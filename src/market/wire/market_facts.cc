#include "market/wire/market_facts.h"

#include <algorithm>
#include <limits>

#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::int64_t kSamplesMax = std::numeric_limits<std::int32_t>::max();
constexpr __int128 kUnitsPerMicrosecond = 1'000'000'000'000;

Json encode_optional(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Json encode_levels(const std::vector<DepthLevel>& levels) {
    Json json = Json::array();
    for (const DepthLevel& level : levels) {
        json.push(Json::array({to_text(level.price), to_text(level.qty)}));
    }
    return json;
}

// [price, qty] each, best first: bids fall, asks rise.
std::vector<DepthLevel> read_levels(FieldReader& in, std::string_view key, bool falls) {
    std::vector<DepthLevel> levels;
    for (const Json& item : in.required_array(key, kDepthLevelsMax)) {
        const bool is_pair = item.is_array() && item.items().size() == 2 &&
                             item.items()[0].is_string() && item.items()[1].is_string();
        const auto price = is_pair ? Decimal::parse(item.items()[0].as_string()) : Decimal();
        const auto qty = is_pair ? Decimal::parse(item.items()[1].as_string()) : Decimal();
        const bool is_level = is_pair && price && qty && price->is_positive() && qty->is_positive();
        const bool is_next = is_level && (levels.empty() || (falls ? *price < levels.back().price
                                                                   : *price > levels.back().price));
        if (!is_next) {
            in.add_problem(key, "must be [price, quantity] above zero, best first");
            break;
        }
        levels.push_back({*price, *qty});
    }
    return levels;
}

bool has_two_sides(const MarketFacts& facts) {
    // A price that is not positive is no price: such a side counts as empty.
    return facts.best_bid && facts.best_ask && facts.best_bid->is_positive() &&
           facts.best_ask->is_positive();
}

}  // namespace

bool is_halted(const MarketFacts& facts) {
    return facts.status_halted || !has_two_sides(facts) || *facts.best_bid >= *facts.best_ask;
}

std::optional<Decimal> mid_of(const MarketFacts& facts) {
    if (!has_two_sides(facts)) {
        return std::nullopt;
    }
    const __int128 bid = facts.best_bid->units();
    const __int128 ask = facts.best_ask->units();
    // Halves first, so that no sum can overflow; both are positive here.
    const __int128 halves = bid / 2 + ask / 2 + (bid % 2 + ask % 2) / 2;
    const bool is_tie = bid % 2 != ask % 2;
    return Decimal::from_units(is_tie && halves % 2 != 0 ? halves + 1 : halves);
}

std::optional<Decimal> spread_bps_of(const MarketFacts& facts) {
    const auto mid = mid_of(facts);
    if (!mid || !mid->is_positive()) {
        return std::nullopt;
    }
    const auto width = subtract(*facts.best_ask, *facts.best_bid);
    if (!width) {
        return std::nullopt;
    }
    const auto scaled = multiply_half_even(*width, Decimal(10'000));  // Exact: a whole factor.
    if (!scaled) {
        return std::nullopt;
    }
    // Up, so that "at most the limit" says the same of the rounded value as of the exact one.
    const auto spread = divide_round_up(*scaled, *mid);
    return spread ? std::optional(*spread) : std::nullopt;
}

Decimal staleness_seconds_of(const MarketFacts& facts, Timestamp as_of) {
    const Timestamp seen = std::min(facts.exchange_at, facts.received_at);
    // In 128 bits, so that absurd times cannot wrap.
    const __int128 age = static_cast<__int128>(as_of.microseconds) - seen.microseconds;
    return Decimal::from_units(age <= 0 ? __int128{0} : age * kUnitsPerMicrosecond);
}

const MarketFacts* MarketSet::find(const Symbol& symbol) const {
    const auto at = std::lower_bound(
        markets.begin(), markets.end(), symbol, [](const MarketFacts& facts, const Symbol& wanted) {
            return facts.symbol < wanted;
        });
    return at != markets.end() && at->symbol == symbol ? &*at : nullptr;
}

Json encode(const MarketFacts& facts) {
    return Json::object({
        {"symbol", facts.symbol.text()},
        {"best_bid", encode_optional(facts.best_bid)},
        {"best_ask", encode_optional(facts.best_ask)},
        {"exchange_at_us", facts.exchange_at.microseconds},
        {"received_at_us", facts.received_at.microseconds},
        {"status_halted", facts.status_halted},
        {"vol_1m", to_text(facts.vol_1m)},
        {"vol_samples", facts.vol_samples},
        {"spread_median_5m_bps", to_text(facts.spread_median_5m_bps)},
        {"spread_samples", facts.spread_samples},
        {"is_hydrated", facts.is_hydrated},
        {"is_high_vol", facts.is_high_vol},
        {"bids", encode_levels(facts.bids)},
        {"asks", encode_levels(facts.asks)},
        {"rules", encode(facts.rules)},
    });
}

Result<MarketFacts> decode_market_facts(const Json& json) {
    FieldReader in(json);
    MarketFacts facts{
        .symbol = read_stored_symbol(in, "symbol"),
        .best_bid = in.required_nullable<Decimal>("best_bid"),
        .best_ask = in.required_nullable<Decimal>("best_ask"),
        .exchange_at = read_stored_time(in, "exchange_at_us"),
        .received_at = read_stored_time(in, "received_at_us"),
        .status_halted = in.required<bool>("status_halted"),
        .vol_1m = in.required<Decimal>("vol_1m"),
        .vol_samples = in.required_integer("vol_samples", 0, kSamplesMax),
        .spread_median_5m_bps = in.required<Decimal>("spread_median_5m_bps"),
        .spread_samples = in.required_integer("spread_samples", 0, kSamplesMax),
        .is_hydrated = in.required<bool>("is_hydrated"),
        .is_high_vol = in.required<bool>("is_high_vol"),
        .bids = read_levels(in, "bids", true),
        .asks = read_levels(in, "asks", false),
        .rules = {},
    };
    if (const Json* rules = in.required_object("rules")) {
        if (auto read = decode_market_rules(*rules)) {
            facts.rules = *std::move(read);
        } else {
            in.absorb(read.error());
        }
    }
    in.reject_unknown();
    return in.finish(std::move(facts));
}

Json encode(const MarketSet& set) {
    Json markets = Json::array();
    for (const MarketFacts& facts : set.markets) {
        markets.push(encode(facts));
    }
    return Json::object({{"markets", std::move(markets)}});
}

Result<MarketSet> decode_market_set(const Json& json) {
    FieldReader in(json);
    MarketSet set;
    for (const Json& item : in.required_array("markets", kMarketsMax)) {
        auto facts = decode_market_facts(item);
        if (!facts) {
            in.absorb(facts.error());
            continue;
        }
        if (!set.markets.empty() && set.markets.back().symbol >= facts->symbol) {
            in.add_problem("markets", "must ascend by symbol");
        }
        set.markets.push_back(*std::move(facts));
    }
    in.reject_unknown();
    return in.finish(std::move(set));
}

}  // namespace interlock
