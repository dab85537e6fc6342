#include "trader/rules/concern_step.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "codec/json_list.h"

namespace interlock {
namespace {

AuditDraft concern_note(const Concern& concern, std::string event) {
    AuditDraft draft;
    draft.tenant_id = concern.account.tenant_id;
    draft.event = std::move(event);
    return draft;
}

class ConcernMachine {
public:
    ConcernMachine(Concern concern, const ConcernFacts& facts) : facts_(facts) {
        step_.concern = std::move(concern);
    }

    ConcernStep take() { return std::move(step_); }

    Result<void> operator()(DecisionPassed& passed) {
        switch (passed.decision.action) {
            case ControlAction::switch_strategy:
                CHECK(!concern().switching && facts_.target != nullptr);
                if (!facts_.others.empty()) {
                    journal(passed);
                    return {};
                }
                hand_over(
                    passed.decision.decision_id,
                    passed.decision.risk_mode.value_or(concern().risk_mode));
                break;
            case ControlAction::pause:
                TRY(pause(passed.decision.decision_id));
                break;
            case ControlAction::resume:
                resume(passed.decision.decision_id);
                break;
            case ControlAction::set_risk_mode:
                CHECK(passed.decision.risk_mode.has_value());
                set_risk_mode(*passed.decision.risk_mode);
                break;
        }
        become_applied(passed.answer);
        step_.answer = std::move(passed.answer);
        return {};
    }

    Result<void> operator()(OrdersChanged) {
        if (!concern().switching) {
            return {};
        }
        if (facts_.others.empty()) {
            return finish();
        }
        // What was on its way to the venue when the switch began could not be cancelled then.
        emit(CancelOrdersOf{.strategies = facts_.others});
        return {};
    }

    Result<void> operator()(DeadlinePassed) {
        if (!concern().switching || concern().switching->deadline > facts_.now) {
            return {};
        }
        if (facts_.others.empty()) {
            return finish();
        }
        degrade();
        return roll_back(
            errors::cancel_unconfirmed,
            "The venue did not confirm in time that the old strategy's orders are gone.");
    }

    Result<void> operator()(const ServerRestarted& restarted) {
        if (!concern().switching || concern().switching->decision_id != restarted.decision_id) {
            return {};
        }
        return roll_back(
            errors::switch_interrupted, "The server went down before the switch was done.");
    }

private:
    Concern& concern() { return step_.concern; }

    void emit(ConcernEffect effect) { step_.effects.push_back(std::move(effect)); }

    void become_applied(ControlResult& answer) const {
        answer.result = mode_change("applied", true);
        answer.applied_at = facts_.now;
    }

    Result<void> pause(const DecisionId& decision_id) {
        CHECK(facts_.active != nullptr);
        if (concern().switching) {
            // A pause must not be lost to a hand-over that comes after it.
            TRY(roll_back(errors::switch_interrupted, "A pause came before the switch was done."));
        }
        StrategyInstance next = *facts_.active;
        next.paused = true;
        next.last_transition = "paused by " + decision_id.text();
        if (facts_.config.on_pause != OnPause::keep) {
            emit(CancelOrdersOf{
                .strategies = {next.strategy_id},
                .entries_only = facts_.config.on_pause == OnPause::cancel_entries});
        }
        emit(TellOpenOrders{next.strategy_id});
        emit(SaveStrategy{std::move(next)});
        emit(SettleBlocks{});
        return {};
    }

    void resume(const DecisionId& decision_id) {
        CHECK(facts_.active != nullptr);
        StrategyInstance next = *facts_.active;
        next.paused = false;
        next.is_latched = false;
        next.fail_count = 0;
        next.last_error.clear();
        next.last_transition = "resumed by " + decision_id.text();
        emit(SaveStrategy{std::move(next)});
    }

    void set_risk_mode(RiskMode mode) {
        concern().risk_mode = mode;
        if (auto& under_way = concern().switching) {
            under_way->risk_mode = std::max(under_way->risk_mode, mode);
        }
        if (mode >= RiskMode::reduce_only) {
            emit(CancelMarket{.entries_only = mode != RiskMode::halted});
        }
    }

    // The first of a switch's two commits. It freezes the old strategy, which stays active.
    void journal(DecisionPassed& passed) {
        const ControlDecision& decision = passed.decision;
        concern().switching = SwitchUnderWay{
            .decision_id = decision.decision_id,
            .from = concern().active_strategy_id,
            .to = facts_.target->strategy_id,
            .risk_mode = decision.risk_mode.value_or(concern().risk_mode),
            .started_at = facts_.now,
            .deadline = facts_.now + facts_.config.cancel_timeout,
            .operation = std::move(passed.operation),
            .request = std::move(passed.request),
            .verdict =
                Json::object({{"answer", encode(passed.answer)}, {"attempt", passed.attempt}}),
        };
        const SwitchUnderWay& under_way = *concern().switching;
        // A cancel that an earlier switch asked for may have been lost or refused.
        emit(CancelOrdersOf{.strategies = facts_.others, .again = true});
        emit(StartDeadline{under_way.deadline});
        AuditDraft draft = concern_note(concern(), "CONTROL_APPLYING");
        draft.decision_id = decision.decision_id;
        draft.status = AuditStatus::started;
        draft.reason = decision.reason;
        draft.detail = Json::object({
            {"payload", under_way.request},
            {"from_strategy_id", under_way.from ? Json(under_way.from->text()) : Json()},
            {"to_strategy_id", under_way.to.text()},
            {"deadline", to_text(under_way.deadline)},
        });
        step_.audit.push_back(std::move(draft));
    }

    // The one commit in which another becomes active.
    void hand_over(const DecisionId& decision_id, RiskMode risk_mode) {
        if (facts_.active) {
            StrategyInstance old = *facts_.active;
            make_inactive(concern(), old, facts_.config.after_switch);
            old.last_transition =
                "active -> " + std::string(to_word(old.mode)) + " by " + decision_id.text();
            emit(ReleaseActivity{std::move(old)});
        }
        StrategyInstance next = *facts_.target;
        next.last_transition =
            std::string(to_word(next.mode)) + " -> active by " + decision_id.text();
        make_active(concern(), next, facts_.now);
        emit(TakeActivity{std::move(next)});
        emit(SettleBlocks{});
        concern().risk_mode = risk_mode;
    }

    // No order of another is left. What held the switch up when it was asked for may have come
    // since.
    Result<void> finish() {
        if (facts_.kill_switch_active) {
            return roll_back(
                errors::control_kill_switch_active,
                "The kill switch was raised before the switch was done.");
        }
        if (!facts_.target) {
            return roll_back(errors::target_not_runnable, "It was deleted in the meantime.");
        }
        if (!facts_.target_problem.empty()) {
            return roll_back(errors::target_not_runnable, facts_.target_problem);
        }
        TRY_ASSIGN(EndSwitch end, leave_switching());
        hand_over(end.under_way.decision_id, end.under_way.risk_mode);
        end.answer.risk_mode = end.under_way.risk_mode;
        become_applied(end.answer);
        emit(std::move(end));
        return {};
    }

    Result<void> roll_back(const ErrorKind& kind, std::string message) {
        TRY_ASSIGN(EndSwitch end, leave_switching());
        end.answer.status = ControlStatus::failed;
        end.answer.errors.push_back({&kind, std::move(message), {}, {}});
        end.answer.risk_mode = concern().risk_mode;
        end.answer.result = mode_change("rolled_back", true);
        emit(std::move(end));
        return {};
    }

    // With the answer that it owes since it began.
    Result<EndSwitch> leave_switching() {
        EndSwitch end{.under_way = *std::exchange(concern().switching, std::nullopt)};
        const Json& verdict = end.under_way.verdict;
        const Json* answer = verdict.find("answer");
        if (answer == nullptr) {
            return fail(errors::corrupt_data, "A switch under way has no answer to give.");
        }
        TRY_ASSIGN(end.answer, decode_control_result(*answer));
        if (const Json* attempt = verdict.find("attempt")) {
            end.attempt = attempt->as_int64().value_or(1);
        }
        emit(ClearDeadline{});
        return end;
    }

    void degrade() {
        const ExecutionQuality before = concern().quality;
        concern().quality = std::max(before, ExecutionQuality::degraded);
        auto& reasons = concern().quality_reasons;
        if (std::ranges::find(reasons, errors::cancel_unconfirmed.code) == reasons.end()) {
            reasons.emplace_back(errors::cancel_unconfirmed.code);
            std::ranges::sort(reasons);
        }
        concern().clean_evaluations = 0;
        if (auto note = quality_note(concern(), before)) {
            step_.audit.push_back(*std::move(note));
        }
    }

    const ConcernFacts& facts_;
    ConcernStep step_;
};

}  // namespace

Result<ConcernStep> step_concern(Concern concern, ConcernEvent event, const ConcernFacts& facts) {
    ConcernMachine machine(std::move(concern), facts);
    TRY(std::visit(machine, event));
    return machine.take();
}

void make_active(Concern& concern, StrategyInstance& instance, Timestamp now) {
    instance.mode = InstanceMode::active;
    instance.paused = false;
    concern.active_strategy_id = instance.strategy_id;
    concern.activated_at = now;
}

void make_inactive(Concern& concern, StrategyInstance& instance, InstanceMode afterwards) {
    instance.mode = afterwards;
    instance.paused = false;
    concern.active_strategy_id.reset();
    concern.activated_at.reset();
}

std::optional<AuditDraft> quality_note(const Concern& concern, ExecutionQuality before) {
    if (concern.quality == before) {
        return std::nullopt;
    }
    AuditDraft draft = concern_note(concern, "EXECUTION_QUALITY");
    draft.severity = concern.quality > before ? AuditSeverity::critical : AuditSeverity::info;
    draft.reason = std::string(to_word(before)) + " -> " + std::string(to_word(concern.quality));
    draft.detail = Json::object({
        {"concern_id", concern.concern_id.text()},
        {"reasons", json_list(concern.quality_reasons)},
    });
    return draft;
}

}  // namespace interlock
