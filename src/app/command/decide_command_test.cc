#include "app/command/decide_command.h"

#include <gtest/gtest.h>

#include "app/command/console.h"
#include "app/command/trader_call.h"
#include "app/wiring/server_client.h"
#include "trader/wire/control_decision.h"

namespace interlock {
namespace {

DecideFlags pause_flags() {
    DecideFlags flags;
    flags.concern = "main:btcusdt";
    flags.action = "pause";
    flags.reason = "odd fills";
    return flags;
}

TEST(DecideCommand, MakesADecisionThatTheContractTakes) {
    DecideFlags flags = pause_flags();
    flags.action = "switch";
    flags.target = "str_b";
    flags.expected = "str_a";
    flags.confidence = "0.83";
    flags.dry_run = true;
    const auto payload = decision_payload(flags);
    ASSERT_TRUE(payload.has_value());
    const auto decision = decode_control_decision(*payload);
    ASSERT_TRUE(decision.has_value()) << decision.error().message;
    EXPECT_EQ(decision->account_id.text(), "main");
    EXPECT_EQ(decision->market_symbol, "btcusdt");
    EXPECT_EQ(*decision->expected_active_strategy_id, StrategyId::trusted("str_a"));
    EXPECT_TRUE(decision->dry_run);
}

TEST(DecideCommand, ExpectsNothingActiveOnTheWordNone) {
    DecideFlags flags = pause_flags();
    EXPECT_EQ(decision_payload(flags)->find("expected_active_strategy_id"), nullptr);
    flags.expected = "none";
    EXPECT_TRUE(decision_payload(flags)->find("expected_active_strategy_id")->is_null());
}

TEST(DecideCommand, MakesAnIdOfItsOwnForEachDecision) {
    const auto first = decision_payload(pause_flags());
    const auto second = decision_payload(pause_flags());
    EXPECT_NE(text_at(*first, "decision_id"), text_at(*second, "decision_id"));
}

TEST(DecideCommand, KeepsTheIdThatWasGiven) {
    DecideFlags flags = pause_flags();
    flags.id = "dec_7";
    EXPECT_EQ(text_at(*decision_payload(flags), "decision_id"), "dec_7");
}

TEST(DecideCommand, SaysWhatADecisionNeeds) {
    DecideFlags flags = pause_flags();
    flags.reason.clear();
    EXPECT_EQ(decision_payload(flags).error(), errors::bad_usage);
}

TEST(DecideCommand, RefusesAConfidenceThatIsNoNumber) {
    DecideFlags flags = pause_flags();
    flags.confidence = "high";
    EXPECT_EQ(decision_payload(flags).error(), errors::bad_usage);
}

TEST(DecideCommand, AsksForTheMarketOfAConcernWithoutOne) {
    DecideFlags flags = pause_flags();
    flags.concern = "main";
    EXPECT_EQ(decision_payload(flags).error(), errors::bad_usage);
}

TEST(TraderCall, ReadsPairsAsWhatTheyLookLike) {
    Json config = Json::object();
    ASSERT_TRUE(set_pairs(config, {"grid_levels=4", "on=true", "trade_sides=both"}));
    EXPECT_EQ(to_text(config), R"({"grid_levels":4,"on":true,"trade_sides":"both"})");
}

TEST(TraderCall, RefusesAPairWithoutAKey) {
    Json config = Json::object();
    EXPECT_EQ(set_pairs(config, {"=4"}).error(), errors::bad_usage);
    EXPECT_EQ(set_pairs(config, {"grid_levels"}).error(), errors::bad_usage);
}

}  // namespace
}  // namespace interlock
