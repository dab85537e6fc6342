// Crash points: a venue and an account that lose, repeat, cut and reorder what they tell each other
// end with the same books, every trade booked exactly once.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "account/rules/reconcile.h"
#include "testing/account_builders.h"

namespace interlock {
namespace {

const Asset kUsdt = asset_of("USDT");
const Asset kBtc = asset_of("BTC");

// A venue that is always right about itself.
class ModelVenue {
public:
    void submit(const OrderRecord& order) {
        orders_.emplace(order.id(), shown(order, OrderState::resting));
    }

    // Fills up to `qty` of a live order, as far as the balances allow.
    void fill(const OrderClientId& id, Decimal qty) {
        VenueOrder& order = orders_.at(id);
        qty = std::min(qty, *subtract(order.qty, order.filled_qty));
        if (order.side == Side::sell) {
            qty = std::min(qty, btc_);
        }
        if (!is_live(order.state) || !qty.is_positive()) {
            return;
        }
        const Decimal price = *order.limit_price;
        const Decimal notional = *multiply_half_even(qty, price);
        VenueFill trade;
        trade.trade_id = static_cast<std::int64_t>(trades_.size()) + 1;
        trade.order_client_id = id;
        trade.exchange_order_id = order.exchange_order_id;
        trade.symbol = order.symbol;
        trade.side = order.side;
        trade.qty = qty;
        trade.price = price;
        trade.fee = *multiply_round_up(notional, dec("0.001"));
        trade.fee_asset = kUsdt;
        trade.at = noon() + Duration::of_seconds(trade.trade_id);
        trades_.push_back(trade);
        const bool is_buy = order.side == Side::buy;
        btc_ = is_buy ? *add(btc_, qty) : *subtract(btc_, qty);
        usdt_ = is_buy ? *subtract(usdt_, notional) : *add(usdt_, notional);
        usdt_ = *subtract(usdt_, trade.fee);
        order.filled_qty = *add(order.filled_qty, qty);
        order.filled_quote = *add(order.filled_quote, notional);
        order.state =
            order.filled_qty == order.qty ? OrderState::filled : OrderState::partially_filled;
    }

    void cancel(const OrderClientId& id) {
        if (VenueOrder& order = orders_.at(id); is_live(order.state)) {
            order.state = OrderState::canceled;
        }
    }

    bool knows(const OrderClientId& id) const { return orders_.contains(id); }

    VenueReport report(std::int64_t cursor, std::size_t trades_max) const {
        VenueReport report;
        for (const auto& [id, order] : orders_) {
            if (is_live(order.state)) {
                report.open_orders.push_back(order);
            }
        }
        report.balances = {{kUsdt, usdt_, {}}, {kBtc, btc_, {}}};
        const auto first = static_cast<std::size_t>(cursor);
        const std::size_t last = std::min(trades_.size(), first + trades_max);
        report.fills.assign(
            trades_.begin() + static_cast<std::ptrdiff_t>(first),
            trades_.begin() + static_cast<std::ptrdiff_t>(last));
        report.fills_cursor = static_cast<std::int64_t>(last);
        report.has_more_fills = last < trades_.size();
        return report;
    }

    OrderAnswer ask(const OrderClientId& id) const {
        OrderAnswer answer{
            .order_client_id = id, .is_reachable = true, .order = std::nullopt, .fills = {}};
        if (const auto found = orders_.find(id); found != orders_.end()) {
            answer.order = found->second;
        }
        std::copy_if(
            trades_.begin(),
            trades_.end(),
            std::back_inserter(answer.fills),
            [&](const VenueFill& trade) { return trade.order_client_id == id; });
        return answer;
    }

    Decimal usdt() const { return usdt_; }
    Decimal btc() const { return btc_; }
    std::size_t trades() const { return trades_.size(); }

private:
    std::map<OrderClientId, VenueOrder> orders_;
    std::vector<VenueFill> trades_;
    Decimal usdt_ = dec("1000000");
    Decimal btc_;
};

// Our side: durable state, and the ledger of every order ever written.
struct OurSide {
    Account account = an_account("1000000");
    std::vector<SymbolBook> books{a_book("BTC")};
    std::map<OrderClientId, OrderRecord> ledger;
    std::vector<OrderClientId> to_query;
    std::size_t booked = 0;
    Timestamp now = noon();

    void keep(const Reconciliation& result) {
        account = result.account;
        books = result.books;
        to_query = result.to_query;
        booked += result.fills.size();
        for (const OrderRecord& order : result.orders) {
            ledger[order.id()] = order;
        }
    }

    Reconciliation reconcile_with(const ModelVenue& venue, std::size_t trades_max) {
        now = now + Duration::of_seconds(4);
        ReconcileInput input{
            .account = account,
            .books = books,
            .report = venue.report(account.fills_cursor, trades_max),
            .answers = {},
            .settled = {},
            .market = {{a_market("BTC")}},
            .now = now};
        for (const OrderClientId& id : to_query) {
            input.answers.push_back(venue.ask(id));
        }
        for (const auto& [id, order] : ledger) {
            if (is_settled(order)) {
                input.settled.push_back(order);
            }
        }
        auto result = reconcile(std::move(input));
        RC_ASSERT(result.has_value());
        return *std::move(result);
    }
};

void write_order(OurSide& ours, ModelVenue& venue, int number) {
    const OrderTerms terms{
        .id = "o" + std::to_string(number),
        .side = *rc::gen::element(Side::buy, Side::sell),
        .qty = std::to_string(*rc::gen::inRange(1, 9)),
        .price = std::to_string(*rc::gen::inRange(90, 110))};
    OrderRecord order = an_order(terms);
    order.created_at = ours.now;
    order.submitted_at = ours.now;
    RC_ASSERT(reserve_order(ours.account, ours.books[0], order).has_value());
    const int fate = *rc::gen::inRange(0, 4);
    if (fate != 0) {
        venue.submit(order);
    }
    // 0: never arrives. 1: arrives, the answer is lost. Else: acknowledged.
    const OrderEvent event = fate <= 1 ? OrderEvent(OrderOutcomeUnknown{})
                                       : OrderEvent(OrderReported{*venue.ask(order.id()).order});
    order = step_order(order, event, ours.now).order;
    ours.ledger[order.id()] = order;
    RC_ASSERT(release_order(ours.account, ours.books[0], order).has_value());
}

void disturb(OurSide& ours, ModelVenue& venue) {
    const Reconciliation result =
        ours.reconcile_with(venue, static_cast<std::size_t>(*rc::gen::inRange(0, 4)));
    RC_ASSERT(check_conservation(result.account, result.books).empty());
    // Half of the time the process dies before the result is committed.
    if (*rc::gen::arbitrary<bool>()) {
        ours.keep(result);
        const Reconciliation again = ours.reconcile_with(venue, 0);
        RC_ASSERT(again.fills.empty() || !ours.to_query.empty());
    } else {
        mark_interrupted(ours.books, ours.now);
    }
}

void request_cancel(OurSide& ours, ModelVenue& venue, const OrderClientId& id) {
    OrderRecord order = step_order(ours.ledger[id], CancelRequested{}, ours.now).order;
    if (!is_live(order.state)) {
        return;
    }
    ours.ledger[id] = order;
    RC_ASSERT(release_order(ours.account, ours.books[0], order).has_value());
    if (venue.knows(id)) {
        venue.cancel(id);
    }
}

void trade_a_while(OurSide& ours, ModelVenue& venue) {
    int written = 0;
    for (int i = 0; i < 40; ++i) {
        const int act = *rc::gen::inRange(0, 6);
        if (act == 0 || written == 0) {
            write_order(ours, venue, ++written);
            continue;
        }
        const auto id =
            OrderClientId::trusted("o" + std::to_string(*rc::gen::inRange(1, written + 1)));
        if (act <= 2 && venue.knows(id)) {
            venue.fill(id, Decimal(*rc::gen::inRange(1, 5)));
        } else if (act == 3) {
            request_cancel(ours, venue, id);
        } else {
            disturb(ours, venue);
        }
    }
}

TEST(ReconcileProperty, AnyCrashPointsEndInTheVenuesBooks) {
    EXPECT_TRUE(rc::check([] {
        OurSide ours;
        ModelVenue venue;
        trade_a_while(ours, venue);
        bool is_clean = false;
        for (int cycle = 0; cycle < 12 && !is_clean; ++cycle) {
            const Reconciliation result = ours.reconcile_with(venue, 1000);
            ours.keep(result);
            is_clean = result.is_clean;
        }
        RC_ASSERT(is_clean);
        RC_ASSERT(ours.booked == venue.trades());
        RC_ASSERT(ours.account.money.holdings[kUsdt] == venue.usdt());
        RC_ASSERT(ours.account.money.holdings[kBtc] == venue.btc());
        RC_ASSERT(ours.books[0].position == venue.btc());
        RC_ASSERT(check_conservation(ours.account, ours.books).empty());
        for (const OrderRecord& order : ours.books[0].open) {
            RC_ASSERT(venue.knows(order.id()));
        }
    }));
}

// The trades of one report in any order give the same books.
TEST(ReconcileProperty, TheOrderOfTradesInAReportDoesNotMatter) {
    EXPECT_TRUE(rc::check([] {
        OurSide ours;
        ModelVenue venue;
        for (int i = 1; i <= 4; ++i) {
            write_order(ours, venue, i);
        }
        for (int i = 0; i < 12; ++i) {
            const auto id = OrderClientId::trusted("o" + std::to_string(*rc::gen::inRange(1, 5)));
            if (venue.knows(id)) {
                venue.fill(id, Decimal(*rc::gen::inRange(1, 4)));
            }
        }
        ReconcileInput input{
            .account = ours.account,
            .books = ours.books,
            .report = venue.report(0, 1000),
            .answers = {},
            .settled = {},
            .market = {{a_market("BTC")}},
            .now = ours.now};
        ReconcileInput shuffled = input;
        auto& trades = shuffled.report.fills;
        for (std::size_t i = trades.size(); i > 1; --i) {
            std::swap(trades[i - 1], trades[*rc::gen::inRange<std::size_t>(0, i)]);
        }
        const auto a = reconcile(std::move(input));
        const auto b = reconcile(std::move(shuffled));
        RC_ASSERT(a.has_value() && b.has_value());
        RC_ASSERT(a->account == b->account);
        RC_ASSERT(a->books == b->books);
    }));
}

}  // namespace
}  // namespace interlock
