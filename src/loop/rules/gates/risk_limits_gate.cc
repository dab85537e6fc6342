// Gate 1 (docs/contracts/agent-loop.md#risk-limits): daily loss, drawdown and the size of single
// entries. Only losses count; a hoped-for gain offsets nothing.
#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

void check_daily_loss(const GateFacts& facts, GateNotes& notes) {
    Reckoning reckon;
    const Decimal spent = reckon.subtract(facts.scratch.losses, facts.scratch.fees);
    const Decimal result = reckon.add(facts.state.realized_today, spent);
    const Decimal stop = reckon.subtract(Decimal(), facts.state.limits.daily_loss_limit);
    if (reckon.overflowed()) {
        notes.add_overflow({});
    } else if (result <= stop) {
        notes.add(
            breach_codes::kDailyLoss,
            sentence("today's net result would be", result, "and must stay above", stop));
    }
}

void check_drawdown(const GateFacts& facts, GateNotes& notes) {
    const StateFacts& state = facts.state;
    if (!state.equity) {
        notes.add(breach_codes::kEquityUnknown, "a held asset has no price");
    }
    if (!state.peak.is_positive()) {
        notes.add(breach_codes::kPeakUnknown, "the equity peak is not positive");
    }
    if (!state.equity || !state.peak.is_positive()) {
        return;
    }
    Reckoning reckon;
    const Decimal spent = reckon.add(facts.scratch.fees, facts.scratch.adverse);
    const Decimal equity = reckon.subtract(*state.equity, spent);
    const Decimal fall = reckon.subtract(state.peak, equity);
    // Multiplied out instead of divided: exact but for one rounding, and that to the strict side.
    const Decimal allowed = reckon.multiply_down(state.limits.max_drawdown, state.peak);
    if (reckon.overflowed()) {
        notes.add_overflow({});
    } else if (fall >= allowed) {
        notes.add(
            breach_codes::kDrawdown,
            sentence("the fall from the peak would be", fall, "and must stay below", allowed));
    }
}

void check_entry_size(const IntentScratch& intent, const StateFacts& state, GateNotes& notes) {
    const Symbol& symbol = intent.intent->symbol;
    const RiskMode mode = state.risk_mode_in(symbol);
    const Decimal factor = size_factor_of(mode);
    if (factor.is_zero()) {
        notes.add(
            breach_codes::kEntriesStopped,
            symbol,
            "risk mode " + std::string(to_word(mode)) + " allows no entries");
    } else if (intent.problem == FillProblem::none) {
        Reckoning reckon;
        const Decimal allowed = reckon.multiply_down(state.limits.max_notional_per_trade, factor);
        if (reckon.overflowed()) {
            notes.add_overflow(symbol);
        } else if (intent.estimate.notional > allowed) {
            notes.add(
                breach_codes::kNotionalPerTrade,
                symbol,
                sentence("notional", intent.estimate.notional, "may be at most", allowed));
        }
    }
    const Decimal qty_max = state.limits.max_order_qty;
    if (!qty_max.is_zero() && intent.intent->qty > qty_max) {
        notes.add(
            breach_codes::kOrderQty,
            symbol,
            sentence("quantity", intent.intent->qty, "may be at most", qty_max));
    }
}

}  // namespace

void check_risk_limits(const GateFacts& facts, GateNotes& notes) {
    note_fill_problems(facts.scratch, notes);
    check_daily_loss(facts, notes);
    check_drawdown(facts, notes);
    for (const IntentScratch& intent : facts.scratch.intents) {
        if (intent.is_entry) {
            check_entry_size(intent, facts.state, notes);
        }
    }
}

}  // namespace interlock
