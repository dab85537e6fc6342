#include "bots/rules/fifo_lots.h"

#include <gtest/gtest.h>

#include "bots/rules/test_pnl_fills.h"

namespace interlock {
namespace {

FifoLots abc_lots() {
    return {asset_of("ABC"), asset_of("USDT")};
}

TEST(FifoLots, SellsTheOldestFirst) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.id = 1, .qty = "2", .price = "100"})));
    ASSERT_TRUE(lots.apply(bought({.id = 2, .qty = "2", .price = "200"})));
    const PnlOutcome outcome = lots.apply(sold({.id = 3, .qty = "3", .price = "300"})).value();
    EXPECT_EQ(outcome.realised, dec("500"));  // 900 − 200 − 200.
    EXPECT_EQ(outcome.matched_qty, dec("3"));
    ASSERT_EQ(lots.lots().size(), 1U);
    EXPECT_EQ(lots.lots().front(), (PnlLot{dec("1"), dec("200")}));
}

TEST(FifoLots, PutsAQuoteFeeIntoTheCostAndTakesItFromTheProceeds) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.qty = "1", .price = "100", .fee = "0.5"})));
    EXPECT_EQ(lots.cost(), dec("100.5"));
    const PnlOutcome outcome =
        lots.apply(sold({.id = 2, .qty = "1", .price = "110", .fee = "0.6"})).value();
    EXPECT_EQ(outcome.realised, dec("8.9"));
    EXPECT_EQ(outcome.fee_quote, dec("0.6"));
}

TEST(FifoLots, TakesABaseFeeOfABuyFromItsLot) {
    FifoLots lots = abc_lots();
    const PnlOutcome outcome =
        lots.apply(bought({.qty = "1", .price = "100", .fee = "0.01", .fee_asset = "ABC"})).value();
    EXPECT_EQ(lots.lots().front(), (PnlLot{dec("0.99"), dec("100")}));
    EXPECT_EQ(outcome.fee_quote, dec("1"));
}

TEST(FifoLots, ConsumesTheCoinsOfABaseFeeOfASell) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.qty = "2", .price = "100"})));
    const PnlOutcome outcome =
        lots.apply(sold({.id = 2, .qty = "1", .price = "120", .fee = "0.5", .fee_asset = "ABC"}))
            .value();
    EXPECT_EQ(outcome.matched_qty, dec("1.5"));
    EXPECT_EQ(outcome.realised, dec("-30"));  // 120 − 150.
    EXPECT_EQ(outcome.fee_quote, dec("60"));
    EXPECT_EQ(lots.qty(), dec("0.5"));
}

TEST(FifoLots, ValuesAThirdAssetsFeeAtItsPriceThen) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(
        lots.apply(bought({.price = "100", .fee = "2", .fee_asset = "FEE", .fee_price = "1.5"})));
    EXPECT_EQ(lots.cost(), dec("103"));
    const PnlOutcome outcome =
        lots.apply(
                sold({.id = 2, .price = "110", .fee = "1", .fee_asset = "FEE", .fee_price = "2"}))
            .value();
    EXPECT_EQ(outcome.realised, dec("5"));
    EXPECT_FALSE(outcome.is_fee_unconverted);
}

TEST(FifoLots, SaysThatAFeeWithoutAPriceIsNotInTheResult) {
    FifoLots lots = abc_lots();
    const PnlOutcome outcome =
        lots.apply(bought({.price = "100", .fee = "2", .fee_asset = "FEE"})).value();
    EXPECT_TRUE(outcome.is_fee_unconverted);
    EXPECT_EQ(outcome.fee_quote, Decimal());
    EXPECT_EQ(lots.cost(), dec("100"));
}

TEST(FifoLots, LeavesWhatWasNeverBoughtOutOfTheResult) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.qty = "1", .price = "100"})));
    const PnlOutcome outcome =
        lots.apply(sold({.id = 2, .qty = "4", .price = "150", .fee = "8"})).value();
    EXPECT_EQ(outcome.matched_qty, dec("1"));
    EXPECT_EQ(outcome.unmatched_qty, dec("3"));
    EXPECT_EQ(outcome.realised, dec("48"));  // A quarter of 600 − 8, less 100.
    EXPECT_TRUE(lots.lots().empty());
}

TEST(FifoLots, MakesNoResultOfASellWithoutAnyLot) {
    FifoLots lots = abc_lots();
    const PnlOutcome outcome = lots.apply(sold({.qty = "4", .fee = "1"})).value();
    EXPECT_EQ(outcome.realised, Decimal());
    EXPECT_EQ(outcome.unmatched_qty, dec("4"));
    EXPECT_EQ(outcome.fee_quote, dec("1"));
}

TEST(FifoLots, TakesRebates) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.price = "100", .fee = "-0.1"})));
    EXPECT_EQ(lots.cost(), dec("99.9"));
    const PnlOutcome outcome = lots.apply(sold({.id = 2, .price = "100", .fee = "-0.1"})).value();
    EXPECT_EQ(outcome.realised, dec("0.2"));
}

TEST(FifoLots, RefusesTradesThatCannotHaveHappened) {
    FifoLots lots = abc_lots();
    EXPECT_EQ(lots.apply(bought({.qty = "0"})).error(), errors::unusable_fill);
    EXPECT_EQ(lots.apply(bought({.price = "-1"})).error(), errors::unusable_fill);
    EXPECT_EQ(
        lots.apply(bought({.qty = "1", .fee = "1", .fee_asset = "ABC"})).error(),
        errors::unusable_fill);
    EXPECT_EQ(lots.apply(bought({.price = "1", .fee = "-2"})).error(), errors::unusable_fill);
    EXPECT_EQ(
        lots.apply(sold({.qty = "1", .fee = "-1", .fee_asset = "ABC"})).error(),
        errors::unusable_fill);
    EXPECT_TRUE(lots.lots().empty());
}

TEST(FifoLots, ChangesNothingWhenASumDoesNotFit) {
    FifoLots lots = abc_lots();
    ASSERT_TRUE(lots.apply(bought({.qty = "100000000000000000000", .price = "1"})));
    EXPECT_FALSE(lots.apply(bought({.id = 2, .qty = "100000000000000000000", .price = "1"})));
    EXPECT_EQ(lots.lots().size(), 1U);
    EXPECT_EQ(lots.qty(), dec("100000000000000000000"));
    EXPECT_EQ(lots.cost(), dec("100000000000000000000"));
}

TEST(FifoLots, LosesNoFractionOfACostHoweverALotIsCut) {
    EXPECT_TRUE(rc::check([] {
        FifoLots lots = abc_lots();
        for (const PnlFill& fill : drawn_fills(true)) {
            RC_ASSERT(lots.apply(fill).has_value());
            Decimal qty;
            Decimal cost;
            for (const PnlLot& lot : lots.lots()) {
                RC_ASSERT(lot.qty.is_positive());
                RC_ASSERT(!lot.cost.is_negative());
                qty = add(qty, lot.qty).value();
                cost = add(cost, lot.cost).value();
            }
            RC_ASSERT(qty == lots.qty());
            RC_ASSERT(cost == lots.cost());
        }
    }));
}

// The books of the account (account/rules) take the same coins; they expense a fee when it is paid,
// these lots carry it. So the results differ by what open lots carry, to the last digit.
TEST(FifoLots, AgreesWithTheBooksOfTheAccount) {
    std::size_t sells = 0;
    EXPECT_TRUE(rc::check([&] {
        Account account = an_account("100000000");
        SymbolBook book = a_book("ABC");
        FifoLots lots = abc_lots();
        Decimal result;
        Decimal fees;
        for (const PnlFill& fill : drawn_fills(false)) {
            OrderRecord order = an_order(
                {.id = "o" + std::to_string(fill.trade_id),
                 .side = fill.side,
                 .qty = to_text(fill.qty),
                 .price = to_text(fill.price),
                 .base = "ABC"});
            VenueFill trade = a_trade(order, {.id = fill.trade_id, .at = fill.at});
            trade.qty = fill.qty;
            trade.price = fill.price;
            trade.fee = fill.fee;
            trade.fee_asset = fill.fee_asset;
            const auto booked =
                apply_fill({account, book, order}, {.fill = trade, .fee_price = fill.fee_price});
            if (!booked) {
                RC_ASSERT(fill.side == Side::sell);  // The books refuse what they never bought.
                continue;
            }
            const PnlOutcome outcome = lots.apply(fill).value();
            sells += fill.side == Side::sell ? 1 : 0;
            result = add(result, outcome.realised).value();
            fees = add(fees, booked->fee_quote).value();
            RC_ASSERT(outcome.unmatched_qty.is_zero());
            RC_ASSERT(outcome.fee_quote == booked->fee_quote);
            RC_ASSERT(outcome.notional == booked->notional);
            RC_ASSERT(lots.qty() == book.position);
            const Decimal books_net =
                subtract(subtract(book.realized, fees).value(), book.cost).value();
            RC_ASSERT(subtract(result, lots.cost()).value() == books_net);
        }
    }));
    EXPECT_GT(sells, 100U);
}

}  // namespace
}  // namespace interlock
