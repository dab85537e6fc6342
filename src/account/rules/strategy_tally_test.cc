// Tallies: bounded, in order, and counting runs of refusals.
#include "account/rules/strategy_tally.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/account_builders.h"

namespace interlock {
namespace {

Timestamp second(std::int64_t n) {
    return noon() + Duration::of_seconds(n);
}

TEST(StrategyTally, TheOneThatWasQuietLongestMakesRoom) {
    std::vector<StrategyTally> tallies;
    for (std::size_t i = 0; i <= kStrategyTalliesMax; ++i) {
        const auto id = StrategyId::trusted("s" + std::to_string(100 - i));
        const auto at = static_cast<std::int64_t>(i == 0 ? kStrategyTalliesMax : i);
        note_traded(tally_for(tallies, id), dec("1"), {dec("100"), Side::buy, 1, second(at)});
    }
    EXPECT_EQ(tallies.size(), kStrategyTalliesMax);
    EXPECT_EQ(find_tally(tallies, StrategyId::trusted("s99")), nullptr);
    EXPECT_NE(find_tally(tallies, StrategyId::trusted("s100")), nullptr);
    EXPECT_TRUE(std::ranges::is_sorted(tallies, {}, &StrategyTally::strategy_id));
}

TEST(StrategyTally, ATradeToldLateIsNotTheLast) {
    StrategyTally tally;
    note_traded(tally, dec("1"), {dec("100"), Side::buy, 7, second(5)});
    note_traded(tally, dec("3"), {dec("90"), Side::sell, 6, second(5)});
    EXPECT_EQ(tally.net_qty, dec("3"));
    EXPECT_EQ(tally.last_fill->price, dec("100"));
}

TEST(StrategyTally, RefusalsOfOnePlanCountOnce) {
    StrategyTally tally;
    note_refused(tally, Side::buy, second(0));
    note_refused(tally, Side::buy, second(0));
    EXPECT_EQ(tally.buy_refusals.count, 1);
}

TEST(StrategyTally, RefusalsFarApartAreNotInARow) {
    StrategyTally tally;
    note_refused(tally, Side::sell, second(0));
    note_refused(tally, Side::sell, second(60));
    EXPECT_EQ(tally.sell_refusals.count, 2);
    note_refused(tally, Side::sell, second(121));
    EXPECT_EQ(tally.sell_refusals.count, 1);
}

TEST(StrategyTally, IsReadBackAsItWasWritten) {
    StrategyTally tally;
    tally.strategy_id = StrategyId::trusted("s1");
    tally.net_qty = dec("-0.5");
    EXPECT_EQ(decode_strategy_tally(encode(tally)).value(), tally);
    note_traded(tally, dec("2.5"), {dec("100.25"), Side::sell, 77, second(3)});
    note_refused(tally, Side::buy, second(4));
    note_refused(tally, Side::sell, second(5));
    EXPECT_EQ(decode_strategy_tally(parse_json(to_text(encode(tally))).value()).value(), tally);
}

TEST(StrategyTally, AStoredOneIsReadStrictly) {
    Json json = encode(StrategyTally{.strategy_id = StrategyId::trusted("s1")});
    json.set("net", "1");
    EXPECT_FALSE(decode_strategy_tally(json).has_value());
    EXPECT_FALSE(decode_strategy_tally(encode(StrategyTally{})).has_value());  // Of nobody.
}

}  // namespace
}  // namespace interlock
