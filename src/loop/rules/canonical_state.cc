#include "loop/rules/canonical_state.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "account/rules/dust.h"
#include "codec/json_list.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/planning_rules.h"

namespace interlock {
namespace {

Json decimal_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

// A JSON number where the contract says `number`; its text is the decimal's own.
Json number(Decimal value) {
    return Json::number(to_text(value));
}

// What open orders lock, per asset: quote for buys, base for sells.
Result<std::map<Asset, Decimal>> locked_by_asset(const CanonicalStateInput& input) {
    std::map<Asset, Decimal> locked = input.account.foreign_locked;
    for (const SymbolBook& book : input.books) {
        for (const OrderRecord& order : book.open) {
            const Decimal qty = reserved_qty(order);
            if (order.request.side == Side::sell) {
                TRY_ASSIGN(locked[book.base], add(locked[book.base], qty));
            } else {
                TRY_ASSIGN(const Decimal quote, multiply_round_up(qty, order.reserve_price));
                TRY_ASSIGN(locked[book.quote], add(locked[book.quote], quote));
            }
        }
    }
    return locked;
}

Json strategy_ids(const StateFacts& state) {
    return json_list(
        planner_strategies(state) |
        std::views::transform(
            [](const StrategyId& id) -> const std::string& { return id.text(); }));
}

Result<Json> balances(const CanonicalStateInput& input) {
    TRY_ASSIGN(const auto locked, locked_by_asset(input));
    Json list = Json::array();
    for (const auto& [asset, total] : input.account.money.holdings) {
        const auto found = locked.find(asset);
        Decimal held = found == locked.end() ? Decimal() : found->second;
        if (held > total) {
            held = total;
        }
        TRY_ASSIGN(const Decimal free, subtract(total, held));
        list.push(Json::object(
            {{"asset", asset.text()}, {"free", to_text(free)}, {"locked", to_text(held)}}));
    }
    return list;
}

Result<Json> positions(const CanonicalStateInput& input) {
    Json list = Json::array();
    for (const SymbolBook& book : input.books) {
        if (book.position.is_zero()) {
            continue;
        }
        const MarketFacts* market = input.market.find(book.symbol);
        const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
        Json notional;
        if (mid) {
            TRY_ASSIGN(const Decimal value, multiply_half_even(book.position, *mid));
            notional = to_text(value);
        }
        list.push(Json::object({
            {"symbol", book.symbol.text()},
            {"qty", to_text(book.position)},
            {"avg_price", to_text(avg_price(book))},
            {"notional", std::move(notional)},
            {"dust", market != nullptr && is_dust(book.position, *market)},
        }));
    }
    return list;
}

Json open_orders(const CanonicalStateInput& input) {
    Json list = Json::array();
    for (const SymbolBook& book : input.books) {
        for (const OrderRecord& order : book.open) {
            // An unknown order shows as new and uncertain.
            Json entry = Json::object({
                {"order_client_id", order.id().text()},
                {"symbol", book.symbol.text()},
                {"side", to_word(order.request.side)},
                {"qty", to_text(order.request.qty)},
                {"price", decimal_or_null(order.request.limit_price)},
                {"state", is_uncertain(order) ? "new" : to_final_word(order.state)},
                {"filled_qty", to_text(order.filled_qty)},
            });
            if (is_uncertain(order)) {
                entry.set("uncertain", true);
            }
            list.push(std::move(entry));
        }
    }
    return list;
}

Result<Json> pnl(const CanonicalStateInput& input) {
    Decimal realized;
    Decimal unrealized;
    for (const SymbolBook& book : input.books) {
        TRY_ASSIGN(realized, add(realized, book.realized));
        const MarketFacts* market = input.market.find(book.symbol);
        const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
        if (mid && !book.position.is_zero()) {
            TRY_ASSIGN(const Decimal value, multiply_half_even(book.position, *mid));
            TRY_ASSIGN(const Decimal gain, subtract(value, book.cost));
            TRY_ASSIGN(unrealized, add(unrealized, gain));
        }
    }
    return Json::object({
        {"realized", to_text(realized)},
        {"unrealized", to_text(unrealized)},
        {"pnl_today", to_text(input.state.realized_today)},
        {"fees_today", to_text(input.state.fees_today)},
    });
}

Result<Json> treasury(const CanonicalStateInput& input) {
    TRY_ASSIGN(
        const TreasuryFigures figures,
        treasury_figures(input.account, input.state.equity, input.state.now));
    return Json::object({
        {"principal_baseline", to_text(input.state.limits.principal_baseline)},
        {"rolling_surplus_30d", to_text(figures.rolling_surplus_30d)},
        {"runway_days", number(figures.runway_days)},
        {"daily_total_cost", to_text(figures.daily_total_cost)},
        {"principal_protected", figures.principal_protected},
        {"ops_reserve", to_text(input.account.money.treasury.ops_reserve)},
        {"profit", to_text(input.account.money.treasury.profit)},
    });
}

// Assets that equity counts as nothing for want of a price.
Json unpriced(const CanonicalStateInput& input) {
    Json list = Json::array();
    for (const Asset& asset : marked(input.account, input.books, input.market).unpriced) {
        list.push(asset.text());
    }
    return list;
}

// Account and concern told apart: what restricts one market says nothing of the others.
Json market_modes(const StateFacts& state) {
    Json list = Json::array();
    for (const SymbolFacts& facts : state.symbols) {
        const RiskMode mode = state.risk_mode_in(facts.symbol);
        list.push(Json::object({
            {"symbol", facts.symbol.text()},
            {"concern_mode", to_word(facts.risk_mode)},
            {"risk_mode", to_word(mode)},
            {"size_factor", to_text(size_factor_of(mode))},
        }));
    }
    return list;
}

Json envelopes(const CanonicalStateInput& input) {
    Json list = Json::array();
    for (const Envelope& envelope : allowed_envelope(input.state, input.market)) {
        list.push(encode(envelope));
    }
    return list;
}

}  // namespace

Result<Json> canonical_state(const CanonicalStateInput& input) {
    const StateFacts& state = input.state;
    TRY_ASSIGN(Json balance_list, balances(input));
    TRY_ASSIGN(Json position_list, positions(input));
    TRY_ASSIGN(Json pnl_json, pnl(input));
    TRY_ASSIGN(Json treasury_json, treasury(input));
    return Json::object({
        {"as_of", to_text(state.now)},
        {"balances", std::move(balance_list)},
        {"positions", std::move(position_list)},
        {"open_orders", open_orders(input)},
        {"risk_limits", encode(state.limits)},
        {"runtime_flags",
         Json::object({
             {"trading_enabled", state.trading_enabled},
             {"kill_switch_active", state.kill_switch_active},
             {"mode", to_word(state.mode)},
             {"risk_mode", to_word(state.risk_mode)},
             {"size_factor", to_text(size_factor_of(state.risk_mode))},
             {"entries_halted", state.entries_halted},
             {"entries_halted_reason", state.entries_halted_reason},
             {"uncertain_orders", state.uncertain_orders},
         })},
        {"pnl", std::move(pnl_json)},
        {"treasury", std::move(treasury_json)},
        {"equity", decimal_or_null(state.equity)},
        {"unpriced", unpriced(input)},
        {"peak_equity", to_text(state.peak)},
        {"account_id", state.account_id.text()},
        {"state_version", state.state_version},
        {"market_modes", market_modes(state)},
        {"strategy_ids", strategy_ids(state)},
        {"spendable_cash", to_text(std::max(Decimal(), state.cash_free))},
        {"symbols", planning_symbols(state, input.market)},
        {"allowed_envelope", envelopes(input)},
    });
}

Json market_entry(const MarketFacts& facts, Timestamp as_of) {
    const auto spread = spread_bps_of(facts);
    return Json::object({
        {"symbol", facts.symbol.text()},
        {"best_bid", decimal_or_null(facts.best_bid)},
        {"best_ask", decimal_or_null(facts.best_ask)},
        {"mid", decimal_or_null(mid_of(facts))},
        {"spread_bps", spread ? number(*spread) : Json()},
        {"vol_1m", number(facts.vol_1m)},
        {"vol_samples", facts.vol_samples},
        {"staleness_sec", number(staleness_seconds_of(facts, as_of))},
        {"halted", is_halted(facts)},
    });
}

}  // namespace interlock
