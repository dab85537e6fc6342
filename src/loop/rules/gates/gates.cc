#include "loop/rules/gates/gates.h"

#include "codec/json_list.h"
#include "loop/rules/gates/gate_list.h"
#include "loop/rules/gates/plan_scratch.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, kGateCount> kGates{
    "risk_limits", "runway_budget", "exposure_leverage", "market_sanity", "policy_guardrails"};
constexpr std::string_view kOk = "ok";
constexpr std::string_view kExempt = "reduce_only_exempt";

}  // namespace

std::string_view to_word(Gate gate) {
    return kGates[static_cast<std::size_t>(gate)];
}

std::string to_text(const Breach& breach) {
    std::string text(to_word(breach.gate));
    text += ':';
    text += breach.code;
    if (!breach.extra.empty()) {
        text += '=';
        text += breach.extra;
    }
    text += ':';
    text += breach.symbol.empty() ? std::string_view("-") : breach.symbol.text();
    return text;
}

GateReport run_gates(const GateInput& input) {
    const PlanScratch scratch = apply_plan(
        {.state = input.state,
         .market = input.market,
         .plan = input.plan,
         .assumptions = assumptions_of(input.state.limits)});
    const GateFacts facts{input.state, input.market, scratch};
    GateReport report;
    report.pass = true;
    const auto run = [&](Gate gate, std::string_view word, auto&& check) {
        GateNotes notes(gate, report.breaches);
        check(notes);
        GateCheck& result = report.checks[static_cast<std::size_t>(gate)];
        result.gate = gate;
        result.pass = !notes.has_any();
        result.detail = result.pass ? std::string(word) : notes.first().detail;
        report.pass = report.pass && result.pass;
    };
    // Nothing but cancels and reductions: the money gates have nothing to guard.
    const bool is_exempt = scratch.is_reduce_only();
    const auto run_unless_exempt = [&](Gate gate, auto check) {
        run(gate, is_exempt ? kExempt : kOk, [&](GateNotes& notes) {
            if (!is_exempt) {
                check(facts, notes);
            }
        });
    };
    run_unless_exempt(Gate::risk_limits, check_risk_limits);
    run_unless_exempt(Gate::runway_budget, check_runway_budget);
    run_unless_exempt(Gate::exposure_leverage, check_exposure_leverage);
    run(Gate::market_sanity, kOk, [&](GateNotes& notes) { check_market_sanity(facts, notes); });
    run(Gate::policy_guardrails, kOk, [&](GateNotes& notes) {
        check_policy_guardrails(input, scratch, notes, report.warnings);
    });
    return report;
}

Json encode(const GateReport& report) {
    Json checks = Json::array();
    for (const GateCheck& check : report.checks) {
        checks.push(Json::object(
            {{"name", to_word(check.gate)}, {"pass", check.pass}, {"detail", check.detail}}));
    }
    Json reasons = Json::array();
    for (const Breach& breach : report.breaches) {
        reasons.push(to_text(breach));
    }
    return Json::object({
        {"pass", report.pass},
        {"checks", std::move(checks)},
        {"blocking_reasons", std::move(reasons)},
        {"warnings", json_list(report.warnings)},
    });
}

}  // namespace interlock
