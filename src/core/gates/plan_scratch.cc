#include "core/gates/plan_scratch.h"

#include <algorithm>

#include "base/errors.h"
#include "core/gates/reckoning.h"

namespace interlock {
namespace {

bool takes(const Intent& intent, const MarketFacts& market) {
    if (intent.order_type == OrderType::market) {
        return true;
    }
    if (intent.post_only) {
        return false;  // The venue refuses it rather than let it take.
    }
    return intent.side == Side::buy ? *intent.limit_price >= *market.best_ask
                                    : *intent.limit_price <= *market.best_bid;
}

// The price of an order that takes: through the touch by the slippage, capped at the limit.
Decimal taking_price(
    const Intent& intent, const MarketFacts& market, Decimal slippage, Reckoning& reckon) {
    const Decimal one(1);
    if (intent.side == Side::buy) {
        const Decimal price = reckon.multiply_up(*market.best_ask, reckon.add(one, slippage));
        return intent.limit_price ? std::min(price, *intent.limit_price) : price;
    }
    const Decimal kept = std::max(Decimal(), reckon.subtract(one, slippage));
    const Decimal price = reckon.multiply_down(*market.best_bid, kept);
    return intent.limit_price ? std::max(price, *intent.limit_price) : price;
}

class PlanApplication {
public:
    explicit PlanApplication(const ScratchInput& input) : input_(input) {
        const std::size_t count = std::min(input.plan.intents.size(), kIntentsMax);
        scratch_.intents.reserve(count);
        scratch_.symbols.reserve(count);
    }

    PlanScratch apply() && {
        const std::size_t count = std::min(input_.plan.intents.size(), kIntentsMax);
        for (std::size_t i = 0; i < count; ++i) {
            apply(input_.plan.intents[i]);
        }
        scratch_.overflowed = reckon_.overflowed();
        return std::move(scratch_);
    }

private:
    void apply(const Intent& intent) {
        IntentScratch& now = scratch_.intents.emplace_back();
        now.intent = &intent;
        now.symbol_at = symbol_at(intent.symbol);
        now.strategy = strategy_of(intent);
        SymbolScratch& symbol = scratch_.symbols[now.symbol_at];
        ++symbol.orders;
        assess(now, symbol);
        // A quantity that is not positive would count backwards in everything below.
        if (now.problem != FillProblem::malformed) {
            classify(now, symbol);
        }
        scratch_.has_entry |= now.is_entry;
        if (now.problem == FillProblem::none) {
            add_costs(now, symbol);
            look_for_own_orders(now, symbol);
        }
    }

    void assess(IntentScratch& now, const SymbolScratch& symbol) const {
        if (!is_well_formed(*now.intent)) {
            now.problem = FillProblem::malformed;
        } else if (symbol.market == nullptr || !symbol.mid) {
            now.problem = FillProblem::price_unknown;
        } else {
            const auto assessed = assess_fill(*now.intent, *symbol.market, input_.assumptions);
            now.problem = assessed.problem;
            now.estimate = assessed.estimate;
        }
    }

    void classify(IntentScratch& now, SymbolScratch& symbol) {
        if (now.intent->side == Side::buy) {
            symbol.has_buy = true;
            return;
        }
        now.is_entry = now.intent->qty > symbol.sellable;
        // Inventory is reckoned apart from the costs: an absurd cost must not cost a reduction its
        // exemption, and an absurd inventory is none.
        Reckoning inventory;
        symbol.sellable = inventory.subtract(symbol.sellable, now.intent->qty);
        if (inventory.overflowed()) {
            symbol.sellable = {};
        }
    }

    void add_costs(const IntentScratch& now, SymbolScratch& symbol) {
        const Decimal qty = now.intent->qty;
        const FillEstimate& fill = now.estimate;
        scratch_.fees = reckon_.add(scratch_.fees, fill.fee);
        Decimal worse = reckon_.subtract(fill.price, *symbol.mid);
        if (now.intent->side == Side::buy) {
            symbol.buys_notional = reckon_.add(symbol.buys_notional, fill.notional);
        } else {
            worse = reckon_.subtract(Decimal(), worse);
            const Decimal paid = symbol.facts == nullptr ? Decimal() : symbol.facts->avg_price;
            const Decimal gain = reckon_.subtract(fill.price, paid);
            if (gain.is_negative()) {
                scratch_.losses = reckon_.add(scratch_.losses, reckon_.multiply_down(qty, gain));
            }
        }
        if (worse.is_positive()) {
            scratch_.adverse = reckon_.add(scratch_.adverse, reckon_.multiply_up(qty, worse));
        }
    }

    static void look_for_own_orders(IntentScratch& now, SymbolScratch& symbol) {
        const Intent& intent = *now.intent;
        const Decimal price = intent.limit_price.value_or(now.estimate.price);
        const bool rests =
            intent.order_type == OrderType::limit && intent.time_in_force == TimeInForce::gtc;
        if (intent.side == Side::buy) {
            now.crosses_own = symbol.best_own_ask && price >= *symbol.best_own_ask;
            if (rests && (!symbol.best_own_bid || price > *symbol.best_own_bid)) {
                symbol.best_own_bid = price;
            }
            return;
        }
        now.crosses_own = symbol.best_own_bid && price <= *symbol.best_own_bid;
        if (rests && (!symbol.best_own_ask || price < *symbol.best_own_ask)) {
            symbol.best_own_ask = price;
        }
    }

    std::size_t symbol_at(const Symbol& symbol) {
        for (std::size_t i = 0; i < scratch_.symbols.size(); ++i) {
            if (scratch_.symbols[i].symbol == symbol) {
                return i;
            }
        }
        SymbolScratch& fresh = scratch_.symbols.emplace_back();
        fresh.symbol = symbol;
        fresh.market = input_.market.find(symbol);
        fresh.facts = input_.state.find(symbol);
        if (fresh.market != nullptr) {
            fresh.mid = mid_of(*fresh.market);
        }
        if (fresh.facts != nullptr) {
            Reckoning inventory;
            const Decimal left =
                inventory.subtract(fresh.facts->position, fresh.facts->open_sell_qty);
            fresh.sellable = inventory.overflowed() ? Decimal() : left;
            fresh.best_own_bid = fresh.facts->best_own_bid;
            fresh.best_own_ask = fresh.facts->best_own_ask;
        }
        return scratch_.symbols.size() - 1;
    }

    const StrategyFacts* strategy_of(const Intent& intent) const {
        // Mostly one strategy plans everything.
        if (scratch_.intents.size() > 1) {
            const IntentScratch& before = scratch_.intents[scratch_.intents.size() - 2];
            if (before.intent->strategy_id == intent.strategy_id) {
                return before.strategy;
            }
        }
        return input_.state.find(intent.strategy_id);
    }

    const ScratchInput& input_;
    PlanScratch scratch_;
    Reckoning reckon_;
};

}  // namespace

bool is_well_formed(const Intent& intent) {
    const bool wants_price = intent.order_type == OrderType::limit;
    return intent.qty.is_positive() && intent.limit_price.has_value() == wants_price &&
           (!wants_price || intent.limit_price->is_positive());
}

FillAssumptions assumptions_of(const RiskLimits& limits) {
    return {
        .slippage_bps = limits.slippage_bps,
        .taker_fee_bps = limits.taker_fee_bps,
        .maker_fee_bps = limits.maker_fee_bps,
    };
}

FillAssessment assess_fill(
    const Intent& intent, const MarketFacts& market, const FillAssumptions& assumptions) {
    FillAssessment result;
    if (!is_well_formed(intent)) {
        result.problem = FillProblem::malformed;
        return result;
    }
    // A negative assumption would be a gift; there is none.
    const bool is_priced = market.best_bid && market.best_ask && market.best_bid->is_positive() &&
                           market.best_ask->is_positive();
    if (!is_priced || assumptions.slippage_bps.is_negative() ||
        assumptions.taker_fee_bps.is_negative() || assumptions.maker_fee_bps.is_negative()) {
        result.problem = FillProblem::price_unknown;
        return result;
    }
    Reckoning reckon;
    FillEstimate& fill = result.estimate;
    fill.is_maker = !takes(intent, market);
    fill.price =
        fill.is_maker
            ? *intent.limit_price
            : taking_price(
                  intent, market, reckon.fraction_of_bps(assumptions.slippage_bps), reckon);
    fill.notional = reckon.multiply_up(intent.qty, fill.price);
    const Decimal fee_bps = fill.is_maker ? assumptions.maker_fee_bps : assumptions.taker_fee_bps;
    fill.fee = reckon.multiply_up(fill.notional, reckon.fraction_of_bps(fee_bps));
    if (reckon.overflowed()) {
        result = {.problem = FillProblem::overflow, .estimate = {}};
    }
    return result;
}

Result<FillEstimate> estimate_fill(
    const Intent& intent, const MarketFacts& market, const FillAssumptions& assumptions) {
    const FillAssessment assessed = assess_fill(intent, market, assumptions);
    switch (assessed.problem) {
        case FillProblem::none:
            return assessed.estimate;
        case FillProblem::malformed:
            return fail(errors::invalid_request, "quantity or price is missing or not positive");
        case FillProblem::price_unknown:
            return fail(errors::unavailable, "the market has no two-sided price to estimate with");
        case FillProblem::overflow:
            break;
    }
    return fail(errors::out_of_range, "the estimate lies outside the range of a decimal");
}

PlanScratch apply_plan(const ScratchInput& input) {
    return PlanApplication(input).apply();
}

}  // namespace interlock
