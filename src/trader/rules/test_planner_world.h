// A world for tests of what strategies plan: an account on one market, with signals and own orders
// that can be changed, and the checks every plan must pass.
#pragma once

#include <string>
#include <vector>

#include "account/rules/symbol_book.h"
#include "loop/rules/gates/sample_world.h"
#include "trader/rules/strategy.h"

namespace interlock {

class PlannerWorld {
public:
    PlannerWorld() : world_(sample_world()) {
        state().find(symbol());
        world_.state.limits.max_symbol_exposure = Decimal(1'000'000);
        world_.state.limits.max_notional_per_trade = Decimal(1'000'000);
        quote("50000", "50010");
    }

    static Decimal dec(std::string_view text) { return sample_decimal(text); }
    static Symbol symbol() { return sample_symbol(); }
    StateFacts& state() { return world_.state; }
    const StateFacts& state() const { return world_.state; }
    MarketFacts& market() { return world_.market.markets.front(); }
    const MarketSet& markets() const { return world_.market; }
    SymbolFacts& held() { return world_.state.symbols.front(); }
    MarketSignals& signals() { return signals_; }
    std::vector<OwnOrder>& own() { return own_; }
    Json& memory() { return memory_; }
    RiskPosture posture = RiskPosture::balanced;
    Decimal cost_qty{1};  // Of which the strategy learns the cost.
    Decimal base_fee;     // What a buy is charged in base, as a fraction.
    SymbolBook& book() { return book_; }

    void quote(std::string_view bid, std::string_view ask) {
        market().best_bid = dec(bid);
        market().best_ask = dec(ask);
    }
    // Held from before, at 50000 each.
    void hold(std::string_view qty) {
        held().position = dec(qty);
        book_.lots.clear();
        book_.position = book_.cost = Decimal();
        const Decimal cost = multiply_round_up(dec(qty), Decimal(50'000)).value();
        static_cast<void>(add_lot(book_, {.qty = dec(qty), .cost = cost, .at = state().now}));
    }
    void cash(std::string_view free) { state().cash_free = dec(free); }

    // An own order that stands, with what it locks taken out of the free funds.
    void place(std::string_view id, Side side, Decimal price, Decimal qty) {
        OwnOrder order;
        order.order_client_id = OrderClientId::trusted(std::string(id));
        order.side = side;
        order.price = price;
        order.remaining_qty = qty;
        own_.push_back(order);
        ++held().open_orders;
        if (side == Side::sell) {
            held().open_sell_qty = add(held().open_sell_qty, qty).value();
            return;
        }
        const Decimal notional = multiply_round_up(price, qty).value();
        const Decimal fee = divide_round_up(state().limits.taker_fee_bps, Decimal(10'000)).value();
        const Decimal cost = multiply_round_up(notional, add(Decimal(1), fee).value()).value();
        held().open_buy_notional = add(held().open_buy_notional, notional).value();
        held().open_buy_quote = add(held().open_buy_quote, cost).value();
        state().cash_free = subtract(state().cash_free, cost).value();
    }
    // Carries out a plan: cancels leave, intents stand.
    void carry_out(const Plan& plan) {
        for (const OrderClientId& id : plan.cancels) {
            remove(id);
        }
        for (const Intent& intent : plan.intents) {
            place(
                "o" + std::to_string(next_order_++), intent.side, *intent.limit_price, intent.qty);
        }
    }
    // The order is filled at its price, whole or a part of it, without a fee in quote.
    void fill(const OrderClientId& id, std::optional<Decimal> part = std::nullopt) {
        const OwnOrder order = remove(id);
        const Decimal qty = std::min(part.value_or(order.remaining_qty), order.remaining_qty);
        const Decimal notional = multiply_round_down(order.price, qty).value();
        const bool is_buy = order.side == Side::buy;
        const Decimal fee = multiply_round_up(qty, base_fee).value();
        const Decimal moved = is_buy ? subtract(qty, fee).value() : subtract({}, qty).value();
        held().position = add(held().position, moved).value();
        state().cash_free = is_buy ? subtract(state().cash_free, notional).value()
                                   : add(state().cash_free, notional).value();
        note_fill(order, moved, notional);
        if (qty < order.remaining_qty) {
            place(id.text(), order.side, order.price, subtract(order.remaining_qty, qty).value());
        }
    }
    OwnOrder remove(const OrderClientId& id) {
        std::vector<OwnOrder> kept;
        OwnOrder removed;
        for (const OwnOrder& order : own_) {
            (order.order_client_id == id ? removed = order, removed : kept.emplace_back(order));
        }
        own_.clear();
        const Decimal locked = held().open_buy_quote;
        state().cash_free = add(state().cash_free, locked).value();
        held().open_buy_quote = held().open_buy_notional = held().open_sell_qty = Decimal();
        held().open_orders = 0;
        for (const OwnOrder& order : kept) {
            place(order.order_client_id.text(), order.side, order.price, order.remaining_qty);
        }
        return removed;
    }

    StrategyInput input() const {
        told_ = gather_own_trades(&book_, strategy_id_, cost_qty);
        return {
            .strategy_id = strategy_id_,
            .symbol = symbol_,
            .state = world_.state,
            .market = world_.market,
            .signals = signals_,
            .own_orders = own_,
            .memory = memory_,
            .trades = &told_,
            .posture = posture,
        };
    }
    // Steps, and keeps the memory for the next one.
    StrategyStep step(const Strategy& strategy) {
        StrategyStep step = strategy.step(input()).value();
        memory_ = step.memory;
        return step;
    }
    void set_signals(TimeframeSignals one) { signals_.list = {std::move(one)}; }

private:
    void note_fill(const OwnOrder& order, Decimal moved, Decimal notional) {
        if (moved.is_positive()) {
            static_cast<void>(add_lot(book_, {.qty = moved, .cost = notional, .at = state().now}));
        } else {
            static_cast<void>(take_lots(book_, subtract({}, moved).value()));
        }
        StrategyTally& tally = tally_for(book_.tallies, strategy_id_);
        note_traded(
            tally,
            add(tally.net_qty, moved).value(),
            {.price = order.price, .side = order.side, .trade_id = ++trades_, .at = state().now});
    }

    SampleWorld world_;
    SymbolBook book_;
    mutable OwnTrades told_;
    std::int64_t trades_ = 0;
    StrategyId strategy_id_ = StrategyId::trusted("s1");
    Symbol symbol_ = sample_symbol();
    MarketSignals signals_;
    std::vector<OwnOrder> own_;
    Json memory_;
    int next_order_ = 0;
};

inline std::shared_ptr<const Strategy> opened_strategy(
    std::string_view type, std::string_view config = "{}") {
    return find_strategy_type(type)->open(parse_json(config).value()).value();
}

}  // namespace interlock
