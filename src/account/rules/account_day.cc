// The double-entry primitive, the day and what it costs, and the check that nothing got lost.
#include <algorithm>

#include "account/rules/account.h"
#include "account/rules/exact.h"
#include "account/rules/postings.h"
#include "base/errors.h"

namespace interlock {
namespace {

constexpr Duration kDay = Duration::of_days(1);

Decimal DayBucket::* bucket_member(CostKind kind) {
    switch (kind) {
        case CostKind::infra:
            return &DayBucket::infra;
        case CostKind::data:
            return &DayBucket::data;
        case CostKind::ops:
            return &DayBucket::ops;
        case CostKind::model:
            break;
    }
    return &DayBucket::model;
}

Result<void> book_agent(AccountMoney& money, const std::string& agent, Decimal amount) {
    constexpr std::string_view kOthers = "_other";
    const bool is_known = money.cost_by_agent.contains(agent);
    const bool has_room = money.cost_by_agent.size() + 1 < kCostAgentsMax;
    const std::string name =
        agent.empty() || (!is_known && !has_room) ? std::string(kOthers) : agent;
    TRY_ASSIGN(const Decimal sum, add(money.cost_by_agent[name], amount));
    money.cost_by_agent[name] = sum;
    return {};
}

void check_asset(const Asset& asset, const AssetBooks& books, std::vector<std::string>& problems) {
    auto sum = (Exact(books.venue) + books.market + books.fees + books.external).result();
    if (!sum || !sum->is_zero()) {
        problems.push_back(
            "books of " + std::string(asset.text()) + " sum to " +
            (sum ? to_text(*sum) : std::string("an overflow")));
    }
}

void check_book(
    const SymbolBook& book, std::map<Asset, Exact>& positions, std::vector<std::string>& problems) {
    Exact qty;
    Exact cost;
    for (const Lot& lot : book.lots) {
        qty += lot.qty;
        cost += lot.cost;
        if (!lot.qty.is_positive()) {
            problems.push_back("empty lot in " + std::string(book.symbol.text()));
        }
    }
    const auto lots_qty = qty.result();
    const auto lots_cost = cost.result();
    if (!lots_qty || *lots_qty != book.position || !lots_cost || *lots_cost != book.cost) {
        problems.push_back("lots of " + std::string(book.symbol.text()) + " miss the position");
    }
    positions[book.base] += book.position;
}

}  // namespace

Decimal held(const AccountMoney& money, const Asset& asset) {
    const auto found = money.holdings.find(asset);
    return found == money.holdings.end() ? Decimal() : found->second;
}

Result<void> post(
    AccountMoney& money, const Asset& asset, Decimal AssetBooks::* other, Decimal amount) {
    if (amount.is_zero()) {
        return {};
    }
    if (!money.books.contains(asset) && money.books.size() >= kAssetsMax) {
        return fail(
            errors::overloaded,
            "an account holds at most " + std::to_string(kAssetsMax) + " assets");
    }
    TRY_ASSIGN(const Decimal holding, add(held(money, asset), amount));
    if (holding.is_negative()) {
        return fail(
            errors::books_drift,
            "the books hold " + to_text(held(money, asset)) + " " + std::string(asset.text()) +
                ", the venue moved " + to_text(amount));
    }
    const auto found = money.books.find(asset);
    AssetBooks books = found == money.books.end() ? AssetBooks{} : found->second;
    TRY_ASSIGN(books.venue, add(books.venue, amount));
    TRY_ASSIGN(books.*other, subtract(books.*other, amount));
    money.books[asset] = books;
    money.holdings[asset] = holding;
    return {};
}

DayBucket& day_of(AccountMoney& money, Timestamp at) {
    const Timestamp day = utc_day_start(at);
    auto after = std::upper_bound(
        money.days.begin(), money.days.end(), day, [](Timestamp wanted, const DayBucket& bucket) {
            return wanted < bucket.day;
        });
    return after == money.days.begin() ? money.days.front() : *std::prev(after);
}

Duration span_of(Decimal seconds) {
    // A decimal has 18 places, a microsecond 6.
    constexpr __int128 kUnitsPerMicrosecond = 1'000'000'000'000;
    return {static_cast<std::int64_t>(seconds.units() / kUnitsPerMicrosecond)};
}

Result<void> roll_to(Account& account, Timestamp now) {
    const Timestamp today = utc_day_start(now);
    const Timestamp last = account.money.days.back().day;
    if (today <= last) {
        return {};
    }
    AccountMoney money = account.money;
    const std::int64_t passed = (today - last).microseconds / kDay.microseconds;
    const RiskLimits& limits = account.limits;
    TRY_ASSIGN(
        const Decimal cost,
        (Exact(limits.infra_cost_per_day) + limits.data_cost_per_day + limits.ops_cost_per_day)
            .times_up(Decimal(passed))
            .result());
    TRY_ASSIGN(money.treasury, charge_cost(money.treasury, cost));
    const auto kept = static_cast<std::int64_t>(kDayBucketsMax);
    for (std::int64_t back = std::min(passed, kept) - 1; back >= 0; --back) {
        money.days.push_back({
            .day = today - Duration::of_days(back),
            .infra = limits.infra_cost_per_day,
            .data = limits.data_cost_per_day,
            .ops = limits.ops_cost_per_day,
        });
    }
    const auto surplus =
        std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(money.days.size()) - kept);
    money.days.erase(money.days.begin(), money.days.begin() + surplus);
    account.money = std::move(money);
    if (account.orders_day < today) {
        account.orders_day = today;
        account.orders_today = 0;
    }
    if (account.tier.daily_stop_day && *account.tier.daily_stop_day < today) {
        account.tier.daily_stop_day.reset();
    }
    account.version += 1;
    return {};
}

Result<void> book_cost(Account& account, const CostBooking& cost) {
    if (cost.amount.is_negative()) {
        return fail(errors::invalid_request, "a cost cannot be negative");
    }
    AccountMoney money = account.money;
    TRY_ASSIGN(money.treasury, charge_cost(money.treasury, cost.amount));
    DayBucket& day = day_of(money, cost.at);
    TRY_ASSIGN(day.*bucket_member(cost.kind), add(day.*bucket_member(cost.kind), cost.amount));
    if (cost.kind == CostKind::model) {
        TRY(book_agent(money, cost.agent, cost.amount));
    }
    account.money = std::move(money);
    account.version += 1;
    return {};
}

std::vector<std::string> check_conservation(
    const Account& account, const std::vector<SymbolBook>& books) {
    std::vector<std::string> problems;
    const AccountMoney& money = account.money;
    for (const auto& [asset, asset_books] : money.books) {
        check_asset(asset, asset_books, problems);
        if (asset_books.venue != held(money, asset)) {
            problems.push_back("holdings of " + std::string(asset.text()) + " miss the venue book");
        }
    }
    for (const auto& [asset, amount] : money.holdings) {
        if (amount.is_negative() || (!amount.is_zero() && !money.books.contains(asset))) {
            problems.push_back("holding of " + std::string(asset.text()) + " has no cover");
        }
    }
    if (!is_balanced(money.treasury)) {
        problems.emplace_back("treasury books do not sum to zero");
    }
    std::map<Asset, Exact> positions;
    for (const SymbolBook& book : books) {
        check_book(book, positions, problems);
    }
    for (const auto& [asset, position] : positions) {
        const auto sum = position.result();
        if (!sum || *sum > held(money, asset)) {
            problems.push_back(
                "positions in " + std::string(asset.text()) + " exceed what is held");
        }
    }
    return problems;
}

}  // namespace interlock
