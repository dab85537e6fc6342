#include "account/wire/risk_limits.h"

#include <array>

#include "base/check.h"
#include "base/errors.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

using enum LooserWhen;
using L = RiskLimits;

// The one table of limits. Amounts are in the account's quote currency; an amount that scales with
// net deposits gives its share of them as the default. Largest amount: far above any account, far
// below what a decimal holds, so that products of limits do not overflow.
constexpr std::string_view kAmountMax = "1000000000000";

constexpr std::array<LimitSpec, 33> kSpecs{{
    {"principal_baseline",
     &L::principal_baseline,
     lower,
     true,
     "0.9",
     "0",
     kAmountMax,
     false,
     "Below this equity no new position is opened."},
    {"daily_loss_limit",
     &L::daily_loss_limit,
     higher,
     true,
     "0.05",
     "0",
     kAmountMax,
     true,
     "A net realised loss of this much within a UTC day stops entries."},
    {"max_drawdown",
     &L::max_drawdown,
     higher,
     false,
     "0.2",
     "0",
     "1",
     true,
     "A fall from the equity peak by this fraction stops entries."},
    {"max_notional_per_trade",
     &L::max_notional_per_trade,
     higher,
     true,
     "0.2",
     "0",
     kAmountMax,
     false,
     "One entry may be worth at most this amount times the size factor."},
    {"max_symbol_exposure",
     &L::max_symbol_exposure,
     higher,
     true,
     "0.4",
     "0",
     kAmountMax,
     true,
     "Position and open buys of one symbol must stay below this amount."},
    {"max_portfolio_exposure",
     &L::max_portfolio_exposure,
     higher,
     true,
     "1",
     "0",
     kAmountMax,
     true,
     "Positions and open buys of all symbols must stay below this amount."},
    {"max_leverage",
     &L::max_leverage,
     higher,
     false,
     "1",
     "0",
     "10",
     true,
     "Gross exposure may be at most this multiple of equity."},
    {"max_order_qty",
     &L::max_order_qty,
     higher,
     false,
     "0",
     "0",
     kAmountMax,
     false,
     "Largest quantity of one entry in base units; 0 leaves it to the venue.",
     true},
    {"hard_min_runway_days",
     &L::hard_min_runway_days,
     lower,
     false,
     "7",
     "0",
     "36500",
     false,
     "Below this runway no entry passes."},
    {"soft_min_runway_days",
     &L::soft_min_runway_days,
     lower,
     false,
     "30",
     "0",
     "36500",
     false,
     "Below this runway sizing turns defensive."},
    {"target_surplus",
     &L::target_surplus,
     lower,
     true,
     "0.01",
     "0",
     kAmountMax,
     false,
     "Below this 30-day surplus sizing is reduced."},
    {"max_deficit",
     &L::max_deficit,
     higher,
     true,
     "0.05",
     "0",
     kAmountMax,
     false,
     "The 30-day surplus may not fall below minus this amount."},
    {"reserve_accrual_rate",
     &L::reserve_accrual_rate,
     lower,
     false,
     "0.1",
     "0",
     "1",
     false,
     "Share of realised gains put into the operating reserve."},
    {"infra_cost_per_day",
     &L::infra_cost_per_day,
     lower,
     false,
     "0",
     "0",
     kAmountMax,
     false,
     "Infrastructure cost per day."},
    {"data_cost_per_day",
     &L::data_cost_per_day,
     lower,
     false,
     "0",
     "0",
     kAmountMax,
     false,
     "Market data cost per day."},
    {"ops_cost_per_day",
     &L::ops_cost_per_day,
     lower,
     false,
     "0",
     "0",
     kAmountMax,
     false,
     "Operating overhead per day."},
    {"max_staleness_sec",
     &L::max_staleness_sec,
     higher,
     false,
     "5",
     "0",
     "60",
     false,
     "Market data older than this is not traded on."},
    {"max_spread_bps",
     &L::max_spread_bps,
     higher,
     false,
     "50",
     "0",
     "10000",
     false,
     "A spread wider than this is not traded on."},
    {"max_vol_1m",
     &L::max_vol_1m,
     higher,
     false,
     "0.01",
     "0",
     "1",
     false,
     "A one-minute volatility above this fraction is not traded on."},
    {"spread_spike_multiple",
     &L::spread_spike_multiple,
     higher,
     false,
     "3",
     "1",
     "1000",
     false,
     "A spread above this multiple of its 5-minute median is a spike."},
    {"spread_spike_floor_bps",
     &L::spread_spike_floor_bps,
     higher,
     false,
     "5",
     "0",
     "10000",
     false,
     "A spread up to this is never a spike."},
    {"min_vol_samples",
     &L::min_vol_samples,
     lower,
     false,
     "20",
     "0",
     "60",
     false,
     "With fewer volatility samples entries wait, unless history was loaded."},
    {"price_collar",
     &L::price_collar,
     higher,
     false,
     "0.05",
     "0",
     "1",
     false,
     "An aggressive price may lie at most this fraction from the mid."},
    {"touch_collar_bps",
     &L::touch_collar_bps,
     higher,
     false,
     "50",
     "0",
     "10000",
     false,
     "An aggressive price may lie at most this far through the far touch."},
    {"max_open_orders_per_symbol",
     &L::max_open_orders_per_symbol,
     higher,
     false,
     "50",
     "0",
     "1000",
     false,
     "Open orders of one symbol, new ones included."},
    {"order_rate_share",
     &L::order_rate_share,
     higher,
     false,
     "0.8",
     "0",
     "1",
     false,
     "Share of the venue's order rate limits that entries may use; reductions may use all."},
    {"duplicate_window_sec",
     &L::duplicate_window_sec,
     lower,
     false,
     "60",
     "0",
     "3600",
     false,
     "The same order from another decision within this time is a duplicate."},
    {"repeated_execution_max",
     &L::repeated_execution_max,
     higher,
     false,
     "20",
     "0",
     "10000",
     false,
     "More executed aggressive decisions of a strategy in the window throttle it: it may then only "
     "reduce."},
    {"repeated_execution_window_sec",
     &L::repeated_execution_window_sec,
     lower,
     false,
     "60",
     "1",
     "3600",
     false,
     "The window in which a strategy's aggressive decisions are counted."},
    {"slippage_bps",
     &L::slippage_bps,
     lower,
     false,
     "25",
     "0",
     "1000",
     false,
     "Slippage assumed for orders that take."},
    {"taker_fee_bps",
     &L::taker_fee_bps,
     lower,
     false,
     "20",
     "0",
     "1000",
     false,
     "Fee assumed for orders that take."},
    {"maker_fee_bps",
     &L::maker_fee_bps,
     lower,
     false,
     "10",
     "0",
     "1000",
     false,
     "Fee assumed for orders that rest."},
    {"enforce_edge",
     &L::enforce_edge,
     lower,
     false,
     "0",
     "0",
     "1",
     false,
     "1: an expected edge below costs blocks; 0: it only warns."},
}};

// Texts of the table itself; one that does not parse is a mistake of ours.
Decimal table_value(std::string_view text) {
    const auto value = Decimal::parse(text);
    CHECK(value.has_value());
    return *value;
}

}  // namespace

std::span<const LimitSpec> limit_specs() {
    return kSpecs;
}

const LimitSpec* find_limit_spec(std::string_view name) {
    for (const LimitSpec& spec : kSpecs) {
        if (spec.name == name) {
            return &spec;
        }
    }
    return nullptr;
}

Result<RiskLimits> default_limits(Decimal net_deposits) {
    if (net_deposits.is_negative()) {
        return fail(errors::out_of_range, "net deposits must not be negative");
    }
    RiskLimits limits;
    for (const LimitSpec& spec : kSpecs) {
        const Decimal value = table_value(spec.fallback);
        if (!spec.per_deposit) {
            limits.*spec.member = value;
            continue;
        }
        // A default rounds to the stricter side.
        TRY_ASSIGN(
            limits.*spec.member,
            spec.looser_when == higher ? multiply_round_down(value, net_deposits)
                                       : multiply_round_up(value, net_deposits));
    }
    return limits;
}

Json encode(const RiskLimits& limits) {
    Json json = Json::object();
    for (const LimitSpec& spec : kSpecs) {
        json.set(std::string(spec.name), to_text(limits.*spec.member));
    }
    return json;
}

Result<RiskLimits> decode_risk_limits(const Json& json) {
    FieldReader in(json);
    RiskLimits limits;
    for (const LimitSpec& spec : kSpecs) {
        limits.*spec.member = in.required<Decimal>(spec.name);
    }
    in.reject_unknown();
    return in.finish(limits);
}

Result<std::vector<LimitChange>> decode_limit_changes(const Json& json) {
    FieldReader in(json);
    std::vector<LimitChange> changes;
    for (const LimitSpec& spec : kSpecs) {
        const auto value = in.optional<Decimal>(spec.name);
        if (!value) {
            continue;
        }
        if (*value < table_value(spec.min) || *value > table_value(spec.max)) {
            in.add_problem(
                spec.name,
                "must lie between " + std::string(spec.min) + " and " + std::string(spec.max) +
                    ", found " + to_text(*value));
            continue;
        }
        changes.push_back({&spec, *value});
    }
    in.reject_unknown();
    return in.finish(std::move(changes));
}

bool is_loosening(const RiskLimits& now, const LimitChange& change) {
    CHECK(change.spec != nullptr);
    const Decimal before = now.*change.spec->member;
    if (change.spec->zero_is_off && before.is_zero() != change.value.is_zero()) {
        return change.value.is_zero();
    }
    switch (change.spec->looser_when) {
        case higher:
            return change.value > before;
        case lower:
            return change.value < before;
        case never:
            return false;
    }
    return true;
}

}  // namespace interlock
