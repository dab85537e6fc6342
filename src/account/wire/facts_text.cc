#include "account/wire/facts_text.h"

#include "base/canonical_json.h"
#include "codec/canonical_writer.h"

namespace interlock {
namespace {

// More than the last text by some, so that a little growth needs no second allocation.
constexpr std::size_t kSpareBytes = 512;

void append(CanonicalWriter& out, const SymbolFacts& facts) {
    out.open_object();
    out.decimal("avg_price", facts.avg_price);
    out.decimal("best_own_ask", facts.best_own_ask);
    out.decimal("best_own_bid", facts.best_own_bid);
    out.flag("in_universe", facts.in_universe);
    out.decimal("open_buy_notional", facts.open_buy_notional);
    out.decimal("open_buy_quote", facts.open_buy_quote);
    out.integer("open_orders", facts.open_orders);
    out.decimal("open_sell_qty", facts.open_sell_qty);
    out.decimal("position", facts.position);
    out.text("risk_mode", to_word(facts.risk_mode));
    out.text("symbol", facts.symbol.text());
    out.close_object();
}

void append(CanonicalWriter& out, const StrategyFacts& facts) {
    out.open_object();
    out.integer("aggressive_executions", facts.aggressive_executions);
    out.flag("is_active", facts.is_active);
    out.flag("is_disabled", facts.is_disabled);
    out.flag("is_external", facts.is_external);
    out.decimal("max_spread_bps", facts.max_spread_bps);
    out.decimal("max_staleness_sec", facts.max_staleness_sec);
    out.decimal("max_vol_1m", facts.max_vol_1m);
    out.text("strategy_id", facts.strategy_id.text());
    out.close_object();
}

void append(CanonicalWriter& out, const RecentIntent& intent) {
    out.open_object();
    out.integer("at_us", intent.at.microseconds);
    out.text("decision_id", intent.decision_id.text());
    out.decimal("limit_price", intent.limit_price);
    out.decimal("qty", intent.qty);
    out.text("side", to_word(intent.side));
    out.text("symbol", intent.symbol.text());
    out.close_object();
}

void append(CanonicalWriter& out, const OpenOrderFacts& order) {
    out.open_object();
    out.flag("is_reduce", order.is_reduce);
    out.flag("is_uncertain", order.is_uncertain);
    out.text("order_client_id", order.order_client_id.text());
    out.decimal("price", order.price);
    out.decimal("remaining_qty", order.remaining_qty);
    out.text("side", to_word(order.side));
    out.text("symbol", order.symbol.text());
    out.close_object();
}

template <class T>
void append_all(CanonicalWriter& out, std::string_view key, const std::vector<T>& items) {
    out.key(key);
    out.open_array();
    for (const T& item : items) {
        out.next();
        append(out, item);
    }
    out.close_array();
}

void append_levels(
    CanonicalWriter& out, std::string_view key, const std::vector<DepthLevel>& levels) {
    out.key(key);
    out.open_array();
    for (const DepthLevel& level : levels) {
        out.next();
        out.open_array();
        out.item(to_text(level.price));
        out.item(to_text(level.qty));
        out.close_array();
    }
    out.close_array();
}

void append(CanonicalWriter& out, const MarketFacts& facts, std::string_view rules) {
    out.open_object();
    append_levels(out, "asks", facts.asks);
    out.decimal("best_ask", facts.best_ask);
    out.decimal("best_bid", facts.best_bid);
    append_levels(out, "bids", facts.bids);
    out.integer("exchange_at_us", facts.exchange_at.microseconds);
    out.flag("is_high_vol", facts.is_high_vol);
    out.flag("is_hydrated", facts.is_hydrated);
    out.integer("received_at_us", facts.received_at.microseconds);
    out.raw("rules", rules);
    out.decimal("spread_median_5m_bps", facts.spread_median_5m_bps);
    out.integer("spread_samples", facts.spread_samples);
    out.flag("status_halted", facts.status_halted);
    out.text("symbol", facts.symbol.text());
    out.decimal("vol_1m", facts.vol_1m);
    out.integer("vol_samples", facts.vol_samples);
    out.close_object();
}

}  // namespace

Result<const std::string*> FactsText::limits_text(const RiskLimits& limits) {
    if (limits_text_.empty() || limits_ != limits) {
        TRY_ASSIGN(limits_text_, canonical_json(encode(limits)));
        limits_ = limits;
    }
    return &limits_text_;
}

Result<const std::string*> FactsText::rules_text(const MarketRules& rules) {
    auto held = rules_.find(rules.symbol);
    if (held == rules_.end() || held->second.rules != rules) {
        TRY_ASSIGN(std::string text, canonical_json(encode(rules)));
        if (held == rules_.end() && rules_.size() >= kRulesKeptMax) {
            rules_.clear();
        }
        held = rules_.insert_or_assign(rules.symbol, HeldRules{rules, std::move(text)}).first;
    }
    return &held->second.text;
}

Result<std::string> FactsText::of(const StateFacts& facts) {
    TRY_ASSIGN(const std::string* limits, limits_text(facts.limits));
    std::string text;
    text.reserve(state_size_ + kSpareBytes);
    CanonicalWriter out(text);
    out.open_object();
    out.text("account_id", facts.account_id.text());
    out.decimal("accrual_mean_30d", facts.accrual_mean_30d);
    out.decimal("cash_free", facts.cash_free);
    out.flag("entries_halted", facts.entries_halted);
    out.text("entries_halted_reason", facts.entries_halted_reason);
    out.decimal("equity", facts.equity);
    out.decimal("fees_mean_30d", facts.fees_mean_30d);
    out.decimal("fees_today", facts.fees_today);
    out.flag("kill_switch_active", facts.kill_switch_active);
    out.raw("limits", *limits);
    out.text("mode", to_word(facts.mode));
    out.decimal("net_deposits", facts.net_deposits);
    out.integer("now_us", facts.now.microseconds);
    append_all(out, "open_orders", facts.open_orders);
    out.decimal("ops_reserve", facts.ops_reserve);
    out.integer("orders_last_10s", facts.orders_last_10s);
    out.integer("orders_today", facts.orders_today);
    out.decimal("other_costs_per_day", facts.other_costs_per_day);
    out.decimal("peak", facts.peak);
    out.flag("permissions_verified", facts.permissions_verified);
    out.text("quote", facts.quote.text());
    out.decimal("realized_today", facts.realized_today);
    append_all(out, "recent", facts.recent);
    out.text("risk_mode", to_word(facts.risk_mode));
    out.decimal("rolling_surplus_30d", facts.rolling_surplus_30d);
    out.integer("state_version", facts.state_version);
    append_all(out, "strategies", facts.strategies);
    append_all(out, "symbols", facts.symbols);
    out.text("tenant_id", facts.tenant_id.text());
    out.flag("trading_enabled", facts.trading_enabled);
    out.integer("uncertain_orders", facts.uncertain_orders);
    out.close_object();
    TRY(out.verdict());
    state_size_ = text.size();
    return text;
}

Result<std::string> FactsText::of(const MarketSet& set) {
    std::string text;
    text.reserve(market_size_ + kSpareBytes);
    CanonicalWriter out(text);
    out.open_object();
    out.key("markets");
    out.open_array();
    for (const MarketFacts& facts : set.markets) {
        TRY_ASSIGN(const std::string* rules, rules_text(facts.rules));
        out.next();
        append(out, facts, *rules);
    }
    out.close_array();
    out.close_object();
    TRY(out.verdict());
    market_size_ = text.size();
    return text;
}

}  // namespace interlock
