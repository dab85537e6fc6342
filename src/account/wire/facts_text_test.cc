#include "account/wire/facts_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/canonical_json.h"
#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

template <class Facts>
bool is_canonical(FactsText& texts, const Facts& facts) {
    const auto expected = canonical_json(encode(facts));
    const auto text = texts.of(facts);
    return expected && text && *text == *expected;
}

TEST(FactsText, OfAStateIsItsCanonicalJson) {
    FactsText texts;  // One for all of them: what it keeps must never show in another's text.
    EXPECT_TRUE(rc::check([&texts] {
        const auto count = *rc::gen::inRange<std::size_t>(0, 5);
        StateFacts facts = draw_state(count, gen_any_decimal());
        facts.entries_halted_reason = *rc::gen::element<std::string>(
            "", "plain", "quote \" and \\", "line\nbreak\x01", "\xC3\xA4\xF0\x9F\x98\x80");
        facts.now = {*rc::gen::arbitrary<std::int64_t>() / 2'000};
        RC_ASSERT(is_canonical(texts, facts));
        // Once more, with the limits kept from before.
        RC_ASSERT(is_canonical(texts, facts));
    }));
}

TEST(FactsText, OfMarketsIsTheirCanonicalJson) {
    FactsText texts;
    EXPECT_TRUE(rc::check([&texts] {
        const auto count = *rc::gen::inRange<std::size_t>(0, 5);
        const MarketSet set = draw_markets(count, gen_any_decimal());
        RC_ASSERT(is_canonical(texts, set));
        RC_ASSERT(is_canonical(texts, set));
    }));
}

TEST(FactsText, FollowsALimitThatChanges) {
    FactsText texts;
    StateFacts facts;
    ASSERT_TRUE(texts.of(facts).has_value());
    facts.limits.max_leverage = Decimal(3);
    EXPECT_TRUE(is_canonical(texts, facts));
}

TEST(FactsText, FollowsARuleThatChanges) {
    FactsText texts;
    MarketSet set;
    set.markets.resize(1);
    ASSERT_TRUE(texts.of(set).has_value());
    set.markets[0].rules.tick_size = Decimal(3);
    EXPECT_TRUE(is_canonical(texts, set));
}

TEST(FactsText, RefusesWhatHasNoCanonicalForm) {
    FactsText texts;
    StateFacts broken;
    broken.entries_halted_reason = "\xFF";
    EXPECT_FALSE(canonical_json(encode(broken)).has_value());
    EXPECT_FALSE(texts.of(broken).has_value());
    StateFacts absurd;
    absurd.now = {std::numeric_limits<std::int64_t>::max()};
    EXPECT_FALSE(canonical_json(encode(absurd)).has_value());
    EXPECT_FALSE(texts.of(absurd).has_value());
}

TEST(FactsText, WritesNumbersAroundTheEndOfExactDoublesAsCanonicalJsonDoes) {
    FactsText texts;
    for (const std::int64_t middle : {std::int64_t{1} << 53, -(std::int64_t{1} << 53)}) {
        for (std::int64_t offset = -2; offset <= 2; ++offset) {
            StateFacts facts;
            facts.now = {middle + offset};
            const auto expected = canonical_json(encode(facts));
            const auto text = texts.of(facts);
            ASSERT_EQ(text.has_value(), expected.has_value());
            EXPECT_TRUE(!text || *text == *expected);
        }
    }
}

TEST(FactsText, ForgetsTheRulesOfAllMarketsAtItsBound) {
    FactsText texts;
    MarketSet set;
    set.markets.resize(1);
    for (std::size_t i = 0; i <= FactsText::kRulesKeptMax; ++i) {
        EXPECT_LE(texts.rules_kept(), FactsText::kRulesKeptMax);
        set.markets[0].rules.symbol = *Symbol::parse("M" + std::to_string(i));
        ASSERT_TRUE(texts.of(set).has_value());
    }
    EXPECT_EQ(texts.rules_kept(), 1u);
    EXPECT_TRUE(is_canonical(texts, set));
}

}  // namespace
}  // namespace interlock
