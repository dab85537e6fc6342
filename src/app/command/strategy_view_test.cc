#include "app/command/strategy_view.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

Json parsed(const std::string& text) {
    auto json = parse_json(text);
    EXPECT_TRUE(json.has_value()) << text;
    return json ? *json : Json();
}

const std::string kRejected = R"({"ok": false, "status": "rejected", "decision_id": "d1",
    "concern_id": "main:btcusdt", "action": "switch", "from_strategy_id": "str_a",
    "to_strategy_id": "str_b", "risk_mode": "normal", "dry_run": false,
    "validation": {"concern_match": true, "expected_active_match": false}, "warnings": [],
    "errors": [{"code": "expected_active_mismatch", "message": "Another one is active.",
                "retryable": false, "next_step": "Read again."}],
    "result": {}, "applied_at": null})";

TEST(StrategyView, SaysWhyADecisionWasRejectedAndWhatToDo) {
    const std::string text = describe_control(parsed(kRejected));
    EXPECT_TRUE(text.starts_with("REJECTED: switch on main:btcusdt\n")) << text;
    EXPECT_TRUE(text.contains("expected_active_match")) << text;
    EXPECT_FALSE(text.contains("concern_match,")) << text;
    EXPECT_TRUE(text.contains("Another one is active. [expected_active_mismatch]")) << text;
    EXPECT_TRUE(text.contains("Read again.")) << text;
}

TEST(StrategyView, ARejectedDecisionIsARefusalAndANoopIsNot) {
    EXPECT_EQ(exit_code_of(parsed(kRejected)), ExitCode::refused);
    EXPECT_EQ(exit_code_of(parsed(R"({"ok": true, "status": "noop"})")), ExitCode::ok);
}

TEST(StrategyView, ADryRunSaysThatNothingWasChanged) {
    const std::string text = describe_control(
        parsed(R"({"ok": true, "status": "applied", "action": "pause", "concern_id": "c",
                   "dry_run": true})"));
    EXPECT_TRUE(text.starts_with("APPLIED (dry run, nothing was changed): pause on c")) << text;
}

TEST(StrategyView, AReasonCannotMoveTheCursor) {
    const std::string text = describe_control(
        parsed(R"({"ok": false, "status": "rejected", "action": "\u001b[2J", "concern_id": "c",
                   "errors": [{"message": "\u001b[1A", "code": "x", "next_step": "y"}]})"));
    EXPECT_FALSE(text.contains('\x1b')) << text;
}

TEST(StrategyView, ShowsEveryBlockOfAReport) {
    const std::string text =
        describe_strategy(parsed(R"({"id": "str_a", "status": "running", "policy": {"priority": 5},
            "config": {"grid_levels": 4},
            "report": {
                "identity": {"strategy_id": "str_a"}, "control": {"mode": "active"},
                "fit": {"risk_profile": "balanced"}, "supervision": {"signal": "none"},
                "position": {"account_balance": {"base": "1", "quote": "2"},
                             "open_orders": [{"side": "buy", "price": "99"}]},
                "state": {"current_intent": "wait"}, "assessment": {"key_drivers": ["a", "b"]},
                "execution": {"execution_quality": "good"}}})"));
    for (const std::string block :
         {"identity",
          "control",
          "fit",
          "supervision",
          "position",
          "state",
          "assessment",
          "execution"}) {
        EXPECT_TRUE(text.contains("report: " + block + "\n")) << block << "\n" << text;
    }
    EXPECT_TRUE(text.contains("base 1, quote 2")) << text;
    EXPECT_TRUE(text.contains("buy   99")) << text;
    EXPECT_TRUE(text.contains("grid levels  4")) << text;
}

TEST(StrategyView, ShowsTheParametersOfOneType) {
    const Json types = parsed(R"({"strategy_types": [{"strategy_type": "grid_trader",
        "label": "Grid", "config_schema": {"properties": {
            "grid_levels": {"type": "integer", "minimum": 1, "maximum": 20, "default": 6,
                            "description": "orders a side"},
            "trade_sides": {"enum": ["both", "buy"], "default": "both"}}}}]})");
    const std::string text = describe_types(types, "grid_trader");
    EXPECT_TRUE(text.contains("grid_levels  6        1 to 20   orders a side")) << text;
    EXPECT_TRUE(text.contains("both,buy")) << text;
    EXPECT_EQ(describe_types(types, "no_such_type"), "");
}

TEST(StrategyView, TellsANewcomerHowToBegin) {
    const std::string text = describe_strategies(parsed(R"({"strategies": []})"));
    EXPECT_TRUE(text.contains("interlock strategy create")) << text;
}

TEST(StrategyView, SaysWhyAStrategyDoesNotTrade) {
    const std::string one = R"({"id": "str_a", "status": "blocked", "blocked": {
        "code": "disabled", "reason": "Trading is off.", "next": "Enable it."}})";
    EXPECT_TRUE(describe_strategies(parsed(R"({"strategies": [)" + one + "]}"))
                    .contains("blocked: disabled"));
    const std::string text = describe_strategy(parsed(one));
    EXPECT_TRUE(text.contains("disabled: Trading is off.")) << text;
    EXPECT_TRUE(text.contains("Enable it.")) << text;
}

}  // namespace
}  // namespace interlock
