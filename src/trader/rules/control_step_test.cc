// Each rule of control-decision.md#rules on one small concern: `s1` is active, `s2` waits in
// observe.
#include "trader/rules/control_step.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/control_desk.h"

namespace interlock {
namespace {

using Words = std::vector<std::string>;

TEST(ControlStep, AWholeSwitchIsAppliedWithoutAWarning) {
    ControlDesk desk;
    desk.decision.expected_active_strategy_id = StrategyId::trusted("s1");
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(verdict.status, ControlStatus::applied);
    EXPECT_EQ(verdict.validation, (ControlValidation{true, true, true, true, true, true}));
    EXPECT_EQ(verdict.warnings, Words{});
    EXPECT_EQ(verdict.from, StrategyId::trusted("s1"));
    EXPECT_EQ(verdict.to, StrategyId::trusted("s2"));
    EXPECT_EQ(verdict.attempt, 1);
}

TEST(ControlStep, FlagsThatDoNotApplyAreTrueWithAWarning) {
    ControlDesk desk(ControlAction::set_risk_mode);
    desk.decision.risk_mode = RiskMode::halted;
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(verdict.validation, (ControlValidation{true, true, true, true, true, true}));
    EXPECT_EQ(
        verdict.warnings,
        (Words{
            "not_applicable:target_exists",
            "not_applicable:target_runnable",
            "not_applicable:expected_active_match"}));
}

TEST(ControlStep, AnUnknownConcernIsAMismatch) {
    ControlDesk desk;
    desk.has_concern = false;
    desk.decision.expected_active_strategy_id = StrategyId::trusted("s1");
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(codes_of(verdict), Words{"concern_mismatch"});
    EXPECT_EQ(verdict.validation, (ControlValidation{false, false, false, false, true, true}));
    EXPECT_FALSE(verdict.risk_mode);
}

TEST(ControlStep, AnotherAccountIsNamedAsSuch) {
    ControlDesk desk;
    desk.decision.account_id = AccountId::trusted("MAIN");
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(codes_of(verdict), Words{"account_mismatch"});
    EXPECT_FALSE(verdict.validation.account_match);
    EXPECT_FALSE(verdict.validation.concern_match);
    EXPECT_TRUE(verdict.validation.market_match);
}

TEST(ControlStep, AnotherMarketIsNamedAsSuch) {
    ControlDesk desk;
    for (const char* market : {"ETHUSDT", "not a market", ""}) {
        desk.decision.market_symbol = market;
        EXPECT_EQ(codes_of(desk.judge()), Words{"market_mismatch"}) << market;
        EXPECT_FALSE(desk.judge().validation.market_match);
    }
}

TEST(ControlStep, AMarketMayBeSpeltInAnyCase) {
    ControlDesk desk;
    for (const char* market : {"BTCUSDT", "btcusdt", "btc/usdt"}) {
        desk.decision.market_symbol = market;
        EXPECT_EQ(desk.judge().status, ControlStatus::applied) << market;
    }
}

TEST(ControlStep, AnInformationalConcernRefusesEveryActionEvenWithOverride) {
    for (ControlDesk& desk : ControlDesk::one_per_action()) {
        desk.concern.status = ConcernStatus::informational;
        desk.decision.override_guards = true;
        EXPECT_EQ(codes_of(desk.judge()), Words{"concern_informational"})
            << to_word(desk.decision.action);
    }
}

TEST(ControlStep, AMissingTargetIsNamed) {
    ControlDesk desk;
    desk.has_target = false;
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(codes_of(verdict), Words{"target_missing"});
    EXPECT_FALSE(verdict.validation.target_exists);
    EXPECT_FALSE(verdict.validation.target_runnable);
}

TEST(ControlStep, ATargetOfAnotherConcernIsRefused) {
    ControlDesk desk;
    desk.target.symbol = Symbol::parse("ETHUSDT").value();
    EXPECT_EQ(codes_of(desk.judge()), Words{"target_concern_mismatch"});
    desk.target.symbol = desk.concern.symbol;
    desk.target.account.mode = TradeMode::live;
    EXPECT_EQ(codes_of(desk.judge()), Words{"target_concern_mismatch"});
}

TEST(ControlStep, ATargetThatCannotRunIsRefusedWithItsReason) {
    ControlDesk desk;
    desk.target_problem = "Its market cannot be traded now.";
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(codes_of(verdict), Words{"target_not_runnable"});
    EXPECT_EQ(verdict.errors.front().message, "Its market cannot be traded now.");
    EXPECT_TRUE(verdict.validation.target_exists);
    EXPECT_FALSE(verdict.validation.target_runnable);
}

TEST(ControlStep, ALatchedTargetCannotBeSwitchedTo) {
    ControlDesk desk;
    desk.target.is_latched = true;
    EXPECT_EQ(codes_of(desk.judge()), Words{"target_not_runnable"});
}

TEST(ControlStep, ATargetThatIsOffCanBeSwitchedTo) {
    ControlDesk desk;
    desk.target.mode = InstanceMode::off;
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
}

TEST(ControlStep, ASwitchWorksWithoutAnActiveStrategy) {
    ControlDesk desk;
    desk.concern.active_strategy_id.reset();
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(verdict.status, ControlStatus::applied);
    EXPECT_FALSE(verdict.from);
}

TEST(ControlStep, PauseAndResumeTakeTheActiveOne) {
    ControlDesk pause(ControlAction::pause);
    EXPECT_EQ(pause.judge().status, ControlStatus::applied);
    EXPECT_EQ(pause.judge().to, StrategyId::trusted("s1"));
    ControlDesk resume(ControlAction::resume);
    resume.active.paused = true;
    EXPECT_EQ(resume.judge().status, ControlStatus::applied);
}

TEST(ControlStep, PauseAndResumeOfAnyOtherAreRefused) {
    for (const ControlAction action : {ControlAction::pause, ControlAction::resume}) {
        ControlDesk desk(action);
        desk.decision.target_strategy_id = StrategyId::trusted("s2");
        EXPECT_EQ(codes_of(desk.judge()), Words{"target_not_active"});
        desk.has_target = false;
        EXPECT_EQ(codes_of(desk.judge()), Words{"target_missing"});
    }
}

TEST(ControlStep, PauseOfTheActiveOneByNameIsApplied) {
    ControlDesk desk(ControlAction::pause);
    desk.target = desk.active;
    desk.decision.target_strategy_id = StrategyId::trusted("s1");
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
}

TEST(ControlStep, PauseAndResumeNeedAnActiveStrategy) {
    for (const ControlAction action : {ControlAction::pause, ControlAction::resume}) {
        ControlDesk desk(action);
        desk.concern.active_strategy_id.reset();
        const ControlVerdict verdict = desk.judge();
        EXPECT_EQ(codes_of(verdict), Words{"no_active_strategy"});
        EXPECT_FALSE(verdict.validation.target_exists);
    }
}

TEST(ControlStep, WhatIsToTradeInAConcernThatAHumanPausedIsWarnedOf) {
    for (ControlDesk& desk : ControlDesk::one_per_action()) {
        const ControlAction action = desk.decision.action;
        const bool starts =
            action == ControlAction::switch_strategy || action == ControlAction::resume;
        const auto warned = [&] {
            const Words warnings = desk.judge().warnings;
            return std::find(warnings.begin(), warnings.end(), "concern_paused") != warnings.end();
        };
        EXPECT_FALSE(warned());
        desk.concern.status = ConcernStatus::paused;
        EXPECT_EQ(desk.judge().status, ControlStatus::applied);
        EXPECT_EQ(warned(), starts);
    }
}

TEST(ControlStep, AnUnexpectedActiveStrategyIsRefused) {
    for (ControlDesk& desk : ControlDesk::one_per_action()) {
        desk.decision.expected_active_strategy_id = StrategyId::trusted("s9");
        const ControlVerdict verdict = desk.judge();
        EXPECT_EQ(codes_of(verdict), Words{"expected_active_mismatch"});
        EXPECT_FALSE(verdict.validation.expected_active_match);
    }
}

TEST(ControlStep, AnAssetListBoundsWhatStartsAndLoosensAndNothingElse) {
    for (ControlDesk& desk : ControlDesk::loosening()) {
        desk.decision.override_guards = true;
        desk.asset_problem = "BTCUSDT is not on this key's list.";
        EXPECT_EQ(codes_of(desk.judge()), Words{"asset_not_allowed"});
    }
    for (ControlDesk& desk : ControlDesk::reducing()) {
        desk.asset_problem = "BTCUSDT is not on this key's list.";
        EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    }
}

TEST(ControlStep, NothingExpectedHoldsWhenNothingIsActiveAndElseIsRefused) {
    ControlDesk desk;
    desk.decision.expected_active_strategy_id.emplace();
    EXPECT_EQ(codes_of(desk.judge()), Words{"expected_active_mismatch"});
    EXPECT_FALSE(desk.judge().validation.expected_active_match);
    desk.concern.active_strategy_id.reset();
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    EXPECT_TRUE(desk.judge().validation.expected_active_match);
    EXPECT_EQ(desk.judge().warnings, Words{});
}

TEST(ControlStep, OverrideWaivesTheExpectedStrategyAndSaysSo) {
    ControlDesk desk;
    desk.decision.expected_active_strategy_id = StrategyId::trusted("s9");
    desk.decision.override_guards = true;
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(verdict.status, ControlStatus::applied);
    EXPECT_FALSE(verdict.validation.expected_active_match);
    EXPECT_EQ(verdict.warnings, (Words{"override_used", "overridden:expected_active_mismatch"}));
}

TEST(ControlStep, AnOverrideThatWaivedNothingIsStillSaid) {
    ControlDesk desk;
    desk.decision.expected_active_strategy_id = StrategyId::trusted("s1");
    desk.decision.override_guards = true;
    EXPECT_EQ(desk.judge().warnings, Words{"override_used"});
    desk.kill_switch_active = true;
    EXPECT_EQ(desk.judge().warnings, Words{"override_used"});
}

TEST(ControlStep, KillSwitchAndStopsHoldUpWhatLoosens) {
    for (ControlDesk& desk : ControlDesk::loosening()) {
        desk.decision.override_guards = true;
        desk.kill_switch_active = true;
        EXPECT_EQ(codes_of(desk.judge()), Words{"kill_switch_active"});
        desk.kill_switch_active = false;
        desk.stop = "tier 4";
        EXPECT_EQ(codes_of(desk.judge()), Words{"trading_stopped"});
    }
}

TEST(ControlStep, DegradedExecutionHoldsUpWhatLoosensUnlessOverridden) {
    for (ControlDesk& desk : ControlDesk::loosening()) {
        desk.concern.quality = ExecutionQuality::degraded;
        desk.concern.quality_reasons = {"reject_rate", "slippage"};
        const ControlVerdict refused = desk.judge();
        EXPECT_EQ(codes_of(refused), Words{"execution_degraded"});
        EXPECT_EQ(refused.errors.front().message, "Execution is degraded: reject_rate, slippage.");
        desk.decision.override_guards = true;
        EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    }
}

TEST(ControlStep, WhatReducesRiskPassesKillSwitchStopsAndDegradedExecution) {
    for (ControlDesk& desk : ControlDesk::reducing()) {
        desk.kill_switch_active = true;
        desk.stop = "safe recovery";
        desk.concern.quality = ExecutionQuality::stalled;
        EXPECT_EQ(desk.judge().status, ControlStatus::applied) << to_word(desk.decision.action);
        EXPECT_TRUE(is_risk_reducing(desk.decision, desk.facts()));
    }
}

TEST(ControlStep, WhatLoosensIsNotRiskReducing) {
    for (ControlDesk& desk : ControlDesk::loosening()) {
        EXPECT_FALSE(is_risk_reducing(desk.decision, desk.facts()));
    }
}

TEST(ControlStep, TheStateThatAlreadyExistsIsANoop) {
    ControlDesk to_active;
    to_active.target = to_active.active;
    to_active.decision.target_strategy_id = StrategyId::trusted("s1");
    EXPECT_EQ(to_active.judge().status, ControlStatus::noop);
    ControlDesk pause(ControlAction::pause);
    pause.active.paused = true;
    EXPECT_EQ(pause.judge().status, ControlStatus::noop);
    ControlDesk resume(ControlAction::resume);
    EXPECT_EQ(resume.judge().status, ControlStatus::noop);
    ControlDesk mode(ControlAction::set_risk_mode);
    mode.decision.risk_mode = mode.concern.risk_mode;
    EXPECT_EQ(mode.judge().status, ControlStatus::noop);
}

TEST(ControlStep, ASwitchToTheActiveOneWarnsWhenThatIsPaused) {
    ControlDesk desk;
    desk.active.paused = true;
    desk.target = desk.active;
    desk.decision.target_strategy_id = StrategyId::trusted("s1");
    EXPECT_TRUE(has_warning(desk.judge(), "target_paused"));
}

TEST(ControlStep, ResumingALatchedStrategyIsNoNoop) {
    ControlDesk desk(ControlAction::resume);
    desk.active.is_latched = true;
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
}

TEST(ControlStep, AResumeOfWhatCannotRunIsRefused) {
    ControlDesk desk(ControlAction::resume);
    desk.active.paused = true;
    desk.target_problem = "Its configuration no longer fits its type.";
    EXPECT_EQ(codes_of(desk.judge()), Words{"target_not_runnable"});
}

TEST(ControlStep, ASwitchBringsItsRiskModeAlong) {
    ControlDesk desk;
    EXPECT_EQ(desk.judge().risk_mode, RiskMode::reduced);
    desk.decision.risk_mode = RiskMode::normal;
    EXPECT_EQ(desk.judge().risk_mode, RiskMode::normal);
}

TEST(ControlStep, ARiskModeOnPauseOrResumeIsIgnoredWithAWarning) {
    for (const ControlAction action : {ControlAction::pause, ControlAction::resume}) {
        ControlDesk desk(action);
        desk.active.paused = action == ControlAction::resume;
        desk.decision.risk_mode = RiskMode::normal;
        EXPECT_TRUE(has_warning(desk.judge(), "risk_mode_ignored"));
        EXPECT_EQ(desk.judge().risk_mode, RiskMode::reduced);
        desk.decision.risk_mode = RiskMode::reduced;
        EXPECT_FALSE(has_warning(desk.judge(), "risk_mode_ignored"));
    }
}

TEST(ControlStep, ARefusedDecisionTellsTheModeThatStays) {
    ControlDesk desk(ControlAction::set_risk_mode);
    desk.decision.risk_mode = RiskMode::normal;
    desk.kill_switch_active = true;
    EXPECT_EQ(desk.judge().risk_mode, RiskMode::reduced);
}

TEST(ControlStep, ATargetOnSetRiskModeMustFitAndIsOtherwiseIgnored) {
    ControlDesk desk(ControlAction::set_risk_mode);
    desk.decision.risk_mode = RiskMode::halted;
    desk.decision.target_strategy_id = StrategyId::trusted("s2");
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    EXPECT_TRUE(has_warning(desk.judge(), "target_ignored"));
    desk.has_target = false;
    EXPECT_EQ(codes_of(desk.judge()), Words{"target_missing"});
}

TEST(ControlHistory, TheSameDecisionAppliedBeforeIsADuplicate) {
    for (const ControlStatus status : {ControlStatus::applied, ControlStatus::noop}) {
        ControlDesk desk;
        desk.remember(status, 1);
        desk.kill_switch_active = true;
        desk.decision.requested_at = Timestamp{1};
        const ControlVerdict verdict = desk.judge();
        EXPECT_EQ(verdict.status, ControlStatus::noop);
        EXPECT_TRUE(verdict.is_duplicate);
        EXPECT_TRUE(has_warning(verdict, "duplicate_decision"));
        EXPECT_EQ(codes_of(verdict), Words{});
        EXPECT_EQ(verdict.attempt, 2);
    }
}

TEST(ControlHistory, AnotherDecisionUnderAUsedIdIsAConflict) {
    ControlDesk desk;
    desk.remember(ControlStatus::applied, 1);
    desk.decision.reason = "something else";
    desk.decision.override_guards = true;
    const ControlVerdict verdict = desk.judge();
    EXPECT_EQ(verdict.status, ControlStatus::rejected);
    EXPECT_EQ(codes_of(verdict), Words{"decision_id_conflict"});
    EXPECT_FALSE(verdict.is_duplicate);
}

TEST(ControlHistory, ARefusedOrFailedDecisionIsJudgedAgainAsTheNextAttempt) {
    for (const ControlStatus status : {ControlStatus::rejected, ControlStatus::failed}) {
        ControlDesk desk;
        desk.remember(status, 4);
        desk.decision.reason = "a better reason";
        const ControlVerdict verdict = desk.judge();
        EXPECT_EQ(verdict.status, ControlStatus::applied);
        EXPECT_EQ(verdict.attempt, 5);
    }
}

TEST(ControlHistory, ADryRunOfAnAppliedDecisionIsItsDuplicate) {
    ControlDesk desk;
    desk.remember(ControlStatus::applied, 1);
    desk.decision.dry_run = true;
    EXPECT_TRUE(desk.judge().is_duplicate);
}

TEST(ControlSwitching, ASwitchUnderWayHoldsUpWhatLoosensEvenWithOverride) {
    for (ControlDesk& desk : ControlDesk::loosening()) {
        desk.begin_switch(RiskMode::reduced);
        desk.decision.override_guards = true;
        EXPECT_EQ(codes_of(desk.judge()), Words{"switch_in_progress"});
    }
}

TEST(ControlSwitching, WhatReducesRiskIsAppliedDuringASwitchWithAWarning) {
    for (ControlDesk& desk : ControlDesk::reducing()) {
        desk.begin_switch(RiskMode::reduced);
        EXPECT_EQ(desk.judge().status, ControlStatus::applied);
        EXPECT_TRUE(has_warning(desk.judge(), "switch_in_progress"));
    }
}

TEST(ControlSwitching, TheModeOfNowIsAChangeWhenTheSwitchWouldLoosenIt) {
    ControlDesk desk(ControlAction::set_risk_mode);
    desk.decision.risk_mode = desk.concern.risk_mode;
    desk.begin_switch(RiskMode::normal);
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    EXPECT_EQ(desk.judge().risk_mode, RiskMode::reduced);
}

TEST(ControlSwitching, NothingIsDecidedUnderTheIdOfTheSwitchItself) {
    for (ControlDesk& desk : ControlDesk::one_per_action()) {
        desk.begin_switch(RiskMode::reduced);
        desk.concern.switching->decision_id = desk.decision.decision_id;
        EXPECT_EQ(desk.judge().errors.front().code(), "switch_in_progress");
    }
}

TEST(ControlGuards, MinimumConfidenceIsForSwitchAndResumeAndNotOverridden) {
    ControlDesk desk;
    desk.guards.min_confidence = Decimal::parse("0.65").value();
    desk.decision.confidence = Decimal::parse("0.65").value();
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    desk.decision.confidence = Decimal::parse("0.6499").value();
    desk.decision.override_guards = true;
    EXPECT_EQ(codes_of(desk.judge()), Words{"confidence_too_low"});
    desk.decision.action = ControlAction::pause;
    desk.decision.target_strategy_id.reset();
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
}

TEST(ControlGuards, MinimumHoldIsForSwitchesAndOverridden) {
    ControlDesk desk;
    desk.guards.minimum_hold = Duration::of_minutes(15);
    desk.concern.activated_at = desk.now - Duration::of_minutes(15);
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    desk.concern.activated_at = desk.now - Duration::of_minutes(15) + Duration{1};
    EXPECT_EQ(codes_of(desk.judge()), Words{"minimum_hold"});
    desk.decision.override_guards = true;
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
    EXPECT_TRUE(has_warning(desk.judge(), "overridden:minimum_hold"));
}

TEST(ControlGuards, AreOffByDefault) {
    ControlDesk desk;
    desk.decision.confidence = Decimal(0);
    desk.concern.activated_at = desk.now;
    EXPECT_EQ(desk.judge().status, ControlStatus::applied);
}

}  // namespace
}  // namespace interlock
