// A market that a test writes by hand: one symbol, ABCUSDT, with the quotes and trades it is told.
// What was written holds until something else is.
#pragma once

#include <map>
#include <vector>

#include "market/rules/market_model.h"

namespace interlock {

inline MarketRules scripted_rules() {
    MarketRules rules;
    rules.symbol = Symbol::parse("ABCUSDT").value();
    rules.base = Asset::parse("ABC").value();
    rules.quote = Asset::parse("USDT").value();
    rules.tick_size = Decimal::parse("0.01").value();
    rules.price_min = Decimal::parse("0.01").value();
    rules.price_max = Decimal(100'000);
    rules.step_size = Decimal::parse("0.001").value();
    rules.qty_min = Decimal::parse("0.001").value();
    rules.qty_max = Decimal(10'000);
    rules.market_qty_max = Decimal(5'000);
    rules.notional_min = Decimal(5);
    rules.notional_max = Decimal(1'000'000);
    rules.percent_up = Decimal::parse("1.5").value();
    rules.percent_down = Decimal::parse("0.5").value();
    rules.open_orders_max = 20;
    return rules;
}

// Bids 99.99, 99.98, 99.97 and asks 100.01, 100.02, 100.03, of 2 ABC each.
inline MarketView calm_view() {
    MarketView view;
    for (std::int64_t i = 0; i < 3; ++i) {
        view.bids.push_back({{9'999 - i}, {2'000}});
        view.asks.push_back({{10'001 + i}, {2'000}});
    }
    return view;
}

class ScriptedMarket final : public MarketModel {
public:
    explicit ScriptedMarket(MarketRules rules = scripted_rules()) : rules_{std::move(rules)} {
        views_[0] = calm_view();
    }
    // From this step on; trades happen in this step only.
    void set(std::int64_t step, MarketView view) { views_[step] = std::move(view); }

    std::span<const MarketRules> markets() const override { return rules_; }
    MarketTouch touch_at(std::size_t, std::int64_t step) const override {
        const MarketView& view = written_at(step)->second;
        return {
            .bid = view.bids.empty() ? Ticks{} : view.bids.front().price,
            .ask = view.asks.empty() ? Ticks{} : view.asks.front().price,
            .halted = view.halted};
    }
    void view_at(std::size_t, std::int64_t step, MarketView& view) const override {
        const auto written = written_at(step);
        view = written->second;
        view.at = time_of_step(step);
        if (written->first != step) {
            view.trades.clear();
        }
    }

private:
    std::map<std::int64_t, MarketView>::const_iterator written_at(std::int64_t step) const {
        return std::prev(views_.upper_bound(step));
    }
    std::vector<MarketRules> rules_;
    std::map<std::int64_t, MarketView> views_;
};

}  // namespace interlock
