#include "account/wire/state_facts.h"

#include <gtest/gtest.h>

#include "loop/wire/test_facts.h"

namespace interlock {
namespace {

StateFacts some_facts() {
    StateFacts facts;
    facts.tenant_id = TenantId::trusted("t1");
    facts.account_id = AccountId::trusted("a1");
    facts.quote = *Asset::parse("USDT");
    for (const char* text : {"BTCUSDT", "ETHUSDT"}) {
        SymbolFacts symbol;
        symbol.symbol = *Symbol::parse(text);
        facts.symbols.push_back(symbol);
    }
    return facts;
}

TEST(StateFacts, ComeBackFromTheirJsonUnchanged) {
    EXPECT_TRUE(rc::check([] {
        const auto count = *rc::gen::inRange<std::size_t>(0, 4);
        const StateFacts facts = draw_state(count, gen_amount(1'000'000'000'000));
        // Through text too, as a stored artifact goes.
        const auto json = parse_json(to_text(encode(facts)));
        RC_ASSERT(json.has_value());
        const auto read = decode_state_facts(*json);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == facts);
    }));
}

TEST(StateFacts, KeepTimesToTheMicrosecond) {
    StateFacts facts = some_facts();
    facts.now = {1'794'744'000'000'001};
    const auto read = decode_state_facts(encode(facts));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->now, facts.now);
}

TEST(StateFacts, RefuseAnUnknownField) {
    Json json = encode(some_facts());
    json.set("equitty", "1");
    const auto read = decode_state_facts(json);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().problems.at(0).path, "equitty");
}

TEST(StateFacts, RefuseAMissingField) {
    Json json = encode(some_facts());
    std::erase_if(json.members(), [](const auto& member) { return member.first == "peak"; });
    EXPECT_FALSE(decode_state_facts(json).has_value());
}

TEST(StateFacts, RefuseSymbolsThatDoNotAscend) {
    StateFacts facts = some_facts();
    std::swap(facts.symbols[0], facts.symbols[1]);
    EXPECT_FALSE(decode_state_facts(encode(facts)).has_value());
}

TEST(StateFacts, RefuseASymbolTwice) {
    StateFacts facts = some_facts();
    facts.symbols[1] = facts.symbols[0];
    EXPECT_FALSE(decode_state_facts(encode(facts)).has_value());
}

TEST(StateFacts, RefuseANegativePosition) {
    StateFacts facts = some_facts();
    facts.symbols[0].position = Decimal(-1);
    EXPECT_FALSE(decode_state_facts(encode(facts)).has_value());
}

TEST(StateFacts, RefuseASymbolThatIsNotSpeltCanonically) {
    Json json = encode(some_facts());
    json.find("symbols")->items()[0].set("symbol", "btc/usdt");
    EXPECT_FALSE(decode_state_facts(json).has_value());
}

TEST(StateFacts, TakeAListAtItsBoundAndRefuseOneMore) {
    StateFacts facts = some_facts();
    facts.recent.assign(kStateRecentMax, {});
    for (RecentIntent& recent : facts.recent) {
        recent.symbol = facts.symbols[0].symbol;
        recent.decision_id = DecisionId::trusted("d1");
    }
    EXPECT_TRUE(decode_state_facts(encode(facts)).has_value());
    facts.recent.push_back(facts.recent.back());
    EXPECT_FALSE(decode_state_facts(encode(facts)).has_value());
}

TEST(StateFacts, FindASymbolAndMissAnother) {
    const StateFacts facts = some_facts();
    ASSERT_NE(facts.find(*Symbol::parse("ETHUSDT")), nullptr);
    EXPECT_EQ(facts.find(*Symbol::parse("ETHUSDT"))->symbol.text(), "ETHUSDT");
    EXPECT_EQ(facts.find(*Symbol::parse("BTCEUR")), nullptr);
}

// A default-made state must let nothing through (I5).
TEST(StateFacts, StartClosed) {
    const StateFacts facts;
    EXPECT_TRUE(facts.kill_switch_active);
    EXPECT_FALSE(facts.trading_enabled);
    EXPECT_FALSE(facts.equity.has_value());
}

TEST(RiskModes, HaveTheFactorsOfTheLadder) {
    EXPECT_EQ(to_text(size_factor_of(RiskMode::normal)), "1");
    EXPECT_EQ(to_text(size_factor_of(RiskMode::reduced)), "0.75");
    EXPECT_EQ(to_text(size_factor_of(RiskMode::defensive)), "0.25");
    EXPECT_EQ(to_text(size_factor_of(RiskMode::reduce_only)), "0");
    EXPECT_EQ(to_text(size_factor_of(RiskMode::halted)), "0");
}

TEST(RiskModes, AreReadByTheirWordsAndAliases) {
    for (const RiskMode mode :
         {RiskMode::normal,
          RiskMode::reduced,
          RiskMode::defensive,
          RiskMode::reduce_only,
          RiskMode::halted}) {
        EXPECT_EQ(parse_risk_mode(to_word(mode)), mode);
    }
    EXPECT_EQ(parse_risk_mode("cautious"), RiskMode::reduced);
    EXPECT_EQ(parse_risk_mode("observe_only"), RiskMode::halted);
    EXPECT_FALSE(parse_risk_mode("Normal").has_value());
}

}  // namespace
}  // namespace interlock
