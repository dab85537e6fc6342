// The cost model of self-financing (docs/contracts/agent-loop.md#costs): what an account earned and
// spent per UTC day, and what follows from the last thirty of them. Fees are counted once; realised
// figures are gross of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/time.h"

namespace interlock {

// Days that count: today and the 29 before it.
inline constexpr std::int64_t kCostWindowDays = 30;
// One more than the window, so that a clock standing just before midnight still finds its day.
inline constexpr std::size_t kDayBucketsMax = 31;
// What a runway reads when there is nothing to pay.
inline constexpr std::int64_t kRunwayDaysUnbounded = 36500;

enum class CostKind { model, infra, data, ops };
std::string_view to_word(CostKind kind);

// One UTC day of an account. Every amount is in the reporting currency and never negative.
struct DayBucket {
    Timestamp day;        // 00:00 UTC.
    Decimal gains = {};   // Gross, of fills that realised a gain.
    Decimal losses = {};  // Gross, of fills that realised a loss.
    Decimal fees = {};    // May be negative on a day of rebates.
    Decimal model = {};
    Decimal infra = {};
    Decimal data = {};
    Decimal ops = {};
    Decimal accrual = {};  // Credited to the operating reserve.
    Decimal volume = {};   // Σ price × qty.
    std::int64_t fills = 0;
    friend bool operator==(const DayBucket&, const DayBucket&) = default;
};

// Sums over the window that ends with the day of `now`.
struct WindowTotals {
    Decimal gains;
    Decimal losses;
    Decimal fees;  // May be negative on a day of rebates.
    Decimal model;
    Decimal infra;
    Decimal data;
    Decimal ops;
    Decimal accrual;
    friend bool operator==(const WindowTotals&, const WindowTotals&) = default;
};
Result<WindowTotals> window_totals(std::span<const DayBucket> days, Timestamp now);

// What a day costs, by kind.
struct CostInputs {
    Decimal trading_fees;
    Decimal infra_cost;
    Decimal data_cost;
    Decimal ops_overhead;
    Decimal model_cost;
    Decimal reserve_accrual;
};
Result<Decimal> daily_total_cost(const CostInputs& inputs);

// A thirtieth of a window's sum, rounded up: costs are never understated.
Result<Decimal> mean_per_day(Decimal window_sum);

// Gross realised less every cost of the window (fees once, accrual included).
Result<Decimal> rolling_surplus_30d(const WindowTotals& totals);

// cash_buffer / daily cost, rounded down; kRunwayDaysUnbounded at most, and when nothing is to pay.
// A buffer that is empty or negative lasts 0 days.
Result<Decimal> runway_days(Decimal cash_buffer, Decimal daily_cost);

bool principal_protected(Decimal equity, Decimal principal_baseline);

// What a realised result credits to the reserve: rate × gain, rounded down; 0 for losses.
Result<Decimal> reserve_accrual(Decimal realized_gross, Decimal rate);

}  // namespace interlock
