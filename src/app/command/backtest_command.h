// `interlock backtest`: a strategy over recorded market data, without a server.
#pragma once

#include <string>
#include <vector>

#include "app/command/command.h"
#include "trader/backtest/backtest_run.h"

namespace interlock {

void add_backtest_command(CommandLine& line);

// A TOML table as a strategy's configuration: numbers keep their text, tables and dates are refused
// by the name of their key. Fails with invalid_config.
Result<Json> read_strategy_config(const std::string& path);

// "BTCUSDT" as base and quote, by the quote assets that are common; nothing when none fits.
struct SymbolParts {
    Symbol symbol;
    Asset base;
    Asset quote;
};
std::optional<SymbolParts> split_symbol(const std::string& text);
// The symbol that dumps carry in front of their file names ("BTCUSDT-1m-2025-01.csv").
std::optional<SymbolParts> symbol_of_file(const std::string& path);

}  // namespace interlock
