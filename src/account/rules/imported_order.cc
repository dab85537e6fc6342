#include "account/rules/imported_order.h"

#include <algorithm>
#include <utility>

namespace interlock {

OrderRecord imported_order(const VenueAccount& account, const VenueOrder& seen) {
    OrderRecord order;
    order.request = {
        .account = account,
        .order_client_id = seen.order_client_id,
        .symbol = seen.symbol,
        .side = seen.side,
        .order_type = seen.order_type,
        .time_in_force = seen.time_in_force,
        .post_only = seen.post_only,
        .qty = seen.qty,
        .limit_price = seen.limit_price,
    };
    // What asked for it is lost.
    order.decision_id = DecisionId::trusted("sys_restore");
    order.tick_id = TickId::trusted("-");
    order.intent_id = IntentId::trusted("imported");
    order.strategy_id = StrategyId::trusted("imported");
    order.state = seen.state;
    order.exchange_order_id = seen.exchange_order_id;
    order.reported_qty = seen.filled_qty;
    order.reserve_price = seen.limit_price.value_or(Decimal());
    order.is_reduce = seen.side == Side::sell;
    order.cancel_reason = seen.cancel_reason;
    order.created_at = seen.updated_at;
    order.updated_at = seen.updated_at;
    order.submitted_at = seen.updated_at;
    return order;
}

RecoveryStep escalate(RecoveryState state, const RecoveryCause& cause) {
    const bool was_escalated = state.phase == RecoveryPhase::escalated;
    RecoveryStep step = enter_recovery(std::move(state), cause);
    step.state.phase = RecoveryPhase::escalated;
    step.state.exposure_at_entry = std::max(step.state.exposure_at_entry, cause.exposure);
    step.state.next_cycle_at = cause.at;
    step.escalated = !was_escalated;
    return step;
}

}  // namespace interlock
