// How the numbers of a backtest are shown to people: fixed places, thousands apart, percent. In
// whole numbers, so that a page has the same bytes everywhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trader/backtest/backtest_run.h"

namespace interlock {

// Rounded half away from zero: "12,345.68".
std::string fixed_text(Decimal value, int places);
// A fraction as percent with a sign where one is wanted: "+3.14 %".
std::string percent_text(Decimal fraction, bool with_sign = false);
// "3 d 4 h", "5 h 12 min", "42 s".
std::string span_text(Duration span);
// "2026-01-31 12:00".
std::string moment_text(Timestamp at);

using BacktestRows = std::vector<std::pair<std::string, std::string>>;
// Name and value, as they are printed and drawn.
BacktestRows report_rows(const BacktestResult& result);
// "gate", "reason", "decisions", most first.
std::vector<std::vector<std::string>> refusal_rows(const BacktestResult& result);
BacktestRows parameter_rows(const BacktestResult& result);

}  // namespace interlock
