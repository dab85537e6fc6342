// One small concern for tests of control decisions: BTCUSDT on `main`, `s1` active, `s2` waiting in
// observe, mode `reduced` so that there is room on both sides. A test changes what it is about.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "trader/rules/control_step.h"

namespace interlock {

struct ControlDesk {
    Timestamp now{1'776'370'500'000'000};
    ControlDecision decision;
    Concern concern;
    StrategyInstance active;
    StrategyInstance target;
    bool has_concern = true;
    bool has_target = true;
    std::string target_problem;
    bool kill_switch_active = false;
    std::string stop;
    std::string asset_problem;
    std::optional<ControlHistory> history;
    ControlGuards guards;

    explicit ControlDesk(ControlAction action = ControlAction::switch_strategy) {
        const auto symbol = Symbol::parse("BTCUSDT");
        const auto base = Asset::parse("BTC");
        const auto quote = Asset::parse("USDT");
        const auto confidence = Decimal::parse("0.83");
        CHECK(symbol && base && quote && confidence);
        concern.concern_id = ConcernId::trusted("main:btcusdt");
        concern.account = {TenantId::trusted("acme"), AccountId::trusted("main"), TradeMode::paper};
        concern.symbol = *symbol;
        concern.risk_mode = RiskMode::reduced;
        concern.active_strategy_id = StrategyId::trusted("s1");
        active.strategy_id = StrategyId::trusted("s1");
        active.strategy_type = "grid_trader";
        active.account = concern.account;
        active.symbol = *symbol;
        active.base = *base;
        active.quote = *quote;
        active.mode = InstanceMode::active;
        target = active;
        target.strategy_id = StrategyId::trusted("s2");
        target.mode = InstanceMode::observe;
        decision.decision_id = DecisionId::trusted("dec_1");
        decision.concern_id = concern.concern_id;
        decision.account_id = concern.account.account_id;
        decision.market_symbol = "btcusdt";
        decision.action = action;
        decision.reason = "the narrative turned";
        decision.confidence = *confidence;
        if (action == ControlAction::switch_strategy) {
            decision.target_strategy_id = target.strategy_id;
        }
    }

    // Each action once, none of them a noop.
    static std::vector<ControlDesk> one_per_action() {
        std::vector<ControlDesk> desks = loosening();
        desks.emplace_back(ControlAction::pause);
        return desks;
    }

    static std::vector<ControlDesk> loosening() {
        std::vector<ControlDesk> desks;
        desks.emplace_back(ControlAction::switch_strategy);
        desks.emplace_back(ControlAction::resume).active.paused = true;
        desks.emplace_back(ControlAction::set_risk_mode).decision.risk_mode = RiskMode::normal;
        return desks;
    }

    static std::vector<ControlDesk> reducing() {
        std::vector<ControlDesk> desks;
        desks.emplace_back(ControlAction::pause);
        for (const RiskMode mode : {RiskMode::defensive, RiskMode::reduce_only, RiskMode::halted}) {
            desks.emplace_back(ControlAction::set_risk_mode).decision.risk_mode = mode;
        }
        return desks;
    }

    // The decision as it stands was settled before.
    void remember(ControlStatus status, std::int64_t attempts) {
        history = ControlHistory{fingerprint(decision), status, attempts};
    }

    void begin_switch(RiskMode risk_mode) {
        concern.switching = SwitchUnderWay{
            .decision_id = DecisionId::trusted("dec_0"),
            .from = active.strategy_id,
            .to = target.strategy_id,
            .risk_mode = risk_mode,
            .started_at = now,
            .deadline = now + Duration::of_seconds(10),
            .operation = {},
            .request = {},
            .verdict = {},
        };
    }

    // Points into this desk.
    ControlFacts facts() const {
        ControlFacts facts;
        facts.now = now;
        facts.concern = has_concern ? &concern : nullptr;
        facts.active = has_concern && concern.active_strategy_id ? &active : nullptr;
        facts.target = decision.target_strategy_id && has_target ? &target : nullptr;
        facts.target_problem = target_problem;
        facts.kill_switch_active = kill_switch_active;
        facts.stop = stop;
        facts.asset_problem = asset_problem;
        facts.history = history;
        facts.guards = guards;
        return facts;
    }

    ControlVerdict judge() const { return judge_control(decision, facts()); }
};

inline std::vector<std::string> codes_of(const ControlVerdict& verdict) {
    std::vector<std::string> codes;
    for (const Error& error : verdict.errors) {
        codes.emplace_back(error.code());
    }
    return codes;
}

inline bool has_warning(const ControlVerdict& verdict, std::string_view warning) {
    return std::find(verdict.warnings.begin(), verdict.warnings.end(), warning) !=
           verdict.warnings.end();
}

}  // namespace interlock
