// A market from a recording: which quote holds when, and what is no recording.
#include "market/rules/recorded_market.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

constexpr std::string_view kRecording =
    "time,symbol,bid,bid_qty,ask,ask_qty,trade_price,trade_qty,trade_side\n"
    "# A comment.\n"
    "2026-11-15T12:00:00Z,ABCUSDT,99.99,1.5,100.01,2\n"
    "\n"
    "2026-11-15T12:00:01.100Z,ABCUSDT,99.98,1,100.00,2,99.98,0.25,sell\r\n"
    "2026-11-15T12:00:01.200Z,ABCUSDT,99.97,1,,,99.98,0.5,sell\n";

std::vector<MarketRules> rules() {
    MarketRules rule;
    rule.symbol = Symbol::parse("ABCUSDT").value();
    rule.base = Asset::parse("ABC").value();
    rule.quote = Asset::parse("USDT").value();
    rule.tick_size = Decimal::parse("0.01").value();
    rule.step_size = Decimal::parse("0.001").value();
    return {rule};
}

RecordedMarket recorded(std::optional<Timestamp> start = std::nullopt) {
    return RecordedMarket::parse(kRecording, rules(), start).value();
}
std::int64_t step_at(std::string_view time) {
    return step_of(parse_timestamp(time).value());
}
MarketView view_at(const RecordedMarket& market, std::string_view time) {
    MarketView view;
    market.view_at(0, step_at(time), view);
    return view;
}
std::string problem_of(std::string_view line) {
    const auto parsed = RecordedMarket::parse(line, rules(), std::nullopt);
    return parsed ? "taken" : parsed.error().message;
}

TEST(RecordedMarket, AQuoteHoldsUntilTheNextOne) {
    const RecordedMarket market = recorded();
    EXPECT_EQ(market.tick_count(), 3u);
    const MarketView view = view_at(market, "2026-11-15T12:00:01Z");
    ASSERT_EQ(view.bids.size(), 1u);
    EXPECT_EQ(view.bids[0], (MarketLevel{{9'999}, {1'500}}));
    EXPECT_EQ(view.asks[0], (MarketLevel{{10'001}, {2'000}}));
    EXPECT_EQ(view.at, parse_timestamp("2026-11-15T12:00:00Z").value());
    EXPECT_FALSE(view.halted);
    EXPECT_TRUE(view.trades.empty());
}

TEST(RecordedMarket, TradesAppearInTheStepTheyHappenedBeforeAndOnlyThere) {
    const RecordedMarket market = recorded();
    const MarketView view = view_at(market, "2026-11-15T12:00:01.250Z");
    ASSERT_EQ(view.trades.size(), 2u);
    EXPECT_EQ(view.trades[0], (MarketTrade{{9'998}, {250}, BookSide::sell}));
    EXPECT_EQ(view.trades[1].quantity, Lots{500});
    EXPECT_TRUE(view_at(market, "2026-11-15T12:00:01.500Z").trades.empty());
}

TEST(RecordedMarket, AnEmptySideIsEmpty) {
    const RecordedMarket market = recorded();
    EXPECT_TRUE(view_at(market, "2026-11-15T12:00:02Z").asks.empty());
    EXPECT_EQ(market.touch_at(0, step_at("2026-11-15T12:00:02Z")).ask, Ticks{});
}

TEST(RecordedMarket, BeforeItsFirstTickAndLongAfterItsLastItIsHalted) {
    const RecordedMarket market = recorded();
    EXPECT_TRUE(view_at(market, "2026-11-15T11:59:59Z").halted);
    EXPECT_TRUE(view_at(market, "2026-11-15T11:59:59Z").bids.empty());
    EXPECT_FALSE(view_at(market, "2026-11-15T12:01:01Z").halted);
    EXPECT_TRUE(view_at(market, "2026-11-15T12:01:02Z").halted);
}

TEST(RecordedMarket, ARecordingCanBePlayedAtAnotherTime) {
    const RecordedMarket market = recorded(parse_timestamp("2030-01-01T00:00:00Z").value());
    EXPECT_EQ(to_text(market.first_at()), "2030-01-01T00:00:00.000Z");
    EXPECT_EQ(to_text(market.last_at()), "2030-01-01T00:00:01.200Z");
    EXPECT_FALSE(view_at(market, "2030-01-01T00:00:01Z").halted);
}

TEST(RecordedMarket, BadLinesAreNamed) {
    EXPECT_EQ(
        problem_of("2026-11-15T12:00:00Z,ABCUSDT,1"), "Line 1: expected 6 or 9 fields, found 3");
    EXPECT_TRUE(problem_of("\nnoon,ABCUSDT,1,1,2,1").starts_with("Line 2: "));
    EXPECT_EQ(
        problem_of("2026-11-15T12:00:00Z,XYZUSDT,1,1,2,1"),
        "Line 1: no rules are known for the symbol XYZUSDT");
    EXPECT_TRUE(problem_of("2026-11-15T12:00:00Z,ABCUSDT,1.005,1,2,1").starts_with("Line 1: "));
    EXPECT_TRUE(problem_of("2026-11-15T12:00:00Z,ABCUSDT,1,x,2,1").starts_with("Line 1: "));
    EXPECT_EQ(
        problem_of("2026-11-15T12:00:00Z,ABCUSDT,1,1,2,1,1,1,up"),
        "Line 1: the side of a trade is buy or sell, not up");
    EXPECT_EQ(
        problem_of("2026-11-15T12:00:01Z,ABCUSDT,1,1,2,1\n2026-11-15T12:00:00Z,ABCUSDT,1,1,2,1"),
        "Line 2: the tick is older than the one before it");
    EXPECT_EQ(problem_of(""), "taken");
}

}  // namespace
}  // namespace interlock
