// The checks of control-decision.md#rules in their order. Each looks at its own facts only; all of
// them run, so that the validation block and the list of errors are whole, and the first error
// decides the code.
#include "trader/rules/control_step.h"

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

bool is_switch(const ControlDecision& decision) {
    return decision.action == ControlAction::switch_strategy;
}

// Pause and resume act on the active instance.
bool acts_on_active(const ControlDecision& decision) {
    return decision.action == ControlAction::pause || decision.action == ControlAction::resume;
}

bool is_looser(const ControlDecision& decision, const Concern& concern) {
    return decision.action == ControlAction::set_risk_mode && decision.risk_mode &&
           *decision.risk_mode < concern.risk_mode;
}

// A switch under way brings a mode of its own. Asking for a mode that is stricter than that one is
// a change even when it is the mode of now, because the switch would loosen it.
bool is_stricter(const ControlDecision& decision, const Concern& concern) {
    if (decision.action != ControlAction::set_risk_mode || !decision.risk_mode) {
        return false;
    }
    const RiskMode wanted = *decision.risk_mode;
    const bool holds_up_switch = concern.switching && wanted > concern.switching->risk_mode;
    return wanted > concern.risk_mode || (wanted == concern.risk_mode && holds_up_switch);
}

class Judgement {
public:
    Judgement(const ControlDecision& decision, const ControlFacts& facts)
        : decision_(decision), facts_(facts), concern_(facts.concern) {}

    ControlVerdict run() {
        if (decision_.override_guards) {
            warn("override_used");
        }
        check_history();
        check_concern();
        check_target();
        check_active();
        check_expected();
        check_stops();
        check_quality();
        check_switch_under_way();
        check_optional_guards();
        settle();
        return std::move(verdict_);
    }

private:
    void refuse(const ErrorKind& kind, std::string message) {
        verdict_.errors.push_back({&kind, std::move(message), {}, {}});
    }

    void warn(std::string warning) { verdict_.warnings.push_back(std::move(warning)); }

    void does_not_apply(bool& flag, std::string_view name) {
        flag = true;
        warn("not_applicable:" + std::string(name));
    }

    // A guard that an override waives; the waiver stands in the warnings beside `override_used`.
    void refuse_unless_overridden(const ErrorKind& kind, std::string message) {
        if (decision_.override_guards) {
            warn("overridden:" + std::string(kind.code));
            return;
        }
        refuse(kind, std::move(message));
    }

    std::optional<StrategyId> active_id() const {
        return concern_ != nullptr ? concern_->active_strategy_id : std::nullopt;
    }

    // What its sender expects to trade afterwards.
    bool starts() const {
        return is_switch(decision_) || decision_.action == ControlAction::resume;
    }

    // What kill switch, stops, degraded execution and a switch under way hold up. The same mode
    // once more loosens nothing and is left to be the noop it is.
    bool is_gated() const {
        return starts() || (concern_ != nullptr && is_looser(decision_, *concern_));
    }

    // Check 2. A dry run sees what the decision itself would meet, and leaves no trace.
    void check_history() {
        const bool is_own_switch = concern_ != nullptr && concern_->switching &&
                                   concern_->switching->decision_id == decision_.decision_id;
        if (is_own_switch) {
            refuse(errors::switch_in_progress, "The switch of this very decision is under way.");
        }
        if (!facts_.history) {
            return;
        }
        verdict_.attempt = facts_.history->attempts + 1;
        const bool is_done = facts_.history->status == ControlStatus::applied ||
                             facts_.history->status == ControlStatus::noop;
        if (!is_done) {
            return;
        }
        ControlDecision in_earnest = decision_;
        in_earnest.dry_run = false;
        if (fingerprint(in_earnest) == facts_.history->fingerprint) {
            verdict_.is_duplicate = true;
            warn("duplicate_decision");
        } else {
            refuse(
                errors::decision_id_conflict,
                "Another decision was already settled under this decision_id.");
        }
    }

    // Checks 3 to 5. The flag `concern_match` asks for all three; the code names the part that does
    // not fit.
    void check_concern() {
        ControlValidation& flags = verdict_.validation;
        if (concern_ == nullptr) {
            refuse(errors::concern_mismatch, "There is no such concern.");
            return;
        }
        const auto symbol = Symbol::parse(decision_.market_symbol);
        flags.account_match = decision_.account_id == concern_->account.account_id;
        flags.market_match = symbol && *symbol == concern_->symbol;
        flags.concern_match = flags.account_match && flags.market_match;
        if (!flags.account_match) {
            refuse(
                errors::account_mismatch,
                "The concern belongs to account " + concern_->account.account_id.text() + ".");
        }
        if (!flags.market_match) {
            refuse(
                errors::market_mismatch,
                "The concern belongs to market " + std::string(concern_->symbol.text()) + ".");
        }
        if (concern_->status == ConcernStatus::informational) {
            refuse(
                errors::concern_informational,
                "A human made the concern informational: nothing trades in it.");
        } else if (concern_->status == ConcernStatus::paused && starts()) {
            warn("concern_paused");
        }
        // A key's asset list bounds what it starts or loosens, never a pause or a stricter mode.
        if (is_gated() && !facts_.asset_problem.empty()) {
            refuse(errors::asset_not_allowed, facts_.asset_problem);
        }
    }

    // Checks 6 to 8. A target that is named must be there and fit, whatever the action.
    void check_target() {
        ControlValidation& flags = verdict_.validation;
        if (decision_.target_strategy_id || is_switch(decision_)) {
            check_named_target();
        } else if (acts_on_active(decision_)) {
            flags.target_exists = facts_.active != nullptr;
        } else {
            does_not_apply(flags.target_exists, "target_exists");
        }
        // Only what is to be started must be able to run. A resume clears the error latch, so the
        // latch counts for a switch only.
        const bool is_asked = is_switch(decision_) || (decision_.action == ControlAction::resume &&
                                                       !facts_.target_problem.empty());
        if (!is_asked) {
            does_not_apply(flags.target_runnable, "target_runnable");
            return;
        }
        const bool is_latched =
            is_switch(decision_) && facts_.target != nullptr && facts_.target->is_latched;
        flags.target_runnable = flags.target_exists && !is_latched && facts_.target_problem.empty();
        if (flags.target_exists && !flags.target_runnable) {
            refuse(
                errors::target_not_runnable,
                facts_.target_problem.empty() ? "The target failed three times in a row."
                                              : facts_.target_problem);
        }
    }

    void check_named_target() {
        verdict_.validation.target_exists = facts_.target != nullptr;
        if (facts_.target == nullptr) {
            refuse(errors::target_missing, "There is no such strategy.");
            return;
        }
        const bool is_of_concern =
            concern_ == nullptr || (facts_.target->account == concern_->account &&
                                    facts_.target->symbol == concern_->symbol);
        if (!is_of_concern) {
            refuse(
                errors::target_concern_mismatch,
                "The target trades another account or market than the concern.");
        }
    }

    void check_active() {
        if (decision_.action == ControlAction::set_risk_mode && decision_.target_strategy_id) {
            warn("target_ignored");  // A risk mode is the concern's.
        }
        if (!acts_on_active(decision_) || concern_ == nullptr) {
            return;
        }
        if (facts_.active == nullptr) {
            refuse(errors::no_active_strategy, "No strategy of this concern is active.");
        } else if (
            facts_.target != nullptr && facts_.target->strategy_id != facts_.active->strategy_id) {
            refuse(
                errors::target_not_active,
                "The active strategy is " + facts_.active->strategy_id.text() + ".");
        }
    }

    // Check 9.
    void check_expected() {
        bool& flag = verdict_.validation.expected_active_match;
        if (!decision_.expected_active_strategy_id) {
            does_not_apply(flag, "expected_active_match");
            return;
        }
        flag = concern_ != nullptr && active_id() == *decision_.expected_active_strategy_id;
        if (concern_ != nullptr && !flag) {
            refuse_unless_overridden(
                errors::expected_active_mismatch,
                active_id() ? "The active strategy is " + active_id()->text() + "."
                            : "No strategy of this concern is active.");
        }
    }

    // Check 10: no override.
    void check_stops() {
        if (!is_gated()) {
            return;
        }
        if (facts_.kill_switch_active) {
            refuse(errors::control_kill_switch_active, "The kill switch is active.");
        }
        if (!facts_.stop.empty()) {
            refuse(errors::trading_stopped, "Stopped: " + facts_.stop + ".");
        }
    }

    // Check 11.
    void check_quality() {
        if (!is_gated() || concern_ == nullptr || concern_->quality == ExecutionQuality::good) {
            return;
        }
        std::string message = "Execution is " + std::string(to_word(concern_->quality));
        for (const std::string& reason : concern_->quality_reasons) {
            message += (&reason == &concern_->quality_reasons.front() ? ": " : ", ") + reason;
        }
        refuse_unless_overridden(errors::execution_degraded, message + ".");
    }

    // What makes things safer is not held up by a switch; whoever carries it out must see that the
    // switch does not undo it.
    void check_switch_under_way() {
        if (concern_ == nullptr || !concern_->switching ||
            concern_->switching->decision_id == decision_.decision_id) {
            return;
        }
        if (is_gated()) {
            refuse(
                errors::switch_in_progress,
                "The switch of " + concern_->switching->decision_id.text() + " is under way.");
        } else {
            warn("switch_in_progress");
        }
    }

    void check_optional_guards() {
        const auto& least = facts_.guards.min_confidence;
        if (starts() && least && decision_.confidence < *least) {
            refuse(errors::confidence_too_low, "At least " + to_text(*least) + " is asked for.");
        }
        const auto& hold = facts_.guards.minimum_hold;
        const bool is_held = is_switch(decision_) && hold && concern_ != nullptr && active_id() &&
                             active_id() != decision_.target_strategy_id &&
                             concern_->activated_at && facts_.now - *concern_->activated_at < *hold;
        if (is_held) {
            refuse_unless_overridden(
                errors::minimum_hold,
                "The active strategy is held until " + to_text(*concern_->activated_at + *hold) +
                    ".");
        }
    }

    // A noop. Asked only of decisions that no check refused.
    bool is_already_so() {
        switch (decision_.action) {
            case ControlAction::switch_strategy:
                if (active_id() != decision_.target_strategy_id) {
                    return false;
                }
                if (facts_.active != nullptr && facts_.active->paused) {
                    warn("target_paused");
                }
                return true;
            case ControlAction::pause:
                return facts_.active->paused;
            case ControlAction::resume:
                return !facts_.active->paused && !facts_.active->is_latched;
            case ControlAction::set_risk_mode:
                return !decision_.risk_mode || (*decision_.risk_mode == concern_->risk_mode &&
                                                !is_stricter(decision_, *concern_));
        }
        return false;
    }

    void settle() {
        verdict_.from = active_id();
        verdict_.to = is_switch(decision_) ? decision_.target_strategy_id : active_id();
        if (concern_ != nullptr) {
            verdict_.risk_mode = concern_->risk_mode;
        }
        if (verdict_.is_duplicate) {
            verdict_.status = ControlStatus::noop;
            verdict_.errors.clear();
            return;
        }
        if (!verdict_.errors.empty()) {
            verdict_.status = ControlStatus::rejected;
            return;
        }
        const bool is_noop = is_already_so();
        verdict_.status = is_noop ? ControlStatus::noop : ControlStatus::applied;
        const bool takes_mode = !acts_on_active(decision_) && !is_noop;
        if (takes_mode) {
            verdict_.risk_mode = decision_.risk_mode.value_or(concern_->risk_mode);
        } else if (decision_.risk_mode && *decision_.risk_mode != concern_->risk_mode) {
            warn("risk_mode_ignored");
        }
    }

    const ControlDecision& decision_;
    const ControlFacts& facts_;
    const Concern* concern_;
    ControlVerdict verdict_;
};

}  // namespace

ControlVerdict judge_control(const ControlDecision& decision, const ControlFacts& facts) {
    return Judgement(decision, facts).run();
}

ControlResult result_of(
    const ControlDecision& decision, ControlVerdict& verdict, const Concern* concern) {
    ControlResult result;
    result.status = verdict.status;
    result.decision_id = decision.decision_id.text();
    result.concern_id = decision.concern_id.text();
    result.action = std::string(to_word(decision.action));
    result.from_strategy_id = verdict.from;
    result.to_strategy_id = verdict.to;
    result.risk_mode = verdict.risk_mode;
    if (!result.risk_mode && concern != nullptr) {
        result.risk_mode = concern->risk_mode;
    }
    result.dry_run = decision.dry_run;
    result.validation = verdict.validation;
    result.warnings = std::move(verdict.warnings);
    result.errors = std::move(verdict.errors);
    result.result = mode_change("none", false);
    return result;
}

bool is_risk_reducing(const ControlDecision& decision, const ControlFacts& facts) {
    if (decision.action == ControlAction::pause) {
        return true;
    }
    return facts.concern != nullptr && is_stricter(decision, *facts.concern);
}

}  // namespace interlock
