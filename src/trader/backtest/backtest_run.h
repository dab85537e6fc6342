// A backtest: recorded market data drives the paper exchange, a strategy trades on it through the
// loop's own core, and a report says what came of it. docs/backtest.md tells how fills are made.
//
// One thread, no clock, nothing durable. Memory does not grow with the length of the data. The same
// options and data give the same result to the last byte.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trader/backtest/backtest_data.h"
#include "trader/backtest/backtest_loop.h"
#include "trader/backtest/backtest_market.h"
#include "trader/backtest/backtest_tally.h"

namespace interlock {

// Rows that are looked at to find tick and step size.
inline constexpr std::size_t kBacktestPeekRows = 1000;
// A quote holds this long for statistics; a candle's price until its next one.
inline constexpr Duration kBacktestHold = Duration::of_seconds(60);
// Events between two calls of the progress function.
inline constexpr std::int64_t kBacktestProgressEvents = 1 << 15;

struct BacktestOptions {
    std::vector<std::string> paths;
    std::string strategy_type;
    Json config = Json::object();
    std::shared_ptr<const Strategy> strategy;  // Opened from the config.
    RiskPosture posture = RiskPosture::balanced;
    // Symbol and assets must be set; a tick or step of zero is found out from the data.
    MarketRules rules;
    Decimal deposit = Decimal(10'000);
    Decimal base_deposit;
    std::vector<LimitChange> limits;
    PaperFees fees;
    BacktestAssumptions assumptions;
    std::optional<Timestamp> from;  // Rows before it only warm up.
    std::optional<Timestamp> to;    // The first moment that is not looked at any more.
    Duration warmup;                // From the first row on, when there is no `from`.
    std::int64_t bad_rows_max = 0;
};

// The rules of a venue that takes everything sensible, as the paper venue's own markets have them.
MarketRules backtest_rules(const Symbol& symbol, const Asset& base, const Asset& quote);

struct BacktestProgress {
    std::int64_t bytes_read = 0;
    std::int64_t bytes_total = 0;  // 0: not known.
    std::int64_t events = 0;
    Timestamp at;
};

struct BacktestResult {
    BacktestOptions options;  // With the rules as they were used.
    BacktestDataNotes data;
    std::int64_t events = 0;         // Moments of the market, warming up included.
    std::int64_t warmup_events = 0;  // Of these.
    BacktestFigures figures;
    BacktestCounts counts;
    std::vector<BacktestStop> stops;
    std::int64_t stop_count = 0;
    std::string tier;
    std::string last_error;
    std::string last_word;  // Of the strategy.
    Decimal position;
    std::int64_t open_orders = 0;
    std::vector<std::string> drift;  // Books against the venue at the end; empty when all is well.
    std::vector<CurvePoint> curve;
    std::vector<DrawnFill> drawn;
    std::int64_t drawn_every = 1;
};

// The rules a run will use: those given, with tick and step size found out where they are zero.
Result<BacktestResult> run_backtest(
    BacktestOptions options, const std::function<void(const BacktestProgress&)>& on_progress);

// The stable document of `--json`: decimals as texts, no clock, no paths.
Json encode(const BacktestResult& result);

}  // namespace interlock
