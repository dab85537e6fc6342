// A backtest as one page: equity, drawdown and the trades over the price, drawn as inline SVG, with
// the report and the parameters. The page fetches nothing and carries a policy that forbids it; the
// same result gives the same bytes.
#pragma once

#include <string>

#include "trader/backtest/backtest_run.h"

namespace interlock {

std::string backtest_page(const BacktestResult& result);

}  // namespace interlock
