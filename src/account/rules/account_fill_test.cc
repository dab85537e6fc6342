// Trades in the books: fees in any asset, FIFO results, idempotence and conservation.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>

#include "account/rules/account.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

const Asset kUsdt = asset_of("USDT");
const Asset kBtc = asset_of("BTC");
const Asset kBnb = asset_of("BNB");

// An account with one market, booking trades of orders made to fit.
struct Desk {
    Account account = an_account("10000");
    std::vector<SymbolBook> books{a_book("BNB"), a_book("BTC")};
    SymbolBook& bnb = books[0];
    SymbolBook& btc = books[1];

    Result<FillApplied> trade(Side side, const TradeTerms& terms, std::string_view fee_price = "") {
        OrderRecord order =
            an_order({.id = "o" + std::to_string(terms.id), .side = side, .qty = terms.qty});
        const VenueFill fill = a_trade(order, terms);
        FillInput input{.fill = fill};
        input.fee_book = &bnb;
        if (!fee_price.empty()) {
            input.fee_price = dec(fee_price);
        }
        return apply_fill({.account = account, .book = btc, .order = order}, input);
    }
    Decimal held(const Asset& asset) { return account.money.holdings[asset]; }
    const DayBucket& day() const { return account.money.days.back(); }
};

TEST(AccountFill, ABuyMovesMoneyIntoALot) {
    Desk desk;
    const auto applied = desk.trade(Side::buy, {.qty = "2", .price = "100", .fee = "0.2"});
    ASSERT_TRUE(applied);
    EXPECT_TRUE(applied->applied);
    EXPECT_EQ(applied->notional, dec("200"));
    EXPECT_EQ(applied->fee_quote, dec("0.2"));
    EXPECT_EQ(desk.held(kUsdt), dec("9799.8"));
    EXPECT_EQ(desk.held(kBtc), dec("2"));
    EXPECT_EQ(desk.btc.position, dec("2"));
    EXPECT_EQ(desk.btc.cost, dec("200"));
    EXPECT_EQ(desk.day().fees, dec("0.2"));
    EXPECT_EQ(desk.day().volume, dec("200"));
    EXPECT_EQ(desk.day().fills, 1);
}

TEST(AccountFill, AFeeInBaseShrinksTheLotAndIsExpensedAtThePrice) {
    Desk desk;
    const auto applied =
        desk.trade(Side::buy, {.qty = "2", .price = "100", .fee = "0.002", .fee_asset = "BTC"});
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->fee_quote, dec("0.2"));
    EXPECT_EQ(desk.btc.position, dec("1.998"));
    EXPECT_EQ(desk.btc.cost, dec("199.8"));
    EXPECT_EQ(avg_price(desk.btc), dec("100"));
    EXPECT_EQ(desk.held(kBtc), dec("1.998"));
}

TEST(AccountFill, ASellRealisesAgainstTheOldestLots) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "1", .price = "100"}));
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 2, .qty = "1", .price = "120"}));
    const auto applied =
        desk.trade(Side::sell, {.id = 3, .qty = "1.5", .price = "130", .fee = "1"});
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->realized_gross, dec("35"));  // 195 − 100 − 60.
    EXPECT_EQ(desk.btc.realized, dec("35"));
    EXPECT_EQ(desk.day().gains, dec("35"));
    EXPECT_EQ(desk.btc.position, dec("0.5"));
}

TEST(AccountFill, AStrategysTallyIsItsNetTradeAndItsLastFill) {
    Desk desk;
    ASSERT_TRUE(desk.trade(
        Side::buy, {.id = 1, .qty = "2", .price = "100", .fee = "0.002", .fee_asset = "BTC"}));
    ASSERT_TRUE(desk.trade(Side::sell, {.id = 2, .qty = "0.5", .price = "130"}));
    const StrategyTally* tally = find_tally(desk.btc.tallies, StrategyId::trusted("s1"));
    ASSERT_NE(tally, nullptr);
    EXPECT_EQ(tally->net_qty, dec("1.498"));
    EXPECT_EQ(tally->net_qty, desk.btc.position);
    const LastFill expected{dec("130"), Side::sell, 2, noon()};
    EXPECT_EQ(tally->last_fill, expected);
    EXPECT_TRUE(desk.bnb.tallies.empty());
}

TEST(AccountFill, ATradeThatIsRefusedLeavesTheTally) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "1", .price = "100"}));
    const std::vector<StrategyTally> before = desk.btc.tallies;
    EXPECT_FALSE(desk.trade(Side::sell, {.id = 2, .qty = "5", .price = "130"}));
    EXPECT_EQ(desk.btc.tallies, before);
}

TEST(AccountFill, AGainCreditsTheReserve) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "1", .price = "100"}));
    const auto applied = desk.trade(Side::sell, {.id = 2, .qty = "1", .price = "150"});
    EXPECT_EQ(applied->accrual, dec("5"));
    EXPECT_EQ(desk.account.money.treasury.ops_reserve, dec("505"));
    EXPECT_EQ(desk.day().accrual, dec("5"));
}

TEST(AccountFill, ALossIsALossAndCreditsNothing) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "1", .price = "100"}));
    const auto applied = desk.trade(Side::sell, {.id = 2, .qty = "1", .price = "90"});
    EXPECT_EQ(applied->realized_gross, dec("-10"));
    EXPECT_TRUE(applied->accrual.is_zero());
    EXPECT_EQ(desk.day().losses, dec("10"));
    EXPECT_TRUE(desk.day().gains.is_zero());
}

TEST(AccountFill, AFeeInBaseOnASellTakesThatMuchMore) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "2", .price = "100"}));
    const auto applied = desk.trade(
        Side::sell, {.id = 2, .qty = "1", .price = "110", .fee = "0.1", .fee_asset = "BTC"});
    ASSERT_TRUE(applied);
    EXPECT_EQ(desk.btc.position, dec("0.9"));
    EXPECT_EQ(applied->realized_gross, dec("11"));  // 1.1 at 110 against 100.
    EXPECT_EQ(applied->fee_quote, dec("11"));
    EXPECT_TRUE(check_conservation(desk.account, desk.books).empty());
}

TEST(AccountFill, AFeeInAThirdAssetIsValuedAtItsPrice) {
    Desk desk;
    ASSERT_TRUE(deposit(
        desk.account, {.asset = kBnb, .amount = dec("1"), .price = dec("600"), .at = noon()}));
    const auto applied = desk.trade(
        Side::buy, {.qty = "1", .price = "100", .fee = "0.001", .fee_asset = "BNB"}, "600");
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->fee_quote, dec("0.6"));
    EXPECT_EQ(desk.held(kBnb), dec("0.999"));
    EXPECT_FALSE(applied->fee_unconverted);
}

TEST(AccountFill, AFeeWithoutAPriceIsListed) {
    Desk desk;
    ASSERT_TRUE(deposit(
        desk.account, {.asset = kBnb, .amount = dec("1"), .price = dec("600"), .at = noon()}));
    const auto applied =
        desk.trade(Side::buy, {.qty = "1", .price = "100", .fee = "0.001", .fee_asset = "BNB"});
    ASSERT_TRUE(applied);
    EXPECT_TRUE(applied->fee_unconverted);
    EXPECT_TRUE(applied->fee_quote.is_zero());
    EXPECT_EQ(desk.account.money.unconverted_fees.at(kBnb), dec("0.001"));
}

TEST(AccountFill, AFeeLeavesTheLotsOfItsOwnMarket) {
    Desk desk;
    ASSERT_TRUE(deposit(
        desk.account,
        {.asset = kBnb, .amount = dec("1"), .price = dec("500"), .at = noon(), .book = &desk.bnb}));
    const auto applied = desk.trade(
        Side::buy, {.qty = "1", .price = "100", .fee = "0.01", .fee_asset = "BNB"}, "600");
    ASSERT_TRUE(applied);
    EXPECT_EQ(desk.bnb.position, dec("0.99"));
    EXPECT_EQ(desk.bnb.realized, dec("1"));  // Given away at 600, bought at 500.
    EXPECT_EQ(applied->realized_gross, dec("1"));
    EXPECT_TRUE(check_conservation(desk.account, desk.books).empty());
}

TEST(AccountFill, AFeeInCoinsWeNeverSawCameFromOutside) {
    Desk desk;
    ASSERT_TRUE(desk.trade(
        Side::buy, {.qty = "1", .price = "100", .fee = "0.001", .fee_asset = "BNB"}, "600"));
    EXPECT_EQ(desk.account.money.books.at(kBnb).external, dec("-0.001"));
    EXPECT_TRUE(check_conservation(desk.account, desk.books).empty());
}

TEST(AccountFill, AFeeIsPricedByTheMarketOfItsAsset) {
    Desk desk;
    const MarketSet market{{a_market("BNB", "599", "601"), a_market("BTC")}};
    const OrderRecord order = an_order();
    const VenueFill in_bnb = a_trade(order, {.fee = "0.1", .fee_asset = "BNB"});
    const FillInput priced = priced_fill(in_bnb, desk.account, desk.books, market);
    EXPECT_EQ(priced.fee_price, dec("600"));
    EXPECT_EQ(priced.fee_book, &desk.bnb);
    const VenueFill in_quote = a_trade(order, {.fee = "0.1"});
    EXPECT_FALSE(priced_fill(in_quote, desk.account, desk.books, market).fee_price);
    const VenueFill in_base = a_trade(order, {.fee = "0.1", .fee_asset = "BTC"});
    EXPECT_EQ(priced_fill(in_base, desk.account, desk.books, market).fee_book, nullptr);
}

TEST(AccountFill, ARebateIsAFeeBelowZero) {
    Desk desk;
    const auto applied = desk.trade(Side::buy, {.qty = "1", .price = "100", .fee = "-0.1"});
    ASSERT_TRUE(applied);
    EXPECT_EQ(desk.held(kUsdt), dec("9900.1"));
    EXPECT_EQ(desk.day().fees, dec("-0.1"));
}

TEST(AccountFill, TheSameTradeIsBookedOnce) {
    Desk desk;
    OrderRecord order = an_order({.qty = "2"});
    const VenueFill fill = a_trade(order, {.qty = "1"});
    const FillTarget target{.account = desk.account, .book = desk.btc, .order = order};
    ASSERT_TRUE(apply_fill(target, {.fill = fill})->applied);
    const Account before = desk.account;
    const auto again = apply_fill(target, {.fill = fill});
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->applied);
    EXPECT_EQ(desk.account, before);
    EXPECT_EQ(order.filled_qty, dec("1"));
}

TEST(AccountFill, SellingWhatIsNotHeldIsDriftAndBooksNothing) {
    Desk desk;
    ASSERT_TRUE(desk.trade(Side::buy, {.id = 1, .qty = "1"}));
    const Account account = desk.account;
    const std::vector<SymbolBook> books = desk.books;
    const auto refused = desk.trade(Side::sell, {.id = 2, .qty = "1.1"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), "books_drift");
    EXPECT_EQ(desk.account, account);
    EXPECT_EQ(desk.books, books);
}

TEST(AccountFill, SellingHeldCoinsThatNoLotCoversIsDrift) {
    Desk desk;
    ASSERT_TRUE(deposit(
        desk.account, {.asset = kBtc, .amount = dec("5"), .price = dec("100"), .at = noon()}));
    EXPECT_FALSE(desk.trade(Side::sell, {.qty = "1"}));
}

TEST(AccountFill, SpendingWhatIsNotHeldIsDrift) {
    Desk desk;
    EXPECT_FALSE(desk.trade(Side::buy, {.qty = "101", .price = "100"}));
    EXPECT_TRUE(desk.btc.lots.empty());
}

TEST(AccountFill, ATradeOfAnotherOrderIsRefused) {
    Desk desk;
    OrderRecord order = an_order();
    VenueFill fill = a_trade(order);
    fill.side = Side::sell;
    EXPECT_FALSE(
        apply_fill({.account = desk.account, .book = desk.btc, .order = order}, {.fill = fill}));
}

// A venue's clock may lag; a loss must count against the limit of the day it is learned on.
TEST(AccountFill, ATradeCountsForTheDayOfOurOwnClock) {
    Desk desk;
    ASSERT_TRUE(roll_to(desk.account, noon() + Duration::of_days(1)));
    ASSERT_TRUE(desk.trade(Side::buy, {.qty = "1", .fee = "1", .at = noon()}));
    EXPECT_EQ(desk.day().fees, dec("1"));
    EXPECT_TRUE(desk.account.money.days[0].fees.is_zero());
    // The venue's own time stays with the lot.
    EXPECT_EQ(desk.btc.lots.front().at, noon());
}

TEST(AccountFill, TheOrderInsideTheBookMayBeTheTarget) {
    Desk desk;
    ASSERT_TRUE(reserve_order(desk.account, desk.btc, an_order({.qty = "1"})));
    OrderRecord& order = *desk.btc.find(OrderClientId::trusted("o1"));
    const VenueFill fill = a_trade(order);
    ASSERT_TRUE(
        apply_fill({.account = desk.account, .book = desk.btc, .order = order}, {.fill = fill}));
    EXPECT_EQ(desk.btc.open[0].state, OrderState::filled);
    ASSERT_TRUE(release_order(desk.account, desk.btc, desk.btc.open[0]));
    EXPECT_TRUE(desk.btc.open.empty());
}

Decimal any_amount(std::int64_t low, std::int64_t high) {
    // Three places: products of two stay exact, so a naive model can be compared to the last unit.
    return Decimal::from_units(
        static_cast<__int128>(*rc::gen::inRange(low, high)) * 1'000'000'000'000'000);
}

TradeTerms any_trade(std::int64_t id) {
    TradeTerms terms;
    terms.id = id;
    terms.qty = to_text(any_amount(1, 3000));
    terms.price = to_text(any_amount(1'000, 200'000));
    terms.fee = to_text(any_amount(0, 3));
    terms.fee_asset = *rc::gen::element<std::string>("USDT", "BTC", "BNB");
    terms.at = noon() + Duration::of_seconds(id);
    return terms;
}

// Nothing is ever created or lost, whatever is traded and whatever fees are paid in; a refused
// trade leaves no trace.
TEST(AccountFill, MoneyIsConservedUnderAnyTrades) {
    EXPECT_TRUE(rc::check([] {
        Desk desk;
        RC_ASSERT(deposit(
                      desk.account,
                      {.asset = kBnb,
                       .amount = dec("0.01"),
                       .price = dec("600"),
                       .at = noon(),
                       .book = &desk.bnb})
                      .has_value());
        for (std::int64_t id = 1; id <= 30; ++id) {
            const Side side = *rc::gen::element(Side::buy, Side::sell);
            const bool has_price = *rc::gen::arbitrary<bool>();
            const Account before = desk.account;
            const auto applied = desk.trade(side, any_trade(id), has_price ? "600" : "");
            RC_ASSERT(applied.has_value() || desk.account == before);
            const auto problems = check_conservation(desk.account, desk.books);
            RC_ASSERT(problems.empty());
        }
    }));
}

// What was paid for coins is what is left in lots, less what was realised, plus the fees that left
// as coins: the market's book and the lots tell the same story.
TEST(AccountFill, ResultsAndLotsExplainEveryUnitPaid) {
    EXPECT_TRUE(rc::check([] {
        Desk desk;
        Decimal fees_in_base;
        for (std::int64_t id = 1; id <= 30; ++id) {
            TradeTerms terms = any_trade(id);
            terms.fee_asset = *rc::gen::element<std::string>("USDT", "BTC");
            const auto applied = desk.trade(*rc::gen::element(Side::buy, Side::sell), terms);
            if (applied && terms.fee_asset == "BTC") {
                fees_in_base = *add(fees_in_base, applied->fee_quote);
            }
        }
        const Decimal paid = desk.account.money.books[kUsdt].market;
        const Decimal told = *add(*subtract(desk.btc.cost, desk.btc.realized), fees_in_base);
        RC_ASSERT(paid == told);
    }));
}

struct NaiveLot {
    Decimal qty;
    Decimal price;
};

// Sells one thousandth at a time, each against the oldest coin there is.
Decimal naive_sell(std::deque<NaiveLot>& lots, Decimal qty, Decimal price) {
    const Decimal grain = dec("0.001");
    Decimal realized;
    for (Decimal left = qty; left.is_positive(); left = *subtract(left, grain)) {
        const Decimal gain = *subtract(price, lots.front().price);
        realized = *add(realized, *multiply_half_even(grain, gain));
        lots.front().qty = *subtract(lots.front().qty, grain);
        if (lots.front().qty.is_zero()) {
            lots.pop_front();
        }
    }
    return realized;
}

TEST(AccountFill, FifoAgreesWithANaiveModel) {
    EXPECT_TRUE(rc::check([] {
        Desk desk;
        std::deque<NaiveLot> naive;
        for (std::int64_t id = 1; id <= 25; ++id) {
            TradeTerms terms = any_trade(id);
            terms.fee = "0";
            const Side side = *rc::gen::element(Side::buy, Side::sell);
            const auto applied = desk.trade(side, terms);
            if (!applied) {
                continue;
            }
            if (side == Side::buy) {
                naive.push_back({dec(terms.qty), dec(terms.price)});
            } else {
                RC_ASSERT(
                    applied->realized_gross == naive_sell(naive, dec(terms.qty), dec(terms.price)));
            }
        }
        RC_ASSERT(naive.size() == desk.btc.lots.size());
    }));
}

}  // namespace
}  // namespace interlock
