#include "loop/rules/order_terms.h"

#include "loop/rules/gates/gates.h"
#include "loop/rules/order_identity.h"
#include "loop/wire/loop_tools.h"

namespace interlock {

OrderRecord new_order(const OrderOrigin& origin, const Intent& intent) {
    OrderRecord order;
    order.request = {
        .account = origin.account,
        .order_client_id = derive_order_client_id(origin.decision_id, intent),
        .symbol = intent.symbol,
        .side = intent.side,
        .order_type = intent.order_type,
        .time_in_force = intent.time_in_force,
        .post_only = intent.post_only,
        .qty = intent.qty,
        .limit_price = intent.limit_price,
    };
    order.decision_id = origin.decision_id;
    order.tick_id = origin.tick_id;
    order.intent_id = intent.intent_id;
    order.strategy_id = intent.strategy_id;
    order.is_reduce = intent.side == Side::sell;
    order.created_at = origin.at;
    order.updated_at = origin.at;
    return order;
}

Result<Decimal> reserve_price(
    const Intent& intent, const MarketFacts* market, const RiskLimits& limits) {
    if (intent.limit_price) {
        return *intent.limit_price;
    }
    if (market == nullptr || !market->best_ask || !market->best_bid) {
        return fail(errors::stale_market_data, "There is no price to reserve a market order at.");
    }
    if (intent.side == Side::sell) {
        return *market->best_bid;
    }
    TRY_ASSIGN(const Decimal share, divide_round_up(limits.touch_collar_bps, Decimal(10'000)));
    TRY_ASSIGN(const Decimal factor, add(Decimal(1), share));
    return multiply_round_up(*market->best_ask, factor);
}

std::optional<Decimal> touch_price(const Intent& intent, const MarketFacts* market) {
    if (market == nullptr) {
        return std::nullopt;
    }
    return intent.side == Side::buy ? market->best_ask : market->best_bid;
}

bool is_aggressive(const Intent& intent, const MarketFacts* market, const RiskLimits& limits) {
    if (market == nullptr) {
        return true;
    }
    const auto estimate = estimate_fill(
        intent,
        *market,
        {.slippage_bps = limits.slippage_bps,
         .taker_fee_bps = limits.taker_fee_bps,
         .maker_fee_bps = limits.maker_fee_bps});
    return !estimate || !estimate->is_maker;
}

}  // namespace interlock
