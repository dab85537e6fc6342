// Sums and quotients of the cost model. Costs round up and what they are paid from rounds down, so
// that no rounding ever makes an account look healthier than it is.
#include "account/rules/cost_model.h"

#include <algorithm>
#include <array>

#include "account/rules/exact.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kCostKinds{"model", "infra", "data", "ops"};

}  // namespace

std::string_view to_word(CostKind kind) {
    return kCostKinds[static_cast<std::size_t>(kind)];
}

Result<WindowTotals> window_totals(std::span<const DayBucket> days, Timestamp now) {
    const Timestamp today = utc_day_start(now);
    const Timestamp first = today - Duration::of_days(kCostWindowDays - 1);
    Exact gains, losses, fees, model, infra, data, ops, accrual;
    for (const DayBucket& day : days) {
        if (day.day < first || day.day > today) {
            continue;
        }
        gains += day.gains;
        losses += day.losses;
        fees += day.fees;
        model += day.model;
        infra += day.infra;
        data += day.data;
        ops += day.ops;
        accrual += day.accrual;
    }
    WindowTotals totals;
    TRY_ASSIGN(totals.gains, gains.result());
    TRY_ASSIGN(totals.losses, losses.result());
    TRY_ASSIGN(totals.fees, fees.result());
    TRY_ASSIGN(totals.model, model.result());
    TRY_ASSIGN(totals.infra, infra.result());
    TRY_ASSIGN(totals.data, data.result());
    TRY_ASSIGN(totals.ops, ops.result());
    TRY_ASSIGN(totals.accrual, accrual.result());
    return totals;
}

Result<Decimal> daily_total_cost(const CostInputs& inputs) {
    return (Exact(inputs.trading_fees) + inputs.infra_cost + inputs.data_cost +
            inputs.ops_overhead + inputs.model_cost + inputs.reserve_accrual)
        .result();
}

Result<Decimal> mean_per_day(Decimal window_sum) {
    return divide_round_up(window_sum, Decimal(kCostWindowDays));
}

Result<Decimal> rolling_surplus_30d(const WindowTotals& totals) {
    const Exact realized = Exact(totals.gains) - totals.losses;
    return (realized - totals.fees - totals.model - totals.infra - totals.data - totals.ops -
            totals.accrual)
        .result();
}

Result<Decimal> runway_days(Decimal cash_buffer, Decimal daily_cost) {
    const Decimal longest(kRunwayDaysUnbounded);
    if (!daily_cost.is_positive()) {
        return longest;
    }
    if (!cash_buffer.is_positive()) {
        return Decimal();
    }
    auto days = divide_round_down(cash_buffer, daily_cost);
    // A quotient too large for a decimal is a runway beyond every limit, not a failure.
    return days ? std::min(*days, longest) : longest;
}

bool principal_protected(Decimal equity, Decimal principal_baseline) {
    return equity >= principal_baseline;
}

Result<Decimal> reserve_accrual(Decimal realized_gross, Decimal rate) {
    if (!realized_gross.is_positive() || !rate.is_positive()) {
        return Decimal();
    }
    return multiply_round_down(realized_gross, rate);
}

}  // namespace interlock
