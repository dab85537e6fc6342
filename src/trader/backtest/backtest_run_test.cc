#include "trader/backtest/backtest_run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/errors.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

constexpr std::int64_t kStart = 1'735'689'600;  // 2025-01-01.

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

Intent limit(const StrategyInput& input, Side side, Decimal qty, Decimal price) {
    Intent intent;
    intent.intent_id = IntentId::trusted("i0");
    intent.symbol = input.symbol;
    intent.side = side;
    intent.qty = qty;
    intent.limit_price = price;
    intent.post_only = true;
    intent.strategy_id = input.strategy_id;
    return intent;
}

// Buys one at 99 while it holds nothing and has no order, sells what it holds at 101. It remembers
// how often it was asked.
class TwoPrices final : public Strategy {
public:
    Duration tick_every() const override { return Duration::of_seconds(60); }
    Result<StrategyStep> step(const StrategyInput& input) const override {
        StrategyStep step;
        step.memory = Json::object();
        if (!input.own_orders.empty()) {
            return step;
        }
        const SymbolFacts* held = input.state.find(input.symbol);
        const Decimal sellable =
            held == nullptr ? Decimal() : floor_to_step(held->position, dec("0.01")).value();
        step.plan.intents.push_back(
            sellable.is_positive() ? limit(input, Side::sell, sellable, dec("101"))
                                   : limit(input, Side::buy, Decimal(1), dec("99")));
        return step;
    }
};

// Wants far more than any limit allows.
class Greedy final : public Strategy {
public:
    Duration tick_every() const override { return Duration::of_seconds(60); }
    Result<StrategyStep> step(const StrategyInput& input) const override {
        StrategyStep step;
        step.memory = Json::object();
        step.plan.intents.push_back(limit(input, Side::buy, Decimal(5000), dec("99")));
        return step;
    }
};

class Broken final : public Strategy {
public:
    Duration tick_every() const override { return Duration::of_seconds(60); }
    Result<StrategyStep> step(const StrategyInput&) const override {
        return fail(errors::unavailable, "There is no price.");
    }
};

struct Price {
    std::string open;
    std::string high;
    std::string low;
    std::string close;
};

std::string kline(std::int64_t minute, const Price& price, const std::string& volume = "1000") {
    return std::to_string(kStart + 60 * minute) + "000," + price.open + "," + price.high + "," +
           price.low + "," + price.close + "," + volume + "," +
           std::to_string(kStart + 60 * minute + 59) + "999,1,1,1,1,0\n";
}

const Price kCalm{"100.00", "100.05", "99.95", "100.00"};

class BacktestRunTest : public ::testing::Test {
protected:
    BacktestOptions options(const std::string& text) {
        const std::string path = folder_ / "data.csv";
        std::ofstream(path, std::ios::binary) << text;
        BacktestOptions options;
        options.paths = {path};
        options.strategy_type = "test";
        options.strategy = std::make_shared<TwoPrices>();
        options.rules = backtest_rules(
            Symbol::parse("ABCUSDT").value(),
            Asset::parse("ABC").value(),
            Asset::parse("USDT").value());
        options.rules.step_size = dec("0.01");
        return options;
    }
    static BacktestResult run(BacktestOptions options) {
        auto result = run_backtest(std::move(options), nullptr);
        EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
        return result ? *std::move(result) : BacktestResult{};
    }
    static std::string calm(std::int64_t minutes) {
        std::string text;
        for (std::int64_t i = 0; i < minutes; ++i) {
            text += kline(i, kCalm);
        }
        return text;
    }

    TempFolder folder_;
};

TEST_F(BacktestRunTest, AnOrderIsFilledAtItsPriceWhenTheMarketGoesThroughIt) {
    const std::string text = calm(5) + kline(5, {"100.00", "100.00", "98.00", "98.50"}) +
                             kline(6, {"98.50", "98.60", "98.40", "98.50"});
    const BacktestResult result = run(options(text));
    ASSERT_EQ(result.figures.fills, 1);
    EXPECT_EQ(result.drawn[0].price, Decimal(99));
    EXPECT_EQ(result.drawn[0].qty, Decimal(1));
    EXPECT_EQ(result.figures.maker_fills, 1);
    EXPECT_TRUE(result.drift.empty()) << result.drift.front();
}

TEST_F(BacktestRunTest, AMarketThatOnlyTouchesThePriceFillsNothing) {
    const std::string text = calm(5) + kline(5, {"100.00", "100.00", "99.00", "99.50"}) + calm(0);
    EXPECT_EQ(run(options(text)).figures.fills, 0);
}

TEST_F(BacktestRunTest, ACandleFillsNoMoreThanItsVolume) {
    const std::string text = calm(5) + kline(5, {"100.00", "100.00", "98.00", "98.50"}, "0.8");
    const BacktestResult result = run(options(text));
    // A quarter at the low and a quarter at the close lie through the price.
    EXPECT_EQ(result.figures.turnover, dec("39.6"));
    EXPECT_EQ(result.open_orders, 1);
}

TEST_F(BacktestRunTest, ARoundTripIsCountedAndItsMoneyIsExact) {
    std::string text = calm(5) + kline(5, {"100.00", "100.00", "98.00", "98.50"});
    for (std::int64_t i = 6; i < 10; ++i) {
        text += kline(i, {"98.50", "98.60", "98.40", "98.50"});
    }
    text += kline(10, {"98.50", "102.00", "98.40", "102.00"}) +
            kline(11, {"102.00", "102.10", "101.90", "102.00"});
    const BacktestResult result = run(options(text));
    EXPECT_EQ(result.figures.fills, 2);
    EXPECT_EQ(result.figures.round_trips, 1);
    EXPECT_EQ(result.figures.round_trips_won, 1);
    // 1 bought at 99 less 0.001 as fee, 0.99 sold at 101 less 0.1 %: 0.009 are left, at 102.
    EXPECT_EQ(result.position, dec("0.009"));
    EXPECT_EQ(result.figures.fees, dec("0.19899"));
    EXPECT_EQ(result.figures.equity_last, dec("10001.80801"));
    EXPECT_TRUE(result.drift.empty());
}

TEST_F(BacktestRunTest, TheGatesRefuseAsTheyDoLive) {
    BacktestOptions wanted = options(calm(10));
    wanted.strategy = std::make_shared<Greedy>();
    const BacktestResult result = run(std::move(wanted));
    EXPECT_EQ(result.counts.executed, 0);
    EXPECT_EQ(result.counts.refused, result.counts.decisions);
    EXPECT_GT(result.counts.refused_by.at("risk_limits:notional_per_trade"), 0);
    EXPECT_GT(result.counts.refused_by.at("exposure_leverage:insufficient_funds"), 0);
    EXPECT_EQ(result.counts.refused_by.at("market_sanity:warming_up"), 1);
    EXPECT_EQ(result.figures.total_return, Decimal());
}

TEST_F(BacktestRunTest, RowsBeforeTheBeginningWarmUpOnly) {
    BacktestOptions wanted = options(calm(30));
    wanted.strategy = std::make_shared<Greedy>();
    wanted.from = Timestamp{(kStart + 600) * 1'000'000};
    const BacktestResult result = run(std::move(wanted));
    EXPECT_EQ(result.warmup_events, 40);
    EXPECT_EQ(result.figures.first_at.microseconds, (kStart + 600) * 1'000'000);
    EXPECT_FALSE(result.counts.refused_by.contains("market_sanity:warming_up"));
}

TEST_F(BacktestRunTest, TheEndIsNotLookedAt) {
    BacktestOptions wanted = options(calm(30));
    wanted.to = Timestamp{(kStart + 600) * 1'000'000};
    EXPECT_EQ(run(std::move(wanted)).events, 40);
}

TEST_F(BacktestRunTest, NothingLeftToTradeOnIsAnError) {
    BacktestOptions wanted = options(calm(3));
    wanted.warmup = Duration::of_hours(1);
    const auto result = run_backtest(std::move(wanted), nullptr);
    ASSERT_FALSE(result.has_value());
    EXPECT_NE(result.error().message.find("nothing was left"), std::string::npos);
}

TEST_F(BacktestRunTest, ThreeFailedTicksLatchTheStrategy) {
    BacktestOptions wanted = options(calm(20));
    wanted.strategy = std::make_shared<Broken>();
    const BacktestResult result = run(std::move(wanted));
    EXPECT_EQ(result.counts.ticks, 3);
    EXPECT_EQ(result.counts.ticks_failed, 3);
    ASSERT_EQ(result.stops.size(), 1u);
    EXPECT_EQ(result.stops[0].code, "strategy_latched");
}

TEST_F(BacktestRunTest, TheSameDataGivesTheSameBytes) {
    const std::string text = calm(5) + kline(5, {"100.00", "102.00", "98.00", "98.50"}) + calm(0);
    EXPECT_EQ(to_text(encode(run(options(text)))), to_text(encode(run(options(text)))));
}

TEST_F(BacktestRunTest, TradesFillAtTheirPriceUpToTheirVolume) {
    std::string text;
    std::int64_t at = kStart * 1000;
    int id = 0;
    const auto trade = [&](const std::string& price, const std::string& qty, bool sold) {
        text += std::to_string(++id) + "," + price + "," + qty + ",1," + std::to_string(at) +
                (sold ? ",True,True\n" : ",False,True\n");
        at += 1000;
    };
    for (int i = 0; i < 100; ++i) {
        trade(i % 2 == 0 ? "100.01" : "100.00", "0.50", i % 2 == 1);
    }
    trade("99.00", "0.25", true);
    trade("99.00", "0.25", true);
    const BacktestResult result = run(options(text));
    EXPECT_EQ(result.figures.fills, 2);
    EXPECT_EQ(result.figures.turnover, dec("49.5"));
    EXPECT_EQ(result.open_orders, 1);
}

TEST_F(BacktestRunTest, ABaseDepositIsWorthTheFirstPrice) {
    BacktestOptions wanted = options(calm(3));
    wanted.base_deposit = Decimal(2);
    const BacktestResult result = run(std::move(wanted));
    EXPECT_EQ(result.figures.equity_first, dec("10200"));
    EXPECT_TRUE(result.drift.empty());
}

TEST_F(BacktestRunTest, TickAndStepAreFoundOutFromTheData) {
    BacktestOptions wanted = options(calm(3));
    wanted.rules.step_size = Decimal();
    const BacktestResult result = run(std::move(wanted));
    EXPECT_EQ(result.options.rules.tick_size, dec("0.01"));
    // A whole one would do for the volumes, but be worth 100.
    EXPECT_EQ(result.options.rules.step_size, dec("0.001"));
}

TEST_F(BacktestRunTest, TheCurveStaysWithinItsBound) {
    const BacktestResult result =
        run(options(calm(3 * static_cast<std::int64_t>(kCurvePointsMax))));
    EXPECT_LE(result.curve.size(), kCurvePointsMax);
    EXPECT_GE(result.curve.size(), kCurvePointsMax / 2);
    EXPECT_EQ(result.curve.back().at, result.figures.last_at);
}

}  // namespace
}  // namespace interlock
