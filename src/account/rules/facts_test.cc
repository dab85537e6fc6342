#include "account/rules/facts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/account_builders.h"

namespace interlock {
namespace {

const Asset kUsdt = asset_of("USDT");
const Asset kBtc = asset_of("BTC");

struct Desk {
    Account account = an_account("10000");
    std::vector<SymbolBook> books{a_book("BTC"), a_book("ETH")};
    MarketSet market{{a_market("BTC"), a_market("ETH", "9", "11")}};
    Timestamp now = noon();
    bool killed = false;
    RiskMode stricter = RiskMode::normal;

    SymbolBook& btc() { return books[0]; }
    GatherInput input() const {
        return {
            .account = account,
            .books = books,
            .market = market,
            .now = now,
            .kill_switch_active = killed,
            .stricter_mode = stricter,
            .permissions_verified = true};
    }
    StateFacts facts() const {
        auto gathered = gather_facts(input());
        CHECK(gathered.has_value());
        return *std::move(gathered);
    }
    void reserve(const OrderTerms& terms) {
        CHECK(reserve_order(account, btc(), an_order(terms)).has_value());
    }
    void hold(std::string_view qty, std::string_view price = "100") {
        CHECK(deposit(
                  account,
                  {.asset = kBtc,
                   .amount = dec(qty),
                   .price = dec(price),
                   .at = noon(),
                   .book = &btc()})
                  .has_value());
    }
    void trade(Side side, const TradeTerms& terms) {
        OrderRecord order =
            an_order({.id = "t" + std::to_string(terms.id), .side = side, .qty = terms.qty});
        const VenueFill fill = a_trade(order, terms);
        CHECK(apply_fill({.account = account, .book = btc(), .order = order}, {.fill = fill})
                  .has_value());
    }
};

TEST(Facts, AFreshAccountIsPlain) {
    Desk desk;
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.equity, dec("10000"));
    EXPECT_EQ(facts.peak, dec("10000"));
    EXPECT_EQ(facts.cash_free, dec("9500"));  // The reserve is not traded with.
    EXPECT_EQ(facts.ops_reserve, dec("500"));
    EXPECT_EQ(facts.net_deposits, dec("10000"));
    EXPECT_EQ(facts.risk_mode, RiskMode::normal);
    EXPECT_FALSE(facts.entries_halted);
    EXPECT_EQ(facts.symbols.size(), 2u);
    EXPECT_EQ(facts.uncertain_orders, 0);
}

TEST(Facts, AnUnknownBuyIsReservedWhole) {
    Desk desk;
    desk.reserve({.qty = "2", .price = "", .reserve_price = "105", .state = OrderState::unknown});
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.uncertain_orders, 1);
    EXPECT_EQ(facts.symbols[0].open_buy_notional, dec("210"));
    EXPECT_EQ(facts.symbols[0].open_buy_quote, dec("210.42"));
    EXPECT_EQ(facts.cash_free, dec("9289.58"));
    ASSERT_EQ(facts.open_orders.size(), 1u);
    EXPECT_TRUE(facts.open_orders[0].is_uncertain);
    EXPECT_EQ(facts.open_orders[0].price, dec("105"));
    EXPECT_EQ(facts.open_orders[0].remaining_qty, dec("2"));
}

TEST(Facts, AnOrderOnItsWayIsReservedAndStopsNobody) {
    Desk desk;
    desk.reserve({});
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.uncertain_orders, 0);
    ASSERT_EQ(facts.open_orders.size(), 1u);
    EXPECT_TRUE(facts.open_orders[0].is_uncertain);
    EXPECT_TRUE(facts.symbols[0].open_buy_notional.is_positive());
}

TEST(Facts, AnUnknownSellIsAnOpenSell) {
    Desk desk;
    desk.hold("5");
    desk.reserve({.side = Side::sell, .qty = "3", .state = OrderState::unknown});
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.symbols[0].open_sell_qty, dec("3"));
    EXPECT_TRUE(facts.symbols[0].open_buy_quote.is_zero());
}

TEST(Facts, WhatFilledAndIsNotBookedStaysReserved) {
    Desk desk;
    desk.reserve({.qty = "2"});
    OrderRecord order = desk.btc().open[0];
    order = step_order(order, OrderReported{shown(order, OrderState::filled, "2", "200")}, noon())
                .order;
    ASSERT_TRUE(release_order(desk.account, desk.btc(), order));
    EXPECT_EQ(desk.facts().symbols[0].open_buy_notional, dec("200"));
}

TEST(Facts, OwnQuotesAreKnownForTheSelfCrossCheck) {
    Desk desk;
    desk.hold("5");
    desk.reserve({.id = "b1", .price = "95", .state = OrderState::resting});
    desk.reserve({.id = "b2", .price = "97", .state = OrderState::resting});
    desk.reserve({.id = "s1", .side = Side::sell, .price = "105", .state = OrderState::resting});
    desk.reserve({.id = "s2", .side = Side::sell, .price = "103", .state = OrderState::resting});
    EXPECT_EQ(desk.facts().symbols[0].best_own_bid, dec("97"));
    EXPECT_EQ(desk.facts().symbols[0].best_own_ask, dec("103"));
    EXPECT_EQ(desk.facts().symbols[0].open_orders, 4);
}

TEST(Facts, EquityIsUnknownWithoutAPrice) {
    Desk desk;
    desk.hold("1");
    desk.market.markets.clear();
    EXPECT_FALSE(desk.facts().equity);
}

TEST(Facts, ThePeakIsAtLeastTheEquity) {
    Desk desk;
    desk.hold("10", "50");
    EXPECT_EQ(desk.facts().equity, dec("11000"));
    EXPECT_EQ(desk.facts().peak, dec("11000"));
}

TEST(Facts, TodaysResultIsNetOfFees) {
    Desk desk;
    desk.trade(Side::buy, {.id = 1, .qty = "2", .price = "100", .fee = "1"});
    desk.trade(Side::sell, {.id = 2, .qty = "1", .price = "90", .fee = "2"});
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.realized_today, dec("-13"));
    EXPECT_EQ(facts.fees_today, dec("3"));
    EXPECT_EQ(facts.fees_mean_30d, dec("0.1"));
    EXPECT_EQ(facts.rolling_surplus_30d, dec("-13"));
}

TEST(Facts, YesterdaysResultIsNotTodays) {
    Desk desk;
    desk.trade(Side::buy, {.id = 1, .qty = "2", .price = "100", .fee = "3"});
    desk.now = noon() + Duration::of_days(1);
    EXPECT_TRUE(desk.facts().realized_today.is_zero());
    EXPECT_EQ(desk.facts().rolling_surplus_30d, dec("-3"));
}

TEST(Facts, GainsLessAccrualAndCostsAreTheSurplus) {
    Desk desk;
    desk.trade(Side::buy, {.id = 1, .qty = "1", .price = "100"});
    desk.trade(Side::sell, {.id = 2, .qty = "1", .price = "400"});
    ASSERT_TRUE(book_cost(desk.account, {.amount = dec("60"), .agent = "a", .at = noon()}));
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.accrual_mean_30d, dec("1"));
    EXPECT_EQ(facts.other_costs_per_day, dec("2"));
    EXPECT_EQ(facts.rolling_surplus_30d, dec("210"));
    EXPECT_EQ(facts.ops_reserve, dec("470"));
}

TEST(Facts, TheStrictestModeHolds) {
    Desk desk;
    desk.account.tier.tier = Tier::reduced;
    EXPECT_EQ(desk.facts().risk_mode, RiskMode::reduced);
    desk.stricter = RiskMode::defensive;
    EXPECT_EQ(desk.facts().risk_mode, RiskMode::defensive);
    desk.account.tier.tier = Tier::stop;
    EXPECT_EQ(desk.facts().risk_mode, RiskMode::reduce_only);
    EXPECT_TRUE(desk.facts().entries_halted);
    desk.killed = true;
    EXPECT_EQ(desk.facts().risk_mode, RiskMode::halted);
}

TEST(Facts, RecoveryHaltsEntries) {
    Desk desk;
    desk.account.recovery = enter_recovery({}, {noon(), {"overfill:o1"}, {}}).state;
    EXPECT_TRUE(desk.facts().entries_halted);
    EXPECT_EQ(desk.facts().entries_halted_reason, "recovering: overfill:o1");
    desk.account.recovery.phase = RecoveryPhase::escalated;
    EXPECT_EQ(desk.facts().risk_mode, RiskMode::reduce_only);
}

TEST(Facts, ForeignOrdersAndUnexplainedOutflowsAreWithheld) {
    Desk desk;
    desk.hold("5");
    desk.account.foreign_locked = {{kUsdt, dec("100")}, {kBtc, dec("1")}};
    desk.account.external_flows = {
        {kUsdt, dec("-50"), noon(), noon()}, {kBtc, dec("2"), noon(), noon()}};
    const StateFacts facts = desk.facts();
    EXPECT_EQ(facts.cash_free, dec("9350"));
    EXPECT_EQ(facts.symbols[0].open_sell_qty, dec("1"));
}

TEST(Facts, SymbolsAreBooksAndUniverseTogether) {
    Desk desk;
    desk.account.universe = {symbol_of("AAAUSDT"), symbol_of("BTCUSDT")};
    const StateFacts facts = desk.facts();
    ASSERT_EQ(facts.symbols.size(), 3u);
    EXPECT_EQ(facts.symbols[0].symbol, symbol_of("AAAUSDT"));
    EXPECT_TRUE(facts.symbols[0].in_universe);
    EXPECT_TRUE(facts.symbols[1].in_universe);
    EXPECT_FALSE(facts.symbols[2].in_universe);
}

TEST(Facts, OldIntentsAreNotRecent) {
    Desk desk;
    const RecentIntent intent{
        symbol_of("BTCUSDT"), Side::buy, dec("1"), dec("100"), DecisionId::trusted("d"), noon()};
    ASSERT_TRUE(remember_intent(desk.account, intent));
    desk.now = noon() + Duration::of_seconds(60);
    EXPECT_EQ(desk.facts().recent.size(), 1u);
    desk.now = noon() + Duration::of_seconds(61);
    EXPECT_TRUE(desk.facts().recent.empty());
}

TEST(Facts, StrategiesCarryTheirCounts) {
    Desk desk;
    const StrategyId id = StrategyId::trusted("s1");
    desk.account.strategies[id].type = "external";
    note_aggressive(desk.account, id, noon());
    note_aggressive(desk.account, id, noon() + Duration::of_seconds(50));
    desk.now = noon() + Duration::of_seconds(90);
    ASSERT_EQ(desk.facts().strategies.size(), 1u);
    EXPECT_TRUE(desk.facts().strategies[0].is_external);
    EXPECT_EQ(desk.facts().strategies[0].aggressive_executions, 1);
}

TEST(Facts, TreasuryFiguresAreThoseOfTheSeed) {
    Desk desk;
    desk.account.limits.infra_cost_per_day = dec("4");
    desk.account.limits.data_cost_per_day = dec("5");
    desk.account.limits.ops_cost_per_day = dec("0.9");
    desk.trade(Side::buy, {.id = 1, .qty = "2", .price = "100", .fee = "3"});
    const auto figures = treasury_figures(desk.account, dec("9000"), noon());
    ASSERT_TRUE(figures);
    EXPECT_EQ(figures->daily_total_cost, dec("10"));
    EXPECT_EQ(figures->runway_days, dec("50"));
    EXPECT_TRUE(figures->principal_protected);
    EXPECT_FALSE(treasury_figures(desk.account, std::nullopt, noon())->principal_protected);
}

TEST(Facts, ATickOfTheTiersIsKeptInTheAccount) {
    Desk desk;
    const auto step = scale_risk(desk.account, desk.input());
    ASSERT_TRUE(step);
    // A fresh account has not reached its target surplus.
    EXPECT_EQ(step->state.tier, Tier::reduced);
    EXPECT_EQ(desk.account.tier, step->state);
}

TEST(Facts, AnEscalatedRecoveryStopsEntriesByTier) {
    Desk desk;
    desk.account.recovery.phase = RecoveryPhase::escalated;
    EXPECT_EQ(scale_risk(desk.account, desk.input())->raw, Tier::stop);
}

TEST(Facts, ExposureForRecoveryDoesNotMoveWithPrices) {
    Desk desk;
    desk.hold("2", "80");
    desk.reserve({.qty = "1", .price = "90"});
    EXPECT_EQ(*worst_case_exposure(desk.books), dec("250"));
}

TEST(Facts, AFillAtItsReservedPriceDoesNotGrowTheExposure) {
    Desk desk;
    desk.reserve({.qty = "1", .price = "100"});
    const Decimal before = *worst_case_exposure(desk.books);
    OrderRecord& order = desk.btc().open[0];
    const VenueFill fill = a_trade(order, {.qty = "0.5", .price = "99"});
    ASSERT_TRUE(
        apply_fill({.account = desk.account, .book = desk.btc(), .order = order}, {.fill = fill}));
    EXPECT_LE(*worst_case_exposure(desk.books), before);
}

TEST(Facts, FactsReadBackFromTheirStoredForm) {
    Desk desk;
    desk.hold("2");
    desk.reserve({.qty = "1"});
    const StateFacts facts = desk.facts();
    EXPECT_EQ(*decode_state_facts(encode(facts)), facts);
}

// Cash that is free and cash that is locked never exceed what is held.
TEST(Facts, FreeAndLockedCashNeverExceedWhatIsHeld) {
    EXPECT_TRUE(rc::check([] {
        Desk desk;
        Decimal locked;
        for (int i = 0; i < 10; ++i) {
            const auto qty = std::to_string(*rc::gen::inRange(1, 20));
            const auto price = std::to_string(*rc::gen::inRange(1, 100));
            const auto state = static_cast<OrderState>(*rc::gen::inRange(0, 4));
            desk.reserve(
                {.id = "o" + std::to_string(i),
                 .side = *rc::gen::element(Side::buy, Side::sell),
                 .qty = qty,
                 .price = price,
                 .state = state});
        }
        const StateFacts facts = desk.facts();
        for (const SymbolFacts& symbol : facts.symbols) {
            locked = *add(locked, symbol.open_buy_quote);
        }
        RC_ASSERT(!facts.cash_free.is_negative());
        RC_ASSERT(facts.cash_free.is_zero() || *add(facts.cash_free, locked) == dec("9500"));
    }));
}

}  // namespace
}  // namespace interlock
