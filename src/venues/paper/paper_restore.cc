// How a paper exchange is rebuilt from what was recorded of it. Kept apart from trading: here
// nothing is matched and nothing is decided, changes are only repeated.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "venues/paper/paper_exchange.h"

namespace interlock {
namespace {

std::unexpected<Error> corrupt(const std::string& sentence) {
    return fail(errors::corrupt_data, sentence, "Keep the journal for inspection.");
}

Result<std::int64_t> number_of(const std::string& exchange_order_id) {
    std::int64_t number = 0;
    const char* end = exchange_order_id.data() + exchange_order_id.size();
    const auto [at, failed] = std::from_chars(exchange_order_id.data(), end, number);
    if (failed != std::errc() || at != end || number <= 0) {
        return corrupt("\"" + exchange_order_id + "\" is no number of an order.");
    }
    return number;
}

Result<PaperOrderId> id_of(const OrderClientId& id) {
    if (id.text().size() > PaperOrderId::kLengthMax) {
        return corrupt("The id " + id.text() + " is longer than the exchange takes.");
    }
    return PaperOrderId(id.text());
}

// Reasons are constants in memory; a recorded one is turned back into its constant.
std::string_view constant_reason(const std::string& reason) {
    for (const std::string_view known : {"user", "ioc", "fok", "self_trade", "halt"}) {
        if (known == reason) {
            return known;
        }
    }
    return "";
}

}  // namespace

Result<void> PaperExchange::restore_account(
    const VenueAccount& account,
    std::span<const VenueBalance> balances,
    std::int64_t first_cursor) {
    if (traders_.contains(account)) {
        return corrupt("The account " + account.account_id.text() + " was opened twice.");
    }
    if (traders_.size() >= options_.accounts_max) {
        return fail(
            errors::out_of_range,
            "The exchange holds " + std::to_string(options_.accounts_max) +
                " accounts and takes no more.");
    }
    auto trader = std::make_unique<Trader>(account, listings_);
    trader->account.set_next_cursor(first_cursor);
    for (const VenueBalance& balance : balances) {
        if (balance.free.is_negative() || balance.locked.is_negative()) {
            return fail(errors::out_of_range, "A balance must not be negative.");
        }
        TRY_ASSIGN(const std::size_t place, asset_place(balance.asset));
        trader->account.set_balance(place, balance.free, balance.locked);
    }
    traders_.emplace(account, std::move(trader));
    return {};
}

Result<PaperOrder> PaperExchange::read_order(const VenueOrder& order) const {
    const auto market = market_place(order.symbol);
    if (!market) {
        return corrupt("The journal names the market " + std::string(order.symbol.text()) + ".");
    }
    const PaperFilters& filters = listings_.markets[*market].filters;
    PaperOrder read;
    TRY_ASSIGN(read.client_id, id_of(order.order_client_id));
    TRY_ASSIGN(read.number, number_of(order.exchange_order_id));
    read.market = *market;
    read.side = order.side;
    read.order_type = order.order_type;
    read.time_in_force = order.time_in_force;
    read.post_only = order.post_only;
    read.state = order.state;
    read.cancel_reason = constant_reason(order.cancel_reason);
    if (order.limit_price) {
        TRY_ASSIGN(read.price, filters.ticks_of(*order.limit_price));
    }
    TRY_ASSIGN(read.quantity, filters.lots_of(order.qty));
    if (!order.filled_qty.is_zero()) {
        TRY_ASSIGN(read.filled, filters.lots_of(order.filled_qty));
    }
    read.filled_quote = order.filled_quote;
    read.updated_at = order.updated_at;
    return read;
}

Result<void> PaperExchange::restore_accepted(const VenueAccount& account, const VenueOrder& order) {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    TRY_ASSIGN(PaperOrder read, read_order(order));
    const std::int64_t number = read.number;
    order_count_ = std::max(order_count_, number);
    // A market order's reserve was a guess at its cost, and its fills follow at once.
    const bool is_market_buy = read.order_type == OrderType::market && read.side == Side::buy;
    const PaperAccount::Reserve reserve = is_market_buy
                                              ? trader->account.reserve_of_cost(read, Decimal())
                                              : trader->account.reserve_of(read);
    if (!trader->account.has_free(reserve)) {
        return corrupt("Order " + order.exchange_order_id + " costs more than there was.");
    }
    restored_[number] = trader->account.add(read, reserve);
    return {};
}

Result<PaperExchange::Known> PaperExchange::find_restored(
    const VenueAccount& account, const std::string& number) const {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    TRY_ASSIGN(const std::int64_t wanted, number_of(number));
    const auto found = restored_.find(wanted);
    if (found == restored_.end()) {
        return corrupt("The journal tells of order " + number + " before it was accepted.");
    }
    return Known{*trader, found->second};
}

Result<void> PaperExchange::restore_filled(const VenueAccount& account, const VenueFill& fill) {
    TRY_ASSIGN(const Known known, find_restored(account, fill.exchange_order_id));
    PaperAccount& holder = known.trader.account;
    const PaperOrder& order = holder.order(known.handle);
    const PaperFilters& filters = listings_.markets[order.market].filters;
    TRY_ASSIGN(const Lots quantity, filters.lots_of(fill.qty));
    TRY_ASSIGN(const Ticks price, filters.ticks_of(fill.price));
    if (!is_live(order.state) || quantity > order.quantity - order.filled) {
        return corrupt("Order " + fill.exchange_order_id + " was filled beyond its quantity.");
    }
    markets_[order.market].trade_count =
        std::max(markets_[order.market].trade_count, fill.trade_id);
    holder.fill(
        known.handle,
        {.trade_id = fill.trade_id,
         .price = price,
         .quantity = quantity,
         .is_maker = fill.is_maker,
         .at = fill.at,
         .fee = fill.fee});
    return {};
}

Result<void> PaperExchange::restore_ended(const VenueAccount& account, const VenueOrder& order) {
    TRY_ASSIGN(const Known known, find_restored(account, order.exchange_order_id));
    if (!is_live(known.trader.account.order(known.handle).state)) {
        return corrupt("Order " + order.exchange_order_id + " ended twice.");
    }
    known.trader.account.end(known.handle, constant_reason(order.cancel_reason), order.updated_at);
    return {};
}

Result<void> PaperExchange::restore_order(const VenueAccount& account, const VenueOrder& order) {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    TRY_ASSIGN(PaperOrder read, read_order(order));
    if (is_live(read.state)) {
        PaperOrder rest = read;
        rest.quantity = read.quantity - read.filled;
        read.locked = trader->account.reserve_of(rest).amount;
    }
    const std::int64_t number = read.number;
    restored_[number] = trader->account.add_restored(read);
    return {};
}

Result<void> PaperExchange::restore_fill(const VenueAccount& account, const VenueFill& fill) {
    TRY_ASSIGN(Trader* const trader, find_trader(account));
    const auto market = market_place(fill.symbol);
    if (!market) {
        return corrupt("The journal names the market " + std::string(fill.symbol.text()) + ".");
    }
    const PaperFilters& filters = listings_.markets[*market].filters;
    PaperFill read;
    TRY_ASSIGN(read.client_id, id_of(fill.order_client_id));
    read.trade_id = fill.trade_id;
    TRY_ASSIGN(read.number, number_of(fill.exchange_order_id));
    read.market = *market;
    read.side = fill.side;
    TRY_ASSIGN(read.quantity, filters.lots_of(fill.qty));
    TRY_ASSIGN(read.price, filters.ticks_of(fill.price));
    read.fee = fill.fee;
    TRY_ASSIGN(read.fee_asset, asset_place(fill.fee_asset));
    read.is_maker = fill.is_maker;
    read.at = fill.at;
    const auto owner = restored_.find(read.number);
    trader->account.restore_fill(
        owner == restored_.end() ? std::nullopt : std::optional(owner->second), std::move(read));
    return {};
}

void PaperExchange::restore_counters(const Counters& counters) {
    order_count_ = std::max(order_count_, counters.orders);
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        const auto found = counters.trades.find(listings_.markets[i].filters.rules().symbol);
        if (found != counters.trades.end()) {
            markets_[i].trade_count = std::max(markets_[i].trade_count, found->second);
        }
    }
}

void PaperExchange::settle_restored() {
    for (const auto& [name, trader] : traders_) {
        for (const Handle handle : trader->account.live()) {
            const PaperOrder& order = trader->account.order(handle);
            book_of(*trader, order.market)
                .restore(
                    {.id = handle,
                     .side = order.side == Side::buy ? BookSide::buy : BookSide::sell,
                     .price = order.price,
                     .quantity = order.quantity - order.filled},
                    markets_[order.market].view);
            note_resting(*trader, order.market);
        }
    }
    restored_.clear();
}

std::vector<const PaperAccount*> PaperExchange::accounts() const {
    std::vector<const PaperAccount*> all;
    for (const auto& [name, trader] : traders_) {
        all.push_back(&trader->account);
    }
    std::sort(all.begin(), all.end(), [](const PaperAccount* a, const PaperAccount* b) {
        return a->name() < b->name();
    });
    return all;
}

PaperExchange::Counters PaperExchange::counters() const {
    Counters counters{.orders = order_count_, .trades = {}};
    for (std::size_t i = 0; i < markets_.size(); ++i) {
        counters.trades[listings_.markets[i].filters.rules().symbol] = markets_[i].trade_count;
    }
    return counters;
}

}  // namespace interlock
