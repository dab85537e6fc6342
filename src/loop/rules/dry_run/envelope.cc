// The allowed envelope: how much could be traded now. Sizes that pass form an interval: a venue's
// minimum bounds it below, every limit bounds it above. A closed formula guesses the upper end and
// the gates themselves decide, so the answer holds even where the formula knows less than they do.
#include <algorithm>

#include "codec/json_list.h"
#include "loop/rules/dry_run/dry_run.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

constexpr Decimal kFinestStep = Decimal::from_units(10'000'000'000);  // 1e-8.

// The largest quantity a rule is known to allow, for the guess; none known: nothing.
class Guess {
public:
    void at_most(std::optional<Decimal> qty) {
        if (qty && (!least_ || *qty < *least_)) {
            least_ = qty;
        }
    }
    void at_most_worth(Decimal amount, Decimal price) {
        if (!price.is_positive()) {
            return;
        }
        const auto qty = divide_round_down(amount, price);
        at_most(qty ? std::optional(*qty) : std::nullopt);
    }
    void at_most_unless_zero(Decimal qty) {
        if (qty.is_positive()) {
            at_most(qty);
        }
    }
    std::optional<Decimal> value() const { return least_; }

private:
    std::optional<Decimal> least_;
};

class EnvelopeSearch {
public:
    EnvelopeSearch(const StateFacts& state, const MarketSet& market)
        : state_(state),
          market_(market),
          decision_id_(DecisionId::trusted("envelope")),
          tick_id_(TickId::trusted("envelope")),
          exposed_(whole_exposure()) {
        const std::vector<StrategyId> ids = planner_strategies(state);
        strategy_id_ = ids.empty() ? StrategyId() : ids.front();
    }

    Envelope find(const Symbol& symbol, Side side) {
        plan_.intents.resize(1);
        Intent& probe = plan_.intents[0];
        probe = {};
        probe.intent_id = IntentId::trusted("i0");
        probe.symbol = symbol;
        probe.side = side;
        probe.order_type = OrderType::market;
        probe.time_in_force = TimeInForce::ioc;
        probe.strategy_id = strategy_id_;
        // Whether a trade pays is the planner's question; the envelope is about what is allowed.
        probe.expected_edge_bps = Decimal(1'000'000);

        Envelope envelope;
        envelope.symbol = symbol;
        envelope.side = side;
        const MarketFacts* market = market_.find(symbol);
        const Decimal step = market == nullptr ? kFinestStep : envelope_step(market->rules);
        const Decimal smallest = smallest_qty(market, side, step);
        envelope.blocked_by = reasons_against(smallest);
        if (!envelope.blocked_by.empty()) {
            return envelope;
        }
        const Decimal guess = guess_of(market, side).value_or(smallest);
        envelope.max_qty = largest_passing(smallest, guess, step);
        envelope.max_notional = notional_of(envelope.max_qty, *market);
        return envelope;
    }

private:
    // The least that the venue takes, on the grid.
    Decimal smallest_qty(const MarketFacts* market, Side side, Decimal step) const {
        if (market == nullptr || !market->best_bid || !market->best_ask) {
            return step;
        }
        Decimal least = std::max(step, market->rules.qty_min);
        const auto mid = mid_of(*market);
        // The lower of mid and estimate, as the venue's filter is checked.
        const Decimal price = side == Side::buy && mid ? *mid : price_of(*market);
        if (market->rules.notional_min.is_positive() && price.is_positive()) {
            const auto qty = divide_round_up(market->rules.notional_min, price);
            least = qty ? std::max(least, *qty) : least;
        }
        auto on_grid = ceil_to_step(least, step);
        return on_grid ? *on_grid : least;
    }

    std::optional<Decimal> guess_of(const MarketFacts* market, Side side) const {
        const RiskLimits& limits = state_.limits;
        const MarketRules& rules = market->rules;
        const SymbolFacts* facts = state_.find(plan_.intents[0].symbol);
        Guess guess;
        guess.at_most_unless_zero(rules.qty_max);
        guess.at_most_unless_zero(rules.market_qty_max);
        const Decimal price = price_of(*market);
        if (rules.notional_max.is_positive()) {
            guess.at_most_worth(rules.notional_max, price);
        }
        Reckoning reckon;
        Decimal depth;
        for (const DepthLevel& level : side == Side::buy ? market->asks : market->bids) {
            depth = reckon.add(depth, level.qty);
        }
        guess.at_most(depth);
        if (side == Side::sell) {
            if (facts != nullptr) {
                guess.at_most(reckon.subtract(facts->position, facts->open_sell_qty));
            }
            return guess.value();
        }
        guess.at_most_unless_zero(limits.max_order_qty);
        const Decimal factor = size_factor_of(state_.risk_mode_in(plan_.intents[0].symbol));
        guess.at_most_worth(reckon.multiply_down(limits.max_notional_per_trade, factor), price);
        const Decimal fee = reckon.fraction_of_bps(limits.taker_fee_bps);
        guess.at_most_worth(
            state_.cash_free, reckon.multiply_up(price, reckon.add(Decimal(1), fee)));
        guess.at_most_worth(reckon.subtract(limits.max_portfolio_exposure, exposed_), price);
        if (facts != nullptr) {
            const Decimal here = exposure_of(*facts, market, reckon);
            guess.at_most_worth(reckon.subtract(limits.max_symbol_exposure, here), price);
        }
        return guess.value();
    }

    Decimal largest_passing(Decimal passing, Decimal guess, Decimal step) {
        const auto on_grid = floor_to_step(guess, step);
        Decimal low = passing;
        std::optional<Decimal> failing;
        const Decimal start = on_grid ? *on_grid : passing;
        if (start > low) {
            // Limits that must not be touched put the guess itself out of bounds by one step.
            const auto below = subtract(start, step);
            if (passes(start)) {
                low = start;
            } else {
                failing = start;
                if (below && *below > low && passes(*below)) {
                    low = *below;
                }
            }
        }
        // What the formula did not know of may allow more: widen until something says no.
        for (Decimal width = step; !failing;) {
            const auto higher = add(low, width);
            if (!higher || !passes(*higher)) {
                failing = higher ? std::optional(*higher) : std::nullopt;
                break;
            }
            low = *higher;
            const auto doubled = add(width, width);
            width = doubled ? *doubled : width;
        }
        return failing ? narrow(low, *failing, step) : low;
    }

    // Between a size that passes and one that fails.
    Decimal narrow(Decimal low, Decimal high, Decimal step) {
        while (high.units() - low.units() > step.units()) {
            const __int128 steps = (high.units() - low.units()) / step.units();
            const Decimal middle = Decimal::from_units(low.units() + steps / 2 * step.units());
            (passes(middle) ? low : high) = middle;
        }
        return low;
    }

    // Of the gates, or of the dry run behind them; none: the size passes.
    std::vector<std::string> reasons_against(Decimal qty) {
        plan_.intents[0].qty = qty;
        const GateReport report = run_gates({
            .state = state_,
            .market = market_,
            .plan = plan_,
            .decision_id = decision_id_,
            .tick_id = tick_id_,
            .has_idempotency_key = true,
            .wanted_mode = state_.mode,
            .from_outside = false,
        });
        std::vector<std::string> reasons;
        for (const Breach& breach : report.breaches) {
            reasons.push_back(to_text(breach));
        }
        if (!report.pass) {
            return reasons;
        }
        return run_dry_run({.state = state_,
                            .market = market_,
                            .plan = plan_,
                            .slippage_bps = {},
                            .fee_bps = {},
                            .conflicts = {}})
            .blocking_reasons;
    }
    bool passes(Decimal qty) { return reasons_against(qty).empty(); }

    Decimal price_of(const MarketFacts& market) const {
        Intent one = plan_.intents[0];
        one.qty = Decimal(1);
        return assess_fill(one, market, assumptions_of(state_.limits)).estimate.price;
    }

    Decimal notional_of(Decimal qty, const MarketFacts& market) const {
        Reckoning reckon;
        const Decimal notional = reckon.multiply_up(qty, price_of(market));
        return reckon.overflowed() ? Decimal() : notional;
    }

    static Decimal exposure_of(
        const SymbolFacts& facts, const MarketFacts* market, Reckoning& reckon) {
        const auto mid = market == nullptr ? std::nullopt : mid_of(*market);
        const Decimal held = mid ? reckon.multiply_up(facts.position, *mid) : Decimal();
        return reckon.add(held, facts.open_buy_notional);
    }

    Decimal whole_exposure() const {
        Reckoning reckon;
        Decimal sum;
        for (const SymbolFacts& facts : state_.symbols) {
            sum = reckon.add(sum, exposure_of(facts, market_.find(facts.symbol), reckon));
        }
        return sum;
    }

    const StateFacts& state_;
    const MarketSet& market_;
    const DecisionId decision_id_;
    const TickId tick_id_;
    const Decimal exposed_;
    StrategyId strategy_id_;
    Plan plan_;
};

}  // namespace

std::vector<StrategyId> planner_strategies(const StateFacts& state) {
    std::vector<StrategyId> free;
    std::vector<StrategyId> throttled;
    for (const StrategyFacts& strategy : state.strategies) {
        if (strategy.is_external && strategy.is_active) {
            (strategy.is_disabled ? throttled : free).push_back(strategy.strategy_id);
        }
    }
    return free.empty() ? throttled : free;
}

Decimal envelope_step(const MarketRules& rules) {
    return rules.step_size.is_positive() ? rules.step_size : kFinestStep;
}

std::vector<Envelope> allowed_envelope(const StateFacts& state, const MarketSet& market) {
    std::vector<Envelope> envelopes;
    envelopes.reserve(state.symbols.size() * 2);
    EnvelopeSearch search(state, market);
    for (const SymbolFacts& facts : state.symbols) {
        envelopes.push_back(search.find(facts.symbol, Side::buy));
        envelopes.push_back(search.find(facts.symbol, Side::sell));
    }
    return envelopes;
}

Json encode(const Envelope& envelope) {
    return Json::object({
        {"symbol", envelope.symbol.text()},
        {"side", to_word(envelope.side)},
        {"max_qty", to_text(envelope.max_qty)},
        {"max_notional", to_text(envelope.max_notional)},
        {"blocked_by", json_list(envelope.blocked_by)},
    });
}

}  // namespace interlock
