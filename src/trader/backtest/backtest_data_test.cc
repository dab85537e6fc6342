#include "trader/backtest/backtest_data.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_folder.h"

namespace interlock {
namespace {

constexpr std::int64_t kStart = 1'735'689'600;

std::string kline(std::int64_t minute, const std::string& price = "100") {
    const std::string begin = std::to_string(kStart + 60 * minute);
    const std::string end = std::to_string(kStart + 60 * minute + 59);
    return begin + "000," + price + "," + price + "," + price + "," + price + ",1," + end +
           "999,100,1,1,100,0\n";
}

class BacktestDataTest : public ::testing::Test {
protected:
    std::string file(const std::string& name, const std::string& text) {
        const std::string path = folder_ / name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    // Everything there is; the error's message when it ends badly.
    std::string read_all(std::vector<std::string> paths, std::int64_t bad_rows_max = 0) {
        rows_.clear();
        auto data = BacktestData::open(
            {.paths = std::move(paths),
             .symbol = Symbol::parse("ABCUSDT").value(),
             .bad_rows_max = bad_rows_max});
        if (!data) {
            return data.error().message;
        }
        BacktestRow row;
        while (true) {
            const auto next = (*data)->next(row);
            notes_ = (*data)->notes();
            if (next == BacktestData::Next::failed) {
                return (*data)->error().message;
            }
            if (next == BacktestData::Next::end) {
                return "";
            }
            rows_.push_back(row);
        }
    }

    TempFolder folder_;
    std::vector<BacktestRow> rows_;
    BacktestDataNotes notes_;
};

TEST_F(BacktestDataTest, FilesFollowOneAnotherWithAndWithoutHeader) {
    const std::string first = file("a.csv", "open_time,open\n" + kline(0) + kline(1));
    const std::string second = file("b.csv", kline(2));
    EXPECT_EQ(read_all({first, second}), "");
    EXPECT_EQ(rows_.size(), 3u);
    EXPECT_EQ(notes_.gaps, 0);
}

TEST_F(BacktestDataTest, WindowsLineEndsAndAMissingLastOneAreFine) {
    std::string text = kline(0) + kline(1);
    text.insert(text.find('\n'), "\r");
    text.pop_back();
    EXPECT_EQ(read_all({file("a.csv", text)}), "");
    EXPECT_EQ(rows_.size(), 2u);
}

TEST_F(BacktestDataTest, ABadRowEndsItByFileAndLine) {
    EXPECT_EQ(
        read_all({file("a.csv", kline(0) + kline(1, "x") + kline(2))}),
        "a.csv:2: a price is not a number.");
    EXPECT_EQ(rows_.size(), 1u);
}

TEST_F(BacktestDataTest, BadRowsAreLeftOutUpToTheirBound) {
    const std::string path =
        file("a.csv", kline(0) + kline(1, "x") + kline(2, "0") + kline(3) + kline(4, "y"));
    EXPECT_EQ(read_all({path}, 3), "");
    EXPECT_EQ(rows_.size(), 2u);
    EXPECT_EQ(notes_.bad_rows, 3);
    EXPECT_EQ(notes_.bad[1], "a.csv:3: a price is zero");
    EXPECT_EQ(read_all({path}, 2), "a.csv:5: a price is not a number.");
}

TEST_F(BacktestDataTest, TimeThatGoesBackIsABadRow) {
    EXPECT_EQ(read_all({file("a.csv", kline(1) + kline(0))}), "a.csv:2: the time goes back.");
    EXPECT_EQ(
        read_all({file("a.csv", kline(1) + kline(1))}),
        "a.csv:2: the candle begins before the last one ended.");
}

TEST_F(BacktestDataTest, GapsAreCountedAndNamed) {
    EXPECT_EQ(read_all({file("a.csv", kline(0) + kline(5) + kline(6))}), "");
    EXPECT_EQ(notes_.gaps, 1);
    ASSERT_EQ(notes_.named_gaps.size(), 1u);
    EXPECT_EQ(notes_.named_gaps[0].line, 2);
    EXPECT_EQ(notes_.gaps_length.microseconds, 240'001'000);
}

TEST_F(BacktestDataTest, ALineWithoutEndIsRefusedAtItsBound) {
    EXPECT_EQ(
        read_all({file("a.csv", kline(0) + std::string(kBacktestLineBytesMax + 1, '1'))}),
        "a.csv:2: the line is longer than 65536 bytes.");
}

TEST_F(BacktestDataTest, LinesAcrossBlocksAreWhole) {
    std::string text;
    constexpr int kRows = 10'000;
    for (int i = 0; i < kRows; ++i) {
        text += kline(i, "100." + std::to_string(10'000 + i));
    }
    ASSERT_EQ(read_all({file("a.csv", text)}), "");
    ASSERT_EQ(rows_.size(), static_cast<std::size_t>(kRows));
    for (int i = 0; i < kRows; ++i) {
        ASSERT_EQ(rows_[static_cast<std::size_t>(i)].close, 10'000'000'000 + (10'000 + i) * 1000);
    }
}

TEST_F(BacktestDataTest, PeekedRowsComeAgain) {
    const auto data = BacktestData::open(
        {.paths = {file("a.csv", kline(0) + kline(1) + kline(2))}, .symbol = {}});
    ASSERT_TRUE(data.has_value());
    ASSERT_EQ((*data)->peek(2).value().size(), 2u);
    BacktestRow row;
    int count = 0;
    while ((*data)->next(row) == BacktestData::Next::row) {
        EXPECT_EQ(row.at.microseconds, (kStart + 60 * count) * 1'000'000);
        ++count;
    }
    EXPECT_EQ(count, 3);
}

TEST_F(BacktestDataTest, AMissingFileAndAnUnknownLayoutAreSaid) {
    EXPECT_NE(read_all({folder_ / "none.csv"}).find("cannot be read"), std::string::npos);
    EXPECT_NE(
        read_all({file("a.csv", "hello,world\n")}).find("a.csv:1: this is none"),
        std::string::npos);
}

}  // namespace
}  // namespace interlock
