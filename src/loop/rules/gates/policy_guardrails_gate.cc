// Gate 5 (docs/contracts/agent-loop.md#policy-guardrails): who may trade what now, and the
// pre-trade controls against a planner that repeats itself, trades with itself or floods the venue.
#include <algorithm>

#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

void check_request(const GateInput& input, GateNotes& notes) {
    if (input.wanted_mode != input.state.mode) {
        notes.add(
            breach_codes::kModeMismatch,
            "wanted mode is " + std::string(to_word(input.wanted_mode)) + ", the account's is " +
                std::string(to_word(input.state.mode)));
    }
    if (input.decision_id.empty()) {
        notes.add(breach_codes::kDecisionIdMissing, "decision_id is empty");
    }
    if (input.tick_id.empty()) {
        notes.add(breach_codes::kTickIdMissing, "tick_id is empty");
    }
    if (!input.has_idempotency_key) {
        notes.add(breach_codes::kIdempotencyKeyMissing, "idempotency_key is missing");
    }
    const Plan& plan = input.plan;
    if (input.from_outside && plan.intents.empty() && plan.cancels.empty()) {
        notes.add(breach_codes::kEmptyPlan, "the plan has neither intents nor cancels");
    }
    if (plan.intents.size() > kIntentsMax) {
        notes.add(
            breach_codes::kTooManyIntents,
            std::to_string(plan.intents.size()) + " intents, at most " +
                std::to_string(kIntentsMax));
    }
    if (plan.cancels.size() > kCancelsMax) {
        notes.add(
            breach_codes::kTooManyCancels,
            std::to_string(plan.cancels.size()) + " cancels, at most " +
                std::to_string(kCancelsMax));
    }
}

// What stops every order; cancels stay possible under each of these.
void check_stops(const StateFacts& state, GateNotes& notes) {
    if (!state.trading_enabled) {
        notes.add(breach_codes::kTradingDisabled, "trading is not enabled on this account");
    }
    if (state.kill_switch_active) {
        notes.add(breach_codes::kKillSwitchActive, "the kill switch is on");
    }
    if (state.mode == TradeMode::live && !state.permissions_verified) {
        notes.add(
            breach_codes::kPermissionsUnverified,
            "the venue key's permissions were not verified within 26 hours");
    }
    if (state.risk_mode == RiskMode::halted) {
        notes.add(breach_codes::kRiskModeHalted, "risk mode halted allows cancels only");
    }
}

void check_entry_stops(const StateFacts& state, GateNotes& notes) {
    if (state.uncertain_orders > 0) {
        notes.add(
            breach_codes::kUncertainOrders,
            std::to_string(state.uncertain_orders) + " orders have no known outcome yet");
    }
    if (state.entries_halted) {
        notes.add(
            breach_codes::kEntriesHalted, "entries are halted: " + state.entries_halted_reason);
    }
}

void check_strategy(const IntentScratch& intent, const GateInput& input, GateNotes& notes) {
    const Symbol& symbol = intent.intent->symbol;
    const std::string& name = intent.intent->strategy_id.text();
    const StrategyFacts* strategy = intent.strategy;
    if (strategy == nullptr) {
        notes.add(breach_codes::kUnknownStrategy, symbol, "strategy '" + name + "' is not known");
        return;
    }
    if (!strategy->is_active) {
        notes.add(breach_codes::kStrategyInactive, symbol, "strategy " + name + " is not active");
    }
    if (input.from_outside && !strategy->is_external) {
        notes.add(
            breach_codes::kStrategyNotExternal,
            symbol,
            "strategy " + name + " belongs to a built-in planner");
    }
    if (!intent.is_entry) {
        return;  // A runaway planner loses its entries, never the way out.
    }
    if (strategy->is_disabled) {
        notes.add(
            breach_codes::kStrategyDisabled,
            symbol,
            "strategy " + name +
                " was throttled: until a human re-enables it, it may only reduce and cancel");
    }
    const Decimal executed(strategy->aggressive_executions);
    const Decimal allowed = input.state.limits.repeated_execution_max;
    if (executed > allowed) {
        notes.add(
            breach_codes::kRepeatedExecution,
            symbol,
            sentence("aggressive decisions executed lately:", executed, "at most", allowed));
    }
}

bool is_same_order(const RecentIntent& recent, const Intent& intent) {
    return recent.qty == intent.qty && recent.side == intent.side &&
           recent.limit_price == intent.limit_price && recent.symbol == intent.symbol;
}

// Newest first, and no further back than the window reaches.
void check_duplicate(const Intent& intent, const GateInput& input, GateNotes& notes) {
    const auto& recent = input.state.recent;
    for (auto at = recent.rbegin(); at != recent.rend(); ++at) {
        constexpr __int128 kUnitsPerMicrosecond = 1'000'000'000'000;
        const __int128 age =
            static_cast<__int128>(input.state.now.microseconds) - at->at.microseconds;
        if (Decimal::from_units(age * kUnitsPerMicrosecond) >
            input.state.limits.duplicate_window_sec) {
            return;
        }
        if (is_same_order(*at, intent) && at->decision_id != input.decision_id) {
            notes.add(
                breach_codes::kDuplicateOf,
                intent.symbol,
                "decision " + at->decision_id.text() + " ordered the same",
                at->decision_id.text());
            return;
        }
    }
}

// What our share leaves of the venue's rate is kept for the way out.
void check_rate(const GateInput& input, const PlanScratch& scratch, GateNotes& notes) {
    const auto orders = static_cast<std::int64_t>(input.plan.intents.size());
    const auto check = [&](const Symbol& symbol, std::int64_t used, std::int64_t venue_max) {
        if (venue_max <= 0) {
            return;
        }
        Reckoning reckon;
        const Decimal after = reckon.add(Decimal(used), Decimal(orders));
        const Decimal share = scratch.has_entry ? input.state.limits.order_rate_share : Decimal(1);
        const Decimal allowed = reckon.multiply_down(share, Decimal(venue_max));
        if (reckon.overflowed()) {
            notes.add_overflow(symbol);
        } else if (after > allowed) {
            notes.add(
                breach_codes::kOrderRate,
                symbol,
                sentence("orders in the venue's window would be", after, "of", allowed));
        }
    };
    for (const SymbolScratch& symbol : scratch.symbols) {
        if (symbol.market != nullptr) {
            const MarketRules& rules = symbol.market->rules;
            check(symbol.symbol, input.state.orders_last_10s, rules.orders_per_10s_max);
            check(symbol.symbol, input.state.orders_today, rules.orders_per_day_max);
        }
    }
}

void check_edge(
    const IntentScratch& intent,
    const RiskLimits& limits,
    GateNotes& notes,
    std::vector<std::string>& warnings) {
    const Symbol& symbol = intent.intent->symbol;
    const Decimal fee = intent.estimate.is_maker ? limits.maker_fee_bps : limits.taker_fee_bps;
    Reckoning reckon;
    const Decimal costs = reckon.add(reckon.add(fee, fee), limits.slippage_bps);
    if (reckon.overflowed()) {
        notes.add_overflow(symbol);
        return;
    }
    const Decimal edge = intent.intent->expected_edge_bps.value_or(Decimal());
    if (edge > costs) {
        return;
    }
    if (!limits.enforce_edge.is_zero()) {
        notes.add(
            breach_codes::kThinEdge,
            symbol,
            sentence("the expected edge in bps is", edge, "and must be above", costs));
        return;
    }
    std::string warning = std::string(breach_codes::kThinEdge) + ":" + std::string(symbol.text());
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
        warnings.push_back(std::move(warning));
    }
}

void check_symbol(
    const IntentScratch& intent,
    const SymbolScratch& symbol,
    const StateFacts& state,
    GateNotes& notes) {
    if (symbol.facts == nullptr || !symbol.facts->in_universe) {
        notes.add(
            breach_codes::kNotInUniverse, symbol.symbol, "a human has not approved this symbol");
    }
    const RiskMode mode = state.risk_mode_in(symbol.symbol);
    // Of the account it is told once, by check_stops.
    if (mode == RiskMode::halted && state.risk_mode != RiskMode::halted) {
        notes.add(
            breach_codes::kRiskModeHalted,
            symbol.symbol,
            "this market is in risk mode halted, which allows cancels only");
    }
    if (intent.is_entry && mode == RiskMode::defensive && symbol.market != nullptr &&
        symbol.market->is_high_vol) {
        notes.add(
            breach_codes::kHighVolSymbol,
            symbol.symbol,
            "defensive mode opens nothing in a high-volatility symbol");
    }
    if (intent.crosses_own) {
        notes.add(
            breach_codes::kSelfCross,
            symbol.symbol,
            intent.intent->intent_id.text() + " would trade with an own order");
    }
}

}  // namespace

void check_policy_guardrails(
    const GateInput& input,
    const PlanScratch& scratch,
    GateNotes& notes,
    std::vector<std::string>& warnings) {
    check_request(input, notes);
    if (scratch.intents.empty()) {
        return;
    }
    check_stops(input.state, notes);
    if (scratch.has_entry) {
        check_entry_stops(input.state, notes);
    }
    for (const IntentScratch& intent : scratch.intents) {
        check_symbol(intent, scratch.symbol_of(intent), input.state, notes);
        check_strategy(intent, input, notes);
        if (input.from_outside) {
            check_duplicate(*intent.intent, input, notes);
        }
        if (intent.is_entry) {
            check_edge(intent, input.state.limits, notes, warnings);
        }
    }
    check_rate(input, scratch, notes);
}

}  // namespace interlock
