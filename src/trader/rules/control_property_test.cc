// Any decision on any facts: the checks of control-decision.md#rules written a second time as a
// plain list, and what must hold whatever is asked.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "testing/control_desk.h"

namespace interlock {
namespace {

// One in `n`, from the first case on.
bool seldom(int n) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, n)) == 0;
}

RiskMode any_mode() {
    return static_cast<RiskMode>(*rc::gen::inRange(0, 5));
}

// Mostly in order, so that late checks are reached as often as early ones.
ControlDesk any_desk() {
    ControlDesk desk(static_cast<ControlAction>(*rc::gen::inRange(0, 4)));
    const ControlAction action = desk.decision.action;
    desk.concern.risk_mode = any_mode();
    desk.concern.status = seldom(25) ? ConcernStatus::informational : ConcernStatus::active;
    desk.active.paused = *rc::gen::arbitrary<bool>();
    desk.active.is_latched = seldom(6);
    desk.target.is_latched = seldom(10);
    if (action == ControlAction::set_risk_mode || seldom(3)) {
        desk.decision.risk_mode = any_mode();
    }
    if (seldom(10)) {
        desk.concern.active_strategy_id.reset();
    }
    if (seldom(6)) {
        desk.target = desk.active;
        desk.decision.target_strategy_id = desk.active.strategy_id;
    } else if (seldom(8)) {
        desk.decision.target_strategy_id = desk.target.strategy_id;
    }
    desk.has_concern = !seldom(25);
    desk.has_target = !seldom(25);
    if (seldom(25)) {
        desk.decision.account_id = AccountId::trusted("other");
    }
    if (seldom(25)) {
        desk.decision.market_symbol = "ethusdt";
    }
    if (seldom(25)) {
        desk.target.symbol = Symbol::parse("ETHUSDT").value();
    }
    if (seldom(2)) {
        desk.decision.expected_active_strategy_id = StrategyId::trusted(seldom(3) ? "s9" : "s1");
    } else if (seldom(4)) {
        desk.decision.expected_active_strategy_id.emplace();  // Null: nothing is active.
    }
    desk.target_problem = seldom(10) ? "It cannot run." : "";
    desk.kill_switch_active = seldom(5);
    desk.stop = seldom(8) ? "tier 4" : "";
    desk.asset_problem = seldom(20) ? "not on the list" : "";
    desk.concern.quality = seldom(5) ? ExecutionQuality::degraded : ExecutionQuality::good;
    desk.decision.override_guards = seldom(3);
    desk.decision.dry_run = seldom(3);
    if (seldom(8)) {
        desk.begin_switch(any_mode());
    }
    if (seldom(4)) {
        desk.guards.min_confidence = Decimal::parse(seldom(2) ? "0.9" : "0.5").value();
    }
    if (seldom(4)) {
        desk.guards.minimum_hold = Duration::of_minutes(15);
        desk.concern.activated_at = desk.now - Duration::of_minutes(seldom(2) ? 5 : 20);
    }
    return desk;
}

struct Check {
    bool fails;
    const char* code;
};

// Their list on a decision that has no history; "" when every check passes.
std::string first_failing(const ControlDesk& desk) {
    const ControlDecision& asked = desk.decision;
    if (!desk.has_concern) {
        return "concern_mismatch";
    }
    const Concern& concern = desk.concern;
    const bool switches = asked.action == ControlAction::switch_strategy;
    const bool resumes = asked.action == ControlAction::resume;
    const bool on_active = resumes || asked.action == ControlAction::pause;
    const bool loosens = asked.action == ControlAction::set_risk_mode &&
                         static_cast<int>(*asked.risk_mode) < static_cast<int>(concern.risk_mode);
    const bool gated = switches || resumes || loosens;
    const bool named = asked.target_strategy_id.has_value();
    const bool cannot_run =
        (switches && (desk.target.is_latched || !desk.target_problem.empty())) ||
        (resumes && !desk.target_problem.empty());
    const bool there = named ? desk.has_target : concern.active_strategy_id.has_value();
    const bool guarded = !asked.override_guards;
    const Check checks[] = {
        {asked.account_id != concern.account.account_id, "account_mismatch"},
        {asked.market_symbol != "btcusdt", "market_mismatch"},
        {concern.status == ConcernStatus::informational, "concern_informational"},
        {gated && !desk.asset_problem.empty(), "asset_not_allowed"},
        {named && !desk.has_target, "target_missing"},
        {named && desk.target.symbol != concern.symbol, "target_concern_mismatch"},
        {there && cannot_run, "target_not_runnable"},
        {on_active && !concern.active_strategy_id, "no_active_strategy"},
        {on_active && named && asked.target_strategy_id != concern.active_strategy_id,
         "target_not_active"},
        {guarded && asked.expected_active_strategy_id &&
             *asked.expected_active_strategy_id != concern.active_strategy_id,
         "expected_active_mismatch"},
        {gated && desk.kill_switch_active, "kill_switch_active"},
        {gated && !desk.stop.empty(), "trading_stopped"},
        {guarded && gated && concern.quality != ExecutionQuality::good, "execution_degraded"},
        {gated && concern.switching, "switch_in_progress"},
        {(switches || resumes) && desk.guards.min_confidence &&
             *desk.guards.min_confidence > asked.confidence,
         "confidence_too_low"},
        {guarded && switches && desk.guards.minimum_hold && concern.active_strategy_id &&
             asked.target_strategy_id != concern.active_strategy_id &&
             *concern.activated_at > desk.now - *desk.guards.minimum_hold,
         "minimum_hold"},
    };
    for (const Check& check : checks) {
        if (check.fails) {
            return check.code;
        }
    }
    return "";
}

TEST(ControlProperties, ExactlyTheFirstFailingCheckDecides) {
    EXPECT_TRUE(rc::check([] {
        for (int i = 0; i < 10; ++i) {
            const ControlDesk desk = any_desk();
            const ControlVerdict verdict = desk.judge();
            const std::string code = first_failing(desk);
            RC_ASSERT((verdict.status == ControlStatus::rejected) == !code.empty());
            RC_ASSERT(code == (verdict.errors.empty() ? "" : verdict.errors.front().code()));
        }
    }));
}

TEST(ControlProperties, AnOverrideNeverLetsAnythingElsePass) {
    EXPECT_TRUE(rc::check([] {
        ControlDesk desk = any_desk();
        desk.decision.override_guards = false;
        const ControlVerdict plain = desk.judge();
        desk.decision.override_guards = true;
        const ControlVerdict bold = desk.judge();
        std::vector<std::string> left;
        for (const std::string& code : codes_of(plain)) {
            const bool is_waived = code == "expected_active_mismatch" ||
                                   code == "execution_degraded" || code == "minimum_hold";
            if (!is_waived) {
                left.push_back(code);
            }
        }
        RC_ASSERT(codes_of(bold) == left);
        RC_ASSERT(bold.validation == plain.validation);
        RC_ASSERT(has_warning(bold, "override_used"));
        RC_ASSERT(!has_warning(plain, "override_used"));
    }));
}

TEST(ControlProperties, ADryRunGivesTheStatusOfTheDecisionItself) {
    EXPECT_TRUE(rc::check([] {
        ControlDesk desk = any_desk();
        desk.decision.dry_run = false;
        if (seldom(3)) {
            desk.remember(static_cast<ControlStatus>(*rc::gen::inRange(0, 4)), 1);
        }
        if (seldom(3)) {
            desk.decision.reason = "another";
        }
        const ControlVerdict real = desk.judge();
        desk.decision.dry_run = true;
        const ControlVerdict dry = desk.judge();
        RC_ASSERT(dry.status == real.status);
        RC_ASSERT(codes_of(dry) == codes_of(real));
        RC_ASSERT(dry.warnings == real.warnings);
        RC_ASSERT(dry.is_duplicate == real.is_duplicate);
    }));
}

TEST(ControlProperties, KillSwitchStopsAndQualityNeverChangeWhatReducesRisk) {
    EXPECT_TRUE(rc::check([] {
        ControlDesk desk = any_desk();
        desk.decision.action = seldom(2) ? ControlAction::pause : ControlAction::set_risk_mode;
        desk.decision.risk_mode = any_mode();
        RC_PRE(is_risk_reducing(desk.decision, desk.facts()));
        desk.kill_switch_active = false;
        desk.stop.clear();
        desk.concern.quality = ExecutionQuality::good;
        const ControlVerdict calm = desk.judge();
        desk.kill_switch_active = true;
        desk.stop = "tier 4";
        desk.concern.quality = ExecutionQuality::stalled;
        const ControlVerdict storm = desk.judge();
        RC_ASSERT(storm.status == calm.status);
        RC_ASSERT(codes_of(storm) == codes_of(calm));
    }));
}

TEST(ControlProperties, NothingLoosensUnderTheKillSwitch) {
    EXPECT_TRUE(rc::check([] {
        ControlDesk desk = any_desk();
        desk.kill_switch_active = true;
        const ControlVerdict verdict = desk.judge();
        if (verdict.status == ControlStatus::applied) {
            RC_ASSERT(is_risk_reducing(desk.decision, desk.facts()));
            RC_ASSERT(*verdict.risk_mode >= desk.concern.risk_mode);
            RC_ASSERT(verdict.to == desk.concern.active_strategy_id);
        }
    }));
}

TEST(ControlProperties, AFlagIsTrueExactlyWhenItsFactHoldsOrItDoesNotApply) {
    EXPECT_TRUE(rc::check([] {
        const ControlDesk desk = any_desk();
        const ControlVerdict verdict = desk.judge();
        const ControlValidation& flags = verdict.validation;
        const bool account =
            desk.has_concern && desk.decision.account_id == desk.concern.account.account_id;
        const bool market = desk.has_concern && desk.decision.market_symbol == "btcusdt";
        RC_ASSERT(flags.account_match == account);
        RC_ASSERT(flags.market_match == market);
        RC_ASSERT(flags.concern_match == (account && market));
        if (desk.decision.expected_active_strategy_id) {
            RC_ASSERT(
                flags.expected_active_match ==
                (desk.has_concern &&
                 desk.concern.active_strategy_id == *desk.decision.expected_active_strategy_id));
        }
        const auto not_applicable_is_true = [&](bool flag, const char* name) {
            return flag || !has_warning(verdict, std::string("not_applicable:") + name);
        };
        RC_ASSERT(not_applicable_is_true(flags.expected_active_match, "expected_active_match"));
        RC_ASSERT(not_applicable_is_true(flags.target_exists, "target_exists"));
        RC_ASSERT(not_applicable_is_true(flags.target_runnable, "target_runnable"));
    }));
}

TEST(ControlProperties, OnlyAnAppliedDecisionChangesTheModeTold) {
    EXPECT_TRUE(rc::check([] {
        const ControlDesk desk = any_desk();
        const ControlVerdict verdict = desk.judge();
        if (verdict.status != ControlStatus::applied && desk.has_concern) {
            RC_ASSERT(verdict.risk_mode == std::optional(desk.concern.risk_mode));
        }
    }));
}

}  // namespace
}  // namespace interlock
