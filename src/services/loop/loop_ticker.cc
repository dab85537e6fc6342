#include "services/loop/loop_ticker.h"

#include "base/errors.h"
#include "base/field_reader.h"

namespace interlock {
namespace {

TimerId timer_of(const std::string& machine_key) {
    return TimerId::trusted("tick:" + machine_key);
}

Result<PlannerState> load_planner(Turn& turn, const std::string& machine_key) {
    TRY_ASSIGN(const std::optional<Json> json, turn.load(machine_key));
    if (!json) {
        return fail(errors::not_found, "There is no built-in planner for this strategy.");
    }
    return decode_planner_state(*json);
}

void schedule(Turn& turn, const std::string& machine_key, const PlannerState& state) {
    turn.set_timer({
        .timer_id = timer_of(machine_key),
        .tenant_id = state.account.tenant_id,
        .kind = "loop_tick",
        .json = machine_key,
        .due_at = turn.now() + state.every,
    });
}

TickId tick_id(const PlannerState& state) {
    return TickId::trusted(
        state.settings.strategy_id.text() + ".tick" + std::to_string(state.ticks));
}

// Decisions are counted per mode and named per tenant, so a mode beside paper is part of the name.
DecisionId decision_id_of(const PlannerState& state, std::string_view part) {
    std::string text = std::string(kBuiltinDecisionPrefix) + state.settings.strategy_id.text() +
                       "." + std::to_string(state.ticks);
    if (!part.empty()) {
        text += "." + std::string(part);
    }
    if (state.account.mode != TradeMode::paper) {
        text += "." + std::string(to_word(state.account.mode));
    }
    return DecisionId::trusted(std::move(text));
}

Answer answer_of(const PlannerState& state, const std::string& audit_ref) {
    Json json = encode(state);
    json.set("audit_ref", audit_ref);
    return {200, to_text(json)};
}

}  // namespace

std::string planner_key(const VenueAccount& account, const StrategyId& strategy_id) {
    return "planner/" + account.tenant_id.text() + "/" + std::string(to_word(account.mode)) + "/" +
           account.account_id.text() + "/" + strategy_id.text();
}

Json encode(const PlannerState& state) {
    return Json::object({
        {"settings", encode(state.settings)},
        {"account", encode(state.account)},
        {"every_us", state.every.microseconds},
        {"is_running", state.is_running},
        {"ticks", state.ticks},
        {"errors_in_row", state.errors_in_row},
    });
}

Result<PlannerState> decode_planner_state(const Json& json) {
    FieldReader in(json);
    PlannerState state;
    const Json* settings = in.required_object("settings");
    const Json* account = in.required_object("account");
    state.every = Duration{in.required<std::int64_t>("every_us")};
    state.is_running = in.required<bool>("is_running");
    state.ticks = in.required<std::int64_t>("ticks");
    state.errors_in_row = in.required<std::int64_t>("errors_in_row");
    TRY(in.finish(true));
    TRY_ASSIGN(state.settings, decode_maker_settings(*settings));
    TRY_ASSIGN(state.account, decode_venue_account(*account));
    return state;
}

LoopTicker::LoopTicker(Parts parts) : parts_(parts) {
    parts_.runner.on_timer(
        "loop_tick", [this](Turn& turn, const TimerItem& timer) { return on_timer(turn, timer); });
}

TurnRequest LoopTicker::start_turn(
    LoopService::Caller caller, PlannerState wanted, LoopService::Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "start_planner";
    turn.reply = std::move(reply);
    turn.decide = [this, wanted = std::move(wanted)](Turn& t) -> Result<TurnReply> {
        PlannerState state = wanted;
        TRY_ASSIGN(state.account, parts_.loop.account_of(t, default_account_id()));
        TRY_ASSIGN(const AccountView view, parts_.loop.open_or_load(t, state.account));
        const StrategyId& strategy_id = state.settings.strategy_id;
        const auto known = view.account->strategies.find(strategy_id);
        if (known != view.account->strategies.end() && known->second.type != "maker") {
            return fail(errors::conflict, "This strategy belongs to another planner.");
        }
        Account account = *view.account;
        StrategyRecord& strategy = account.strategies[strategy_id];
        strategy.type = "maker";
        strategy.is_active = true;
        ++account.version;
        parts_.loop.put_account(t, std::move(account));
        const std::string key = planner_key(state.account, strategy_id);
        if (const auto before = load_planner(t, key)) {
            state.ticks = before->ticks;
        }
        state.is_running = true;
        schedule(t, key, state);
        t.save(key, encode(state));
        AuditDraft draft = t.draft("PLANNER_STARTED");
        draft.detail.set("settings", encode(state.settings));
        TRY_ASSIGN(const std::string ref, t.audit(std::move(draft)));
        return answer_of(state, ref);
    };
    return turn;
}

TurnRequest LoopTicker::stop_turn(
    LoopService::Caller caller, StrategyId strategy_id, LoopService::Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = "stop_planner";
    turn.reply = std::move(reply);
    turn.decide = [this, strategy_id = std::move(strategy_id)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const VenueAccount account, parts_.loop.account_of(t, default_account_id()));
        const std::string key = planner_key(account, strategy_id);
        TRY_ASSIGN(PlannerState state, load_planner(t, key));
        state.is_running = false;
        t.clear_timer(timer_of(key));
        t.save(key, encode(state));
        AuditDraft draft = t.draft("PLANNER_STOPPED");
        draft.detail.set("strategy_id", strategy_id.text());
        TRY_ASSIGN(const std::string ref, t.audit(std::move(draft)));
        return answer_of(state, ref);
    };
    return turn;
}

Result<void> LoopTicker::on_timer(Turn& turn, const TimerItem& timer) {
    auto ticked = tick(turn, timer.json);
    if (!ticked) {
        // This turn is dropped whole; what went wrong is recorded by one of its own.
        parts_.loop.submit(error_turn(timer.tenant_id, timer.json, ticked.error()));
    }
    return ticked;
}

TurnRequest LoopTicker::error_turn(
    const TenantId& tenant_id, const std::string& machine_key, const Error& error) {
    TurnRequest turn;
    turn.tenant_id = tenant_id;
    turn.principal = internal_principal("loop_tick");
    turn.function = "failed_tick";
    turn.decide = [this, machine_key, error](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(PlannerState state, load_planner(t, machine_key));
        ++state.ticks;
        TRY(fail_tick(t, state, error));
        if (state.is_running) {
            schedule(t, machine_key, state);
        } else {
            t.clear_timer(timer_of(machine_key));
        }
        t.save(machine_key, encode(state));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer>) {};
    return turn;
}

Result<void> LoopTicker::tick(Turn& turn, const std::string& machine_key) {
    TRY_ASSIGN(PlannerState state, load_planner(turn, machine_key));
    if (!state.is_running) {
        return {};
    }
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, state.account.tenant_id));
    if (mode.mode != state.account.mode) {
        return end_with_mode(turn, machine_key, state);
    }
    ++state.ticks;
    TRY(run_parts(turn, state));
    state.errors_in_row = 0;
    schedule(turn, machine_key, state);
    turn.save(machine_key, encode(state));
    return {};
}

// A planner belongs to the mode it was started in. When a human takes the tenant out of that mode,
// it must not go on trading there, out of reach of stop_planner.
Result<void> LoopTicker::end_with_mode(
    Turn& turn, const std::string& machine_key, PlannerState& state) {
    state.is_running = false;
    turn.save(machine_key, encode(state));
    AuditDraft draft = turn.draft("PLANNER_STOPPED");
    draft.tenant_id = state.account.tenant_id;
    draft.reason =
        "the tenant is no longer in " + std::string(to_word(state.account.mode)) + " mode";
    draft.detail.set("strategy_id", state.settings.strategy_id.text());
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<void> LoopTicker::run_parts(Turn& turn, PlannerState& state) {
    bool acted = false;
    for (const PlanPart part : {PlanPart::cancels, PlanPart::sells, PlanPart::buys}) {
        TRY_ASSIGN(const bool did, run_part(turn, state, part));
        acted = acted || did;
        if (did && part == PlanPart::cancels) {
            return {};  // What they free is planned with in the next tick.
        }
    }
    return acted ? Result<void>() : skip(turn, state, "nothing to change");
}

Result<bool> LoopTicker::run_part(Turn& turn, const PlannerState& state, PlanPart part) {
    Plan wanted;
    wanted.intents.emplace_back();
    wanted.intents.back().symbol = state.settings.symbol;
    TRY_ASSIGN(LoopService::Gathered facts, parts_.loop.gather(turn, state.account, wanted));
    TRY_ASSIGN(const Plan whole, plan_maker(state.settings, facts.state, facts.market));
    const Plan plan = part_of(whole, part);
    if (plan.intents.empty() && plan.cancels.empty()) {
        return false;
    }
    TRY(parts_.loop.keep_inputs(turn, facts));
    const DecisionId decision_id = decision_id_of(state, to_word(part));
    TRY_ASSIGN(
        Decision decision,
        parts_.loop.begin_decision(
            turn,
            {.decision_id = decision_id,
             .tick_id = tick_id(state),
             .account = state.account,
             .planner = "builtin:maker",
             .from_outside = false},
            nullptr));
    decision.plan = plan;
    decision.planner_input = planner_input(state.settings, part);
    for (int round = 0; round <= kAdjustRoundsMax; ++round) {
        TRY_ASSIGN(const GateReport report, parts_.loop.validate_step(turn, decision, facts));
        if (!report.pass) {
            break;
        }
        TRY_ASSIGN(
            const LoopService::Rehearsal rehearsal,
            parts_.loop.dry_run_step(turn, decision, facts));
        if (rehearsal.pass) {
            const auto executed = parts_.loop.execute_step(turn, decision, facts);
            // A no on the latest state is on the record already; anything else drops the turn, or
            // half of an execution would stay.
            if (!executed && decision.stage != DecisionStage::rejected) {
                return std::unexpected(executed.error());
            }
            break;
        }
        if (!rehearsal.adjusted) {
            TRY(parts_.loop.record_step(turn, decision, AuditStatus::skipped));
            break;
        }
        decision.plan = *rehearsal.adjusted;
        ++decision.attempt;
    }
    save_decision(turn, std::move(decision));
    return true;
}

Result<void> LoopTicker::skip(Turn& turn, const PlannerState& state, const std::string& reason) {
    AuditDraft draft = turn.draft("PLAN_CREATED");
    draft.tenant_id = state.account.tenant_id;
    draft.decision_id = decision_id_of(state, {});
    draft.tick_id = tick_id(state);
    draft.step = AuditStep::plan;
    draft.status = AuditStatus::skipped;
    draft.reason = reason;
    TRY(turn.audit(std::move(draft)));
    return {};
}

Result<void> LoopTicker::fail_tick(Turn& turn, PlannerState& state, const Error& error) {
    ++state.errors_in_row;
    const bool disabled = state.errors_in_row >= kErrorsInRowMax;
    AuditDraft draft = turn.draft("ERROR_EVENT");
    draft.tenant_id = state.account.tenant_id;
    draft.tick_id = tick_id(state);
    draft.step = AuditStep::plan;
    draft.status = AuditStatus::failed;
    draft.severity = disabled ? AuditSeverity::critical : AuditSeverity::info;
    draft.reason = error.message;
    draft.detail.set("code", error.code());
    draft.detail.set("strategy_id", state.settings.strategy_id.text());
    draft.detail.set("disabled", disabled);
    TRY(turn.audit(std::move(draft)));
    if (disabled) {
        state.is_running = false;
    }
    return {};
}

}  // namespace interlock
