#include "trader/service/strategy_ticker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "account/rules/why_account_blocked.h"
#include "base/errors.h"
#include "base/log.h"
#include "trader/rules/execution_quality.h"
#include "trader/rules/why_market_blocked.h"

namespace interlock {
namespace {

TickId tick_id_of(const StrategyInstance& instance) {
    return TickId::trusted(instance.strategy_id.text() + ".tick" + std::to_string(instance.ticks));
}

// Decisions are counted per mode and named per tenant, so a mode beside paper is part of the name.
DecisionId decision_id_of(const StrategyInstance& instance, PlanPart part) {
    std::string text = std::string(kBuiltinDecisionPrefix) + instance.strategy_id.text() + "." +
                       std::to_string(instance.ticks) + "." + std::string(to_word(part));
    if (instance.account.mode != TradeMode::paper) {
        text += "." + std::string(to_word(instance.account.mode));
    }
    return DecisionId::trusted(std::move(text));
}

std::vector<OwnOrder> own_orders_of(const AccountBooks& books, const StrategyInstance& instance) {
    std::vector<OwnOrder> own;
    const SymbolBook* book = find_book(books.books, instance.symbol);
    if (book == nullptr) {
        return own;
    }
    for (const OrderRecord& order : book->open) {
        if (order.strategy_id != instance.strategy_id) {
            continue;
        }
        own.push_back({
            .order_client_id = order.id(),
            .side = order.request.side,
            .price = order.request.limit_price.value_or(order.reserve_price),
            .remaining_qty = reserved_qty(order),
            .is_uncertain = is_uncertain(order),
            .cancel_requested = order.cancel_requested,
        });
    }
    return own;
}

TurnRequest internal_turn(const TenantId& tenant_id, std::string function) {
    TurnRequest turn;
    turn.tenant_id = tenant_id;
    turn.principal = internal_principal("strategy_tick");
    turn.function = std::move(function);
    return turn;
}

void log_failure(const Result<Answer>& answer) {
    if (!answer) {
        log_error("strategy_tick_failed", {{"message", answer.error().message}});
    }
}

std::string word_of(const std::map<StrategyId, std::string>& words, const StrategyId& id) {
    const auto found = words.find(id);
    return found == words.end() ? std::string() : found->second;
}

// Whether any part of the plan may pass. What a known reason would keep from passing is not put to
// the gates: their no would say again what is on record since it began.
bool is_let(const Plan& plan, const std::optional<Blocked>& blocked) {
    if (!blocked) {
        return !plan.intents.empty() || !plan.cancels.empty();
    }
    for (const PlanPart part : {PlanPart::cancels, PlanPart::sells, PlanPart::buys}) {
        const Plan carried = part_of(plan, part);
        const bool has_any = !carried.intents.empty() || !carried.cancels.empty();
        if (has_any && lets_through(*blocked, part)) {
            return true;
        }
    }
    return false;
}

// A mere start of the server takes nothing back: while recovery only looks, entries are off, and a
// strategy asked now would cancel its own.
Result<bool> is_only_looked_at(Turn& turn, const VenueAccount& account) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    return view.account && is_only_looking(view.account->recovery);
}

Plan only_symbol(const Symbol& symbol) {
    Plan plan;
    plan.intents.emplace_back();
    plan.intents.back().symbol = symbol;
    return plan;
}

}  // namespace

std::vector<TurnRequest> StrategyTicker::due_turns(Duration now) {
    std::vector<TurnRequest> turns;
    for (StrategyRuntime::Batch& batch : parts_.runtime.take_due(now)) {
        turns.push_back(tick_turn(std::move(batch)));
    }
    return turns;
}

TurnRequest StrategyTicker::tick_turn(StrategyRuntime::Batch batch) {
    TurnRequest turn = internal_turn(batch.account.tenant_id, "strategy_tick");
    turn.decide = [this, batch = std::move(batch)](Turn& t) { return run_tick(t, batch); };
    turn.reply = log_failure;
    return turn;
}

Result<TurnReply> StrategyTicker::run_tick(Turn& turn, const StrategyRuntime::Batch& batch) {
    TRY_ASSIGN(Round round, look_at(turn, batch));
    TRY(note_quiet(turn, batch.account, round));
    act_after(turn, {.account = batch.account, .ids = std::move(round.acting)});
    return Answer{200, "{}"};
}

Result<StrategyTicker::Round> StrategyTicker::look_at(
    Turn& turn, const StrategyRuntime::Batch& batch) {
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, batch.account.tenant_id));
    if (mode.mode != batch.account.mode) {
        return Round{};  // Its tenant runs another mode now.
    }
    TRY_ASSIGN(const bool is_waiting, is_only_looked_at(turn, batch.account));
    if (is_waiting) {
        Round round;
        round.is_waiting = true;
        return round;
    }
    std::vector<Symbol> symbols;
    for (const StrategyId& id : batch.ids) {
        TRY_ASSIGN(const auto instance, load_instance(turn, scope_of(batch.account), id));
        if (instance) {
            symbols.push_back(instance->symbol);
        }
    }
    TRY_ASSIGN(LoopService::Gathered facts, parts_.loop.gather_for(turn, batch.account, symbols));
    TRY_ASSIGN(const BlockedRow before, load_blocked(turn, batch.account));
    Round round;
    round.blocked = facts.blocked;
    round.noted = before;
    TRY(note_blocked(turn, {batch.account, nullptr, facts.blocked, round.noted.code}));
    for (const StrategyId& id : batch.ids) {
        TRY(tick_one(turn, facts, id, round));
    }
    if (round.noted != before) {
        save_blocked(turn, batch.account, round.noted);
    }
    if (round.has_latched) {
        TRY(settle_blocks(turn, batch.account, parts_.runtime.keeper()));
    }
    TRY_ASSIGN(round.seen, parts_.loop.seen(facts));
    return round;
}

void StrategyTicker::act_after(Turn& turn, Act act) {
    if (act.ids.empty()) {
        return;
    }
    turn.after_commit([this, act = std::move(act)] {
        for (const StrategyId& id : act.ids) {
            parts_.submit(act_turn(act.account, id, act.not_after));
        }
    });
}

Result<void> StrategyTicker::tick_one(
    Turn& turn, LoopService::Gathered& facts, const StrategyId& id, Round& round) {
    TRY_ASSIGN(const std::optional<Sight> sight, look(turn, facts, id));
    if (!sight) {
        return {};
    }
    // While its account is blocked, which is on record, its own reason is as it was.
    if (sight->blocked && !facts.blocked) {
        round.held.emplace(id, *sight->blocked);
    }
    if (auto smaller = why_smaller(*sight->concern); smaller && !sight->blocked) {
        round.smaller.emplace(id, *std::move(smaller));
    }
    if (sight->instance->mode == InstanceMode::active && !facts.blocked) {
        std::string code = word_of(round.noted.strategies, id);
        TRY(note_blocked(turn, {facts.key, &id, sight->blocked, code}));
        if (code.empty()) {
            round.noted.strategies.erase(id);
        } else {
            round.noted.strategies[id] = code;
        }
    }
    const auto stepped = step(*sight, facts);
    if (!stepped) {
        TRY_ASSIGN(const bool has_latched, fail_tick(turn, *sight->instance, stepped.error()));
        round.has_latched = round.has_latched || has_latched;
        return {};
    }
    if (sight->may_trade && is_let(stepped->plan, sight->blocked)) {
        round.acting.push_back(id);
        return {};
    }
    round.quiet.push_back(id);
    const StrategyInstance& before = *sight->instance;
    if (stepped->memory == before.memory && before.fail_count == 0) {
        return {};
    }
    StrategyInstance next = before;
    next.memory = stepped->memory;
    next.fail_count = 0;
    ++next.ticks;
    next.last_tick_at = turn.now();
    save_instance(turn, std::move(next));
    return {};
}

Result<std::optional<StrategyTicker::Sight>> StrategyTicker::look(
    Turn& turn, const LoopService::Gathered& facts, const StrategyId& id) {
    TRY_ASSIGN(const auto stored, load_instance(turn, scope_of(facts.key), id));
    const bool ticks = stored && !stored->paused && !stored->is_latched &&
                       stored->mode != InstanceMode::off &&
                       parts_.runtime.find(facts.key, id) != nullptr;
    if (!ticks) {
        return std::nullopt;
    }
    const StrategyInstance& instance = *stored;
    TRY_ASSIGN(auto concern, load_concern_of(turn, instance.account, instance.symbol));
    if (!concern || concern->switching) {
        return std::nullopt;
    }
    TRY_ASSIGN(Sight sight, sight_of(facts, stored, std::move(concern)));
    return sight;
}

Result<StrategyTicker::Sight> StrategyTicker::sight_of(
    const LoopService::Gathered& facts,
    std::shared_ptr<const StrategyInstance> of,
    std::shared_ptr<const Concern> concern) const {
    const StrategyInstance& instance = *of;
    Sight sight;
    sight.strategy = strategy_of(instance);
    sight.blocked = facts.blocked
                        ? facts.blocked
                        : why_held(instance, concern.get(), facts.view.account.get(), facts.market);
    sight.may_trade = instance.mode == InstanceMode::active && !instance.paused &&
                      concern->status == ConcernStatus::active;
    if (sight.strategy) {
        sight.signals = parts_.feed.signals(instance.symbol, sight.strategy->timeframes());
        if (const auto wish = sight.strategy->bandwidth_wish()) {
            note_quantile(
                sight.signals, *wish, parts_.feed.bandwidth_quantile(instance.symbol, *wish));
        }
        if (const auto cost_qty = sight.strategy->cost_qty()) {
            sight.trades = gather_own_trades(
                find_book(facts.view.books->books, instance.symbol),
                instance.strategy_id,
                *cost_qty);
        }
    }
    sight.own_orders = own_orders_of(*facts.view.books, instance);
    TRY_ASSIGN(sight.posture, parse_risk_posture(instance.policy.risk_posture));
    sight.concern = std::move(concern);
    sight.instance = std::move(of);
    return sight;
}

std::shared_ptr<const Strategy> StrategyTicker::strategy_of(
    const StrategyInstance& instance) const {
    auto running = parts_.runtime.find(instance.account, instance.strategy_id);
    return running ? running : open_strategy(instance.strategy_type, instance.config).strategy;
}

Result<std::optional<Blocked>> StrategyTicker::why_blocked(
    Turn& turn, const StrategyInstance& instance, const Concern* concern) const {
    TRY_ASSIGN(
        std::optional<Blocked> blocked, parts_.loop.why_stopped(turn, instance.account.tenant_id));
    if (!blocked && parts_.runtime.keeper() != nullptr && instance.mode == InstanceMode::active) {
        blocked = parts_.runtime.keeper()->why_held_up(instance);
    }
    TRY_ASSIGN(const AccountView view, load_account(turn, instance.account));
    if (!blocked && view.account) {
        blocked = why_account_blocked(*view.account);
    }
    if (blocked) {
        return blocked;
    }
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{instance.symbol});
    return why_held(instance, concern, view.account.get(), market);
}

std::optional<Blocked> StrategyTicker::why_held(
    const StrategyInstance& instance,
    const Concern* concern,
    const Account* account,
    const MarketSet& market) const {
    if (instance.mode != InstanceMode::active || concern == nullptr) {
        return std::nullopt;
    }
    const auto strategy = strategy_of(instance);
    MarketWord word{
        .concern = *concern, .strategy = strategy.get(), .market = market.find(instance.symbol)};
    if (account != nullptr) {
        const auto record = account->strategies.find(instance.strategy_id);
        word.is_throttled = record != account->strategies.end() && record->second.is_disabled;
    }
    return why_market_blocked(word);
}

Result<StrategyStep> StrategyTicker::step(
    const Sight& sight, const LoopService::Gathered& facts) const {
    const StrategyInstance& instance = *sight.instance;
    Result<StrategyStep> stepped = [&]() -> Result<StrategyStep> {
        try {
            return sight.strategy->step({
                .strategy_id = instance.strategy_id,
                .symbol = instance.symbol,
                .state = facts.state,
                .market = facts.market,
                .signals = sight.signals,
                .own_orders = sight.own_orders,
                .memory = instance.memory,
                .trades = sight.trades ? &*sight.trades : nullptr,
                .posture = sight.posture,
            });
        } catch (const std::exception& thrown) {
            return fail(
                errors::strategy_failed, std::string("The strategy threw: ") + thrown.what());
        }
    }();
    if (!stepped && stepped.error() == errors::internal) {
        stepped.error().kind = &errors::strategy_failed;
    }
    if (stepped && to_text(stepped->memory).size() > kStrategyMemoryBytesMax) {
        return fail(errors::out_of_range, "The strategy wants to keep more than 16 KiB of state.");
    }
    return stepped;
}

Result<void> StrategyTicker::note_quiet(
    Turn& turn, const VenueAccount& account, const Round& round) {
    if (round.quiet.empty()) {
        return {};
    }
    Json ids = Json::array();
    for (const StrategyId& id : round.quiet) {
        ids.push(id.text());
    }
    AuditDraft draft = turn.draft("PLAN_CREATED");
    draft.tenant_id = account.tenant_id;
    draft.step = AuditStep::plan;
    draft.status = AuditStatus::skipped;
    draft.reason = round.blocked ? "blocked: " + round.blocked->code : "nothing to change";
    draft.detail = Json::object(
        {{"account", encode(account)}, {"strategies", std::move(ids)}, {"seen", round.seen}});
    TRY(turn.audit_repeat(
        std::move(draft),
        {.subject = "tick/" + account_key(account), .what = "idle tick", .varying = {"seen"}}));
    return {};
}

TurnRequest StrategyTicker::act_turn(
    VenueAccount account, StrategyId id, std::optional<Timestamp> not_after) {
    TurnRequest turn = internal_turn(account.tenant_id, "strategy_act");
    turn.decide = [this, account, id, not_after](Turn& t) -> Result<TurnReply> {
        if (not_after && t.now() > *not_after) {
            return Answer{200, "{}"};  // Its facts are old; the next look will have new ones.
        }
        return run_act(t, account, id);
    };
    turn.reply = [this, account, id](Result<Answer> answer) {
        if (!answer) {
            // The turn was dropped whole; what went wrong is recorded by one of its own.
            parts_.submit(failure_turn(account, id, std::move(answer).error()));
        }
    };
    return turn;
}

Result<TurnReply> StrategyTicker::run_act(
    Turn& turn, const VenueAccount& account, const StrategyId& id) {
    TRY_ASSIGN(const auto instance, load_instance(turn, scope_of(account), id));
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, account.tenant_id));
    TRY_ASSIGN(const bool is_waiting, is_only_looked_at(turn, account));
    if (!instance || mode.mode != account.mode || is_waiting) {
        return Answer{200, "{}"};
    }
    StrategyInstance next = *instance;
    ++next.ticks;
    next.last_tick_at = turn.now();
    next.fail_count = 0;
    std::optional<Json> memory;
    bool has_counted = false;
    bool has_recorded = false;
    for (const PlanPart part : {PlanPart::cancels, PlanPart::sells, PlanPart::buys}) {
        TRY_ASSIGN(const Did did, run_part(turn, {next, part, memory}));
        has_counted = has_counted || did == Did::counted;
        has_recorded = has_recorded || did == Did::recorded;
        if (did != Did::nothing && part == PlanPart::cancels) {
            break;  // What they free is planned with in the next tick.
        }
    }
    next.memory = memory.value_or(next.memory);
    const bool is_repeat = has_counted && !has_recorded && next.memory == instance->memory &&
                           instance->fail_count == 0;
    if (!is_repeat) {
        save_instance(turn, std::move(next));
    }
    return Answer{200, "{}"};
}

Result<StrategyTicker::Did> StrategyTicker::run_part(Turn& turn, const Acting& acting) {
    const StrategyInstance& instance = acting.instance;
    TRY_ASSIGN(
        LoopService::Gathered facts,
        parts_.loop.gather(turn, instance.account, only_symbol(instance.symbol)));
    TRY_ASSIGN(const std::optional<Sight> sight, look(turn, facts, instance.strategy_id));
    if (!sight || !sight->may_trade) {
        return Did::nothing;
    }
    TRY_ASSIGN(const StrategyStep stepped, step(*sight, facts));
    if (!acting.memory) {
        acting.memory = stepped.memory;  // Of the step that saw the tick's own facts.
    }
    const Plan plan = part_of(stepped.plan, acting.part);
    if (!is_let(plan, sight->blocked)) {
        return Did::nothing;
    }
    const DecisionId decision_id = decision_id_of(instance, acting.part);
    const Repeat repeat{
        .subject = "act/" + account_key(instance.account) + "/" + instance.strategy_id.text() +
                   "/" + std::string(to_word(acting.part)),
        .what = "refused plan",
        .varying = LoopService::verdict_facts()};
    TRY_ASSIGN(
        const AuditDraft foreseen,
        parts_.loop.foresee(turn, {decision_id, tick_id_of(instance), plan}, facts));
    TRY_ASSIGN(const std::optional<std::string> counted, turn.count_repeat(foreseen, repeat));
    if (counted) {
        return Did::counted;
    }
    TRY(parts_.loop.keep_inputs(turn, facts));
    TRY_ASSIGN(
        Decision decision,
        parts_.loop.begin_decision(
            turn,
            {.decision_id = decision_id,
             .tick_id = tick_id_of(instance),
             .account = instance.account,
             .planner = "builtin:" + instance.strategy_type,
             .from_outside = false},
            nullptr));
    decision.plan = plan;
    decision.planner_input = encode(PlannerInput{
        .strategy_type = instance.strategy_type,
        .config = instance.config,
        .strategy_id = instance.strategy_id,
        .symbol = instance.symbol,
        .signals = sight->signals,
        .own_orders = sight->own_orders,
        .memory = sight->instance->memory,
        .trades = sight->trades,
        .posture = sight->posture,
        .part = acting.part,
    });
    TRY(drive(turn, decision, facts));
    save_decision(turn, std::move(decision));
    TRY(turn.expect_repeats(foreseen, repeat));
    return Did::recorded;
}

Result<void> StrategyTicker::drive(
    Turn& turn, Decision& decision, const LoopService::Gathered& facts) {
    for (int round = 0; round <= kAdjustRoundsMax; ++round) {
        TRY_ASSIGN(const GateReport report, parts_.loop.validate_step(turn, decision, facts));
        if (!report.pass) {
            return {};
        }
        TRY_ASSIGN(
            const LoopService::Rehearsal rehearsal,
            parts_.loop.dry_run_step(turn, decision, facts));
        if (rehearsal.pass) {
            const auto executed = parts_.loop.execute_step(turn, decision, facts);
            // A no on the latest state is on the record already; anything else drops the turn, or
            // half of an execution would stay.
            const bool refused = !executed && decision.stage == DecisionStage::rejected;
            return refused ? Result<void>() : executed;
        }
        if (!rehearsal.adjusted) {
            return parts_.loop.record_step(turn, decision, AuditStatus::skipped);
        }
        decision.plan = *rehearsal.adjusted;
        ++decision.attempt;
    }
    return {};
}

TurnRequest StrategyTicker::failure_turn(VenueAccount account, StrategyId id, Error error) {
    TurnRequest turn = internal_turn(account.tenant_id, "strategy_failed");
    turn.decide = [this,
                   account = std::move(account),
                   id = std::move(id),
                   error = std::move(error)](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const auto instance, load_instance(t, scope_of(account), id));
        if (instance) {
            TRY(fail_tick(t, *instance, error));
            TRY(settle_blocks(t, account, parts_.runtime.keeper()));
        }
        return Answer{200, "{}"};
    };
    turn.reply = log_failure;
    return turn;
}

Result<bool> StrategyTicker::fail_tick(Turn& turn, StrategyInstance instance, const Error& error) {
    ++instance.ticks;
    ++instance.fail_count;
    instance.last_tick_at = turn.now();
    instance.last_error = std::string(error.code()) + ": " + error.message;
    const bool latched = !instance.is_latched && instance.fail_count >= kErrorsInRowMax;
    instance.is_latched = instance.is_latched || latched;
    AuditDraft draft = turn.draft("ERROR_EVENT");
    draft.tenant_id = instance.account.tenant_id;
    draft.tick_id = tick_id_of(instance);
    draft.step = AuditStep::plan;
    draft.status = AuditStatus::failed;
    draft.severity = latched ? AuditSeverity::critical : AuditSeverity::info;
    draft.reason = error.message;
    draft.detail = Json::object({
        {"code", error.code()},
        {"strategy_id", instance.strategy_id.text()},
        {"failed_in_a_row", instance.fail_count},
        {"latched", latched},
    });
    TRY(turn.audit(std::move(draft)));
    if (latched && instance.mode == InstanceMode::active) {
        TRY(parts_.loop.cancel_orders(
            turn,
            {.account = instance.account,
             .decision_id = "sys_strategy",
             .which = [id = instance.strategy_id](const OrderRecord& order) {
                 return order.strategy_id == id;
             }}));
    }
    if (latched) {
        turn.after_commit([this, instance] { parts_.runtime.reconcile(instance); });
    }
    save_instance(turn, std::move(instance));
    return latched;
}

}  // namespace interlock
