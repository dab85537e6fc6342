// Opening an account, flows in and out, orders and counters. Fills are in account_fill.cc, the day
// and its costs in account_day.cc, the codec in account_json.cc.
#include "account/rules/account.h"

#include <algorithm>

#include "account/rules/dust.h"
#include "account/rules/exact.h"
#include "account/rules/facts.h"
#include "account/rules/postings.h"
#include "base/errors.h"

namespace interlock {
namespace {

// The reserve that a fresh account sets aside, as a share of its deposit.
constexpr Decimal kReserveShare = Decimal::from_units(50'000'000'000'000'000);

std::int64_t slot_of(Timestamp at, Duration length) {
    return at.microseconds / length.microseconds;
}

void count_in_slot(std::vector<RateSlot>& slots, std::int64_t slot, std::int64_t oldest) {
    std::erase_if(slots, [&](const RateSlot& old) { return old.slot < oldest; });
    // A clock that stepped back counts into the newest slot: the list stays in order.
    if (slots.empty() || slots.back().slot < slot) {
        if (slots.size() >= kRateSlotsMax) {
            slots.erase(slots.begin());
        }
        slots.push_back({slot, 0});
    }
    slots.back().count += 1;
}

std::int64_t count_since(const std::vector<RateSlot>& slots, std::int64_t oldest) {
    std::int64_t count = 0;
    for (const RateSlot& slot : slots) {
        count += slot.slot >= oldest ? slot.count : 0;
    }
    return count;
}

// The baseline keeps its share of the net deposits, rounded up: protection never thins.
Result<Decimal> moved_baseline(Decimal baseline, Decimal old_deposits, Decimal new_deposits) {
    if (!new_deposits.is_positive()) {
        return Decimal();
    }
    if (!old_deposits.is_positive()) {
        TRY_ASSIGN(const RiskLimits limits, default_limits(new_deposits));
        return limits.principal_baseline;
    }
    return Exact(baseline).over_up(old_deposits).times_up(new_deposits).result();
}

// What the capital of the account moves by; signed.
Result<void> move_capital(AccountMoney& money, RiskLimits& limits, Decimal value) {
    TRY_ASSIGN(const Decimal deposits, add(money.net_deposits, value));
    TRY_ASSIGN(const Decimal peak, add(money.peak, value));
    TRY_ASSIGN(
        limits.principal_baseline,
        moved_baseline(limits.principal_baseline, money.net_deposits, deposits));
    money.net_deposits = deposits;
    money.peak = std::max(peak, Decimal());
    return {};
}

Result<void> check_flow(const Account& account, const Flow& flow) {
    const bool is_quote = flow.asset == account.quote;
    if (!flow.amount.is_positive() || flow.price.is_negative() || flow.pays_costs.is_negative() ||
        flow.pays_costs > flow.amount) {
        return fail(errors::invalid_request, "a flow needs an amount above zero and a price");
    }
    if ((is_quote && flow.price != Decimal(1)) || (!is_quote && flow.pays_costs.is_positive()) ||
        (flow.book != nullptr && (is_quote || flow.book->base != flow.asset))) {
        return fail(errors::invalid_request, "price, costs or book do not belong to the asset");
    }
    return {};
}

}  // namespace

Result<Account> open_account(const OpenAccount& wanted) {
    if (wanted.deposit.is_negative()) {
        return fail(errors::invalid_request, "a deposit cannot be negative");
    }
    Account account;
    account.key = wanted.key;
    account.quote = wanted.quote;
    account.opened_at = wanted.at;
    if (wanted.limits) {
        account.limits = *wanted.limits;
    } else {
        TRY_ASSIGN(account.limits, default_limits(wanted.deposit));
    }
    // The day before, so that rolling forward books the costs of the first day.
    account.money.days.push_back({.day = utc_day_start(wanted.at) - Duration::of_days(1)});
    TRY(post(account.money, wanted.quote, &AssetBooks::external, wanted.deposit));
    account.money.net_deposits = wanted.deposit;
    account.money.peak = wanted.deposit;
    TRY_ASSIGN(const Decimal share, multiply_round_down(wanted.deposit, kReserveShare));
    const Decimal reserve = wanted.ops_reserve.value_or(share);
    if (reserve.is_negative() || reserve > wanted.deposit) {
        return fail(errors::invalid_request, "the reserve must lie between zero and the deposit");
    }
    TRY_ASSIGN(account.money.treasury, accrue_reserve(account.money.treasury, reserve));
    TRY(roll_to(account, wanted.at));
    account.money.days.erase(account.money.days.begin());
    return account;
}

Result<void> deposit(Account& account, const Flow& flow) {
    TRY(check_flow(account, flow));
    AccountMoney money = account.money;
    RiskLimits limits = account.limits;
    TRY(post(money, flow.asset, &AssetBooks::external, flow.amount));
    TRY_ASSIGN(const Decimal value, multiply_half_even(flow.amount, flow.price));
    TRY(move_capital(money, limits, value));
    if (flow.book != nullptr) {
        TRY(add_lot(*flow.book, {.qty = flow.amount, .cost = value, .trade_id = 0, .at = flow.at}));
    } else if (flow.asset != account.quote) {
        Decimal& cost = money.unbooked_cost[flow.asset];
        TRY_ASSIGN(cost, add(cost, value));
    }
    account.money = std::move(money);
    account.limits = limits;
    account.version += 1;
    return {};
}

Result<void> withdraw(Account& account, const Flow& flow) {
    TRY(check_flow(account, flow));
    AccountMoney money = account.money;
    RiskLimits limits = account.limits;
    TRY_ASSIGN(const Decimal outflow, negate(flow.amount));
    TRY(post(money, flow.asset, &AssetBooks::external, outflow));
    TRY_ASSIGN(money.treasury, settle_costs(money.treasury, flow.pays_costs));
    TRY_ASSIGN(
        const Decimal value,
        (Exact(flow.pays_costs) - Exact(flow.amount).times_even(flow.price)).result());
    TRY(move_capital(money, limits, value));
    if (flow.book != nullptr) {
        TRY(take_lots(*flow.book, flow.amount));
    } else if (held(money, flow.asset).is_zero()) {
        money.unbooked_cost.erase(flow.asset);
    }
    account.money = std::move(money);
    account.limits = limits;
    account.version += 1;
    return {};
}

Result<void> confirm_external_flow(Account& account, Asset asset, Decimal price, SymbolBook* book) {
    const auto found = std::find_if(
        account.external_flows.begin(),
        account.external_flows.end(),
        [&](const ExternalFlow& flow) { return flow.asset == asset; });
    if (found == account.external_flows.end()) {
        return fail(
            errors::not_found,
            "no flow of " + std::string(asset.text()) + " waits to be confirmed");
    }
    Flow flow{
        .asset = asset,
        .amount = found->amount,
        .price = price,
        .at = found->last_seen_at,
        .book = book};
    if (found->amount.is_negative()) {
        TRY_ASSIGN(flow.amount, negate(found->amount));
        TRY(withdraw(account, flow));
    } else {
        TRY(deposit(account, flow));
    }
    account.external_flows.erase(found);
    return {};
}

Result<void> reserve_order(Account& account, SymbolBook& book, OrderRecord order) {
    if (book.symbol != order.symbol() || order.request.account != account.key) {
        return fail(errors::internal, "an order was reserved in a book it does not belong to");
    }
    if (book.find(order.id()) != nullptr) {
        return fail(errors::conflict, "an order of this id is reserved already");
    }
    const Timestamp at = order.created_at;
    TRY(put_order(book, std::move(order)));
    const std::int64_t slot = slot_of(at, kSendSlot);
    count_in_slot(account.sends, slot, slot_of(at - kSendWindow, kSendSlot));
    if (account.orders_day < utc_day_start(at)) {
        account.orders_day = utc_day_start(at);
        account.orders_today = 0;
    }
    account.orders_today += 1;
    account.version += 1;
    return {};
}

Result<void> release_order(Account& account, SymbolBook& book, OrderRecord order) {
    if (book.symbol != order.symbol()) {
        return fail(errors::internal, "an order was released in a book it does not belong to");
    }
    TRY(put_order(book, std::move(order)));
    account.version += 1;
    return {};
}

Result<void> treasury_transfer(
    Account& account, const std::vector<SymbolBook>& books, const TransferRequest& wanted) {
    TRY_ASSIGN(const Decimal available, free_quote(account, books));
    TRY_ASSIGN(
        account.money.treasury,
        transfer(
            account.money.treasury,
            {.from = wanted.from,
             .to = wanted.to,
             .amount = wanted.amount,
             .trading_available = available}));
    account.version += 1;
    return {};
}

Marked marked(
    const Account& account, const std::vector<SymbolBook>& books, const MarketSet& market) {
    Marked result;
    Exact equity;
    for (const auto& [asset, amount] : account.money.holdings) {
        if (amount.is_zero()) {
            continue;
        }
        if (asset == account.quote) {
            equity += amount;
            continue;
        }
        std::optional<Decimal> mid;
        for (const MarketFacts& facts : market.markets) {
            if (!mid && facts.rules.base == asset && facts.rules.quote == account.quote) {
                mid = mid_of(facts);
            }
        }
        if (mid) {
            equity += Exact(amount).times_down(*mid);
            continue;
        }
        const auto unbooked = account.money.unbooked_cost.find(asset);
        Exact cost(unbooked == account.money.unbooked_cost.end() ? Decimal() : unbooked->second);
        for (const SymbolBook& book : books) {
            if (book.base == asset) {
                cost += book.cost;
            }
        }
        const auto paid = cost.result();
        if (!paid || !is_negligible(*paid, account.money.net_deposits)) {
            return {};
        }
        result.unpriced.push_back(asset);
    }
    if (const auto sum = equity.result()) {
        result.equity = *sum;
    }
    return result;
}

std::optional<Decimal> equity_of(
    const Account& account, const std::vector<SymbolBook>& books, const MarketSet& market) {
    return marked(account, books, market).equity;
}

std::optional<Decimal> mark(
    Account& account, const std::vector<SymbolBook>& books, const MarketSet& market) {
    const std::optional<Decimal> equity = equity_of(account, books, market);
    if (equity && *equity > account.money.peak) {
        account.money.peak = *equity;
        account.version += 1;
    }
    return equity;
}

void reset_drawdown(Account& account, Decimal equity) {
    account.tier = reset_drawdown(std::move(account.tier));
    account.money.peak = equity;
    account.version += 1;
}

Result<void> remember_intent(Account& account, const RecentIntent& intent) {
    const Timestamp oldest = intent.at - span_of(account.limits.duplicate_window_sec);
    std::erase_if(account.recent, [&](const RecentIntent& old) { return old.at < oldest; });
    if (account.recent.size() >= kRecentIntentsMax) {
        Error full{
            &errors::overloaded,
            "the account executed " + std::to_string(kRecentIntentsMax) +
                " intents inside the duplicate window",
            {},
            {}};
        full.retry_after_seconds = 1;
        return std::unexpected(std::move(full));
    }
    // By time, not by arrival: a wall clock that stepped back must not put the list out of order.
    const auto place = std::upper_bound(
        account.recent.begin(),
        account.recent.end(),
        intent.at,
        [](Timestamp at, const RecentIntent& old) { return at < old.at; });
    account.recent.insert(place, intent);
    account.version += 1;
    return {};
}

bool note_aggressive(Account& account, const StrategyId& strategy_id, Timestamp at) {
    const auto found = account.strategies.find(strategy_id);
    if (found == account.strategies.end()) {
        return false;
    }
    StrategyRecord& strategy = found->second;
    const Duration window = span_of(account.limits.repeated_execution_window_sec);
    count_in_slot(
        strategy.aggressive, slot_of(at, kAggressiveSlot), slot_of(at - window, kAggressiveSlot));
    account.version += 1;
    const std::int64_t count = aggressive_in_window(account, strategy, at);
    if (strategy.is_disabled || Decimal(count) <= account.limits.repeated_execution_max) {
        return false;
    }
    strategy.is_disabled = true;
    strategy.disabled_reason = "repeated_execution";
    return true;
}

std::int64_t orders_in_window(const Account& account, Timestamp now) {
    return count_since(account.sends, slot_of(now - kSendWindow, kSendSlot));
}

std::int64_t aggressive_in_window(
    const Account& account, const StrategyRecord& strategy, Timestamp now) {
    const Duration window = span_of(account.limits.repeated_execution_window_sec);
    return count_since(strategy.aggressive, slot_of(now - window, kAggressiveSlot));
}

}  // namespace interlock
