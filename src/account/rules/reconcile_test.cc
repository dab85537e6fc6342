#include "account/rules/reconcile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/account_builders.h"

namespace interlock {
namespace {

const Asset kUsdt = asset_of("USDT");
const Asset kBtc = asset_of("BTC");
// Of the form our ids have.
const std::string kOwnForm = "h" + std::string(31, 'a');

struct Desk {
    Account account = an_account("10000");
    std::vector<SymbolBook> books{a_book("BTC")};
    VenueReport report;
    std::vector<OrderAnswer> answers;
    std::vector<OrderRecord> settled;
    Timestamp now = noon() + Duration::of_seconds(1);

    explicit Desk(TradeMode mode = TradeMode::paper) : account(an_account("10000", mode)) {
        balances("10000", "0");
    }
    void balances(std::string_view usdt, std::string_view btc) {
        report.balances = {{kUsdt, dec(usdt), {}}, {kBtc, dec(btc), {}}};
    }
    OrderRecord reserve(OrderTerms terms) {
        terms.mode = account.key.mode;
        const OrderRecord order = an_order(terms);
        CHECK(reserve_order(account, books[0], order).has_value());
        return order;
    }
    void answer(const OrderRecord& order, std::optional<VenueOrder> seen) {
        answers.push_back(
            {.order_client_id = order.id(),
             .is_reachable = true,
             .order = std::move(seen),
             .fills = {}});
    }
    Reconciliation run() {
        auto result = reconcile(
            {.account = account,
             .books = books,
             .report = report,
             .answers = answers,
             .settled = settled,
             .market = {{a_market("BTC")}},
             .now = now});
        CHECK(result.has_value());
        return *std::move(result);
    }
    // Runs and takes the result as the new state.
    Reconciliation take() {
        Reconciliation result = run();
        account = result.account;
        books = result.books;
        return result;
    }
};

std::vector<std::string> words(const std::vector<Finding>& findings) {
    std::vector<std::string> texts;
    for (const Finding& finding : findings) {
        texts.push_back(to_text(finding));
    }
    return texts;
}

TEST(Reconcile, AnAccountThatAgreesIsClean) {
    Desk desk;
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.is_clean);
    EXPECT_EQ(result.account, desk.account);
}

TEST(Reconcile, ARestingOrderThatIsShownIsClean) {
    Desk desk;
    const OrderRecord order = desk.reserve({});
    desk.report.open_orders = {shown(order, OrderState::resting)};
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.is_clean);
    EXPECT_EQ(result.books[0].open[0].state, OrderState::resting);
    ASSERT_EQ(result.orders.size(), 1u);
}

TEST(Reconcile, ALostAnswerIsFoundWithItsTrades) {
    Desk desk;
    const OrderRecord order = desk.reserve({.qty = "1", .state = OrderState::unknown});
    desk.report.fills = {a_trade(order, {.qty = "1", .price = "100", .fee = "0.1"})};
    desk.report.fills_cursor = 1;
    desk.balances("9899.9", "1");
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.is_clean) << words(result.drift).size();
    EXPECT_EQ(result.fills.size(), 1u);
    EXPECT_TRUE(result.books[0].open.empty());
    ASSERT_EQ(result.orders.size(), 1u);
    EXPECT_EQ(result.orders[0].state, OrderState::filled);
    EXPECT_EQ(result.books[0].position, dec("1"));
    EXPECT_EQ(result.account.fills_cursor, 1);
}

TEST(Reconcile, TheSameReportTwiceChangesNothingTheSecondTime) {
    Desk desk;
    const OrderRecord order = desk.reserve({.qty = "2", .state = OrderState::unknown});
    desk.report.open_orders = {shown(order, OrderState::partially_filled, "1", "100")};
    desk.report.fills = {a_trade(order, {.qty = "1"})};
    desk.report.fills_cursor = 1;
    desk.balances("9900", "1");
    desk.take();
    const Reconciliation again = desk.run();
    EXPECT_TRUE(again.fills.empty());
    EXPECT_TRUE(again.orders.empty());
    EXPECT_EQ(again.account, desk.account);
    EXPECT_EQ(again.books, desk.books);
}

TEST(Reconcile, AClaimWithoutTradesInventsNoFill) {
    Desk desk;
    const OrderRecord order = desk.reserve({.qty = "1"});
    desk.answer(order, shown(order, OrderState::filled, "1", "100"));
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.fills.empty());
    EXPECT_TRUE(result.books[0].position.is_zero());
    EXPECT_FALSE(result.is_clean);
    EXPECT_EQ(words(result.uncertain), std::vector<std::string>{"fills_missing:o1"});
    EXPECT_EQ(result.to_query, std::vector<OrderClientId>{order.id()});
}

TEST(Reconcile, TradesOfASingleAnswerAreBooked) {
    Desk desk;
    const OrderRecord order = desk.reserve({.qty = "1"});
    desk.answer(order, shown(order, OrderState::filled, "1", "100"));
    desk.answers[0].fills = {a_trade(order)};
    desk.balances("9900", "1");
    EXPECT_TRUE(desk.run().is_clean);
}

TEST(Reconcile, AnUnknownOrderIsToBeAskedFor) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::unknown});
    const Reconciliation result = desk.run();
    EXPECT_EQ(words(result.uncertain), std::vector<std::string>{"outcome_unknown:o1"});
    EXPECT_EQ(result.to_query, std::vector<OrderClientId>{order.id()});
}

TEST(Reconcile, AnOrderThatIsBeingSentIsAskedForButNotUncertain) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::submitting});
    desk.now = order.created_at + Duration::of_milliseconds(11'999);
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.uncertain.empty());
    EXPECT_EQ(result.to_query, std::vector<OrderClientId>{order.id()});
    EXPECT_FALSE(result.is_clean);
}

TEST(Reconcile, AnOrderThatIsBeingSentIsUncertainOnceItsAnswerIsOverdue) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::submitting});
    desk.now = order.created_at + Duration::of_seconds(12);
    EXPECT_EQ(words(desk.run().uncertain), std::vector<std::string>{"outcome_unknown:o1"});
}

TEST(Reconcile, BalancesAreNotComparedWhileAnOrderIsBeingSent) {
    Desk desk;
    desk.reserve({.state = OrderState::submitting});
    desk.balances("9900", "1");
    EXPECT_TRUE(desk.run().drift.empty());
}

TEST(Reconcile, ThreeAbsencesAndFifteenSecondsProveItNeverArrived) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::unknown});
    desk.answer(order, std::nullopt);
    for (const std::int64_t second : {3, 7}) {
        desk.now = noon() + Duration::of_seconds(second);
        const Reconciliation result = desk.take();
        EXPECT_TRUE(result.never_arrived.empty());
        EXPECT_EQ(words(result.uncertain), std::vector<std::string>{"not_found_yet:o1"});
    }
    desk.now = noon() + Duration::of_seconds(15);
    const Reconciliation result = desk.take();
    EXPECT_EQ(result.never_arrived, std::vector<OrderClientId>{order.id()});
    EXPECT_EQ(result.orders[0].state, OrderState::never_arrived);
    EXPECT_TRUE(result.is_clean);
    EXPECT_TRUE(desk.books[0].open.empty());
}

TEST(Reconcile, AnUnreachableVenueProvesNothing) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::unknown});
    desk.answers = {
        {.order_client_id = order.id(), .is_reachable = false, .order = std::nullopt, .fills = {}}};
    for (int i = 20; i < 30; ++i) {
        desk.now = noon() + Duration::of_seconds(i);
        EXPECT_TRUE(desk.take().never_arrived.empty());
    }
    EXPECT_EQ(desk.books[0].open[0].proof.absent_queries, 0);
}

TEST(Reconcile, UnreadTradesForbidTheProof) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::unknown});
    desk.answer(order, std::nullopt);
    desk.report.has_more_fills = true;
    for (int i = 20; i < 30; ++i) {
        desk.now = noon() + Duration::of_seconds(i);
        EXPECT_TRUE(desk.take().never_arrived.empty());
    }
}

TEST(Reconcile, AnAckedOrderTheVenueDoesNotKnowIsMissing) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::resting});
    desk.answer(order, std::nullopt);
    const Reconciliation result = desk.run();
    EXPECT_EQ(words(result.drift), std::vector<std::string>{"missing_at_exchange:o1"});
    // Its exposure stays reserved until the proof is complete.
    EXPECT_EQ(reserved_qty(result.books[0].open[0]), dec("1"));
}

TEST(Reconcile, AnOrderProvenMissingIsOverAndTheAccountAgreesAgain) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::resting});
    desk.answer(order, std::nullopt);
    for (const std::int64_t second : {16, 18, 22}) {
        desk.now = noon() + Duration::of_seconds(second);
        desk.take();
    }
    EXPECT_TRUE(desk.books[0].open.empty());
    desk.answers.clear();
    EXPECT_TRUE(desk.run().is_clean);
}

TEST(Reconcile, AnOrderNotShownIsAskedForBeforeAnythingIsSaid) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::resting});
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.drift.empty());
    EXPECT_EQ(words(result.uncertain), std::vector<std::string>{"not_in_open_orders:o1"});
    EXPECT_EQ(result.to_query, std::vector<OrderClientId>{order.id()});
}

TEST(Reconcile, AnOrderShownTwiceIsADuplicate) {
    Desk desk;
    const OrderRecord order = desk.reserve({});
    desk.report.open_orders = {
        shown(order, OrderState::resting), shown(order, OrderState::resting)};
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.duplicate_seen);
    EXPECT_EQ(words(result.drift), std::vector<std::string>{"duplicate_live_order:o1"});
}

TEST(Reconcile, AnOrderOfOurFormThatWeNeverWroteIsUnexpected) {
    Desk desk;
    desk.report.open_orders = {shown(an_order({.id = kOwnForm}), OrderState::resting)};
    const Reconciliation result = desk.run();
    EXPECT_EQ(words(result.drift), std::vector<std::string>{"unexpected_order:" + kOwnForm});
}

TEST(Reconcile, AForeignOrderIsReportedAndItsBalanceReserved) {
    Desk desk;
    desk.report.open_orders = {
        shown(an_order({.id = "web_1", .qty = "2", .price = "50"}), OrderState::resting)};
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.drift.empty());
    EXPECT_EQ(result.foreign_orders.size(), 1u);
    EXPECT_EQ(result.account.foreign_locked.at(kUsdt), dec("100"));
}

TEST(Reconcile, AForeignBuyInAMarketWithoutABookReservesItsCash) {
    Desk desk;
    VenueOrder foreign =
        shown(an_order({.id = "web_1", .qty = "2", .price = "50"}), OrderState::resting);
    foreign.symbol = *Symbol::parse("NEWUSDT");
    desk.report.open_orders = {foreign};
    EXPECT_EQ(desk.run().account.foreign_locked.at(kUsdt), dec("100"));
}

TEST(Reconcile, ATradeReportedADayLateCountsForToday) {
    Desk desk;
    const OrderRecord order = desk.reserve({});
    desk.now = desk.now + Duration::of_days(1);
    desk.report.fills = {a_trade(order)};
    EXPECT_EQ(desk.run().account.money.days.back().fills, 1);
}

TEST(Reconcile, AForeignOrderThatIsGoneReservesNothing) {
    Desk desk;
    desk.account.foreign_locked[kUsdt] = dec("100");
    EXPECT_TRUE(desk.run().account.foreign_locked.empty());
}

TEST(Reconcile, AFieldThatDiffersIsNamed) {
    Desk desk;
    const OrderRecord order = desk.reserve({});
    VenueOrder seen = shown(order, OrderState::resting);
    seen.qty = dec("3");
    desk.report.open_orders = {seen};
    EXPECT_EQ(words(desk.run().drift), std::vector<std::string>{"field_mismatch:qty:o1"});
}

TEST(Reconcile, ACancelNobodyAskedForIsDriftOnce) {
    Desk desk;
    const OrderRecord order = desk.reserve({.state = OrderState::resting});
    desk.answer(order, shown(order, OrderState::canceled));
    EXPECT_EQ(words(desk.take().drift), std::vector<std::string>{"unexpected_cancel:o1"});
    EXPECT_TRUE(desk.take().is_clean);
}

TEST(Reconcile, ABalanceThatDiffersIsDriftOnPaper) {
    Desk desk;
    desk.balances("9990", "0");
    const Reconciliation result = desk.run();
    EXPECT_EQ(words(result.drift), std::vector<std::string>{"balance_mismatch:USDT"});
    ASSERT_EQ(result.balance_mismatches.size(), 1u);
    EXPECT_EQ(result.balance_mismatches[0].venue, dec("9990"));
}

TEST(Reconcile, ABalanceInsideTheToleranceIsClean) {
    Desk desk;
    desk.balances("9999", "0.00001");
    EXPECT_TRUE(desk.run().is_clean);
    desk.balances("9998.99", "0");
    EXPECT_FALSE(desk.run().is_clean);
}

TEST(Reconcile, CoinsThatAreNotOnTheBooksAreAPositionMismatch) {
    Desk desk;
    desk.balances("10000", "1");
    EXPECT_EQ(words(desk.run().drift), std::vector<std::string>{"position_mismatch:BTCUSDT"});
}

TEST(Reconcile, CoinsTheVenueDoesNotListAreAPositionMismatch) {
    Desk desk;
    CHECK(deposit(
              desk.account,
              {.asset = kBtc,
               .amount = dec("1"),
               .price = dec("100"),
               .at = noon(),
               .book = desk.books.data()})
              .has_value());
    desk.report.balances = {{kUsdt, dec("10000"), {}}};
    EXPECT_EQ(words(desk.run().drift), std::vector<std::string>{"position_mismatch:BTCUSDT"});
}

TEST(Reconcile, AnUnexplainedBalanceOnALiveAccountWaitsForAHuman) {
    Desk desk(TradeMode::live);
    desk.balances("10500", "0");
    const Reconciliation first = desk.take();
    EXPECT_TRUE(first.is_clean);
    ASSERT_EQ(first.external_flows.size(), 1u);
    EXPECT_EQ(first.external_flows[0].amount, dec("500"));
    // Seen again it is nothing new; our books do not count it until it is confirmed.
    EXPECT_TRUE(desk.run().external_flows.empty());
    EXPECT_EQ(desk.account.money.holdings.at(kUsdt), dec("10000"));
    ASSERT_TRUE(confirm_external_flow(desk.account, kUsdt, dec("1"), nullptr));
    EXPECT_TRUE(desk.run().external_flows.empty());
    EXPECT_EQ(desk.account.money.net_deposits, dec("10500"));
}

TEST(Reconcile, AnExternalFlowThatWentAwayIsForgotten) {
    Desk desk(TradeMode::live);
    desk.balances("10500", "0");
    desk.take();
    desk.balances("10000", "0");
    desk.take();
    EXPECT_TRUE(desk.account.external_flows.empty());
}

TEST(Reconcile, BalancesAreNotJudgedWhileSomethingIsUncertain) {
    Desk desk(TradeMode::live);
    desk.reserve({.state = OrderState::unknown});
    desk.balances("9900", "1");
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.external_flows.empty());
    EXPECT_TRUE(result.balance_mismatches.empty());
}

TEST(Reconcile, ATradeThatCannotBeBookedHoldsTheCursor) {
    Desk desk;
    const OrderRecord order = desk.reserve({.side = Side::sell, .qty = "1"});
    desk.report.fills = {a_trade(order)};
    desk.report.fills_cursor = 9;
    const Reconciliation result = desk.run();
    EXPECT_EQ(result.account.fills_cursor, 0);
    ASSERT_FALSE(result.drift.empty());
    EXPECT_EQ(result.drift[0].word, "position_mismatch");
}

TEST(Reconcile, ALateTradeOfASettledOrderIsBooked) {
    Desk desk;
    OrderRecord order = an_order({.qty = "2"});
    order = step_order(order, OrderReported{shown(order, OrderState::canceled)}, noon()).order;
    ASSERT_TRUE(is_settled(order));
    desk.settled = {order};
    desk.report.fills = {a_trade(order, {.qty = "1"})};
    desk.balances("9900", "1");
    const Reconciliation result = desk.run();
    EXPECT_EQ(result.books[0].position, dec("1"));
    ASSERT_EQ(result.orders.size(), 1u);
    EXPECT_EQ(result.orders[0].filled_qty, dec("1"));
    EXPECT_TRUE(result.books[0].open.empty());
}

TEST(Reconcile, AnAckOfANeverArrivedOrderIsDriftAndReservedAgain) {
    Desk desk;
    const OrderRecord order = an_order({.state = OrderState::never_arrived});
    desk.settled = {order};
    desk.report.open_orders = {shown(order, OrderState::resting)};
    const Reconciliation result = desk.run();
    EXPECT_EQ(words(result.drift), std::vector<std::string>{"unexpected_order:o1"});
    ASSERT_EQ(result.books[0].open.size(), 1u);
    EXPECT_EQ(reserved_qty(result.books[0].open[0]), dec("1"));
}

TEST(Reconcile, AfterARestartASubmittingOrderIsUnknown) {
    Desk desk;
    desk.reserve({.id = "a"});
    desk.reserve({.id = "b", .state = OrderState::resting});
    EXPECT_EQ(startup_problems(desk.account, desk.books).size(), 1u);
    const auto interrupted = mark_interrupted(desk.books, desk.now);
    ASSERT_EQ(interrupted.size(), 1u);
    EXPECT_EQ(interrupted[0].state, OrderState::unknown);
    EXPECT_TRUE(startup_problems(desk.account, desk.books).empty());
}

TEST(Reconcile, AShadowAccountHasNoBalancesToCompare) {
    Desk desk;
    desk.account.key.mode = TradeMode::shadow;
    desk.report.balances.clear();
    const Reconciliation result = desk.run();
    EXPECT_TRUE(result.balance_mismatches.empty());
    EXPECT_TRUE(result.is_clean);
}

}  // namespace
}  // namespace interlock
