#include "account/rules/account.h"

#include <gtest/gtest.h>

#include "account/rules/facts.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

const Asset kUsdt = asset_of("USDT");
const Asset kBtc = asset_of("BTC");

TEST(Account, OpensWithTheDefaultsOfS7) {
    const Account account = an_account("10000");
    EXPECT_EQ(account.limits, *default_limits(dec("10000")));
    EXPECT_EQ(account.money.treasury.ops_reserve, dec("500"));
    EXPECT_EQ(account.money.holdings.at(kUsdt), dec("10000"));
    EXPECT_EQ(account.money.peak, dec("10000"));
    EXPECT_EQ(account.money.net_deposits, dec("10000"));
    EXPECT_FALSE(account.trading_enabled);
    ASSERT_EQ(account.money.days.size(), 1u);
    EXPECT_EQ(account.money.days[0].day, utc_day_start(noon()));
    EXPECT_TRUE(check_conservation(account, {}).empty());
}

TEST(Account, OpeningBooksTheCostsOfTheFirstDay) {
    RiskLimits limits = *default_limits(dec("1000"));
    limits.infra_cost_per_day = dec("3");
    const auto account = open_account(
        {.key = an_account_key(),
         .quote = kUsdt,
         .deposit = dec("1000"),
         .limits = limits,
         .ops_reserve = dec("10"),
         .at = noon()});
    ASSERT_TRUE(account);
    EXPECT_EQ(account->money.treasury.ops_reserve, dec("7"));
    EXPECT_EQ(account->money.days.back().infra, dec("3"));
}

TEST(Account, OpeningRefusesAReserveBeyondTheDeposit) {
    EXPECT_FALSE(open_account(
        {.key = an_account_key(),
         .quote = kUsdt,
         .deposit = dec("10"),
         .ops_reserve = dec("11"),
         .at = noon()}));
}

TEST(Account, ADepositMovesPeakAndBaseline) {
    Account account = an_account("10000");
    ASSERT_TRUE(
        deposit(account, {.asset = kUsdt, .amount = dec("5000"), .price = dec("1"), .at = noon()}));
    EXPECT_EQ(account.money.net_deposits, dec("15000"));
    EXPECT_EQ(account.money.peak, dec("15000"));
    EXPECT_EQ(account.limits.principal_baseline, dec("13500"));
    // Limits that would loosen with the money stay where a human put them.
    EXPECT_EQ(account.limits.max_notional_per_trade, dec("2000"));
    EXPECT_TRUE(check_conservation(account, {}).empty());
}

TEST(Account, AWithdrawalKeepsTheDistanceFromThePeak) {
    Account account = an_account("10000");
    account.money.peak = dec("12000");
    ASSERT_TRUE(withdraw(
        account, {.asset = kUsdt, .amount = dec("4000"), .price = dec("1"), .at = noon()}));
    EXPECT_EQ(account.money.peak, dec("8000"));
    EXPECT_EQ(account.limits.principal_baseline, dec("5400"));
}

TEST(Account, AWithdrawalOfMoreThanIsHeldChangesNothing) {
    Account account = an_account("100");
    const Account before = account;
    EXPECT_FALSE(
        withdraw(account, {.asset = kUsdt, .amount = dec("101"), .price = dec("1"), .at = noon()}));
    EXPECT_EQ(account, before);
}

TEST(Account, AWithdrawalThatPaysCostsIsNoWithdrawalOfCapital) {
    Account account = an_account("10000");
    ASSERT_TRUE(book_cost(
        account, {.kind = CostKind::model, .amount = dec("30"), .agent = "a", .at = noon()}));
    ASSERT_TRUE(withdraw(
        account,
        {.asset = kUsdt,
         .amount = dec("30"),
         .price = dec("1"),
         .at = noon(),
         .pays_costs = dec("30")}));
    EXPECT_EQ(account.money.net_deposits, dec("10000"));
    EXPECT_TRUE(account.money.treasury.costs.is_zero());
    EXPECT_EQ(*free_quote(account, {}), dec("9500"));
}

TEST(Account, CoinsDepositedBecomeALot) {
    Account account = an_account("1000");
    std::vector<SymbolBook> books{a_book()};
    ASSERT_TRUE(deposit(
        account,
        {.asset = kBtc,
         .amount = dec("2"),
         .price = dec("100"),
         .at = noon(),
         .book = books.data()}));
    EXPECT_EQ(books[0].position, dec("2"));
    EXPECT_EQ(books[0].cost, dec("200"));
    EXPECT_EQ(account.money.net_deposits, dec("1200"));
    EXPECT_TRUE(check_conservation(account, books).empty());
}

TEST(Account, AFlowIntoTheWrongBookIsRefused) {
    Account account = an_account("1000");
    SymbolBook book = a_book("ETH");
    EXPECT_FALSE(deposit(
        account,
        {.asset = kBtc, .amount = dec("2"), .price = dec("1"), .at = noon(), .book = &book}));
}

TEST(Account, AConfirmedExternalFlowIsBooked) {
    Account account = an_account("1000", TradeMode::live);
    account.external_flows.push_back({kUsdt, dec("-50"), noon(), noon()});
    ASSERT_TRUE(confirm_external_flow(account, kUsdt, dec("1"), nullptr));
    EXPECT_EQ(account.money.holdings.at(kUsdt), dec("950"));
    EXPECT_EQ(account.money.net_deposits, dec("950"));
    EXPECT_TRUE(account.external_flows.empty());
    EXPECT_FALSE(confirm_external_flow(account, kUsdt, dec("1"), nullptr));
}

TEST(Account, AReservedOrderIsCountedAndLocksItsCash) {
    Account account = an_account("1000");
    std::vector<SymbolBook> books{a_book()};
    ASSERT_TRUE(reserve_order(account, books[0], an_order({.qty = "2", .price = "100"})));
    EXPECT_EQ(orders_in_window(account, noon()), 1);
    EXPECT_EQ(account.orders_today, 1);
    EXPECT_EQ(*free_quote(account, books), dec("749.6"));  // 1000 − 50 − 200 × 1.002.
}

TEST(Account, AnOrderIsReservedOnce) {
    Account account = an_account();
    SymbolBook book = a_book();
    ASSERT_TRUE(reserve_order(account, book, an_order()));
    EXPECT_FALSE(reserve_order(account, book, an_order()));
    EXPECT_EQ(account.orders_today, 1);
}

TEST(Account, AReleasedOrderFreesItsCash) {
    Account account = an_account("1000");
    std::vector<SymbolBook> books{a_book()};
    ASSERT_TRUE(reserve_order(account, books[0], an_order({.qty = "2"})));
    ASSERT_TRUE(
        release_order(account, books[0], an_order({.qty = "2", .state = OrderState::rejected})));
    EXPECT_EQ(*free_quote(account, books), dec("950"));
}

TEST(Account, SendsLeaveTheWindowAfterTenSeconds) {
    Account account = an_account();
    SymbolBook book = a_book();
    for (int i = 0; i < 5; ++i) {
        OrderRecord order = an_order({.id = "o" + std::to_string(i)});
        order.created_at = noon() + Duration::of_seconds(i * 3);
        ASSERT_TRUE(reserve_order(account, book, order));
    }
    EXPECT_EQ(orders_in_window(account, noon() + Duration::of_seconds(12)), 4);
    EXPECT_EQ(orders_in_window(account, noon() + Duration::of_seconds(30)), 0);
}

TEST(Account, SendsStayBoundedAtAnyRate) {
    Account account = an_account();
    for (int i = 0; i < 5000; ++i) {
        SymbolBook book = a_book();
        OrderRecord order = an_order({.id = "o" + std::to_string(i)});
        order.created_at = noon() + Duration::of_milliseconds(i * 10);
        ASSERT_TRUE(reserve_order(account, book, order));
    }
    EXPECT_LE(account.sends.size(), 42u);
    EXPECT_EQ(account.orders_today, 5000);
}

TEST(Account, ANewDayStartsItsCounts) {
    Account account = an_account();
    SymbolBook book = a_book();
    ASSERT_TRUE(reserve_order(account, book, an_order()));
    ASSERT_TRUE(roll_to(account, noon() + Duration::of_days(1)));
    EXPECT_EQ(account.orders_today, 0);
    EXPECT_EQ(account.money.days.size(), 2u);
}

TEST(Account, EachDayBooksItsCosts) {
    Account account = an_account("10000");
    account.limits.infra_cost_per_day = dec("1");
    account.limits.data_cost_per_day = dec("2");
    account.limits.ops_cost_per_day = dec("3");
    ASSERT_TRUE(roll_to(account, noon() + Duration::of_days(3)));
    EXPECT_EQ(account.money.treasury.ops_reserve, dec("482"));
    EXPECT_EQ(account.money.treasury.costs, dec("18"));
    EXPECT_EQ(account.money.days.back().data, dec("2"));
    EXPECT_EQ(account.money.days.size(), 4u);
    EXPECT_TRUE(check_conservation(account, {}).empty());
}

TEST(Account, ALongSleepKeepsAMonthOfDaysAndChargesThemAll) {
    Account account = an_account("10000");
    account.limits.infra_cost_per_day = dec("1");
    ASSERT_TRUE(roll_to(account, noon() + Duration::of_days(400)));
    EXPECT_EQ(account.money.days.size(), kDayBucketsMax);
    EXPECT_EQ(account.money.treasury.costs, dec("400"));
    EXPECT_EQ(window_totals(account.money.days, noon() + Duration::of_days(400))->infra, dec("30"));
}

TEST(Account, RollingBackChangesNothing) {
    Account account = an_account();
    const Account before = account;
    ASSERT_TRUE(roll_to(account, noon() - Duration::of_days(2)));
    EXPECT_EQ(account, before);
}

TEST(Account, ADailyLossStopEndsWithTheDay) {
    Account account = an_account();
    account.tier.daily_stop_day = utc_day_start(noon());
    ASSERT_TRUE(roll_to(account, noon() + Duration::of_hours(11)));
    EXPECT_TRUE(account.tier.daily_stop_day);
    ASSERT_TRUE(roll_to(account, noon() + Duration::of_hours(12)));
    EXPECT_FALSE(account.tier.daily_stop_day);
}

TEST(Account, CostsAreBookedByKindAndAgent) {
    Account account = an_account("10000");
    for (const CostKind kind : {CostKind::model, CostKind::infra, CostKind::data, CostKind::ops}) {
        ASSERT_TRUE(book_cost(
            account, {.kind = kind, .amount = dec("2"), .agent = "planner-7", .at = noon()}));
    }
    const DayBucket& day = account.money.days.back();
    EXPECT_EQ(day.model, dec("2"));
    EXPECT_EQ(day.infra, dec("2"));
    EXPECT_EQ(day.data, dec("2"));
    EXPECT_EQ(day.ops, dec("2"));
    EXPECT_EQ(account.money.cost_by_agent.at("planner-7"), dec("2"));
    EXPECT_EQ(account.money.treasury.costs, dec("8"));
}

TEST(Account, AgentsBeyondTheBoundShareOneRow) {
    Account account = an_account("10000");
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(book_cost(
            account,
            {.kind = CostKind::model,
             .amount = dec("1"),
             .agent = "agent-" + std::to_string(i),
             .at = noon()}));
    }
    EXPECT_LE(account.money.cost_by_agent.size(), kCostAgentsMax);
    Decimal sum;
    for (const auto& [agent, amount] : account.money.cost_by_agent) {
        sum = *add(sum, amount);
    }
    EXPECT_EQ(sum, dec("200"));
}

TEST(Account, ANegativeCostIsRefused) {
    Account account = an_account();
    EXPECT_FALSE(book_cost(account, {.amount = dec("-1"), .at = noon()}));
}

TEST(Account, TransfersLeaveLockedCashAlone) {
    Account account = an_account("1000");
    std::vector<SymbolBook> books{a_book()};
    ASSERT_TRUE(reserve_order(account, books[0], an_order({.qty = "9", .price = "100"})));
    // 1000 − 50 − 901.8 are free.
    EXPECT_FALSE(treasury_transfer(
        account, books, {TreasuryBook::trading, TreasuryBook::profit, dec("48.21")}));
    ASSERT_TRUE(treasury_transfer(
        account, books, {TreasuryBook::trading, TreasuryBook::profit, dec("48.2")}));
    EXPECT_EQ(account.money.treasury.profit, dec("48.2"));
    EXPECT_TRUE(free_quote(account, books)->is_zero());
}

TEST(Account, EquityIsCashPlusMarkedCoins) {
    Account account = an_account("1000");
    SymbolBook book = a_book();
    ASSERT_TRUE(deposit(
        account,
        {.asset = kBtc, .amount = dec("2"), .price = dec("90"), .at = noon(), .book = &book}));
    EXPECT_EQ(*equity_of(account, {book}, {{a_market()}}), dec("1200"));
}

TEST(Account, EquityIsUnknownWhenAHeldAssetHasNoPrice) {
    Account account = an_account("1000");
    ASSERT_TRUE(
        deposit(account, {.asset = kBtc, .amount = dec("2"), .price = dec("90"), .at = noon()}));
    EXPECT_FALSE(equity_of(account, {}, {{a_market("ETH")}}));
    MarketFacts one_sided = a_market();
    one_sided.best_bid.reset();
    EXPECT_FALSE(equity_of(account, {}, {{one_sided}}));
}

// One basis point of what was deposited: beyond it the price is missed, up to it the coin counts as
// nothing, and the coins that were left out are told.
TEST(Account, AnUnpricedCoinThatCostNextToNothingIsLeftOutOfEquity) {
    Account account = an_account("1000");
    ASSERT_TRUE(
        deposit(account, {.asset = kBtc, .amount = dec("5"), .price = dec("0.02"), .at = noon()}));
    const Marked found = marked(account, {}, {{a_market("ETH")}});
    EXPECT_EQ(found.equity, dec("1000"));
    EXPECT_EQ(found.unpriced, std::vector<Asset>{kBtc});
    EXPECT_EQ(decode_account(encode(account)).value(), account);
    ASSERT_TRUE(
        deposit(account, {.asset = kBtc, .amount = dec("1"), .price = dec("0.01"), .at = noon()}));
    EXPECT_FALSE(equity_of(account, {}, {{a_market("ETH")}}));
    EXPECT_EQ(*equity_of(account, {}, {{a_market()}}), dec("1600"));
}

TEST(Account, AnUnpricedPositionCountsAsNothingOnlyWhenItsLotsCostNextToNothing) {
    Account account = an_account("1000");
    SymbolBook book = a_book();
    ASSERT_TRUE(deposit(
        account,
        {.asset = kBtc, .amount = dec("0.001"), .price = dec("90"), .at = noon(), .book = &book}));
    EXPECT_EQ(equity_of(account, {book}, {}), dec("1000"));
    ASSERT_TRUE(deposit(
        account,
        {.asset = kBtc, .amount = dec("0.001"), .price = dec("90"), .at = noon(), .book = &book}));
    EXPECT_FALSE(equity_of(account, {book}, {}));
}

TEST(Account, MarkingRaisesThePeakAndNeverLowersIt) {
    Account account = an_account("1000");
    SymbolBook book = a_book();
    ASSERT_TRUE(deposit(
        account,
        {.asset = kBtc, .amount = dec("2"), .price = dec("100"), .at = noon(), .book = &book}));
    mark(account, {book}, {{a_market("BTC", "119", "121")}});
    EXPECT_EQ(account.money.peak, dec("1240"));
    mark(account, {book}, {{a_market("BTC", "79", "81")}});
    EXPECT_EQ(account.money.peak, dec("1240"));
}

TEST(Account, ADrawdownResetStartsThePeakAgain) {
    Account account = an_account("1000");
    account.tier.drawdown_latched_at = noon();
    reset_drawdown(account, dec("700"));
    EXPECT_EQ(account.money.peak, dec("700"));
    EXPECT_FALSE(account.tier.drawdown_latched_at);
}

RecentIntent an_intent(Timestamp at) {
    return {symbol_of("BTCUSDT"), Side::buy, dec("1"), dec("100"), DecisionId::trusted("d"), at};
}

TEST(Account, RecentIntentsLeaveWithTheWindow) {
    Account account = an_account();
    ASSERT_TRUE(remember_intent(account, an_intent(noon())));
    ASSERT_TRUE(remember_intent(account, an_intent(noon() + Duration::of_seconds(61))));
    EXPECT_EQ(account.recent.size(), 1u);
}

TEST(Account, RecentIntentsStayInOrderWhenTheClockStepsBack) {
    Account account = an_account();
    ASSERT_TRUE(remember_intent(account, an_intent(noon())));
    ASSERT_TRUE(remember_intent(account, an_intent(noon() - Duration::of_seconds(5))));
    ASSERT_EQ(account.recent.size(), 2u);
    EXPECT_LT(account.recent.front().at, account.recent.back().at);
}

TEST(Account, AFullWindowOfIntentsRefusesOneMore) {
    Account account = an_account();
    for (std::size_t i = 0; i < kRecentIntentsMax; ++i) {
        ASSERT_TRUE(remember_intent(account, an_intent(noon())));
    }
    const auto refused = remember_intent(account, an_intent(noon()));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "overloaded");
    EXPECT_TRUE(remember_intent(account, an_intent(noon() + Duration::of_seconds(61))));
}

TEST(Account, OneAggressiveDecisionTooManyDisablesTheStrategy) {
    Account account = an_account();
    const StrategyId id = StrategyId::trusted("s1");
    account.strategies[id].type = "grid";
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(note_aggressive(account, id, noon() + Duration::of_seconds(i)));
    }
    EXPECT_TRUE(note_aggressive(account, id, noon() + Duration::of_seconds(20)));
    EXPECT_TRUE(account.strategies[id].is_disabled);
    EXPECT_EQ(account.strategies[id].disabled_reason, "repeated_execution");
}

TEST(Account, SlowAggressiveDecisionsDisableNothing) {
    Account account = an_account();
    const StrategyId id = StrategyId::trusted("s1");
    account.strategies[id].type = "grid";
    for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(note_aggressive(account, id, noon() + Duration::of_seconds(i * 4)));
    }
}

TEST(Account, ConservationNamesABookThatDoesNotSum) {
    Account account = an_account();
    account.money.books[kUsdt].market = dec("1");
    EXPECT_EQ(check_conservation(account, {}).size(), 1u);
}

TEST(Account, ConservationNamesAHoldingThatIsNotTheVenueBook) {
    Account account = an_account();
    account.money.holdings[kUsdt] = dec("9999");
    EXPECT_EQ(check_conservation(account, {}).size(), 1u);
}

TEST(Account, ConservationNamesAPositionThatIsNotHeld) {
    SymbolBook book = a_book();
    ASSERT_TRUE(add_lot(book, {dec("1"), dec("100"), 1, noon()}));
    EXPECT_EQ(check_conservation(an_account(), {book}).size(), 1u);
}

TEST(Account, ConservationNamesATreasuryThatDoesNotSum) {
    Account account = an_account();
    account.money.treasury.profit = dec("1");
    EXPECT_EQ(check_conservation(account, {}).size(), 1u);
}

TEST(Account, StoredFormReadsBack) {
    Account account = an_account("10000", TradeMode::live);
    SymbolBook book = a_book();
    ASSERT_TRUE(reserve_order(account, book, an_order({.mode = TradeMode::live})));
    ASSERT_TRUE(remember_intent(account, an_intent(noon())));
    const StrategyId id = StrategyId::trusted("s1");
    account.strategies[id] = {
        .type = "external",
        .is_active = true,
        .is_disabled = false,
        .disabled_reason = "",
        .max_staleness_sec = dec("2"),
        .max_spread_bps = std::nullopt,
        .max_vol_1m = std::nullopt,
        .aggressive = {}};
    note_aggressive(account, id, noon());
    account.universe = {symbol_of("BTCUSDT"), symbol_of("ETHUSDT")};
    account.external_flows.push_back({kBtc, dec("-0.5"), noon(), noon()});
    account.foreign_locked[kUsdt] = dec("12");
    account.fills_cursor = 77;
    account.money.unconverted_fees[asset_of("BNB")] = dec("0.01");
    ASSERT_TRUE(book_cost(account, {.amount = dec("1.25"), .agent = "a", .at = noon()}));
    account.recovery = enter_recovery({}, {noon(), {"startup"}, dec("5")}).state;
    const auto read = decode_account(encode(account));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, account);
}

TEST(Account, AStoredFormWithAnUnknownKeyIsRefused) {
    Json json = encode(an_account());
    json.set("extra", true);
    EXPECT_FALSE(decode_account(json));
}

TEST(Account, AStoredFormWithoutDaysIsRefused) {
    Account account = an_account();
    account.money.days.clear();
    EXPECT_FALSE(decode_account(encode(account)));
}

}  // namespace
}  // namespace interlock
