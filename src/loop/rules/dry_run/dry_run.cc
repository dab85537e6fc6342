#include "loop/rules/dry_run/dry_run.h"

#include <algorithm>
#include <array>

#include "codec/json_list.h"
#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/plan_scratch.h"
#include "loop/rules/gates/reckoning.h"

namespace interlock {
namespace {

// Reasons that are no gate's own begin with this word.
constexpr std::string_view kDryRun = "dry_run";

std::string own_reason(std::string_view code, std::string_view subject) {
    std::string text(kDryRun);
    text += ':';
    text += code;
    text += ':';
    text += subject;
    return text;
}

// The caller may assume worse than the account does, never better.
FillAssumptions floored(const DryRunInput& input) {
    const RiskLimits& own = input.state.limits;
    return {
        .slippage_bps = std::max(input.slippage_bps, own.slippage_bps),
        .taker_fee_bps = std::max(input.fee_bps, own.taker_fee_bps),
        .maker_fee_bps = std::max(input.fee_bps, own.maker_fee_bps),
    };
}

// What each symbol has gained and lost by the plan's intents so far.
struct Running {
    Decimal bought;  // In quote.
    Decimal sold;    // In base.
};

Decimal pnl_impact(const IntentScratch& intent, const SymbolScratch& symbol, Reckoning& reckon) {
    const FillEstimate& fill = intent.estimate;
    Decimal gain;
    if (intent.intent->side == Side::buy) {
        gain = reckon.subtract(*symbol.mid, fill.price);
    } else {
        const Decimal paid = symbol.facts == nullptr ? Decimal() : symbol.facts->avg_price;
        gain = reckon.subtract(fill.price, paid);
    }
    return reckon.subtract(reckon.multiply_down(intent.intent->qty, gain), fill.fee);
}

Decimal exposure_after(const SymbolScratch& symbol, const Running& running, Reckoning& reckon) {
    const Decimal held = symbol.facts == nullptr ? Decimal() : symbol.facts->position;
    const Decimal open = symbol.facts == nullptr ? Decimal() : symbol.facts->open_buy_notional;
    const Decimal left = std::max(Decimal(), reckon.subtract(held, running.sold));
    return reckon.add(reckon.add(reckon.multiply_up(left, *symbol.mid), open), running.bought);
}

Projection project(
    const IntentScratch& intent, const SymbolScratch& symbol, Running& running, Reckoning& reckon) {
    Projection projection{};
    projection.symbol = symbol.symbol;
    projection.est_fill_price = intent.estimate.price;
    projection.est_fee = intent.estimate.fee;
    projection.est_pnl_impact = pnl_impact(intent, symbol, reckon);
    if (intent.intent->side == Side::buy) {
        running.bought = reckon.add(running.bought, intent.estimate.notional);
    } else {
        running.sold = reckon.add(running.sold, intent.intent->qty);
    }
    projection.post_trade_exposure = exposure_after(symbol, running, reckon);
    return projection;
}

void add_once(std::vector<std::string>& reasons, std::string reason) {
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(std::move(reason));
    }
}

void project_all(const PlanScratch& scratch, DryRunReport& report) {
    std::vector<Running> running(scratch.symbols.size());
    for (const IntentScratch& intent : scratch.intents) {
        const SymbolScratch& symbol = scratch.symbol_of(intent);
        Projection projection{};
        projection.symbol = symbol.symbol;
        Reckoning reckon;
        if (intent.problem == FillProblem::none) {
            projection = project(intent, symbol, running[intent.symbol_at], reckon);
        } else {
            add_once(
                report.blocking_reasons,
                own_reason(breach_codes::kPriceUnknown, symbol.symbol.text()));
        }
        if (reckon.overflowed()) {
            projection = {};
            projection.symbol = symbol.symbol;
            add_once(
                report.blocking_reasons,
                own_reason(breach_codes::kArithmeticOverflow, symbol.symbol.text()));
        }
        report.projected.push_back(projection);
    }
}

// "Limit breach after costs, or insufficient funds": the money gates once more, on the caller's
// assumptions.
void check_limits(const GateFacts& facts, DryRunReport& report) {
    if (facts.scratch.is_reduce_only()) {
        return;
    }
    std::vector<Breach> breaches;
    const auto run = [&](Gate gate, auto check) {
        GateNotes notes(gate, breaches);
        check(facts, notes);
    };
    run(Gate::risk_limits, check_risk_limits);
    run(Gate::runway_budget, check_runway_budget);
    run(Gate::exposure_leverage, check_exposure_leverage);
    for (const Breach& breach : breaches) {
        report.blocking_reasons.push_back(to_text(breach));
    }
}

// What the venue could not do: fill an order whole that must be, let a post-only order rest.
void check_book(const PlanScratch& scratch, DryRunReport& report) {
    for (const IntentScratch& intent : scratch.intents) {
        const std::string_view symbol = intent.intent->symbol.text();
        if (intent.is_too_thin) {
            add_once(report.blocking_reasons, own_reason(breach_codes::kBookTooThin, symbol));
        }
        if (intent.would_take) {
            add_once(report.blocking_reasons, own_reason(breach_codes::kWouldTake, symbol));
        }
    }
}

}  // namespace

DryRunReport run_dry_run(const DryRunInput& input) {
    const PlanScratch scratch = apply_plan(
        {.state = input.state,
         .market = input.market,
         .plan = input.plan,
         .assumptions = floored(input),
         .walks_book = true});
    DryRunReport report;
    check_limits({input.state, input.market, scratch}, report);
    check_book(scratch, report);
    project_all(scratch, report);
    if (input.plan.intents.size() > kIntentsMax) {
        report.blocking_reasons.push_back(own_reason(breach_codes::kTooManyIntents, "-"));
    }
    report.idempotency_conflicts = input.conflicts;
    for (const OrderClientId& id : input.conflicts) {
        report.blocking_reasons.push_back(
            own_reason(breach_codes::kIdempotencyConflict, id.text()));
    }
    report.pass = report.blocking_reasons.empty();
    return report;
}

Json encode(const DryRunReport& report) {
    Json projected = Json::array();
    for (const Projection& projection : report.projected) {
        projected.push(Json::object({
            {"symbol", projection.symbol.text()},
            {"est_fill_price", to_text(projection.est_fill_price)},
            {"est_fee", to_text(projection.est_fee)},
            {"est_pnl_impact", to_text(projection.est_pnl_impact)},
            {"post_trade_exposure", to_text(projection.post_trade_exposure)},
        }));
    }
    Json conflicts = Json::array();
    for (const OrderClientId& id : report.idempotency_conflicts) {
        conflicts.push(id.text());
    }
    return Json::object({
        {"pass", report.pass},
        {"projected", std::move(projected)},
        {"idempotency_conflicts", std::move(conflicts)},
        {"blocking_reasons", json_list(report.blocking_reasons)},
    });
}

}  // namespace interlock
