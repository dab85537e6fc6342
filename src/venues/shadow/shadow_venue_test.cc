// The shadow venue sends nothing, owns nothing, and remembers what would have been.
#include "venues/shadow/shadow_venue.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"
#include "testing/temp_folder.h"

namespace interlock {
namespace {

Decimal dec(std::string_view text) {
    return Decimal::parse(text).value();
}

class FixedFeed final : public MarketFeed {
public:
    FixedFeed() {
        facts_.symbol = Symbol::parse("ABCUSDT").value();
        quote("99", "101");
    }
    void quote(std::string_view bid, std::string_view ask) {
        facts_.best_bid = dec(bid);
        facts_.best_ask = dec(ask);
    }
    std::vector<Symbol> symbols() const override { return {facts_.symbol}; }
    MarketSet deep_facts(std::span<const Symbol> symbols, std::span<const Symbol>) const override {
        MarketSet set;
        for (const Symbol& symbol : symbols) {
            if (symbol == facts_.symbol) {
                set.markets.push_back(facts_);
            }
        }
        return set;
    }
    MarketSignals signals(const Symbol&, std::span<const Timeframe>) const override { return {}; }

private:
    MarketFacts facts_;
};

class ShadowVenueTest : public ::testing::Test {
protected:
    ShadowVenueTest() { open({}); }
    void open(const ShadowVenueOptions& options) {
        venue_.reset();
        venue_ = ShadowVenue::open(feed_, clock_, options).value();
    }
    VenueOrderRequest limit(const std::string& id, Side side, std::string_view price) {
        VenueOrderRequest request;
        request.account = account_;
        request.order_client_id = OrderClientId::trusted(id);
        request.symbol = feed_.symbols()[0];
        request.side = side;
        request.qty = Decimal(1);
        request.limit_price = dec(price);
        return request;
    }
    ShadowOutcome outcome(const std::string& id) {
        for (const ShadowOutcome& one : venue_->comparison(account_, clock_.now())) {
            if (one.order.order_client_id.text() == id) {
                return one;
            }
        }
        ADD_FAILURE() << "no outcome of " << id;
        return {};
    }

    VenueAccount account_{
        TenantId::trusted("alice"), AccountId::trusted("main"), TradeMode::shadow};
    FixedFeed feed_;
    FakeClock clock_;
    std::unique_ptr<ShadowVenue> venue_;
};

TEST_F(ShadowVenueTest, AnOrderIsTakenWithoutAnExchangeIdAndWithoutFills) {
    const VenueAck ack = venue_->submit(limit("a", Side::buy, "101")).value();
    EXPECT_EQ(ack.order.state, OrderState::resting);
    EXPECT_TRUE(ack.order.exchange_order_id.empty());
    EXPECT_TRUE(ack.fills.empty());
    const VenueReport report = venue_->report(account_, 7).value();
    EXPECT_EQ(report.open_orders.size(), 1u);
    EXPECT_TRUE(report.balances.empty());
    EXPECT_TRUE(report.fills.empty());
    EXPECT_EQ(report.fills_cursor, 7);
}

TEST_F(ShadowVenueTest, ATakerWouldHaveFilledAtTheFarTouch) {
    VenueOrderRequest request = limit("a", Side::buy, "102");
    ASSERT_TRUE(venue_->submit(request).has_value());
    EXPECT_EQ(outcome("a").would_fill_price, dec("101"));
    EXPECT_EQ(outcome("a").bid_then, dec("99"));
    request = limit("b", Side::sell, "1");
    request.order_type = OrderType::market;
    request.limit_price.reset();
    const VenueAck ack = venue_->submit(request).value();
    EXPECT_EQ(ack.order.state, OrderState::canceled);
    EXPECT_EQ(ack.order.cancel_reason, "shadow");
    EXPECT_EQ(outcome("b").would_fill_price, dec("99"));
}

TEST_F(ShadowVenueTest, ARestingOrderWouldHaveFilledAtItsLimitWhenTheQuoteReachesIt) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    ASSERT_TRUE(venue_->observe().has_value());
    EXPECT_FALSE(outcome("a").would_fill_price.has_value());
    feed_.quote("96", "97");
    clock_.advance(Duration::of_seconds(3));
    ASSERT_TRUE(venue_->observe().has_value());
    EXPECT_EQ(outcome("a").would_fill_price, dec("98"));
    EXPECT_EQ(outcome("a").would_fill_at, clock_.now());
}

TEST_F(ShadowVenueTest, PostOnlyIsRefusedWhenItWouldTake) {
    VenueOrderRequest request = limit("a", Side::buy, "101");
    request.post_only = true;
    const auto ack = venue_->submit(request);
    ASSERT_FALSE(ack.has_value());
    EXPECT_EQ(reject_code_of(ack.error()), "would_take");
}

TEST_F(ShadowVenueTest, OpenIdsAndUnknownSymbolsAreRefused) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    EXPECT_EQ(
        reject_code_of(venue_->submit(limit("a", Side::buy, "98")).error()), "duplicate_order");
    VenueOrderRequest request = limit("b", Side::buy, "98");
    request.symbol = Symbol::parse("XYZUSDT").value();
    EXPECT_EQ(reject_code_of(venue_->submit(request).error()), "unknown_symbol");
}

TEST_F(ShadowVenueTest, CancelsEndWouldBeOrders) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    ASSERT_TRUE(venue_->submit(limit("b", Side::buy, "97")).has_value());
    const OrderClientId id = OrderClientId::trusted("a");
    EXPECT_EQ(venue_->cancel(account_, feed_.symbols()[0], id).value().state, OrderState::canceled);
    EXPECT_EQ(
        reject_code_of(venue_->cancel(account_, feed_.symbols()[0], id).error()), "unknown_order");
    EXPECT_TRUE(venue_->cancel_all(account_).value().empty());
    EXPECT_TRUE(venue_->report(account_, 0).value().open_orders.empty());
}

TEST_F(ShadowVenueTest, EndedOrdersMakeRoomAndOpenOnesDoNot) {
    open({.orders_max = 2});
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    ASSERT_TRUE(venue_->submit(limit("b", Side::buy, "98")).has_value());
    EXPECT_EQ(
        reject_code_of(venue_->submit(limit("c", Side::buy, "98")).error()), "filter_max_orders");
    ASSERT_TRUE(venue_->cancel_all(account_).has_value());
    EXPECT_TRUE(venue_->submit(limit("c", Side::buy, "98")).has_value());
    EXPECT_EQ(venue_->comparison(account_, clock_.now()).size(), 2u);
}

TEST_F(ShadowVenueTest, TheComparisonIsOfOneDay) {
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    clock_.advance(Duration::of_days(1));
    EXPECT_TRUE(venue_->comparison(account_, clock_.now()).empty());
    EXPECT_EQ(venue_->comparison(account_, FakeClock::kNoon).size(), 1u);
}

TEST_F(ShadowVenueTest, AJournalKeepsTheOrdersOverARestart) {
    const TempFolder folder;
    const ShadowVenueOptions options{.journal_path = folder / "shadow.journal", .sync = false};
    open(options);
    ASSERT_TRUE(venue_->submit(limit("a", Side::buy, "98")).has_value());
    ASSERT_TRUE(venue_->submit(limit("b", Side::buy, "97")).has_value());
    ASSERT_TRUE(
        venue_->cancel(account_, feed_.symbols()[0], OrderClientId::trusted("b")).has_value());
    feed_.quote("96", "97.5");
    ASSERT_TRUE(venue_->observe().has_value());
    open(options);
    EXPECT_EQ(venue_->report(account_, 0).value().open_orders.size(), 1u);
    EXPECT_EQ(outcome("a").would_fill_price, dec("98"));
    EXPECT_EQ(outcome("b").order.cancel_reason, "user");
}

TEST_F(ShadowVenueTest, AJournalBeyondItsBoundKeepsWhatIsKept) {
    const TempFolder folder;
    const ShadowVenueOptions options{
        .journal_path = folder / "shadow.journal",
        .sync = false,
        .journal_bytes_max = 5'000,
        .orders_max = 3};
    open(options);
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(venue_->submit(limit("o" + std::to_string(i), Side::buy, "98")).has_value());
        ASSERT_TRUE(venue_->cancel_all(account_).has_value());
    }
    EXPECT_LT(std::filesystem::file_size(folder / "shadow.journal"), 7'000u);
    open(options);
    EXPECT_EQ(venue_->comparison(account_, clock_.now()).size(), 3u);
    EXPECT_EQ(outcome("o49").order.cancel_reason, "user");
}

}  // namespace
}  // namespace interlock
