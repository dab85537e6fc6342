// Builders for tests about accounts, orders and trades: one small market (BTCUSDT), one paper
// account, and orders and trades that differ only in what a test names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/rules/account.h"
#include "base/check.h"

namespace interlock {

inline Decimal dec(std::string_view text) {
    const auto value = Decimal::parse(text);
    CHECK(value.has_value());
    return *value;
}

inline Asset asset_of(std::string_view text) {
    const auto value = Asset::parse(text);
    CHECK(value.has_value());
    return *value;
}

inline Symbol symbol_of(std::string_view text) {
    const auto value = Symbol::parse(text);
    CHECK(value.has_value());
    return *value;
}

inline Timestamp time_of(std::string_view text) {
    const auto value = parse_timestamp(text);
    CHECK(value.has_value());
    return *value;
}

// Noon of the day the account was opened.
inline Timestamp noon() {
    return time_of("2026-03-10T12:00:00Z");
}

inline VenueAccount an_account_key(TradeMode mode = TradeMode::paper) {
    return {TenantId::trusted("acme"), AccountId::trusted("main"), mode};
}

inline Account an_account(std::string_view deposit = "10000", TradeMode mode = TradeMode::paper) {
    auto account = open_account(
        {.key = an_account_key(mode),
         .quote = asset_of("USDT"),
         .deposit = dec(deposit),
         .at = noon()});
    CHECK(account.has_value());
    return *std::move(account);
}

inline SymbolBook a_book(std::string_view base = "BTC") {
    SymbolBook book;
    book.symbol = symbol_of(std::string(base) + "USDT");
    book.base = asset_of(base);
    book.quote = asset_of("USDT");
    return book;
}

struct OrderTerms {
    std::string id = "o1";
    Side side = Side::buy;
    std::string qty = "1";
    std::string price = "100";  // Empty: a market order.
    std::string reserve_price = "100";
    TimeInForce tif = TimeInForce::gtc;
    OrderState state = OrderState::submitting;
    std::string base = "BTC";
    TradeMode mode = TradeMode::paper;
};

inline OrderRecord an_order(const OrderTerms& terms = {}) {
    OrderRecord order;
    order.request.account = an_account_key(terms.mode);
    order.request.order_client_id = OrderClientId::trusted(terms.id);
    order.request.symbol = symbol_of(terms.base + "USDT");
    order.request.side = terms.side;
    order.request.order_type = terms.price.empty() ? OrderType::market : OrderType::limit;
    order.request.time_in_force = terms.tif;
    order.request.qty = dec(terms.qty);
    if (!terms.price.empty()) {
        order.request.limit_price = dec(terms.price);
    }
    order.reserve_price = dec(terms.reserve_price);
    order.decision_id = DecisionId::trusted("d1");
    order.tick_id = TickId::trusted("t1");
    order.intent_id = IntentId::trusted("i0");
    order.strategy_id = StrategyId::trusted("s1");
    order.state = terms.state;
    order.created_at = noon();
    order.updated_at = noon();
    order.submitted_at = noon();
    return order;
}

struct TradeTerms {
    std::int64_t id = 1;
    std::string qty = "1";
    std::string price = "100";
    std::string fee = "0";
    std::string fee_asset = "USDT";
    Timestamp at = noon();
};

inline VenueFill a_trade(const OrderRecord& order, const TradeTerms& terms = {}) {
    VenueFill fill;
    fill.trade_id = terms.id;
    fill.order_client_id = order.id();
    fill.exchange_order_id = "x-" + order.id().text();
    fill.symbol = order.symbol();
    fill.side = order.request.side;
    fill.qty = dec(terms.qty);
    fill.price = dec(terms.price);
    fill.fee = dec(terms.fee);
    fill.fee_asset = asset_of(terms.fee_asset);
    fill.at = terms.at;
    return fill;
}

// The order as a venue shows it.
inline VenueOrder shown(
    const OrderRecord& order,
    OrderState state,
    std::string_view filled_qty = "0",
    std::string_view filled_quote = "0") {
    VenueOrder seen;
    seen.order_client_id = order.id();
    seen.exchange_order_id = "x-" + order.id().text();
    seen.symbol = order.symbol();
    seen.side = order.request.side;
    seen.order_type = order.request.order_type;
    seen.time_in_force = order.request.time_in_force;
    seen.post_only = order.request.post_only;
    seen.qty = order.request.qty;
    seen.limit_price = order.request.limit_price;
    seen.state = state;
    seen.filled_qty = dec(filled_qty);
    seen.filled_quote = dec(filled_quote);
    seen.updated_at = noon();
    return seen;
}

inline MarketFacts a_market(
    std::string_view base = "BTC", std::string_view bid = "99", std::string_view ask = "101") {
    MarketFacts facts;
    facts.symbol = symbol_of(std::string(base) + "USDT");
    facts.rules.symbol = facts.symbol;
    facts.rules.base = asset_of(base);
    facts.rules.quote = asset_of("USDT");
    facts.rules.step_size = dec("0.00001");
    facts.rules.tick_size = dec("0.01");
    facts.best_bid = dec(bid);
    facts.best_ask = dec(ask);
    facts.exchange_at = noon();
    facts.received_at = noon();
    return facts;
}

}  // namespace interlock
