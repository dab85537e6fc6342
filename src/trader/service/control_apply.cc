// Judging and applying a control decision (docs/contracts/control-decision.md#rules).
#include <utility>

#include "base/errors.h"
#include "trader/service/control_shared.h"

namespace interlock {

template <class T>
Result<std::vector<T>> ControlService::told_of_concerns(
    Turn& turn, const VenueAccount& account, std::optional<T> (*tell)(const Concern&)) {
    std::vector<T> told;
    const auto known = concerns_.find(account);
    if (known == concerns_.end()) {
        return told;
    }
    for (const ConcernId& id : known->second) {
        TRY_ASSIGN(const auto concern, load_concern(turn, scope_of(account), id));
        if (std::optional<T> one = concern ? tell(*concern) : std::nullopt) {
            told.push_back(*std::move(one));
        }
    }
    return told;
}

ControlService::ControlService(Parts parts)
    : parts_(std::move(parts)), shared_(std::make_shared<Shared>()) {
    parts_.loop.set_overlay({
        .market_modes =
            [this](Turn& turn, const VenueAccount& account) {
                return told_of_concerns<LoopService::MarketMode>(
                    turn, account, [](const Concern& concern) {
                        return std::optional<LoopService::MarketMode>(
                            {concern.symbol, risk_mode_of(concern)});
                    });
            },
        // What people should know of the account's execution although it blocks nothing.
        .warnings =
            [this](Turn& turn, const VenueAccount& account) {
                return told_of_concerns(turn, account, why_smaller);
            },
        .active_strategies =
            [this](Turn& turn, const VenueAccount& account) {
                return told_of_concerns<StrategyId>(turn, account, [](const Concern& concern) {
                    return concern.active_strategy_id;
                });
            },
        .instance_type = [](Turn& turn, const VenueAccount& account, const StrategyId& id)
            -> Result<std::string> {
            TRY_ASSIGN(const auto instance, load_any_instance(turn, scope_of(account), id));
            return instance ? instance->strategy_type : std::string();
        },
        .on_orders =
            [this](Turn& turn, const VenueAccount& account) { return on_orders(turn, account); },
        .on_order_news =
            [this](Turn& turn, const LoopService::OrderNews& news) { on_order_news(turn, news); },
    });
    parts_.runner.on_timer(std::string(kSwitchTimer), [this](Turn& turn, const TimerItem& timer) {
        return on_deadline(turn, timer);
    });
}

TurnRequest ControlService::apply_turn(Caller caller, Json payload, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "apply_control_decision";
    turn.reply = std::move(reply);
    Result<ControlRequest> request = read_foreign_request(payload);
    if (!request) {
        turn.decide = [unread = told_by_hash({std::move(payload), std::move(request).error()})](
                          Turn& t) { return refuse_unread(t, unread); };
        return turn;
    }
    const auto read = std::make_shared<const ControlRequest>(*std::move(request));
    turn.decide = [this, read](Turn& t) { return apply(t, *read); };
    return turn;
}

Result<TurnReply> ControlService::apply(Turn& turn, const Json& payload) {
    const auto request = read_control_request(payload);
    return request ? apply(turn, *request) : refuse_unread(turn, {payload, request.error()});
}

Result<TurnReply> ControlService::apply(Turn& turn, const ControlRequest& request) {
    Attempt attempt{.request = request, .decision = request.decision};
    TRY_ASSIGN(const ControlFacts facts, gather_facts(turn, attempt));
    ControlVerdict verdict = judge_control(attempt.decision, facts);
    if (verdict.status == ControlStatus::applied && !attempt.decision.dry_run) {
        return carry_out(turn, attempt, std::move(verdict));
    }
    ControlResult result = result_of(attempt.decision, verdict, attempt.concern.get());
    if (verdict.status == ControlStatus::applied) {
        result.result = mode_change("simulated", false);
    } else if (verdict.is_duplicate) {
        TRY_ASSIGN(Json original, answer_of(turn, turn.tenant_id(), *attempt.row));
        result.result.set("original", std::move(original));
    }
    return settle_attempt(
        turn,
        {.tenant_id = attempt.scope.tenant_id,
         .request = request,
         .result = result,
         .attempt = verdict.attempt,
         .received_at = turn.now(),
         .is_duplicate = verdict.is_duplicate});
}

Result<ControlFacts> ControlService::gather_facts(Turn& turn, Attempt& attempt) {
    const ControlDecision& decision = attempt.decision;
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    attempt.scope = {turn.tenant_id(), mode.mode};
    TRY_ASSIGN(attempt.concern, load_concern(turn, attempt.scope, decision.concern_id));
    if (attempt.concern) {
        TRY_ASSIGN(attempt.account, load_account(turn, attempt.concern->account));
        if (attempt.concern->active_strategy_id) {
            TRY_ASSIGN(
                attempt.active,
                load_instance(turn, attempt.scope, *attempt.concern->active_strategy_id));
        }
    }
    if (decision.target_strategy_id) {
        TRY_ASSIGN(
            attempt.target, load_instance(turn, attempt.scope, *decision.target_strategy_id));
    }
    TRY_ASSIGN(attempt.row, load_control_row(turn, turn.tenant_id(), decision.decision_id));
    ControlFacts facts;
    if (attempt.target && decision.action == ControlAction::switch_strategy) {
        TRY_ASSIGN(facts.target_problem, problem_of(turn, *attempt.target));
    }
    if (attempt.active && decision.action == ControlAction::resume) {
        facts.target_problem = problem_on(attempt.account, *attempt.active);
    }
    facts.now = turn.now();
    facts.concern = attempt.concern.get();
    facts.active = attempt.active.get();
    facts.target = attempt.target.get();
    facts.kill_switch_active = parts_.latch.is_raised(turn.tenant_id());
    TRY_ASSIGN(facts.stop, stop_of(turn, attempt.account));
    if (attempt.concern) {
        TRY_ASSIGN(facts.asset_problem, asset_problem_of(turn, attempt.concern->symbol));
    }
    if (attempt.row) {
        facts.history = attempt.row->history;
    }
    facts.guards = parts_.config.guards;
    return facts;
}

Result<std::string> ControlService::asset_problem_of(Turn& turn, const Symbol& symbol) {
    const auto allowed = parts_.loop.check_assets(turn, {&symbol, 1});
    if (!allowed && allowed.error().http_status() >= 500) {
        return std::unexpected(allowed.error());
    }
    return allowed ? std::string() : std::string(symbol.text()) + " is not on this key's list.";
}

Result<std::string> ControlService::stop_of(Turn& turn, const AccountView& view) {
    if (!view.account) {
        return std::string();  // Opened with the first tick.
    }
    TRY_ASSIGN(const bool enabled, parts_.loop.is_trading_enabled(turn, *view.account));
    if (!enabled) {
        return std::string("trading is disabled on this account");
    }
    if (view.account->recovery.phase == RecoveryPhase::escalated) {
        return std::string("safe recovery of this account has escalated");
    }
    return std::string();
}

Result<std::string> ControlService::problem_of(Turn& turn, const StrategyInstance& instance) {
    if (instance.is_latched) {
        return "It failed three times in a row: " + instance.last_error;
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, instance.account));
    return problem_on(view, instance);
}

std::string ControlService::problem_on(const AccountView& view, const StrategyInstance& instance) {
    if (!parts_.runtime.find(instance.account, instance.strategy_id)) {
        const OpenedStrategy opened = open_strategy(instance.strategy_type, instance.config);
        if (!opened.problem.empty()) {
            return opened.problem;
        }
    }
    if (view.account && !view.account->trading_enabled) {
        return "Its account is disabled.";
    }
    if (view.account && !view.account->universe.contains(instance.symbol)) {
        return "Its market is not in the approved universe.";
    }
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{instance.symbol});
    const MarketFacts* facts = market.find(instance.symbol);
    if (facts == nullptr || facts->status_halted) {
        return "Its market cannot be traded now.";
    }
    return {};
}

}  // namespace interlock
