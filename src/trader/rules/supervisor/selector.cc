#include "trader/rules/supervisor/selector.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "trader/rules/supervisor/roles.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kActions{
    "keep", "switch", "pause", "resume", "set_risk_mode"};
// What the supervisor asks for while the market is volatile.
constexpr RiskMode kWildMode = RiskMode::defensive;

class Selection {
public:
    explicit Selection(const SupervisorFacts& facts) : facts_(facts), active_(facts.active()) {
        made_.narrative = narrate(facts);
        for (const CandidateFacts& candidate : facts.candidates) {
            made_.fits.push_back({
                .strategy_id = candidate.strategy_id,
                .strategy_type = candidate.strategy_type,
                .fit = fit_of(facts, made_.narrative, candidate),
                .excluded = exclusion_of(facts, candidate),
            });
        }
    }

    SupervisorDecision run() {
        if (is_out_of_hands() || is_wild() || is_held_up()) {
            return std::move(made_);
        }
        const Want want = wanted();
        if (want.role == Role::none || want.role == role_of(*active_)) {
            if (!turns_direction(want)) {
                stay(want);
                return std::move(made_);
            }
        }
        hand_over(want);
        return std::move(made_);
    }

private:
    struct Want {
        Role role = Role::none;  // None: leave everything as it is.
        std::string rule;
        std::string reason;
    };

    MarketRegime regime() const { return made_.narrative.regime; }

    void keep(std::string rule, std::string reason, Decimal confidence = {}) {
        made_.action = SupervisorAction::keep;
        made_.rule = std::move(rule);
        made_.reason = std::move(reason);
        made_.confidence = told(clamp_share(confidence));
        made_.target.reset();
        made_.risk_mode.reset();
    }

    // An action that is sure enough, or the keep it becomes otherwise.
    void act(SupervisorAction action, const Want& want, Decimal confidence) {
        made_.confidence = told(clamp_share(confidence));
        if (made_.confidence < facts_.policy.min_confidence) {
            keep(
                "confidence_too_low",
                "Not sure enough to " + std::string(to_word(action)) + " (" +
                    to_text(made_.confidence) + "): " + want.reason,
                made_.confidence);
            return;
        }
        made_.action = action;
        made_.rule = want.rule;
        made_.reason = want.reason;
    }

    bool is_out_of_hands() {
        if (facts_.status == ConcernStatus::informational) {
            keep("informational", "The concern only informs.");
        } else if (facts_.status == ConcernStatus::paused) {
            keep("concern_paused", "People paused the concern.");
        } else if (facts_.kill_switch_active) {
            keep("kill_switch_active", "The kill switch is active.");
        } else if (facts_.is_switching) {
            keep("switch_in_progress", "A switch is under way.");
        } else {
            return false;
        }
        return true;
    }

    // Stricter is always allowed, whatever execution is like.
    bool is_wild() {
        if (regime() != MarketRegime::wild) {
            return false;
        }
        if (facts_.risk_mode >= kWildMode) {
            keep(
                "volatile_market",
                "The market is volatile and the risk mode is strict already.",
                made_.narrative.evidence);
            return true;
        }
        made_.risk_mode = kWildMode;
        act(SupervisorAction::set_risk_mode,
            {.role = Role::none,
             .rule = "volatile_market",
             .reason = "The market is volatile: smaller and fewer entries until it is calm."},
            made_.narrative.evidence);
        return true;
    }

    bool is_held_up() {
        if (facts_.quality != ExecutionQuality::good) {
            keep(
                "execution_degraded", "Execution is " + std::string(to_word(facts_.quality)) + ".");
        } else if (active_ == nullptr) {
            keep("no_active_strategy", "No strategy is active; people start the first one.");
        } else if (active_->paused && !active_->paused_by_supervisor) {
            keep("paused_by_people", "People paused the active strategy.");
        } else {
            return false;
        }
        return true;
    }

    // The grid stays while pullbacks exceed its step. Not knowing them is no reason to leave.
    bool pullbacks_exceed_step() const {
        const CandidateFacts* grid = reference_grid(facts_);
        if (grid == nullptr || !grid->grid_step_pct) {
            return false;
        }
        const auto deepest = made_.narrative.deepest_pullback();
        return !deepest || *deepest > *grid->grid_step_pct;
    }

    Want wanted() const {
        const auto funded = both_sides_funded(facts_);
        const bool is_protecting = role_of(*active_) == Role::protector;
        if (is_protecting && funded != true) {
            return {Role::none, "protector_at_work", "One side of the book lacks funds still."};
        }
        if (made_.narrative.is_trend() && !pullbacks_exceed_step()) {
            return {
                Role::trend,
                "trend_takes_over",
                "The move is persistent and its pullbacks are smaller than a grid step."};
        }
        if (is_protecting) {
            return {Role::grid, "both_sides_funded", "Both sides of the book can be funded again."};
        }
        if (made_.narrative.is_trend()) {
            const Role role = role_of(*active_) == Role::idle ? Role::grid : Role::none;
            return {
                role,
                "pullbacks_exceed_step",
                "The market moves one way, but its pullbacks exceed a grid step."};
        }
        if (regime() != MarketRegime::range) {
            return {Role::none, "unclear_market", "The market shows no clear regime."};
        }
        if (funded == false && has_candidate(Role::protector)) {
            return {
                Role::protector,
                "one_side_unfunded",
                "The market ranges, but a grid could fund one side only."};
        }
        return {Role::grid, "range_returns", "The market ranges: a grid harvests its noise."};
    }

    bool fits_direction(const CandidateFacts& candidate) const {
        if (role_of(candidate) != Role::trend || !made_.narrative.is_trend()) {
            return true;
        }
        return (candidate.trade_side == kShortSide) == (regime() == MarketRegime::trend_down);
    }

    // A trend follower of the other direction is active.
    bool turns_direction(const Want& want) const {
        return want.role == Role::trend && !fits_direction(*active_);
    }

    bool has_candidate(Role role) const { return best(role) != nullptr; }

    const FitScore* best(Role role) const {
        const FitScore* best = nullptr;
        for (std::size_t i = 0; i < facts_.candidates.size(); ++i) {
            const FitScore& score = made_.fits[i];
            const bool may = score.excluded.empty() && role_of(facts_.candidates[i]) == role &&
                             fits_direction(facts_.candidates[i]);
            if (may && (best == nullptr || score.fit > best->fit)) {
                best = &score;
            }
        }
        return best;
    }

    Decimal active_fit() const {
        for (const FitScore& score : made_.fits) {
            if (score.strategy_id == active_->strategy_id) {
                return score.fit;
            }
        }
        return {};
    }

    Decimal confidence_in(Decimal fit) const {
        return sum_of(part_of(made_.narrative.evidence, 60), part_of(fit, 40));
    }

    // What was tightened may be loosened when the hold is over.
    bool is_hold_over(const std::optional<Timestamp>& since) const {
        return since && facts_.now - *since >= facts_.policy.minimum_hold;
    }

    // The active strategy is what the market wants: resume it or loosen what was tightened.
    void stay(const Want& want) {
        const bool is_clear = regime() != MarketRegime::unclear;
        const bool was_paused = active_->paused;
        if (was_paused && (active_->is_latched || !active_->problem.empty())) {
            keep("not_runnable", "The paused strategy could not run now.");
            return;
        }
        if (was_paused && want.role == role_of(*active_)) {
            if (!is_hold_over(facts_.memory.tightened_at)) {
                keep("minimum_hold", "It was paused a short while ago.");
                return;
            }
            act(SupervisorAction::resume,
                {want.role, "market_fits_again", "The market fits the paused strategy again."},
                confidence_in(active_fit()));
            return;
        }
        const SupervisorMemory& memory = facts_.memory;
        const bool is_ours = memory.risk_mode_set == facts_.risk_mode && memory.risk_mode_before &&
                             *memory.risk_mode_before < facts_.risk_mode;
        if (is_ours && is_clear && is_hold_over(memory.tightened_at)) {
            made_.risk_mode = memory.risk_mode_before;
            act(SupervisorAction::set_risk_mode,
                {Role::none, "calm_again", "The market is calm again: back to the mode before."},
                made_.narrative.evidence);
            return;
        }
        keep(
            want.role == Role::none ? want.rule : "active_fits",
            want.role == Role::none ? want.reason : "The active strategy fits the market.",
            made_.narrative.evidence);
    }

    void hand_over(const Want& want) {
        const FitScore* target = best(want.role);
        if (target == nullptr) {
            nothing_to_switch_to(want);
            return;
        }
        const Decimal confidence = confidence_of(want, target->fit);
        if (!active_->is_latched && target->fit < sum_of(active_fit(), kFitMargin)) {
            keep("fit_margin", "Nothing fits clearly better than what is active.", confidence);
            return;
        }
        if (!is_hold_over(facts_.active_since)) {
            keep("minimum_hold", "The active strategy is held a while longer.", confidence);
            return;
        }
        made_.target = target->strategy_id;
        act(SupervisorAction::switch_strategy, want, confidence);
    }

    // The protector comes and goes by funds, the others by the market.
    Decimal confidence_of(const Want& want, Decimal fit) const {
        if (want.role == Role::protector) {
            return fit;
        }
        return want.rule == "both_sides_funded" ? rest_of(active_fit()) : confidence_in(fit);
    }

    // A grid buys into a fall all the way down; a trend follower must stay able to leave.
    void nothing_to_switch_to(const Want& want) {
        const bool harms = role_of(*active_) == Role::grid && !active_->paused &&
                           regime() == MarketRegime::trend_down && active_fit() < kFitPause;
        if (!harms) {
            keep("no_candidate", "No strategy of the wanted kind could take over.");
            return;
        }
        act(SupervisorAction::pause,
            {want.role,
             "nothing_fits_fall",
             "The market falls persistently and no strategy for that could take over."},
            made_.narrative.evidence);
    }

    const SupervisorFacts& facts_;
    const CandidateFacts* active_;
    SupervisorDecision made_;
};

}  // namespace

std::string_view to_word(SupervisorAction action) {
    return kActions[static_cast<std::size_t>(action)];
}

SupervisorDecision supervise(const SupervisorFacts& facts) {
    return Selection(facts).run();
}

SupervisorMemory remember(
    const SupervisorFacts& facts, const SupervisorDecision& decision, bool is_applied) {
    SupervisorMemory next = facts.memory;
    next.regime = decision.narrative.regime;
    if (next.risk_mode_set != facts.risk_mode) {
        next.risk_mode_set.reset();  // Somebody else has set another one since.
        next.risk_mode_before.reset();
    }
    if (!is_applied) {
        return next;
    }
    const bool sets_mode = decision.action == SupervisorAction::set_risk_mode;
    const bool tightens = sets_mode && decision.risk_mode > facts.risk_mode;
    if (tightens) {
        next.risk_mode_set = decision.risk_mode;
        next.risk_mode_before = facts.risk_mode;
    } else if (sets_mode) {
        next.risk_mode_set.reset();
        next.risk_mode_before.reset();
    }
    if (tightens || decision.action == SupervisorAction::pause) {
        next.tightened_at = facts.now;
    }
    return next;
}

Json encode(const SupervisorDecision& decision) {
    Json fits = Json::array();
    for (const FitScore& score : decision.fits) {
        fits.push(Json::object({
            {"strategy_id", score.strategy_id.text()},
            {"strategy_type", score.strategy_type},
            {"fit", to_text(score.fit)},
            {"excluded", score.excluded.empty() ? Json() : Json(score.excluded)},
        }));
    }
    return Json::object({
        {"action", to_word(decision.action)},
        {"rule", decision.rule},
        {"reason", decision.reason},
        {"confidence", to_text(decision.confidence)},
        {"target_strategy_id", decision.target ? Json(decision.target->text()) : Json()},
        {"risk_mode", decision.risk_mode ? Json(to_word(*decision.risk_mode)) : Json()},
        {"narrative", encode(decision.narrative)},
        {"fits", std::move(fits)},
    });
}

Json control_payload(
    const SupervisorFacts& facts, const SupervisorDecision& decision, const DecisionId& id) {
    CHECK(decision.action != SupervisorAction::keep);
    Json payload = Json::object({
        {"decision_id", id.text()},
        {"concern_id", facts.concern_id.text()},
        {"account_id", facts.account_id.text()},
        {"market_symbol", facts.symbol.text()},
        {"action", to_word(decision.action)},
    });
    if (decision.target) {
        payload.set("target_strategy_id", decision.target->text());
    }
    payload.set(
        "expected_active_strategy_id",
        facts.active_strategy_id ? Json(facts.active_strategy_id->text()) : Json());
    if (decision.risk_mode) {
        payload.set("risk_mode", to_word(*decision.risk_mode));
    }
    payload.set("reason", decision.reason);
    payload.set("confidence", Json::number(to_text(decision.confidence)));
    return payload;
}

}  // namespace interlock
