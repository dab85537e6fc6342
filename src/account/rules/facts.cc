// From the books to the facts of a decision. Locked cash and exposure round up, free cash rounds
// down: a rounding never lets an order through.
#include "account/rules/facts.h"

#include <algorithm>

#include "account/rules/exact.h"
#include "account/rules/postings.h"

namespace interlock {
namespace {

constexpr std::int64_t kBpsPerOne = 10'000;

Decimal worst_price_of(const OrderRecord& order) {
    return order.request.limit_price.value_or(order.reserve_price);
}

// What one book's open orders may still do.
struct OpenSums {
    Exact buy_quote;
    Exact buy_notional;
    Exact sell_qty;
};

OpenSums open_sums(const SymbolBook& book, Decimal taker_fee_bps) {
    const Exact with_fee = Exact(taker_fee_bps).over_up(Decimal(kBpsPerOne)) + Decimal(1);
    OpenSums sums;
    for (const OrderRecord& order : book.open) {
        const Decimal qty = reserved_qty(order);
        if (order.request.side == Side::sell) {
            sums.sell_qty += qty;
            continue;
        }
        const Exact notional = Exact(qty).times_up(worst_price_of(order));
        sums.buy_notional += notional;
        sums.buy_quote += notional.times_up(with_fee);
    }
    return sums;
}

// What others hold back: orders that are not ours, and outflows nobody confirmed yet.
Exact withheld(const Account& account, const Asset& asset) {
    Exact sum;
    if (const auto found = account.foreign_locked.find(asset);
        found != account.foreign_locked.end()) {
        sum += found->second;
    }
    for (const ExternalFlow& flow : account.external_flows) {
        if (flow.asset == asset && flow.amount.is_negative()) {
            sum -= flow.amount;
        }
    }
    return sum;
}

void take_best(std::optional<Decimal>& best, Decimal price, bool is_higher_better) {
    if (!best || (is_higher_better ? price > *best : price < *best)) {
        best = price;
    }
}

Result<SymbolFacts> symbol_facts(const Account& account, const SymbolBook& book) {
    SymbolFacts facts;
    facts.symbol = book.symbol;
    facts.position = book.position;
    facts.avg_price = avg_price(book);
    const OpenSums sums = open_sums(book, account.limits.taker_fee_bps);
    TRY_ASSIGN(facts.open_buy_quote, sums.buy_quote.result());
    TRY_ASSIGN(facts.open_buy_notional, sums.buy_notional.result());
    TRY_ASSIGN(facts.open_sell_qty, (sums.sell_qty + withheld(account, book.base)).result());
    for (const OrderRecord& order : book.open) {
        if (!is_live(order.state)) {
            continue;
        }
        facts.open_orders += 1;
        if (order.request.limit_price) {
            const bool is_buy = order.request.side == Side::buy;
            take_best(
                is_buy ? facts.best_own_bid : facts.best_own_ask,
                *order.request.limit_price,
                is_buy);
        }
    }
    facts.in_universe = account.universe.contains(book.symbol);
    return facts;
}

Result<void> add_symbols(StateFacts& facts, const GatherInput& input) {
    const std::set<Symbol>& universe = input.account.universe;
    facts.symbols.reserve(input.books.size() + universe.size());
    for (const SymbolBook& book : input.books) {
        TRY_ASSIGN(SymbolFacts symbol, symbol_facts(input.account, book));
        facts.symbols.push_back(std::move(symbol));
    }
    for (const Symbol& symbol : universe) {
        if (find_book(input.books, symbol) != nullptr) {
            continue;
        }
        SymbolFacts fact;
        fact.symbol = symbol;
        fact.in_universe = true;
        facts.symbols.push_back(std::move(fact));
    }
    std::sort(
        facts.symbols.begin(), facts.symbols.end(), [](const SymbolFacts& a, const SymbolFacts& b) {
            return a.symbol < b.symbol;
        });
    return {};
}

void add_orders(StateFacts& facts, const std::vector<SymbolBook>& books) {
    for (const SymbolBook& book : books) {
        for (const OrderRecord& order : book.open) {
            const bool uncertain = is_uncertain(order);
            // One on its way is reserved whole and answered within seconds; only an outcome that
            // did not come back stops entries.
            facts.uncertain_orders += order.state == OrderState::unknown ? 1 : 0;
            facts.open_orders.push_back({
                .order_client_id = order.id(),
                .symbol = order.symbol(),
                .side = order.request.side,
                .remaining_qty = reserved_qty(order),
                .price = worst_price_of(order),
                .is_uncertain = uncertain,
                .is_reduce = order.is_reduce,
            });
        }
    }
    std::sort(
        facts.open_orders.begin(),
        facts.open_orders.end(),
        [](const OpenOrderFacts& a, const OpenOrderFacts& b) {
            return a.order_client_id < b.order_client_id;
        });
}

void add_strategies(StateFacts& facts, const Account& account) {
    for (const auto& [id, strategy] : account.strategies) {
        facts.strategies.push_back({
            .strategy_id = id,
            .is_active = strategy.is_active,
            .is_external = strategy.type == "external",
            .is_disabled = strategy.is_disabled,
            .aggressive_executions = aggressive_in_window(account, strategy, facts.now),
            .max_staleness_sec = strategy.max_staleness_sec,
            .max_spread_bps = strategy.max_spread_bps,
            .max_vol_1m = strategy.max_vol_1m,
        });
    }
}

void add_recent(StateFacts& facts, const Account& account) {
    const Timestamp oldest = facts.now - span_of(account.limits.duplicate_window_sec);
    for (const RecentIntent& intent : account.recent) {
        if (intent.at >= oldest) {
            facts.recent.push_back(intent);
        }
    }
}

const DayBucket* today_of(const Account& account, Timestamp now) {
    const Timestamp today = utc_day_start(now);
    for (const DayBucket& day : account.money.days) {
        if (day.day == today) {
            return &day;
        }
    }
    return nullptr;
}

Result<Decimal> realized_today(const DayBucket& day) {
    return (Exact(day.gains) - day.losses - day.fees).result();
}

Result<void> add_money(StateFacts& facts, const GatherInput& input) {
    const Account& account = input.account;
    facts.equity = equity_of(account, input.books, input.market);
    facts.peak = std::max(account.money.peak, facts.equity.value_or(account.money.peak));
    facts.net_deposits = account.money.net_deposits;
    TRY_ASSIGN(facts.cash_free, free_quote(account, input.books));
    if (const DayBucket* day = today_of(account, input.now)) {
        TRY_ASSIGN(facts.realized_today, realized_today(*day));
        facts.fees_today = day->fees;
    }
    facts.ops_reserve = account.money.treasury.ops_reserve;
    TRY_ASSIGN(const WindowTotals totals, window_totals(account.money.days, input.now));
    TRY_ASSIGN(facts.fees_mean_30d, mean_per_day(totals.fees));
    TRY_ASSIGN(facts.accrual_mean_30d, mean_per_day(totals.accrual));
    TRY_ASSIGN(facts.other_costs_per_day, mean_per_day(totals.model));
    TRY_ASSIGN(facts.rolling_surplus_30d, rolling_surplus_30d(totals));
    return {};
}

void add_flags(StateFacts& facts, const GatherInput& input) {
    const Account& account = input.account;
    facts.trading_enabled = account.trading_enabled;
    facts.kill_switch_active = input.kill_switch_active;
    facts.permissions_verified = input.permissions_verified;
    facts.risk_mode = std::max(mode_of(account.tier.tier), input.stricter_mode);
    if (account.recovery.phase != RecoveryPhase::normal) {
        facts.entries_halted = true;
        facts.entries_halted_reason = to_word(account.recovery.phase);
        if (!account.recovery.reasons.empty()) {
            facts.entries_halted_reason += ": " + account.recovery.reasons.front();
        }
    } else if (account.tier.tier == Tier::stop) {
        facts.entries_halted = true;
        facts.entries_halted_reason =
            account.tier.stops.empty() ? "stop" : "stop: " + account.tier.stops.front();
    }
    if (account.recovery.phase == RecoveryPhase::escalated) {
        facts.risk_mode = std::max(facts.risk_mode, RiskMode::reduce_only);
    }
    if (input.kill_switch_active) {
        facts.risk_mode = RiskMode::halted;
    }
}

// Positions at mid (at cost without one) plus open buys: the sum and the largest.
Result<void> add_exposures(TierInput& tier, const GatherInput& input) {
    Exact portfolio;
    for (const SymbolBook& book : input.books) {
        const MarketFacts* market = input.market.find(book.symbol);
        const std::optional<Decimal> mid = market == nullptr ? std::nullopt : mid_of(*market);
        const Exact marked = mid ? Exact(book.position).times_up(*mid) : Exact(book.cost);
        const OpenSums sums = open_sums(book, input.account.limits.taker_fee_bps);
        TRY_ASSIGN(const Decimal exposure, (marked + sums.buy_notional).result());
        portfolio += exposure;
        tier.symbol_exposure_max = std::max(tier.symbol_exposure_max, exposure);
    }
    TRY_ASSIGN(tier.portfolio_exposure, portfolio.result());
    return {};
}

bool has_no_costs(const RiskLimits& limits, const WindowTotals& totals) {
    return limits.infra_cost_per_day.is_zero() && limits.data_cost_per_day.is_zero() &&
           limits.ops_cost_per_day.is_zero() && totals.infra.is_zero() && totals.data.is_zero() &&
           totals.ops.is_zero() && totals.model.is_zero();
}

}  // namespace

Result<Decimal> free_quote(const Account& account, const std::vector<SymbolBook>& books) {
    Exact free = held(account.money, account.quote);
    free += account.money.treasury.trading;
    free -= withheld(account, account.quote);
    for (const SymbolBook& book : books) {
        free -= open_sums(book, account.limits.taker_fee_bps).buy_quote;
    }
    TRY_ASSIGN(const Decimal sum, free.result());
    return std::max(sum, Decimal());
}

Result<Decimal> worst_case_exposure(const std::vector<SymbolBook>& books) {
    Exact sum;
    for (const SymbolBook& book : books) {
        sum += book.cost;
        sum += open_sums(book, Decimal()).buy_notional;
    }
    return sum.result();
}

Result<StateFacts> gather_facts(const GatherInput& input) {
    const Account& account = input.account;
    StateFacts facts;
    facts.now = input.now;
    facts.state_version = account.version;
    facts.tenant_id = account.key.tenant_id;
    facts.account_id = account.key.account_id;
    facts.mode = account.key.mode;
    facts.quote = account.quote;
    facts.limits = account.limits;
    add_flags(facts, input);
    TRY(add_money(facts, input));
    facts.orders_last_10s = orders_in_window(account, input.now);
    facts.orders_today = account.orders_day == utc_day_start(input.now) ? account.orders_today : 0;
    TRY(add_symbols(facts, input));
    add_strategies(facts, account);
    add_recent(facts, account);
    add_orders(facts, input.books);
    return facts;
}

namespace {

Result<TreasuryFigures> figures_of(
    const Account& account, const std::optional<Decimal>& equity, const WindowTotals& totals) {
    TreasuryFigures figures;
    const RiskLimits& limits = account.limits;
    CostInputs costs{
        .trading_fees = {},
        .infra_cost = limits.infra_cost_per_day,
        .data_cost = limits.data_cost_per_day,
        .ops_overhead = limits.ops_cost_per_day,
        .model_cost = {},
        .reserve_accrual = {},
    };
    TRY_ASSIGN(costs.trading_fees, mean_per_day(totals.fees));
    TRY_ASSIGN(costs.model_cost, mean_per_day(totals.model));
    TRY_ASSIGN(costs.reserve_accrual, mean_per_day(totals.accrual));
    TRY_ASSIGN(figures.daily_total_cost, daily_total_cost(costs));
    TRY_ASSIGN(figures.rolling_surplus_30d, rolling_surplus_30d(totals));
    TRY_ASSIGN(
        figures.runway_days,
        runway_days(account.money.treasury.ops_reserve, figures.daily_total_cost));
    figures.principal_protected = equity && principal_protected(*equity, limits.principal_baseline);
    return figures;
}

}  // namespace

Result<TreasuryFigures> treasury_figures(
    const Account& account, const std::optional<Decimal>& equity, Timestamp now) {
    TRY_ASSIGN(const WindowTotals totals, window_totals(account.money.days, now));
    return figures_of(account, equity, totals);
}

Result<TierInput> tier_input(const GatherInput& input) {
    const Account& account = input.account;
    TierInput tier;
    tier.now = input.now;
    tier.limits = account.limits;
    tier.equity = equity_of(account, input.books, input.market);
    tier.peak = std::max(account.money.peak, tier.equity.value_or(account.money.peak));
    tier.net_deposits = account.money.net_deposits;
    if (const DayBucket* day = today_of(account, input.now)) {
        TRY_ASSIGN(tier.realized_today, realized_today(*day));
    }
    TRY_ASSIGN(const WindowTotals totals, window_totals(account.money.days, input.now));
    TRY_ASSIGN(const TreasuryFigures figures, figures_of(account, tier.equity, totals));
    tier.rolling_surplus_30d = figures.rolling_surplus_30d;
    tier.runway_days = figures.runway_days;
    tier.fees_30d = totals.fees;
    tier.costs_are_zero = has_no_costs(account.limits, totals);
    tier.opened_at = account.opened_at;
    tier.drift_unresolved = account.recovery.phase == RecoveryPhase::escalated;
    tier.kill_switch_active = input.kill_switch_active;
    TRY(add_exposures(tier, input));
    return tier;
}

Result<TierStep> scale_risk(Account& account, const GatherInput& input) {
    TRY_ASSIGN(const TierInput tier, tier_input(input));
    TierStep step = step_tier(account.tier, tier);
    if (account.tier != step.state) {
        account.tier = step.state;
        account.version += 1;
    }
    return step;
}

}  // namespace interlock
