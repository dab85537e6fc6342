// agent-loop.md#verification: one row per way an order can differ from what the venue shows.
#include "account/rules/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "testing/account_builders.h"

namespace interlock {
namespace {

struct CompareCase {
    std::string_view name;
    OrderTerms terms;
    OrderState state;
    std::string_view filled_qty;
    std::string_view filled_quote;
    std::function<void(OrderRecord&, VenueOrder&)> change;
    std::vector<std::string> words;
};

using O = OrderRecord;
using V = VenueOrder;

const auto none = [](O&, V&) {};
const OrderTerms gtc{};

// Ends and prices.
std::vector<CompareCase> outcome_cases() {
    const OrderTerms ioc{.tif = TimeInForce::ioc};
    const OrderTerms fok{.tif = TimeInForce::fok};
    const OrderTerms sell{.side = Side::sell};
    const OrderTerms market{.price = "", .reserve_price = "100.25"};
    using enum OrderState;
    return {
        {"gtc new", gtc, resting, "0", "0", none, {}},
        {"gtc partial", gtc, partially_filled, "0.5", "50", none, {}},
        {"gtc filled", gtc, filled, "1", "99", none, {}},
        {"gtc canceled by us",
         gtc,
         canceled,
         "0",
         "0",
         [](O& o, V&) { o.cancel_requested = true; },
         {}},
        {"gtc canceled by someone", gtc, canceled, "0", "0", none, {"unexpected_cancel"}},
        {"ioc filled", ioc, filled, "1", "100", none, {}},
        {"ioc partial and canceled", ioc, canceled, "0.2", "20", none, {}},
        {"fok filled", fok, filled, "1", "100", none, {}},
        {"fok canceled", fok, canceled, "0", "0", none, {}},
        {"fok partial", fok, canceled, "0.5", "50", none, {"unexpected_cancel"}},
        {"market rest canceled", market, canceled, "0.5", "50", none, {}},
        {"buy at its limit", gtc, filled, "1", "100", none, {}},
        {"buy above its limit", gtc, filled, "1", "100.01", none, {"price_worse_than_limit"}},
        {"sell at its limit", sell, filled, "1", "100", none, {}},
        {"sell below its limit", sell, filled, "1", "99.99", none, {"price_worse_than_limit"}},
        {"market inside its cap", market, filled, "1", "100.25", none, {}},
        {"market beyond its cap", market, filled, "1", "100.26", none, {"price_worse_than_limit"}},
        {"overfill", gtc, filled, "1.1", "110", none, {"overfill"}},
    };
}

std::vector<CompareCase> field_cases() {
    using enum OrderState;
    return {
        {"other symbol",
         gtc,
         resting,
         "0",
         "0",
         [](O&, V& v) { v.symbol = symbol_of("ETHUSDT"); },
         {"field_mismatch:symbol"}},
        {"other side",
         gtc,
         resting,
         "0",
         "0",
         [](O&, V& v) { v.side = Side::sell; },
         {"field_mismatch:side"}},
        {"other quantity",
         gtc,
         resting,
         "0",
         "0",
         [](O&, V& v) { v.qty = dec("2"); },
         {"field_mismatch:qty"}},
        {"other price",
         gtc,
         resting,
         "0",
         "0",
         [](O&, V& v) { v.limit_price = dec("101"); },
         {"field_mismatch:limit_price"}},
        {"other type",
         gtc,
         resting,
         "0",
         "0",
         [](O&, V& v) { v.order_type = OrderType::market; },
         {"field_mismatch:order_type"}},
    };
}

TEST(Verification, EachDifferenceHasItsWord) {
    std::vector<CompareCase> cases = outcome_cases();
    std::ranges::move(field_cases(), std::back_inserter(cases));
    for (const CompareCase& c : cases) {
        OrderRecord order = an_order(c.terms);
        VenueOrder seen = shown(order, c.state, c.filled_qty, c.filled_quote);
        c.change(order, seen);
        EXPECT_EQ(compare_order(order, seen), c.words) << c.name;
    }
}

OrderRecord absent(std::int64_t queries, Duration after) {
    OrderRecord order = an_order({.state = OrderState::unknown});
    order.proof.absent_queries = queries;
    order.proof.last_absent_at = noon() + after;
    return order;
}

ArrivalFacts at(Duration after) {
    return {.now = noon() + after, .in_open_orders = false, .has_trades = false};
}

TEST(Verification, NeverArrivedNeedsThreeQueriesAndFifteenSeconds) {
    const Duration late = Duration::of_seconds(15);
    const Duration early = Duration::of_milliseconds(14'999);
    EXPECT_TRUE(has_never_arrived(absent(3, late), at(late)));
    EXPECT_FALSE(has_never_arrived(absent(2, late), at(late)));
    EXPECT_FALSE(has_never_arrived(absent(3, early), at(late)));
}

TEST(Verification, NeverArrivedNeedsEmptyOpenOrdersAndTrades) {
    const Duration late = Duration::of_seconds(20);
    ArrivalFacts open = at(late);
    open.in_open_orders = true;
    ArrivalFacts traded = at(late);
    traded.has_trades = true;
    EXPECT_FALSE(has_never_arrived(absent(3, late), open));
    EXPECT_FALSE(has_never_arrived(absent(3, late), traded));
}

TEST(Verification, AnAcknowledgedOrderNeverNeverArrived) {
    const Duration late = Duration::of_seconds(20);
    OrderRecord order = absent(3, late);
    order.state = OrderState::resting;
    EXPECT_FALSE(has_never_arrived(order, at(late)));
    EXPECT_TRUE(has_vanished(order, at(late)));
}

OrderAnswer answer_of(const VenueOrder& seen) {
    return {
        .order_client_id = seen.order_client_id, .is_reachable = true, .order = seen, .fills = {}};
}

Verification verify(const OrderRecord& order, const std::vector<OrderAnswer>& answers) {
    return verify_orders({.orders = {order}, .answers = answers, .drift = {}, .now = noon()});
}

TEST(Verification, AFilledOrderMatches) {
    OrderRecord order = an_order();
    order = note_fill(order, a_trade(order, {.price = "99"}))->order;
    const Verification result =
        verify(order, {answer_of(shown(order, OrderState::filled, "1", "99"))});
    EXPECT_EQ(result.overall, VerifyOutcome::matched);
    EXPECT_EQ(result.orders[0].avg_fill_price, dec("99"));
    EXPECT_EQ(result.orders[0].fill_qty, dec("1"));
    EXPECT_TRUE(result.drift_reasons.empty());
}

TEST(Verification, ARestingOrderMatches) {
    const OrderRecord order = an_order({.state = OrderState::resting});
    const Verification result = verify(order, {answer_of(shown(order, OrderState::resting))});
    EXPECT_EQ(result.overall, VerifyOutcome::matched);
    EXPECT_FALSE(result.orders[0].avg_fill_price);
}

TEST(Verification, RejectedOnBothSidesMatches) {
    const OrderRecord order = an_order({.state = OrderState::rejected});
    const OrderAnswer nothing{
        .order_client_id = order.id(), .is_reachable = true, .order = std::nullopt, .fills = {}};
    EXPECT_EQ(verify(order, {nothing}).overall, VerifyOutcome::matched);
}

TEST(Verification, AKnownOrderTheVenueDoesNotKnowIsDrift) {
    const OrderRecord order = an_order({.state = OrderState::resting});
    const OrderAnswer nothing{
        .order_client_id = order.id(), .is_reachable = true, .order = std::nullopt, .fills = {}};
    const Verification result = verify(order, {nothing});
    EXPECT_EQ(result.overall, VerifyOutcome::drift);
    EXPECT_EQ(result.drift_reasons, std::vector<std::string>{"missing_at_exchange:o1"});
}

TEST(Verification, AnOrderThatNeverArrivedAndIsThereIsDrift) {
    const OrderRecord order = an_order({.state = OrderState::never_arrived});
    const Verification result = verify(order, {answer_of(shown(order, OrderState::resting))});
    EXPECT_EQ(result.drift_reasons, std::vector<std::string>{"unexpected_order:o1"});
}

TEST(Verification, AnUnknownOrderNotFoundYetIsUncertain) {
    const OrderRecord order = an_order({.state = OrderState::unknown});
    const OrderAnswer nothing{
        .order_client_id = order.id(), .is_reachable = true, .order = std::nullopt, .fills = {}};
    const Verification result = verify(order, {nothing});
    EXPECT_EQ(result.overall, VerifyOutcome::uncertain);
    EXPECT_EQ(result.uncertain_reasons, std::vector<std::string>{"not_found_yet:o1"});
}

TEST(Verification, AnUnreachableVenueIsUncertain) {
    const OrderRecord order = an_order({.state = OrderState::resting});
    const OrderAnswer silence{
        .order_client_id = order.id(), .is_reachable = false, .order = std::nullopt, .fills = {}};
    EXPECT_EQ(verify(order, {silence}).overall, VerifyOutcome::uncertain);
}

TEST(Verification, AFillWithoutItsTradesIsUncertain) {
    OrderRecord order = an_order();
    const VenueOrder seen = shown(order, OrderState::filled, "1", "100");
    order = step_order(order, OrderReported{seen}, noon()).order;
    const Verification result = verify(order, {answer_of(seen)});
    EXPECT_EQ(result.overall, VerifyOutcome::uncertain);
    EXPECT_EQ(result.uncertain_reasons, std::vector<std::string>{"fills_missing:o1"});
}

TEST(Verification, UncertainOutweighsDriftOutweighsMatched) {
    const OrderRecord good = an_order({.id = "a", .state = OrderState::resting});
    const OrderRecord drifting = an_order({.id = "b", .state = OrderState::resting});
    const OrderRecord unknown = an_order({.id = "c", .state = OrderState::unknown});
    VenueOrder other = shown(drifting, OrderState::resting);
    other.qty = dec("2");
    const std::vector<OrderAnswer> answers{
        answer_of(shown(good, OrderState::resting)), answer_of(other)};
    EXPECT_EQ(
        verify_orders({.orders = {good, drifting}, .answers = answers, .drift = {}, .now = noon()})
            .overall,
        VerifyOutcome::drift);
    EXPECT_EQ(
        verify_orders(
            {.orders = {good, drifting, unknown}, .answers = answers, .drift = {}, .now = noon()})
            .overall,
        VerifyOutcome::uncertain);
}

TEST(Verification, FurtherFindingsAreDriftOnce) {
    const OrderRecord order = an_order({.state = OrderState::resting});
    const Finding finding{"balance_mismatch", "USDT", ""};
    const Verification result = verify_orders(
        {.orders = {order},
         .answers = {answer_of(shown(order, OrderState::resting))},
         .drift = {finding, finding},
         .now = noon()});
    EXPECT_EQ(result.overall, VerifyOutcome::drift);
    EXPECT_EQ(result.drift_reasons, std::vector<std::string>{"balance_mismatch:USDT"});
}

TEST(Verification, ShadowOrdersMatchAndSaySo) {
    const OrderRecord order = an_order({.state = OrderState::resting, .mode = TradeMode::shadow});
    const Verification result = verify(order, {});
    EXPECT_EQ(result.overall, VerifyOutcome::matched);
    EXPECT_EQ(result.drift_reasons, std::vector<std::string>{"shadow:o1"});
}

TEST(Verification, TheWireFormIsTheSeeds) {
    const OrderRecord order = an_order({.state = OrderState::unknown});
    EXPECT_EQ(
        to_text(encode(verify(order, {}))),
        R"({"overall":"uncertain","orders":[{"order_client_id":"o1","exchange_order_id":null,)"
        R"("final_state":"unknown","fill_qty":"0","avg_fill_price":null}],"drift_reasons":[],)"
        R"("uncertain_reasons":["outcome_unknown:o1"]})");
}

}  // namespace
}  // namespace interlock
