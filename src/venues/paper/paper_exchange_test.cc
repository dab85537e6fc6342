// The simulated exchange: what an order does to balances, books and reports.
#include "venues/paper/paper_exchange.h"

#include <gtest/gtest.h>

#include <array>

#include "testing/fake_clock.h"
#include "testing/scripted_market.h"

namespace interlock {
namespace {

constexpr Timestamp kStart = FakeClock::kNoon;

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}
Asset asset(std::string_view text) {
    return Asset::parse(text).value();
}

VenueAccount account_of(const std::string& tenant) {
    return {TenantId::trusted(tenant), AccountId::trusted("main"), TradeMode::paper};
}

class PaperExchangeTest : public ::testing::Test {
protected:
    PaperExchangeTest() { start({}); }

    void start(const PaperExchangeOptions& options) {
        exchange_ = PaperExchange::make(market_, options, kStart).value();
        open("alice");
    }
    void open(const std::string& tenant) {
        const std::vector<VenueBalance> balances{
            {asset("USDT"), Decimal(10'000), {}}, {asset("ABC"), Decimal(50), {}}};
        ASSERT_TRUE(exchange_->open_account(account_of(tenant), balances).has_value());
    }
    // The view of the next step, and the market moved there.
    void next(MarketView view) {
        ++steps_;
        market_.set(step_of(kStart) + steps_, std::move(view));
        exchange_->advance(time_of_step(step_of(kStart) + steps_));
    }

    static VenueOrderRequest limit(
        const std::string& id, Side side, std::string_view qty, std::string_view price) {
        VenueOrderRequest request;
        request.account = account_of("alice");
        request.order_client_id = OrderClientId::trusted(id);
        request.symbol = scripted_rules().symbol;
        request.side = side;
        request.qty = dec(qty);
        request.limit_price = dec(price);
        return request;
    }
    static VenueOrderRequest market(const std::string& id, Side side, std::string_view qty) {
        VenueOrderRequest request = limit(id, side, qty, "1");
        request.order_type = OrderType::market;
        request.limit_price.reset();
        return request;
    }

    VenueAck submit(const VenueOrderRequest& request) {
        auto ack = exchange_->submit(request);
        EXPECT_TRUE(ack.has_value()) << ack.error().message;
        return ack ? *std::move(ack) : VenueAck{};
    }
    std::string refused(const VenueOrderRequest& request) {
        const auto ack = exchange_->submit(request);
        return ack ? "accepted" : std::string(reject_code_of(ack.error()));
    }
    VenueReport report(const std::string& tenant = "alice", std::int64_t cursor = 0) {
        return exchange_->report(account_of(tenant), cursor, {INT64_MAX}).value();
    }
    VenueBalance balance(std::string_view name, const std::string& tenant = "alice") {
        for (const VenueBalance& held : report(tenant).balances) {
            if (held.asset == asset(name)) {
                return held;
            }
        }
        return {};
    }
    VenueOrder order(const std::string& id) {
        return exchange_
            ->find_order(account_of("alice"), scripted_rules().symbol, OrderClientId::trusted(id))
            .value()
            .value();
    }

    ScriptedMarket market_;
    std::int64_t steps_ = 0;
    std::unique_ptr<PaperExchange> exchange_;
};

TEST_F(PaperExchangeTest, ABuyThatTakesPaysTheQuotesAndTheFeeInBase) {
    const VenueAck ack = submit(limit("a", Side::buy, "3", "100.02"));
    EXPECT_EQ(ack.order.state, OrderState::filled);
    ASSERT_EQ(ack.fills.size(), 2u);
    EXPECT_EQ(ack.fills[0].price, dec("100.01"));
    EXPECT_EQ(ack.fills[0].qty, Decimal(2));
    EXPECT_EQ(ack.fills[0].fee, dec("0.002"));
    EXPECT_EQ(ack.fills[0].fee_asset, asset("ABC"));
    EXPECT_FALSE(ack.fills[0].is_maker);
    EXPECT_EQ(ack.order.filled_quote, dec("300.04"));
    EXPECT_EQ(balance("USDT").free, dec("9699.96"));
    EXPECT_EQ(balance("USDT").locked, Decimal());
    EXPECT_EQ(balance("ABC").free, dec("52.997"));
}

TEST_F(PaperExchangeTest, ASellThatTakesReceivesQuoteLessTheFee) {
    const VenueAck ack = submit(market("a", Side::sell, "1"));
    ASSERT_EQ(ack.fills.size(), 1u);
    EXPECT_EQ(ack.fills[0].fee, dec("0.09999"));
    EXPECT_EQ(ack.fills[0].fee_asset, asset("USDT"));
    EXPECT_EQ(balance("USDT").free, dec("10099.89001"));
    EXPECT_EQ(balance("ABC").free, Decimal(49));
}

TEST_F(PaperExchangeTest, FeesMayAlwaysBeInQuote) {
    start({.fees = {.always_quote = true}});
    const VenueAck ack = submit(limit("a", Side::buy, "1", "100.01"));
    ASSERT_EQ(ack.fills.size(), 1u);
    EXPECT_EQ(ack.fills[0].fee, dec("0.10001"));
    EXPECT_EQ(ack.fills[0].fee_asset, asset("USDT"));
    EXPECT_EQ(balance("USDT").free, dec("9899.88999"));
    EXPECT_EQ(balance("ABC").free, Decimal(51));
}

TEST_F(PaperExchangeTest, ARestingOrderLocksWhatItMayCost) {
    const VenueAck ack = submit(limit("a", Side::buy, "2", "99"));
    EXPECT_EQ(ack.order.state, OrderState::resting);
    EXPECT_TRUE(ack.fills.empty());
    EXPECT_EQ(balance("USDT").locked, Decimal(198));
    EXPECT_EQ(balance("USDT").free, Decimal(9'802));
    EXPECT_EQ(report().open_orders.size(), 1u);
}

TEST_F(PaperExchangeTest, ACancelFreesWhatWasLocked) {
    submit(limit("a", Side::sell, "5", "110"));
    EXPECT_EQ(balance("ABC").locked, Decimal(5));
    const auto cancelled = exchange_->cancel(
        account_of("alice"), scripted_rules().symbol, OrderClientId::trusted("a"));
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_EQ(cancelled->state, OrderState::canceled);
    EXPECT_EQ(cancelled->cancel_reason, "user");
    EXPECT_EQ(balance("ABC").locked, Decimal());
    EXPECT_EQ(balance("ABC").free, Decimal(50));
    EXPECT_TRUE(report().open_orders.empty());
}

TEST_F(PaperExchangeTest, AQuoteCanBeTakenOncePerMoment) {
    submit(limit("a", Side::buy, "2", "100.01"));
    const VenueAck again = submit(limit("b", Side::buy, "2", "100.01"));
    EXPECT_TRUE(again.fills.empty());
    next(calm_view());
    EXPECT_EQ(order("b").state, OrderState::filled);
}

TEST_F(PaperExchangeTest, ARestingOrderIsNotFilledByTradesThatStayAwayFromItsPrice) {
    submit(limit("a", Side::buy, "1", "99.90"));
    MarketView view = calm_view();
    view.trades.push_back({{9'991}, {50'000}, BookSide::sell});
    next(view);
    EXPECT_EQ(order("a").state, OrderState::resting);
}

TEST_F(PaperExchangeTest, ATradeThroughItsPriceFillsUpToTheVolumeTraded) {
    submit(limit("a", Side::buy, "3", "99.90"));
    MarketView view = calm_view();
    view.trades.push_back({{9'980}, {1'200}, BookSide::sell});
    next(view);
    EXPECT_EQ(order("a").state, OrderState::partially_filled);
    EXPECT_EQ(order("a").filled_qty, dec("1.2"));
    EXPECT_EQ(order("a").filled_quote, dec("119.88"));
    ASSERT_EQ(report().fills.size(), 1u);
    EXPECT_TRUE(report().fills[0].is_maker);
}

TEST_F(PaperExchangeTest, AtItsPriceTheVolumeAheadTradesFirst) {
    submit(limit("a", Side::buy, "1", "99.99"));
    MarketView view = calm_view();
    view.trades.push_back({{9'999}, {1'500}, BookSide::sell});
    next(view);
    EXPECT_EQ(order("a").state, OrderState::resting);
    view.trades.front().quantity = {700};
    next(view);
    EXPECT_EQ(order("a").filled_qty, dec("0.2"));
}

TEST_F(PaperExchangeTest, BuyersDoNotFillABuyOrder) {
    submit(limit("a", Side::buy, "1", "99.99"));
    MarketView view = calm_view();
    view.trades.push_back({{9'990}, {90'000}, BookSide::buy});
    next(view);
    EXPECT_EQ(order("a").state, OrderState::resting);
}

TEST_F(PaperExchangeTest, AQuoteThroughItsPriceFillsAtTheOrdersPrice) {
    submit(limit("a", Side::sell, "5", "101"));
    MarketView view;
    view.bids = {{{10'150}, {3'000}}, {{10'090}, {9'000}}};
    view.asks = {{{10'160}, {1'000}}};
    next(view);
    EXPECT_EQ(order("a").filled_qty, Decimal(3));
    EXPECT_EQ(order("a").filled_quote, Decimal(303));
}

TEST_F(PaperExchangeTest, TenantsShareQuotesAndNeverMeet) {
    open("bob");
    submit(limit("a", Side::sell, "1", "100"));
    VenueOrderRequest other = limit("b", Side::buy, "1", "100");
    other.account = account_of("bob");
    EXPECT_TRUE(submit(other).fills.empty());
    submit(limit("c", Side::buy, "2", "100.01"));
    other = limit("d", Side::buy, "2", "100.01");
    other.account = account_of("bob");
    EXPECT_EQ(submit(other).order.state, OrderState::filled);
}

TEST_F(PaperExchangeTest, ATakerThatMeetsItsOwnOrderExpires) {
    submit(limit("a", Side::sell, "1", "100"));
    const VenueAck ack = submit(limit("b", Side::buy, "1", "100.05"));
    EXPECT_EQ(ack.order.state, OrderState::canceled);
    EXPECT_EQ(ack.order.cancel_reason, "self_trade");
    EXPECT_EQ(order("a").state, OrderState::resting);
    EXPECT_EQ(balance("USDT").locked, Decimal());
}

TEST_F(PaperExchangeTest, ExpireMakerCancelsTheOwnOrderAndGoesOn) {
    start({.self_trade = BookSelfTrade::expire_maker});
    submit(limit("a", Side::sell, "1", "100"));
    const VenueAck ack = submit(limit("b", Side::buy, "1", "100.05"));
    EXPECT_EQ(ack.order.state, OrderState::filled);
    EXPECT_EQ(order("a").cancel_reason, "self_trade");
    EXPECT_EQ(balance("ABC").locked, Decimal());
}

TEST_F(PaperExchangeTest, PostOnlyIsRefusedWhenItWouldTake) {
    VenueOrderRequest request = limit("a", Side::buy, "1", "100.01");
    request.post_only = true;
    EXPECT_EQ(refused(request), "would_take");
    request.limit_price = dec("100");
    EXPECT_EQ(submit(request).order.state, OrderState::resting);
    VenueOrderRequest against = limit("b", Side::sell, "1", "100");
    against.post_only = true;
    EXPECT_EQ(refused(against), "would_take");
}

TEST_F(PaperExchangeTest, ImmediateOrCancelKeepsNothingOpen) {
    VenueOrderRequest request = limit("a", Side::buy, "5", "100.01");
    request.time_in_force = TimeInForce::ioc;
    const VenueAck ack = submit(request);
    EXPECT_EQ(ack.order.state, OrderState::canceled);
    EXPECT_EQ(ack.order.cancel_reason, "ioc");
    EXPECT_EQ(ack.order.filled_qty, Decimal(2));
    EXPECT_EQ(balance("USDT").locked, Decimal());
}

TEST_F(PaperExchangeTest, FillOrKillFillsAllOrNothing) {
    VenueOrderRequest request = limit("a", Side::buy, "5", "100.02");
    request.time_in_force = TimeInForce::fok;
    const VenueAck killed = submit(request);
    EXPECT_EQ(killed.order.state, OrderState::canceled);
    EXPECT_EQ(killed.order.cancel_reason, "fok");
    EXPECT_EQ(killed.order.filled_qty, Decimal());
    request.order_client_id = OrderClientId::trusted("b");
    request.qty = Decimal(4);
    EXPECT_EQ(submit(request).order.state, OrderState::filled);
}

TEST_F(PaperExchangeTest, AMarketOrderTakesWhatIsThereAndNoMore) {
    const VenueAck ack = submit(market("a", Side::buy, "10"));
    EXPECT_EQ(ack.order.filled_qty, Decimal(6));
    EXPECT_EQ(ack.order.state, OrderState::canceled);
    EXPECT_EQ(ack.order.cancel_reason, "ioc");
    EXPECT_EQ(balance("USDT").locked, Decimal());
    EXPECT_EQ(balance("USDT").free, dec("9399.88"));
}

TEST_F(PaperExchangeTest, OrdersBeyondTheBalanceAreRefused) {
    EXPECT_EQ(refused(limit("a", Side::buy, "101", "99")), "accepted");
    EXPECT_EQ(refused(limit("b", Side::buy, "1", "99")), "insufficient_balance");
    EXPECT_EQ(refused(limit("c", Side::sell, "51", "101")), "insufficient_balance");
    EXPECT_EQ(refused(market("d", Side::buy, "1")), "insufficient_balance");
}

TEST_F(PaperExchangeTest, FiltersHaveTheirOwnCodes) {
    EXPECT_EQ(refused(limit("a", Side::buy, "1.0005", "99")), "filter_lot_size");
    EXPECT_EQ(refused(limit("a", Side::buy, "10001", "99")), "filter_lot_size");
    EXPECT_EQ(refused(market("a", Side::buy, "5001")), "filter_market_lot_size");
    EXPECT_EQ(refused(limit("a", Side::buy, "1", "99.005")), "filter_price");
    EXPECT_EQ(refused(limit("a", Side::buy, "1", "100001")), "filter_price");
    EXPECT_EQ(refused(limit("a", Side::buy, "1", "49")), "filter_percent_price");
    EXPECT_EQ(refused(limit("a", Side::sell, "1", "151")), "filter_percent_price");
    EXPECT_EQ(refused(limit("a", Side::buy, "0.01", "99")), "filter_notional");
    EXPECT_EQ(refused(limit("a", Side::buy, "0", "99")), "filter_lot_size");
    EXPECT_EQ(refused(limit("a", Side::buy, "-1", "99")), "filter_lot_size");
    VenueOrderRequest elsewhere = limit("a", Side::buy, "1", "99");
    elsewhere.symbol = Symbol::parse("XYZUSDT").value();
    EXPECT_EQ(refused(elsewhere), "unknown_symbol");
    elsewhere.account = account_of("nobody");
    EXPECT_EQ(refused(elsewhere), "unknown_account");
}

TEST_F(PaperExchangeTest, OpenOrdersOfAMarketAreBounded) {
    for (int i = 0; i < 20; ++i) {
        submit(limit("o" + std::to_string(i), Side::buy, "0.1", "99"));
    }
    EXPECT_EQ(refused(limit("more", Side::buy, "0.1", "99")), "filter_max_orders");
    EXPECT_EQ(balance("USDT").locked, Decimal(198));
    // An order that takes needs no place.
    VenueOrderRequest takes = limit("takes", Side::buy, "0.1", "100.01");
    takes.time_in_force = TimeInForce::ioc;
    EXPECT_EQ(submit(takes).order.state, OrderState::filled);
}

TEST_F(PaperExchangeTest, AnOpenIdIsRefusedAndAFinishedOneIsFree) {
    submit(limit("a", Side::buy, "1", "99"));
    EXPECT_EQ(refused(limit("a", Side::buy, "1", "99")), "duplicate_order");
    ASSERT_TRUE(exchange_->cancel_all(account_of("alice")).has_value());
    EXPECT_EQ(submit(limit("a", Side::buy, "2", "99")).order.exchange_order_id, "2");
    EXPECT_EQ(order("a").qty, Decimal(2));
}

TEST_F(PaperExchangeTest, HaltedMarketsTakeCancelsOnly) {
    submit(limit("a", Side::buy, "1", "99"));
    MarketView view = calm_view();
    view.halted = true;
    view.trades.push_back({{9'000}, {90'000}, BookSide::sell});
    next(view);
    EXPECT_EQ(order("a").state, OrderState::resting);
    EXPECT_EQ(refused(limit("b", Side::buy, "1", "99")), "market_closed");
    EXPECT_TRUE(exchange_->facts(exchange_->symbols(), {}, {}).markets[0].status_halted);
    EXPECT_TRUE(
        exchange_->cancel(account_of("alice"), scripted_rules().symbol, OrderClientId::trusted("a"))
            .has_value());
}

TEST_F(PaperExchangeTest, ALongGapIsJumpedAndFillsNothingInBetween) {
    submit(limit("a", Side::buy, "1", "99"));
    MarketView crash = calm_view();
    crash.bids = {{{9'000}, {1'000}}};
    crash.asks = {{{9'010}, {9'000}}};
    market_.set(step_of(kStart) + 10, crash);
    market_.set(step_of(kStart) + 20, calm_view());
    exchange_->advance(kStart + Duration::of_hours(2));
    EXPECT_EQ(order("a").state, OrderState::resting);
    EXPECT_EQ(exchange_->now(), kStart + Duration::of_hours(2));
}

TEST_F(PaperExchangeTest, AShortGapIsWalked) {
    submit(limit("a", Side::buy, "1", "99"));
    MarketView crash = calm_view();
    crash.bids = {{{9'000}, {1'000}}};
    crash.asks = {{{9'010}, {9'000}}};
    market_.set(step_of(kStart) + 10, crash);
    market_.set(step_of(kStart) + 20, calm_view());
    exchange_->advance(kStart + Duration::of_seconds(30));
    EXPECT_EQ(order("a").state, OrderState::filled);
    EXPECT_EQ(report().fills[0].price, Decimal(99));
}

TEST_F(PaperExchangeTest, SignalsAreKnownFromTheFirstQuestionOn) {
    constexpr std::array<Timeframe, 2> kAsked{Timeframe::m1, Timeframe::h4};
    const MarketSignals signals = exchange_->signals(scripted_rules().symbol, kAsked);
    ASSERT_EQ(signals.list.size(), 2u);
    for (const TimeframeSignals& at : signals.list) {
        EXPECT_EQ(at.candles, kHydratedCandles) << to_word(at.timeframe);
        EXPECT_TRUE(at.trend_strength.has_value()) << to_word(at.timeframe);
    }
}

TEST_F(PaperExchangeTest, ABandwidthQuantileIsKnownFromTheFirstQuestionOn) {
    const BandwidthWish wish{.timeframe = Timeframe::h12, .quantile = Decimal::from_units(1)};
    EXPECT_TRUE(exchange_->bandwidth_quantile(scripted_rules().symbol, wish).has_value());
    EXPECT_FALSE(exchange_->bandwidth_quantile(Symbol::parse("XYZUSDT").value(), wish));
}

TEST_F(PaperExchangeTest, AnUnknownSymbolHasNoSignals) {
    constexpr std::array<Timeframe, 1> kAsked{Timeframe::m1};
    EXPECT_TRUE(exchange_->signals(Symbol::parse("XYZUSDT").value(), kAsked).list.empty());
}

TEST_F(PaperExchangeTest, SignalsGoOnAsTimePassesWalkedAndJumped) {
    constexpr std::array<Timeframe, 1> kAsked{Timeframe::m1};
    const Symbol symbol = scripted_rules().symbol;
    const auto closed_at = [&] { return exchange_->signals(symbol, kAsked).list[0].closed_at; };
    const Timestamp first = closed_at();
    for (int minute = 1; minute <= 3; ++minute) {
        exchange_->advance(kStart + Duration::of_seconds(minute * 60));
    }
    EXPECT_EQ(closed_at(), first + Duration::of_minutes(3));
    exchange_->advance(kStart + Duration::of_minutes(30));
    EXPECT_EQ(closed_at(), first + Duration::of_minutes(30));
    exchange_->advance(kStart + Duration::of_hours(30));
    EXPECT_EQ(closed_at(), first + Duration::of_hours(30));
}

TEST_F(PaperExchangeTest, TimeNeverGoesBack) {
    exchange_->advance(kStart + Duration::of_seconds(5));
    exchange_->advance(kStart);
    EXPECT_EQ(exchange_->now(), kStart + Duration::of_seconds(5));
}

TEST_F(PaperExchangeTest, FinishedOrdersAreKeptUpToTheirBound) {
    start({.finished_orders_max = 3});
    for (int i = 0; i < 5; ++i) {
        submit(market("m" + std::to_string(i), Side::sell, "0.1"));
    }
    const auto find = [&](const std::string& id) {
        return exchange_
            ->find_order(account_of("alice"), scripted_rules().symbol, OrderClientId::trusted(id))
            .value();
    };
    EXPECT_FALSE(find("m1").has_value());
    ASSERT_TRUE(find("m2").has_value());
    EXPECT_EQ(
        exchange_
            ->fills_of(account_of("alice"), scripted_rules().symbol, OrderClientId::trusted("m2"))
            .value()
            .size(),
        1u);
}

TEST_F(PaperExchangeTest, FillsBeyondTheBoundAreGoneAndSaidToBe) {
    start({.fills_max = 3});
    for (int i = 0; i < 5; ++i) {
        submit(market("m" + std::to_string(i), Side::sell, "0.1"));
    }
    const auto lost = exchange_->report(account_of("alice"), 0, {INT64_MAX});
    ASSERT_FALSE(lost.has_value());
    EXPECT_EQ(lost.error().code(), "out_of_range");
    EXPECT_EQ(report("alice", 2).fills.size(), 3u);
    EXPECT_EQ(report("alice", 2).fills_cursor, 5);
}

TEST_F(PaperExchangeTest, TheVenuesOrderRateIsALimit) {
    MarketRules rules = scripted_rules();
    rules.orders_per_10s_max = 2;
    ScriptedMarket strict(rules);
    exchange_ = PaperExchange::make(strict, {}, kStart).value();
    open("alice");
    submit(limit("a", Side::buy, "1", "99"));
    submit(limit("b", Side::buy, "1", "99"));
    EXPECT_EQ(refused(limit("c", Side::buy, "1", "99")), "too_many_orders");
    exchange_->advance(kStart + Duration::of_seconds(10));
    EXPECT_EQ(refused(limit("c", Side::buy, "1", "99")), "accepted");
    exchange_.reset();
}

TEST_F(PaperExchangeTest, AccountsAreBounded) {
    start({.accounts_max = 2});
    open("bob");
    const auto third = exchange_->open_account(account_of("carol"), {});
    ASSERT_FALSE(third.has_value());
    EXPECT_EQ(third.error().code(), "out_of_range");
    EXPECT_FALSE(exchange_->open_account(account_of("bob"), {}).value());
}

TEST_F(PaperExchangeTest, FactsTellTouchRulesAndStatistics) {
    const MarketSet set = exchange_->facts(exchange_->symbols(), {}, Duration::of_seconds(2));
    ASSERT_EQ(set.markets.size(), 1u);
    const MarketFacts& facts = set.markets[0];
    EXPECT_EQ(facts.best_bid, dec("99.99"));
    EXPECT_EQ(facts.best_ask, dec("100.01"));
    EXPECT_EQ(facts.exchange_at, kStart + Duration::of_seconds(2));
    EXPECT_EQ(facts.received_at, kStart);
    EXPECT_EQ(facts.vol_samples, 60);
    EXPECT_EQ(facts.spread_median_5m_bps, Decimal(2));
    EXPECT_TRUE(facts.is_hydrated);
    EXPECT_FALSE(facts.is_high_vol);
    EXPECT_EQ(facts.rules, scripted_rules());
    EXPECT_TRUE(facts.bids.empty() && facts.asks.empty());
}

TEST_F(PaperExchangeTest, FactsTellTheDepthOfWhatIsAskedFor) {
    MarketView deep;
    for (std::int64_t away = 0; away < 12; ++away) {
        deep.bids.push_back({{9'999 - away}, {1'000 + away}});
        deep.asks.push_back({{10'001 + away}, {2'000 + away}});
    }
    next(deep);
    const std::vector<Symbol> symbols = exchange_->symbols();
    const MarketFacts facts = exchange_->facts(symbols, symbols, {}).markets.at(0);
    ASSERT_EQ(facts.bids.size(), kDepthLevelsMax);
    ASSERT_EQ(facts.asks.size(), kDepthLevelsMax);
    EXPECT_EQ(facts.bids[0], (DepthLevel{dec("99.99"), dec("1")}));
    EXPECT_EQ(facts.bids[9], (DepthLevel{dec("99.9"), dec("1.009")}));
    EXPECT_EQ(facts.asks[0], (DepthLevel{dec("100.01"), dec("2")}));
    EXPECT_EQ(facts.asks[9], (DepthLevel{dec("100.1"), dec("2.009")}));
    // The book as facts tell it is one that reads back.
    EXPECT_TRUE(decode_market_facts(encode(facts)).has_value());
}

}  // namespace
}  // namespace interlock
