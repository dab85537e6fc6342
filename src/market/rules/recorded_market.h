// A market read from a recording of its best quotes instead of made from a seed.
//
// The recording is text, one tick per line, oldest first:
//     time,symbol,bid,bid_qty,ask,ask_qty[,trade_price,trade_qty,trade_side]
// Time in RFC 3339, prices and quantities as decimals that fit the market's tick and step, the side
// of the trade's taker as `buy` or `sell`. An empty line, a line that starts with '#' and the
// header above are skipped. A quote holds until the next one. Before its first tick and more than
// kRecordedGapMax after its latest one a market counts as halted: old quotes are no quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "market/rules/market_model.h"
#include "market/rules/matching/tick_scale.h"

namespace interlock {

inline constexpr std::size_t kRecordedTicksMax = 5'000'000;
inline constexpr Duration kRecordedGapMax = Duration::of_seconds(60);

class RecordedMarket final : public MarketModel {
public:
    // `rules` names the markets of the recording. Fails with invalid_request, naming the line, for
    // text that is no recording and for more than kRecordedTicksMax ticks. The recording's times
    // are moved so that its first tick happens at `start`; nothing: they stay as they are.
    static Result<RecordedMarket> parse(
        std::string_view text, std::vector<MarketRules> rules, std::optional<Timestamp> start);

    std::span<const MarketRules> markets() const override { return rules_; }
    MarketTouch touch_at(std::size_t market, std::int64_t step) const override;
    void view_at(std::size_t market, std::int64_t step, MarketView& view) const override;

    std::size_t tick_count() const;
    // Of all markets; the epoch when there is none.
    Timestamp first_at() const;
    Timestamp last_at() const;

private:
    struct Tick {
        Timestamp at;
        MarketLevel bid;  // A price of zero: nobody bids.
        MarketLevel ask;
        MarketTrade trade;  // A quantity of zero: no trade.
    };

    RecordedMarket() = default;
    Result<void> take_line(std::string_view line, const std::vector<TickScale>& scales);
    // The latest tick before the end of the step; null when there is none or it is too old.
    const Tick* tick_at(std::size_t market, std::int64_t step) const;

    std::vector<MarketRules> rules_;
    std::vector<std::vector<Tick>> ticks_;  // By market, oldest first.
};

}  // namespace interlock
