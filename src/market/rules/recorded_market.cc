#include "market/rules/recorded_market.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kQuoteFields = 6;
constexpr std::size_t kTradeFields = 9;
constexpr std::string_view kHeaderStart = "time,";

std::unexpected<Error> bad(std::string sentence) {
    return fail(errors::invalid_request, std::move(sentence));
}

// Price and quantity of one side; both empty or zero when nobody is there.
Result<MarketLevel> read_level(
    std::string_view price, std::string_view quantity, const TickScale& scale) {
    if (price.empty() && quantity.empty()) {
        return MarketLevel{};
    }
    TRY_ASSIGN(const Decimal at, Decimal::parse(price));
    TRY_ASSIGN(const Decimal size, Decimal::parse(quantity));
    if (at.is_zero() || size.is_zero()) {
        return MarketLevel{};
    }
    TRY_ASSIGN(const Ticks ticks, scale.to_ticks(at));
    TRY_ASSIGN(const Lots lots, scale.to_lots(size));
    return MarketLevel{ticks, lots};
}

}  // namespace

Result<RecordedMarket> RecordedMarket::parse(
    std::string_view text, std::vector<MarketRules> rules, std::optional<Timestamp> start) {
    RecordedMarket market;
    std::sort(rules.begin(), rules.end(), [](const MarketRules& a, const MarketRules& b) {
        return a.symbol < b.symbol;
    });
    std::vector<TickScale> scales;
    for (const MarketRules& rule : rules) {
        TRY_ASSIGN(const TickScale scale, TickScale::make(rule.tick_size, rule.step_size));
        scales.push_back(scale);
    }
    market.rules_ = std::move(rules);
    market.ticks_.resize(market.rules_.size());
    std::int64_t line_no = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line_no;
        if (line.empty() || line.front() == '#' || line.starts_with(kHeaderStart)) {
            continue;
        }
        if (const auto taken = market.take_line(line, scales); !taken) {
            return bad("Line " + std::to_string(line_no) + ": " + taken.error().message);
        }
    }
    if (start && market.tick_count() > 0) {
        const Duration move = *start - market.first_at();
        for (std::vector<Tick>& ticks : market.ticks_) {
            for (Tick& tick : ticks) {
                tick.at = tick.at + move;
            }
        }
    }
    return market;
}

Result<void> RecordedMarket::take_line(
    std::string_view line, const std::vector<TickScale>& scales) {
    const std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() != kQuoteFields && fields.size() != kTradeFields) {
        return bad("expected 6 or 9 fields, found " + std::to_string(fields.size()));
    }
    if (tick_count() >= kRecordedTicksMax) {
        return bad("more than " + std::to_string(kRecordedTicksMax) + " ticks");
    }
    TRY_ASSIGN(const Symbol symbol, Symbol::parse(fields[1]));
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const MarketRules& known) {
        return known.symbol == symbol;
    });
    if (rule == rules_.end()) {
        return bad("no rules are known for the symbol " + std::string(symbol.text()));
    }
    const auto place = static_cast<std::size_t>(rule - rules_.begin());
    Tick tick;
    TRY_ASSIGN(tick.at, parse_timestamp(fields[0]));
    TRY_ASSIGN(tick.bid, read_level(fields[2], fields[3], scales[place]));
    TRY_ASSIGN(tick.ask, read_level(fields[4], fields[5], scales[place]));
    if (fields.size() == kTradeFields && !fields[6].empty()) {
        TRY_ASSIGN(const MarketLevel traded, read_level(fields[6], fields[7], scales[place]));
        if (fields[8] != "buy" && fields[8] != "sell") {
            return bad("the side of a trade is buy or sell, not " + std::string(fields[8]));
        }
        tick.trade = {
            traded.price, traded.quantity, fields[8] == "buy" ? BookSide::buy : BookSide::sell};
    }
    if (!ticks_[place].empty() && tick.at < ticks_[place].back().at) {
        return bad("the tick is older than the one before it");
    }
    ticks_[place].push_back(tick);
    return {};
}

std::size_t RecordedMarket::tick_count() const {
    std::size_t count = 0;
    for (const std::vector<Tick>& ticks : ticks_) {
        count += ticks.size();
    }
    return count;
}

Timestamp RecordedMarket::first_at() const {
    Timestamp first{INT64_MAX};
    for (const std::vector<Tick>& ticks : ticks_) {
        first = ticks.empty() ? first : std::min(first, ticks.front().at);
    }
    return tick_count() == 0 ? Timestamp{} : first;
}

Timestamp RecordedMarket::last_at() const {
    Timestamp last;
    for (const std::vector<Tick>& ticks : ticks_) {
        last = ticks.empty() ? last : std::max(last, ticks.back().at);
    }
    return last;
}

const RecordedMarket::Tick* RecordedMarket::tick_at(std::size_t market, std::int64_t step) const {
    CHECK(market < ticks_.size());
    // What a step shows is what was quoted when it began.
    const Timestamp at = time_of_step(step);
    const std::vector<Tick>& ticks = ticks_[market];
    const auto after =
        std::upper_bound(ticks.begin(), ticks.end(), at, [](Timestamp wanted, const Tick& tick) {
            return wanted < tick.at;
        });
    return after == ticks.begin() ? nullptr : &*std::prev(after);
}

MarketTouch RecordedMarket::touch_at(std::size_t market, std::int64_t step) const {
    const Tick* tick = tick_at(market, step);
    if (tick == nullptr) {
        return {.bid = {}, .ask = {}, .halted = true};
    }
    const bool is_old = time_of_step(step) - tick->at > kRecordedGapMax;
    return {.bid = tick->bid.price, .ask = tick->ask.price, .halted = is_old};
}

void RecordedMarket::view_at(std::size_t market, std::int64_t step, MarketView& view) const {
    view.bids.clear();
    view.asks.clear();
    view.trades.clear();
    view.halted = touch_at(market, step).halted;
    const Tick* tick = tick_at(market, step);
    if (tick == nullptr) {
        view.at = {};
        return;
    }
    view.at = tick->at;
    if (tick->bid.price.count > 0) {
        view.bids.push_back(tick->bid);
    }
    if (tick->ask.price.count > 0) {
        view.asks.push_back(tick->ask);
    }
    // The trades since the step before, the latest ones when they are many.
    const Tick* first = ticks_[market].data();
    const Timestamp since = time_of_step(step - 1);
    for (; tick >= first && tick->at > since; --tick) {
        if (tick->trade.quantity.count > 0 && view.trades.size() < kMarketTradesMax) {
            view.trades.push_back(tick->trade);
        }
    }
    std::reverse(view.trades.begin(), view.trades.end());
}

}  // namespace interlock
