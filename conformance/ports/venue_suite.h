// The promises of account/ports/venue.h as tests. Every venue must pass them; where a venue cannot
// be opened again, reopening does nothing and the promise is the weaker one.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "venue_harness.h"

namespace interlock {

class VenueSuite : public ::testing::TestWithParam<VenueKind> {
protected:
    VenueSuite() : harness_(GetParam().make()) {}

    Venue& venue() { return harness_->venue(); }
    VenueHarness& harness() { return *harness_; }

    static Decimal dec(std::string_view text) { return Decimal::parse(text).value(); }
    static Asset asset(std::string_view text) { return Asset::parse(text).value(); }
    static Symbol symbol() { return Symbol::parse("ABCUSDT").value(); }
    static OrderClientId id(const std::string& text) { return OrderClientId::trusted(text); }

    VenueOrderRequest limit(
        const std::string& name, Side side, std::string_view qty, std::string_view price) {
        VenueOrderRequest request;
        request.account = harness_->account();
        request.order_client_id = id(name);
        request.symbol = symbol();
        request.side = side;
        request.qty = dec(qty);
        request.limit_price = dec(price);
        return request;
    }
    VenueOrderRequest market(const std::string& name, Side side, std::string_view qty) {
        VenueOrderRequest request = limit(name, side, qty, "1");
        request.order_type = OrderType::market;
        request.limit_price.reset();
        return request;
    }
    VenueAck submit(const VenueOrderRequest& request) {
        Result<VenueAck> ack = venue().submit(request);
        EXPECT_TRUE(ack.has_value()) << ack.error().message;
        return ack ? *std::move(ack) : VenueAck{};
    }
    std::string refused(const VenueOrderRequest& request) {
        const Result<VenueAck> ack = venue().submit(request);
        if (ack) {
            return "accepted";
        }
        EXPECT_EQ(ack.error().code(), "venue_rejected") << ack.error().message;
        return std::string(reject_code_of(ack.error()));
    }
    std::optional<VenueOrder> find(const std::string& name) {
        return venue().find_order(harness_->account(), symbol(), id(name)).value();
    }
    VenueReport report(std::int64_t cursor = 0) {
        return venue().report(harness_->account(), cursor).value();
    }
    Decimal total(std::string_view name) {
        for (const VenueBalance& balance : report().balances) {
            if (balance.asset == asset(name)) {
                return add(balance.free, balance.locked).value();
            }
        }
        return {};
    }
    Decimal locked(std::string_view name) {
        for (const VenueBalance& balance : report().balances) {
            if (balance.asset == asset(name)) {
                return balance.locked;
            }
        }
        return {};
    }

    // Whether holdings are the first ones plus exactly what the fills of the report say.
    void expect_conserved() {
        Decimal base = Decimal(50);
        Decimal quote = Decimal(10'000);
        std::int64_t cursor = 0;
        for (VenueReport page = report(0);; page = report(cursor)) {
            for (const VenueFill& fill : page.fills) {
                const Decimal value = multiply_half_even(fill.price, fill.qty).value();
                const bool buys = fill.side == Side::buy;
                base = buys ? add(base, fill.qty).value() : subtract(base, fill.qty).value();
                quote = buys ? subtract(quote, value).value() : add(quote, value).value();
                Decimal& payer = fill.fee_asset == asset("ABC") ? base : quote;
                payer = subtract(payer, fill.fee).value();
            }
            cursor = page.fills_cursor;
            if (!page.has_more_fills) {
                break;
            }
        }
        EXPECT_EQ(to_text(total("ABC")), to_text(base));
        EXPECT_EQ(to_text(total("USDT")), to_text(quote));
    }

private:
    std::unique_ptr<VenueHarness> harness_;
};

TEST_P(VenueSuite, AnUnknownOrderIsNotFoundAndHasNoFills) {
    EXPECT_FALSE(find("nothing").has_value());
    EXPECT_TRUE(venue().fills_of(harness().account(), symbol(), id("nothing")).value().empty());
    EXPECT_TRUE(report().open_orders.empty());
    EXPECT_TRUE(report().fills.empty());
    EXPECT_EQ(report().fills_cursor, 0);
}

TEST_P(VenueSuite, AnOrderThatRestsIsFoundAsItWasSent) {
    const VenueAck ack = submit(limit("a", Side::buy, "1.5", "99.5"));
    EXPECT_EQ(ack.order.state, OrderState::resting);
    EXPECT_FALSE(ack.order.exchange_order_id.empty());
    EXPECT_TRUE(ack.fills.empty());
    harness().reopen();
    const std::optional<VenueOrder> found = find("a");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, ack.order);
    EXPECT_EQ(found->qty, dec("1.5"));
    EXPECT_EQ(found->limit_price, dec("99.5"));
    ASSERT_EQ(report().open_orders.size(), 1u);
    EXPECT_EQ(report().open_orders[0], ack.order);
}

TEST_P(VenueSuite, AnOrderIsFoundUnderItsOwnSymbolAndAccountOnly) {
    submit(limit("a", Side::buy, "1", "99"));
    const Symbol wrong = Symbol::parse("XYZUSDT").value();
    EXPECT_FALSE(venue().find_order(harness().account(), wrong, id("a")).value().has_value());
    EXPECT_FALSE(venue().find_order(harness().other(), symbol(), id("a")).value().has_value());
    EXPECT_TRUE(venue().report(harness().other(), 0).value().open_orders.empty());
}

TEST_P(VenueSuite, AnOrderThatTakesIsFilledAtTheQuotes) {
    const VenueAck ack = submit(limit("a", Side::buy, "3", "100.02"));
    EXPECT_EQ(ack.order.state, OrderState::filled);
    EXPECT_EQ(ack.order.filled_qty, Decimal(3));
    EXPECT_EQ(ack.order.filled_quote, dec("300.04"));
    ASSERT_EQ(ack.fills.size(), 2u);
    EXPECT_FALSE(ack.fills[0].is_maker);
    EXPECT_LT(ack.fills[0].trade_id, ack.fills[1].trade_id);
    harness().reopen();
    EXPECT_EQ(venue().fills_of(harness().account(), symbol(), id("a")).value(), ack.fills);
    EXPECT_EQ(report().fills, ack.fills);
    EXPECT_TRUE(report().open_orders.empty());
    expect_conserved();
}

TEST_P(VenueSuite, TheMarketFillsWhatRests) {
    submit(limit("a", Side::buy, "2", "99.50"));
    harness().sell_into_bids(9'940, 500);
    harness().reopen();
    const std::optional<VenueOrder> part = find("a");
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->state, OrderState::partially_filled);
    EXPECT_EQ(part->filled_qty, dec("0.5"));
    harness().sell_into_bids(9'940, 9'000);
    EXPECT_EQ(find("a")->state, OrderState::filled);
    for (const VenueFill& fill : report().fills) {
        EXPECT_EQ(fill.price, dec("99.5"));
        EXPECT_TRUE(fill.is_maker);
    }
    expect_conserved();
}

TEST_P(VenueSuite, ACancelEndsTheOrderAndFreesItsMoney) {
    submit(limit("a", Side::sell, "5", "101"));
    EXPECT_EQ(locked("ABC"), Decimal(5));
    harness().reopen();
    EXPECT_EQ(locked("ABC"), Decimal(5));
    const Result<VenueOrder> cancelled = venue().cancel(harness().account(), symbol(), id("a"));
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_EQ(cancelled->state, OrderState::canceled);
    EXPECT_EQ(cancelled->cancel_reason, "user");
    harness().reopen();
    EXPECT_EQ(find("a"), *cancelled);
    EXPECT_EQ(locked("ABC"), Decimal());
}

TEST_P(VenueSuite, CancellingWhatIsNotOpenIsAnUnknownOrder) {
    const auto code = [&](const std::string& name) {
        const auto cancelled = venue().cancel(harness().account(), symbol(), id(name));
        return cancelled ? "cancelled" : std::string(reject_code_of(cancelled.error()));
    };
    EXPECT_EQ(code("nothing"), "unknown_order");
    submit(limit("a", Side::buy, "1", "99"));
    EXPECT_EQ(code("a"), "cancelled");
    EXPECT_EQ(code("a"), "unknown_order");
}

TEST_P(VenueSuite, CancelAllLeavesNothingOpenOnThisAccount) {
    submit(limit("a", Side::buy, "1", "99"));
    submit(limit("b", Side::sell, "1", "101"));
    VenueOrderRequest foreign = limit("c", Side::buy, "1", "99");
    foreign.account = harness().other();
    submit(foreign);
    EXPECT_TRUE(venue().cancel_all(harness().account()).value().empty());
    harness().reopen();
    EXPECT_TRUE(report().open_orders.empty());
    EXPECT_EQ(venue().report(harness().other(), 0).value().open_orders.size(), 1u);
    EXPECT_EQ(locked("USDT"), Decimal());
    EXPECT_EQ(locked("ABC"), Decimal());
}

TEST_P(VenueSuite, AnIdThatIsOpenIsRefused) {
    submit(limit("a", Side::buy, "1", "99"));
    EXPECT_EQ(refused(limit("a", Side::buy, "1", "99")), "duplicate_order");
    harness().reopen();
    EXPECT_EQ(refused(limit("a", Side::sell, "2", "101")), "duplicate_order");
    EXPECT_EQ(report().open_orders.size(), 1u);
}

TEST_P(VenueSuite, ARefusalChangesNothing) {
    const VenueReport before = report();
    EXPECT_EQ(refused(limit("a", Side::buy, "1.0005", "99")), "filter_lot_size");
    EXPECT_EQ(refused(limit("b", Side::buy, "1", "99.005")), "filter_price");
    EXPECT_EQ(refused(limit("c", Side::buy, "0.01", "99")), "filter_notional");
    EXPECT_EQ(refused(limit("d", Side::sell, "51", "101")), "insufficient_balance");
    EXPECT_EQ(refused(limit("e", Side::buy, "102", "99")), "insufficient_balance");
    EXPECT_FALSE(find("a").has_value());
    EXPECT_FALSE(find("e").has_value());
    EXPECT_EQ(report().balances, before.balances);
}

TEST_P(VenueSuite, LockedMoneyCannotBeSpentAgain) {
    submit(limit("a", Side::sell, "50", "101"));
    EXPECT_EQ(refused(limit("b", Side::sell, "1", "101")), "insufficient_balance");
    EXPECT_EQ(refused(market("c", Side::sell, "1")), "insufficient_balance");
}

TEST_P(VenueSuite, PostOnlyNeverTakes) {
    VenueOrderRequest request = limit("a", Side::buy, "1", "100.01");
    request.post_only = true;
    EXPECT_EQ(refused(request), "would_take");
    request.limit_price = dec("100");
    const VenueAck ack = submit(request);
    EXPECT_EQ(ack.order.state, OrderState::resting);
    EXPECT_TRUE(ack.order.post_only);
}

TEST_P(VenueSuite, ImmediateOrCancelIsNeverOpenAfterwards) {
    VenueOrderRequest request = limit("a", Side::buy, "5", "100.01");
    request.time_in_force = TimeInForce::ioc;
    const VenueAck ack = submit(request);
    EXPECT_EQ(ack.order.state, OrderState::canceled);
    EXPECT_EQ(ack.order.cancel_reason, "ioc");
    EXPECT_EQ(ack.order.filled_qty, Decimal(2));
    harness().reopen();
    EXPECT_TRUE(report().open_orders.empty());
    EXPECT_EQ(find("a"), ack.order);
    expect_conserved();
}

TEST_P(VenueSuite, FillOrKillFillsAllOrNothing) {
    VenueOrderRequest request = limit("a", Side::sell, "5", "99.98");
    request.time_in_force = TimeInForce::fok;
    const VenueAck killed = submit(request);
    EXPECT_EQ(killed.order.state, OrderState::canceled);
    EXPECT_EQ(killed.order.cancel_reason, "fok");
    EXPECT_TRUE(killed.fills.empty());
    request.order_client_id = id("b");
    request.qty = Decimal(4);
    EXPECT_EQ(submit(request).order.state, OrderState::filled);
    expect_conserved();
}

TEST_P(VenueSuite, AMarketOrderTakesTheQuotesAndNeverRests) {
    const VenueAck bought = submit(market("a", Side::buy, "10"));
    EXPECT_EQ(bought.order.filled_qty, Decimal(6));
    EXPECT_FALSE(is_live(bought.order.state));
    EXPECT_FALSE(bought.order.limit_price.has_value());
    const VenueAck sold = submit(market("b", Side::sell, "1"));
    EXPECT_EQ(sold.order.state, OrderState::filled);
    harness().reopen();
    EXPECT_TRUE(report().open_orders.empty());
    EXPECT_EQ(find("a"), bought.order);
    expect_conserved();
}

TEST_P(VenueSuite, OrdersOfOneAccountNeverTradeWithEachOther) {
    submit(limit("a", Side::sell, "1", "100"));
    submit(limit("b", Side::buy, "1", "100"));
    EXPECT_TRUE(report().fills.empty());
    expect_conserved();
}

TEST_P(VenueSuite, AccountsNeverTradeWithEachOther) {
    submit(limit("a", Side::sell, "1", "100"));
    VenueOrderRequest against = limit("b", Side::buy, "1", "100");
    against.account = harness().other();
    EXPECT_EQ(submit(against).order.state, OrderState::resting);
    EXPECT_TRUE(report().fills.empty());
}

TEST_P(VenueSuite, TheCursorGoesOnWhereTheLastReportEnded) {
    submit(market("a", Side::sell, "1"));
    const VenueReport first = report(0);
    EXPECT_EQ(first.fills.size(), 1u);
    EXPECT_TRUE(report(first.fills_cursor).fills.empty());
    harness().reopen();
    submit(market("b", Side::sell, "0.5"));
    const VenueReport second = report(first.fills_cursor);
    ASSERT_EQ(second.fills.size(), 1u);
    EXPECT_EQ(second.fills[0].order_client_id, id("b"));
    EXPECT_GT(second.fills[0].trade_id, first.fills[0].trade_id);
}

TEST_P(VenueSuite, ExchangeIdsAreNeverUsedTwice) {
    const std::string first = submit(market("a", Side::sell, "0.1")).order.exchange_order_id;
    harness().reopen();
    const std::string second = submit(market("a", Side::sell, "0.1")).order.exchange_order_id;
    EXPECT_NE(first, second);
    EXPECT_EQ(find("a")->exchange_order_id, second);
}

TEST_P(VenueSuite, AnAccountThatWasNeverOpenedIsRefused) {
    VenueOrderRequest request = limit("a", Side::buy, "1", "99");
    request.account.tenant_id = TenantId::trusted("nobody");
    EXPECT_EQ(refused(request), "unknown_account");
    EXPECT_FALSE(venue().report(request.account, 0).has_value());
}

// Whatever is sent, in whatever order, with reopening in between: money is conserved, nothing is
// over-filled, and what is locked is what open orders may cost.
TEST_P(VenueSuite, MoneyIsConservedUnderAnySequence) {
    const auto run = [&] {
        const auto fresh = GetParam().make();
        // Asked for anew each time: a reopened harness has another one.
        std::vector<std::string> names;
        const int steps = *rc::gen::inRange(1, 40);
        for (int step = 0; step < steps; ++step) {
            const int what = *rc::gen::inRange(0, 10);
            if (what == 0) {
                fresh->reopen();
            } else if (what == 1) {
                fresh->sell_into_bids(
                    *rc::gen::inRange(9'900, 10'005), *rc::gen::inRange(1, 5'000));
            } else if (what == 2 && !names.empty()) {
                const std::string name = *rc::gen::elementOf(names);
                std::ignore = fresh->venue().cancel(fresh->account(), symbol(), id(name));
            } else {
                VenueOrderRequest request =
                    limit("o" + std::to_string(*rc::gen::inRange(0, 15)), Side::buy, "1", "1");
                request.account = fresh->account();
                request.side = *rc::gen::element(Side::buy, Side::sell);
                request.time_in_force =
                    *rc::gen::element(TimeInForce::gtc, TimeInForce::ioc, TimeInForce::fok);
                const std::int64_t lots = *rc::gen::inRange(1, 9'000);
                request.qty = Decimal::from_units(dec("0.001").units() * lots);
                const std::int64_t ticks = *rc::gen::inRange(9'950, 10'050);
                request.limit_price = Decimal::from_units(dec("0.01").units() * ticks);
                if (*rc::gen::inRange(0, 4) == 0) {
                    request.order_type = OrderType::market;
                    request.limit_price.reset();
                }
                if (const auto ack = fresh->venue().submit(request)) {
                    names.push_back(request.order_client_id.text());
                    RC_ASSERT(ack->order.filled_qty <= ack->order.qty);
                }
            }
        }
        Decimal base = Decimal(50);
        Decimal quote = Decimal(10'000);
        const VenueReport report = fresh->venue().report(fresh->account(), 0).value();
        RC_ASSERT(!report.has_more_fills);
        for (const VenueFill& fill : report.fills) {
            const Decimal value = multiply_half_even(fill.price, fill.qty).value();
            const bool buys = fill.side == Side::buy;
            base = buys ? add(base, fill.qty).value() : subtract(base, fill.qty).value();
            quote = buys ? subtract(quote, value).value() : add(quote, value).value();
            Decimal& payer = fill.fee_asset == asset("ABC") ? base : quote;
            payer = subtract(payer, fill.fee).value();
        }
        Decimal locked_base;
        Decimal locked_quote;
        for (const VenueOrder& order : report.open_orders) {
            const Decimal left = subtract(order.qty, order.filled_qty).value();
            RC_ASSERT(left.is_positive());
            Decimal& locks = order.side == Side::buy ? locked_quote : locked_base;
            const Decimal needs = order.side == Side::buy
                                      ? multiply_half_even(left, *order.limit_price).value()
                                      : left;
            locks = add(locks, needs).value();
        }
        for (const VenueBalance& balance : report.balances) {
            RC_ASSERT(!balance.free.is_negative() && !balance.locked.is_negative());
            const bool is_base = balance.asset == asset("ABC");
            RC_ASSERT(balance.locked == (is_base ? locked_base : locked_quote));
            RC_ASSERT(add(balance.free, balance.locked).value() == (is_base ? base : quote));
        }
    };
    EXPECT_TRUE(rc::check(run));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VenueSuite);

}  // namespace interlock
