#include "app/command/backtest_command.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/command/backtest_page.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

std::string parts_text(const std::optional<SymbolParts>& parts) {
    return parts ? std::string(parts->base.text()) + "/" + std::string(parts->quote.text()) : "-";
}

TEST(BacktestCommand, ASymbolIsSplitAtItsQuoteAsset) {
    EXPECT_EQ(parts_text(split_symbol("BTCUSDT")), "BTC/USDT");
    EXPECT_EQ(parts_text(split_symbol("eth/btc")), "ETH/BTC");
    EXPECT_EQ(parts_text(split_symbol("BNBFDUSD")), "BNB/FDUSD");
    EXPECT_EQ(parts_text(split_symbol("USDT")), "-");
    EXPECT_EQ(parts_text(split_symbol("ABCXYZ")), "-");
}

TEST(BacktestCommand, DumpsCarryTheirSymbolInFront) {
    EXPECT_EQ(parts_text(symbol_of_file("/data/BTCUSDT-1m-2025-01.csv")), "BTC/USDT");
    EXPECT_EQ(parts_text(symbol_of_file("SOLUSDC-trades-2025-01-31.csv")), "SOL/USDC");
    EXPECT_EQ(parts_text(symbol_of_file("candles.csv")), "-");
}

class StrategyConfigTest : public ::testing::Test {
protected:
    Result<Json> read(const std::string& text) {
        const std::string path = folder_ / "config.toml";
        std::ofstream(path) << text;
        return read_strategy_config(path);
    }
    TempFolder folder_;
};

TEST_F(StrategyConfigTest, NumbersKeepTheTextTheyWereWrittenIn) {
    const auto config =
        read("levels = 12\nstep = 0.1\nsmall = 0.000001\nname = \"x\"\non = true\n");
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(
        to_text(*config), R"({"levels":12,"name":"x","on":true,"small":0.000001,"step":0.1})");
}

TEST_F(StrategyConfigTest, AValueNoKeyTakesIsNamed) {
    EXPECT_NE(read("grid = [1, 2]\n").error().message.find("grid has a type"), std::string::npos);
    EXPECT_NE(read("day = 2025-01-01\n").error().message.find("day has a type"), std::string::npos);
    EXPECT_NE(read("step = inf\n").error().message.find("step is no number"), std::string::npos);
}

TEST_F(StrategyConfigTest, WhatIsNoTomlIsToldWithItsLine) {
    EXPECT_NE(read("a = 1\nb = \n").error().message.find("(line 2)"), std::string::npos);
}

TEST(BacktestPage, WhatComesFromOutsideIsEscaped) {
    BacktestResult result;
    result.options.strategy_type = "<script>alert(1)</script>";
    result.options.strategy = find_strategy_type("idle")->open(Json::object()).value();
    result.data.bad_rows = 1;
    result.data.bad = {"<b>.csv:1: wrong"};
    const std::string page = backtest_page(result);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<b>.csv"), std::string::npos);
    EXPECT_NE(page.find("&lt;b&gt;.csv:1: wrong"), std::string::npos);
}

}  // namespace
}  // namespace interlock
