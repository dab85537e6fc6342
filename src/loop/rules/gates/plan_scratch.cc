#include "loop/rules/gates/plan_scratch.h"

#include <algorithm>

#include "base/errors.h"
#include "loop/rules/gates/book_walk.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

bool reaches_far_touch(const Intent& intent, const MarketFacts& market) {
    return intent.side == Side::buy ? *intent.limit_price >= *market.best_ask
                                    : *intent.limit_price <= *market.best_bid;
}

bool takes(const Intent& intent, const MarketFacts& market) {
    if (intent.order_type == OrderType::market) {
        return true;
    }
    // The venue refuses a post-only order rather than let it take.
    return !intent.post_only && reaches_far_touch(intent, market);
}

bool must_fill_whole(const Intent& intent) {
    return intent.order_type == OrderType::market || intent.time_in_force == TimeInForce::fok;
}

// The price of an order that takes: beyond what it meets by the slippage, capped at the limit.
Decimal taking_price(const Intent& intent, Decimal met, Decimal slippage, Reckoning& reckon) {
    const Decimal one(1);
    if (intent.side == Side::buy) {
        const Decimal price = reckon.multiply_up(met, reckon.add(one, slippage));
        return intent.limit_price ? std::min(price, *intent.limit_price) : price;
    }
    const Decimal kept = std::max(Decimal(), reckon.subtract(one, slippage));
    const Decimal price = reckon.multiply_down(met, kept);
    return intent.limit_price ? std::max(price, *intent.limit_price) : price;
}

void price_fill(FillEstimate& fill, Decimal qty, Decimal fee_bps, Reckoning& reckon) {
    fill.notional = reckon.multiply_up(qty, fill.price);
    fill.fee = reckon.multiply_up(fill.notional, reckon.fraction_of_bps(fee_bps));
}

// What an order pays on average: the levels it meets, and its limit for what is left to rest.
// Never better than the touch.
Decimal average_met(
    const Intent& intent, const MarketFacts& market, const BookWalk& walk, Reckoning& reckon) {
    const bool is_buy = intent.side == Side::buy;
    const Decimal touch = is_buy ? *market.best_ask : *market.best_bid;
    Decimal qty = walk.carried;
    Decimal worth = walk.worth;
    if (intent.limit_price && qty < intent.qty) {
        const Decimal rest = reckon.subtract(intent.qty, qty);
        worth = reckon.add(
            worth,
            is_buy ? reckon.multiply_up(rest, *intent.limit_price)
                   : reckon.multiply_down(rest, *intent.limit_price));
        qty = intent.qty;
    }
    if (!qty.is_positive()) {
        return touch;
    }
    return is_buy ? std::max(touch, reckon.divide_up(worth, qty))
                  : std::min(touch, reckon.divide_down(worth, qty));
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

    void assess(IntentScratch& now, const SymbolScratch& symbol) {
        if (!is_well_formed(*now.intent)) {
            now.problem = FillProblem::malformed;
        } else if (symbol.market == nullptr || !symbol.mid) {
            now.problem = FillProblem::price_unknown;
        } else {
            const auto assessed = assess_fill(*now.intent, *symbol.market, input_.assumptions);
            now.problem = assessed.problem;
            now.estimate = assessed.estimate;
        }
        if (input_.walks_book && now.problem == FillProblem::none) {
            walk(now, scratch_.symbols[now.symbol_at]);
        }
    }

    void walk(IntentScratch& now, SymbolScratch& symbol) const {
        const Intent& intent = *now.intent;
        const MarketFacts& market = *symbol.market;
        if (intent.post_only && intent.limit_price) {
            now.would_take = reaches_far_touch(intent, market);
            return;
        }
        if (now.estimate.is_maker && !must_fill_whole(intent)) {
            return;
        }
        const bool is_buy = intent.side == Side::buy;
        Decimal& taken = is_buy ? symbol.asks_taken : symbol.bids_taken;
        Reckoning reckon;
        const BookWalk walked = walk_book(
            is_buy ? market.asks : market.bids,
            {.side = intent.side, .qty = intent.qty, .behind = taken, .limit = intent.limit_price},
            reckon);
        const Decimal taken_with_it = reckon.add(taken, walked.carried);
        FillEstimate& fill = now.estimate;
        fill.is_maker = false;
        fill.price = taking_price(
            intent,
            average_met(intent, market, walked, reckon),
            reckon.fraction_of_bps(input_.assumptions.slippage_bps),
            reckon);
        price_fill(fill, intent.qty, input_.assumptions.taker_fee_bps, reckon);
        if (reckon.overflowed()) {
            now.problem = FillProblem::overflow;
            now.estimate = {};
            return;
        }
        taken = taken_with_it;
        now.carried = walked.carried;
        now.is_too_thin = must_fill_whole(intent) && walked.carried < intent.qty;
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
    fill.price = fill.is_maker ? *intent.limit_price
                               : taking_price(
                                     intent,
                                     intent.side == Side::buy ? *market.best_ask : *market.best_bid,
                                     reckon.fraction_of_bps(assumptions.slippage_bps),
                                     reckon);
    price_fill(
        fill,
        intent.qty,
        fill.is_maker ? assumptions.maker_fee_bps : assumptions.taker_fee_bps,
        reckon);
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
