// The charts of a backtest's page as SVG text. Coordinates are whole tenths of a pixel: nothing is
// rounded differently anywhere.
#pragma once

#include <string>

#include "trader/backtest/backtest_run.h"

namespace interlock {

// Widths and places in the drawing's own pixels, which the page's script knows too.
inline constexpr std::int64_t kChartWidth = 1000;
inline constexpr std::int64_t kChartLeft = 8;
inline constexpr std::int64_t kChartRight = 76;  // Room for the axis' numbers.

std::string price_chart(const BacktestResult& result);
std::string equity_chart(const BacktestResult& result);
std::string drawdown_chart(const BacktestResult& result);
std::string exposure_chart(const BacktestResult& result);

// For the script: one row per point, [x in tenths, time, price, equity, drawdown, exposure].
std::string chart_data(const BacktestResult& result);

}  // namespace interlock
