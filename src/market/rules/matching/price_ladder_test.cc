#include "market/rules/matching/price_ladder.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iterator>
#include <map>

namespace interlock {
namespace {

// The same questions, answered by a sorted map.
class PlainLadder {
public:
    std::map<std::int64_t, std::uint32_t> levels;

    std::uint32_t find(Ticks price) const {
        const auto at = levels.find(price.count);
        return at == levels.end() ? 0 : at->second;
    }
    std::uint32_t next_above(Ticks price) const {
        const auto at = levels.upper_bound(price.count);
        return at == levels.end() ? 0 : at->second;
    }
    std::uint32_t next_below(Ticks price) const {
        const auto at = levels.lower_bound(price.count);
        return at == levels.begin() ? 0 : std::prev(at)->second;
    }
};

// A walk whose steps are mostly small, so that the window is both used and left.
std::int64_t step_on(std::int64_t price) {
    const auto step = *rc::gen::weightedOneOf<std::int64_t>({
        {12, rc::gen::inRange<std::int64_t>(-20, 21)},
        {3, rc::gen::inRange<std::int64_t>(-5000, 5001)},
        {1, rc::gen::inRange<std::int64_t>(-2'000'000'000, 2'000'000'001)},
    });
    return std::max<std::int64_t>(1, price + step);
}

void expect_same_as_a_map(std::size_t window_ticks, std::size_t& moves) {
    PriceLadder ladder(window_ticks, *std::pmr::new_delete_resource());
    PlainLadder plain;
    std::uint32_t handle = 0;
    std::int64_t price = *rc::gen::inRange<std::int64_t>(1, 3'000'000'000);
    for (int i = 0; i < 400; ++i) {
        const Ticks at{price};
        RC_ASSERT(ladder.find(at) == plain.find(at));
        RC_ASSERT(ladder.next_above(at) == plain.next_above(at));
        RC_ASSERT(ladder.next_below(at) == plain.next_below(at));
        const std::size_t far_before = ladder.far_levels();
        if (plain.find(at) != 0 && i % 3 == 0) {
            ladder.erase(at);
            plain.levels.erase(price);
        } else if (plain.find(at) == 0) {
            ladder.note_use(at, at);
            moves += ladder.far_levels() != far_before ? 1 : 0;
            ladder.insert(at, ++handle);
            plain.levels[price] = handle;
        }
        RC_ASSERT(ladder.near_levels() + ladder.far_levels() == plain.levels.size());
        price = step_on(price);
    }
}

TEST(PriceLadder, AnswersLikeASortedMapWhileItsWindowMoves) {
    std::size_t moves = 0;
    for (const std::size_t window : {std::size_t{64}, std::size_t{4096}, std::size_t{1} << 18}) {
        EXPECT_TRUE(rc::check([&] { expect_same_as_a_map(window, moves); }));
    }
    EXPECT_GT(moves, 10u);
}

TEST(PriceLadder, AnEmptyWindowGoesToTheFirstPrice) {
    PriceLadder ladder(64, *std::pmr::new_delete_resource());
    ladder.note_use({1'000'000}, {1'000'000});
    ladder.insert({1'000'000}, 1);
    EXPECT_EQ(ladder.near_levels(), 1u);
    EXPECT_EQ(ladder.far_levels(), 0u);
}

TEST(PriceLadder, AnOutlierDoesNotMoveTheWindowFromTheTouch) {
    PriceLadder ladder(64, *std::pmr::new_delete_resource());
    ladder.note_use({1000}, {1000});
    ladder.insert({1000}, 1);
    for (int i = 0; i < 1000; ++i) {
        ladder.note_use({1'000'000}, {1000});
        ladder.insert({1'000'000}, 2);
        ladder.erase({1'000'000});
    }
    EXPECT_EQ(ladder.near_levels(), 1u);
    EXPECT_EQ(ladder.next_above({999}), 1u);
}

TEST(PriceLadder, TheWindowFollowsTheTouch) {
    PriceLadder ladder(64, *std::pmr::new_delete_resource());
    ladder.note_use({1000}, {1000});
    ladder.insert({1000}, 1);
    for (std::int64_t price = 2000; price < 2050; ++price) {
        ladder.note_use({price}, {2010});
        ladder.insert({price}, static_cast<std::uint32_t>(price));
    }
    EXPECT_GT(ladder.near_levels(), 40u);
    EXPECT_EQ(ladder.next_below({2000}), 1u);
    EXPECT_EQ(ladder.next_above({1000}), 2000u);
}

}  // namespace
}  // namespace interlock
