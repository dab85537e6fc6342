#include "trader/backtest/backtest_rows.h"

#include <gtest/gtest.h>

namespace interlock {
namespace {

const Symbol kSymbol = Symbol::parse("ABCUSDT").value();

constexpr std::string_view kKline =
    "1735689600000,100.10,101.00,99.50,100.70,12.5,1735689659999,1250.00,42,6.0,600.0,0";
constexpr std::string_view kTrade = "4411,100.25,0.5,50.125,1735689600123,False,True";
constexpr std::string_view kAggTrade = "77,100.25,0.5,4400,4411,1735689600123,True,True";
constexpr std::string_view kTick = "2025-01-01T00:00:00Z,ABCUSDT,99.99,2,100.01,3";

std::string problem_of(BacktestLayout layout, std::string_view line) {
    BacktestRow row;
    return std::string(read_row(layout, line, kSymbol, row));
}

BacktestRow row_of(BacktestLayout layout, std::string_view line) {
    BacktestRow row;
    EXPECT_EQ(read_row(layout, line, kSymbol, row), "");
    return row;
}

TEST(BacktestRows, LayoutsAreRecognisedByTheirFirstLine) {
    EXPECT_EQ(recognise_layout(kKline), BacktestLayout::klines);
    EXPECT_EQ(recognise_layout(kTrade), BacktestLayout::trades);
    EXPECT_EQ(recognise_layout(kAggTrade), BacktestLayout::agg_trades);
    EXPECT_EQ(recognise_layout(kTick), BacktestLayout::recording);
}

TEST(BacktestRows, LayoutsAreRecognisedByTheirHeader) {
    EXPECT_EQ(
        recognise_layout("open_time,open,high,low,close,volume,close_time,quote_volume,count,"
                         "taker_buy_volume,taker_buy_quote_volume,ignore"),
        BacktestLayout::klines);
    EXPECT_EQ(
        recognise_layout("id,price,qty,quote_qty,time,is_buyer_maker"), BacktestLayout::trades);
    EXPECT_EQ(
        recognise_layout("agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,"
                         "is_buyer_maker"),
        BacktestLayout::agg_trades);
    EXPECT_EQ(recognise_layout("time,symbol,bid,bid_qty,ask,ask_qty"), BacktestLayout::recording);
}

TEST(BacktestRows, SevenColumnsAreTradesOrAggregatedOnesByTheirSixth) {
    EXPECT_EQ(
        recognise_layout("77,100.25,0.5,4400,4411,1735689600123,true"), BacktestLayout::agg_trades);
    EXPECT_EQ(
        recognise_layout("77,100.25,0.5,50.1,1735689600123,true,true"), BacktestLayout::trades);
}

TEST(BacktestRows, SomethingElseIsNoLayout) {
    EXPECT_FALSE(recognise_layout("hello"));
    EXPECT_FALSE(recognise_layout("1,2,3"));
    EXPECT_FALSE(recognise_layout("date,open,high,low,close"));
}

TEST(BacktestRows, AHeaderIsNoRow) {
    EXPECT_TRUE(is_no_row(BacktestLayout::klines, "open_time,open"));
    EXPECT_FALSE(is_no_row(BacktestLayout::klines, kKline));
    EXPECT_FALSE(is_no_row(BacktestLayout::klines, "garbage"));
}

TEST(BacktestRows, AKlineIsReadExactly) {
    const BacktestRow row = row_of(BacktestLayout::klines, kKline);
    EXPECT_EQ(row.at.microseconds, 1'735'689'600'000'000);
    EXPECT_EQ(row.closed_at.microseconds, 1'735'689'659'999'000);
    EXPECT_EQ(row.open, 10'010'000'000);
    EXPECT_EQ(row.high, 10'100'000'000);
    EXPECT_EQ(row.low, 9'950'000'000);
    EXPECT_EQ(row.close, 10'070'000'000);
    EXPECT_EQ(row.quantity, 1'250'000'000);
}

TEST(BacktestRows, MicrosecondsAreToldFromMilliseconds) {
    const BacktestRow row =
        row_of(BacktestLayout::klines, "1735689600000000,1,1,1,1,1,1735689659999999,1,1,1,1,0");
    EXPECT_EQ(row.at.microseconds, 1'735'689'600'000'000);
    EXPECT_EQ(row.closed_at.microseconds, 1'735'689'659'999'999);
}

TEST(BacktestRows, ABuyersMakerMeansThatTheTakerSold) {
    EXPECT_EQ(row_of(BacktestLayout::agg_trades, kAggTrade).taker, BookSide::sell);
    const BacktestRow bought = row_of(BacktestLayout::trades, kTrade);
    EXPECT_EQ(bought.taker, BookSide::buy);
    EXPECT_EQ(bought.price, 10'025'000'000);
    EXPECT_EQ(bought.quantity, 50'000'000);
}

TEST(BacktestRows, ARecordedTickOfAnotherSymbolHasNoTime) {
    EXPECT_EQ(
        row_of(BacktestLayout::recording, "2025-01-01T00:00:00Z,XYZUSDT,1,1,2,1").at, Timestamp{});
    EXPECT_EQ(row_of(BacktestLayout::recording, kTick).ask_quantity, 300'000'000);
}

TEST(BacktestRows, WhatIsWrongIsSaid) {
    const auto kline = [](std::string_view prices) {
        return problem_of(
            BacktestLayout::klines,
            "1735689600000," + std::string(prices) + ",1,1735689659999,1,1,1,1,0");
    };
    EXPECT_EQ(kline("1,2,0.5,x"), "a price is not a number");
    EXPECT_EQ(kline("1,2,0.5,0"), "a price is zero");
    EXPECT_EQ(kline("1,2,0.5,-1"), "a price is not a number");
    EXPECT_EQ(kline("1,2,0.5,1e3"), "a price is not a number");
    EXPECT_EQ(kline("1,2,0.5,3"), "open and close do not lie between low and high");
    EXPECT_EQ(kline("1,2,0.5,1.123456789"), "a price has more than 8 decimals");
    EXPECT_EQ(kline("1,999999999999999,0.5,1"), "a price is too large");
    EXPECT_EQ(problem_of(BacktestLayout::klines, "1,2,3"), "a kline has 12 columns");
    EXPECT_EQ(
        problem_of(BacktestLayout::trades, "1,100,1,100,1735689600123,maybe,True"),
        "is_buyer_maker is neither true nor false");
    EXPECT_EQ(
        problem_of(BacktestLayout::trades, "1,100,0,100,1735689600123,True,True"),
        "a quantity is zero");
    EXPECT_EQ(
        problem_of(BacktestLayout::trades, "1,100,1,100,17356,True,True"),
        "the time is not in milliseconds or microseconds since 1970");
    EXPECT_EQ(
        problem_of(BacktestLayout::recording, "2025-01-01T00:00:00Z,ABCUSDT,2,1,2,1"),
        "the bid is not below the ask");
}

TEST(BacktestRows, HugeVolumesAreTakenAsTheLargestNumber) {
    const BacktestRow row = row_of(
        BacktestLayout::klines,
        "1735689600000,1,1,1,1,99999999999999999999,1735689659999,1,1,1,1,0");
    EXPECT_EQ(row.quantity, INT64_MAX);
}

}  // namespace
}  // namespace interlock
