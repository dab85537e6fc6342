// The maker engine at the paper exchange, gates and books and all: days of candles in which every
// fill must be a maker's and the rails must hold after each of them.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "market/rules/market_noise.h"
#include "testing/temp_folder.h"
#include "trader/backtest/backtest_run.h"

namespace interlock {
namespace {

constexpr std::int64_t kStart = 1'735'689'600;  // 2025-01-01.
constexpr std::int64_t kMinutes = 2 * 24 * 60;

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

std::string cents(std::int64_t price) {
    const std::string rest = std::to_string(price % 100);
    return std::to_string(price / 100) + "." + (rest.size() == 1 ? "0" : "") + rest;
}

// A price around 100.00 that wanders up to 0.3 % a minute and is drawn back.
std::string wandering_candles(std::uint64_t seed) {
    std::string text;
    std::int64_t price = 10'000;
    for (std::int64_t i = 0; i < kMinutes; ++i) {
        const auto bits = [&](std::uint64_t of) {
            return mix_bits(seed, static_cast<std::uint64_t>(i), of);
        };
        const std::int64_t open = price;
        price += uniform(bits(1), -30, 30) + (10'000 - price) / 200;
        const std::int64_t high = std::max(open, price) + uniform(bits(2), 0, 15);
        const std::int64_t low = std::min(open, price) - uniform(bits(3), 0, 15);
        const std::int64_t volume = uniform(bits(4), 1, 40);
        text += std::to_string(kStart + 60 * i) + "000," + cents(open) + "," + cents(high) + "," +
                cents(low) + "," + cents(price) + "," + std::to_string(volume) + "," +
                std::to_string(kStart + 60 * i + 59) + "999,1,1,1,1,0\n";
    }
    return text;
}

class MakerDayTest : public ::testing::TestWithParam<std::uint64_t> {
protected:
    BacktestResult run(Decimal base_deposit) {
        const std::string path = folder_ / "data.csv";
        std::ofstream(path, std::ios::binary) << wandering_candles(GetParam());
        BacktestOptions options;
        options.paths = {path};
        options.strategy_type = "inventory_rails";
        const Json config = parse_json(R"({"amount": "6", "pnl_perc": "0.4"})").value();
        options.strategy = find_strategy_type("inventory_rails")->open(config).value();
        options.rules = backtest_rules(
            Symbol::parse("ABCUSDT").value(),
            Asset::parse("ABC").value(),
            Asset::parse("USDT").value());
        options.rules.step_size = dec("0.01");
        options.base_deposit = base_deposit;
        auto result = run_backtest(std::move(options), nullptr);
        EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
        return result ? *std::move(result) : BacktestResult{};
    }
    TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, MakerDayTest, ::testing::Range<std::uint64_t>(1, 7));

TEST_P(MakerDayTest, EveryFillIsAMakersAndTheBooksAgree) {
    const BacktestResult result = run(Decimal(4));
    EXPECT_GT(result.figures.fills, 20);
    EXPECT_EQ(result.figures.maker_fills, result.figures.fills);
    EXPECT_EQ(result.counts.ticks_failed, 0);
    EXPECT_TRUE(result.drift.empty()) << result.drift.front();
}

TEST_P(MakerDayTest, TheInventoryStaysBetweenItsRails) {
    for (const Decimal held : {Decimal(), Decimal(4), Decimal(50)}) {
        const BacktestResult result = run(held);
        ASSERT_EQ(result.drawn_every, 1);
        ASSERT_FALSE(result.drawn.empty());
        // A buy is charged a thousandth of what it brings.
        Decimal inventory = std::min(held, Decimal(6));
        for (const DrawnFill& fill : result.drawn) {
            const Decimal bought = multiply_half_even(fill.qty, dec("0.999")).value();
            inventory = fill.side == Side::buy ? add(inventory, bought).value()
                                               : subtract(inventory, fill.qty).value();
            ASSERT_FALSE(inventory.is_negative()) << to_text(inventory);
            ASSERT_LE(inventory, Decimal(12)) << to_text(inventory);
        }
    }
}

}  // namespace
}  // namespace interlock
