// How fast the whole paper venue is in process: ids, filters, balances, fees, self-trade prevention
// and the moving market, behind its lock; no journal.
//
// One thread sends to several accounts on BTCUSDT of the synthetic market. Each account keeps its
// open orders at a fixed number: it submits passive limit orders and cancels its oldest. One call
// in twenty is an immediate-or-cancel order at the far touch, bought and sold in turn. An order
// here is one such call, a submit or a cancel, answered with the whole order.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "bench/spread.h"

namespace interlock {

struct PaperBenchOptions {
    double seconds = 1;  // Each round.
    int rounds = 5;      // The median is reported.
    std::int64_t accounts = 8;
    std::int64_t open_orders = 100;  // Of each account.
};

struct PaperBenchResult {
    double orders_per_s = 0;
    double orders_per_cpu_s = 0;  // The same on a machine with nothing else to do.
    std::int64_t submits = 0;     // Of the median round.
    std::int64_t cancels = 0;
    std::int64_t takers = 0;
    std::int64_t fills = 0;
    std::int64_t refused = 0;
    std::int64_t p50_ns = 0;  // Of single calls, in a round of its own.
    std::int64_t p99_ns = 0;
    std::int64_t rounds = 0;
    Spreads spreads = {};
};

Result<PaperBenchResult> run_paper_bench(const PaperBenchOptions& options);
Json encode(const PaperBenchResult& result);
std::string to_text(const PaperBenchResult& result);

}  // namespace interlock
