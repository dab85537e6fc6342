#include "loop/rules/gates/book_walk.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "loop/rules/gates/sample_world.h"

namespace interlock {
namespace {

const std::vector<DepthLevel> kAsks{
    {Decimal(100), Decimal(2)}, {Decimal(101), Decimal(3)}, {Decimal(103), Decimal(5)}};
const std::vector<DepthLevel> kBids{
    {Decimal(99), Decimal(2)}, {Decimal(98), Decimal(3)}, {Decimal(96), Decimal(5)}};

BookWalk walk(const std::vector<DepthLevel>& levels, const WalkWish& wish) {
    Reckoning reckon;
    const BookWalk walked = walk_book(levels, wish, reckon);
    EXPECT_FALSE(reckon.overflowed());
    return walked;
}

TEST(BookWalk, TakesLevelByLevelFromTheTouch) {
    const BookWalk walked = walk(kAsks, {.side = Side::buy, .qty = Decimal(4)});
    EXPECT_EQ(walked.carried, Decimal(4));
    EXPECT_EQ(walked.worth, Decimal(2 * 100 + 2 * 101));
}

TEST(BookWalk, CarriesNoMoreThanIsThere) {
    const BookWalk walked = walk(kBids, {.side = Side::sell, .qty = Decimal(11)});
    EXPECT_EQ(walked.carried, Decimal(10));
    EXPECT_EQ(walked.worth, Decimal(2 * 99 + 3 * 98 + 5 * 96));
    EXPECT_TRUE(walk({}, {.side = Side::buy, .qty = Decimal(1)}).carried.is_zero());
}

TEST(BookWalk, StandsBehindWhatOthersTake) {
    const BookWalk walked =
        walk(kAsks, {.side = Side::buy, .qty = Decimal(3), .behind = Decimal(4)});
    EXPECT_EQ(walked.carried, Decimal(3));
    EXPECT_EQ(walked.worth, Decimal(1 * 101 + 2 * 103));
}

TEST(BookWalk, EndsAtTheLimit) {
    EXPECT_EQ(
        walk(kAsks, {.side = Side::buy, .qty = Decimal(9), .limit = Decimal(101)}).carried,
        Decimal(5));
    EXPECT_EQ(
        walk(kBids, {.side = Side::sell, .qty = Decimal(9), .limit = Decimal(98)}).carried,
        Decimal(5));
    EXPECT_TRUE(walk(kAsks, {.side = Side::buy, .qty = Decimal(9), .limit = Decimal(99)})
                    .carried.is_zero());
}

// Two orders one after the other meet what one of both their sizes meets.
TEST(BookWalk, IsTheSameInOneOrderOrInTwo) {
    EXPECT_TRUE(rc::check([] {
        const Decimal first(*rc::gen::inRange(1, 12));
        const Decimal second(*rc::gen::inRange(1, 12));
        const auto at = [](Decimal qty, Decimal behind) {
            return walk(kAsks, {.side = Side::buy, .qty = qty, .behind = behind});
        };
        const BookWalk whole = at(*add(first, second), {});
        const BookWalk one = at(first, {});
        const BookWalk two = at(second, one.carried);
        RC_ASSERT(whole.carried == *add(one.carried, two.carried));
        RC_ASSERT(whole.worth == *add(one.worth, two.worth));
    }));
}

TEST(BookWalk, ANumberThatLeavesTheRangeIsRemembered) {
    const Decimal vast = sample_decimal("100000000000000000000");
    Reckoning reckon;
    walk_book({{vast, vast}}, {.side = Side::buy, .qty = vast}, reckon);
    EXPECT_TRUE(reckon.overflowed());
}

}  // namespace
}  // namespace interlock
