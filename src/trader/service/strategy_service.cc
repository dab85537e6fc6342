#include "trader/service/strategy_service.h"

#include <algorithm>

#include "base/errors.h"
#include "loop/service/control_call.h"
#include "trader/service/control_shared.h"

namespace interlock {
namespace {

// Only keys that the type's state schema knows are carried over a change of config.
Json carried_memory(const StrategyType& type, const Json& memory) {
    const Json schema = type.state_schema();
    const Json* known = schema.find("properties");
    if (!memory.is_object() || known == nullptr) {
        return Json();
    }
    Json carried = Json::object();
    for (const auto& [key, value] : memory.members()) {
        if (known->find(key) != nullptr) {
            carried.set(key, value);
        }
    }
    return carried;
}

Result<std::shared_ptr<const Strategy>> open_or_refuse(
    const std::string& strategy_type, const Json& config) {
    const StrategyType* type = find_strategy_type(strategy_type);
    if (type == nullptr) {
        return fail(
            errors::unknown_strategy_type, "There is no strategy type \"" + strategy_type + "\".");
    }
    auto opened = type->open(config);
    if (!opened) {
        Error error{
            &errors::invalid_strategy_config,
            opened.error().message,
            {},
            std::move(opened).error().problems};
        return std::unexpected(std::move(error));
    }
    return opened;
}

}  // namespace

Result<void> StrategyService::open() {
    TRY_ASSIGN(const auto instances, stored_instances(parts_.runner));
    for (const StrategyInstance& instance : instances) {
        parts_.runtime.reconcile(instance);
    }
    return {};
}

TurnRequest StrategyService::read_turn(Caller caller, std::string function, Run run, Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function);
    turn.reply = std::move(reply);
    turn.decide = std::move(run);
    return turn;
}

Result<StrategyScope> StrategyService::scope(Turn& turn) {
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    return StrategyScope{turn.tenant_id(), mode.mode};
}

Result<StrategyInstance> StrategyService::find(Turn& turn, const StrategyId& id) {
    TRY_ASSIGN(const StrategyScope where, scope(turn));
    TRY_ASSIGN(const auto instance, load_instance(turn, where, id));
    if (!instance) {
        return fail(
            errors::unknown_instance,
            "There is no strategy " + id.text() + " in " + std::string(to_word(where.mode)) +
                " mode.");
    }
    return *instance;
}

// For whatever changes one. A bot's instances follow the bot's own configuration and state.
Result<StrategyInstance> StrategyService::find_own(Turn& turn, const StrategyId& id) {
    TRY_ASSIGN(StrategyInstance instance, find(turn, id));
    if (is_kept_strategy(id)) {
        return fail(
            errors::kept_by_bot, "Strategy " + id.text() + " belongs to this tenant's maker bot.");
    }
    return instance;
}

Result<TurnReply> StrategyService::done(Turn& turn, StrategyInstance instance, Change change) {
    AuditDraft draft = turn.draft(std::move(change.event));
    draft.reason = std::move(change.reason);
    draft.detail = std::move(change.detail);
    draft.detail.set("strategy_id", instance.strategy_id.text());
    TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
    TRY_ASSIGN(const auto concern, load_concern_of(turn, instance.account, instance.symbol));
    const auto saved = save_instance(turn, std::move(instance));
    reconcile_after(turn, parts_.runtime, *saved);
    TRY(settle_blocks(turn, saved->account, parts_.runtime.keeper()));
    TRY_ASSIGN(const auto blocked, parts_.ticker.why_blocked(turn, *saved, concern.get()));
    Json answer = describe(*saved, concern.get(), blocked);
    answer.set("audit_ref", ref);
    return Answer{200, to_text(answer)};
}

void StrategyService::create(Caller caller, CreateStrategyRequest request, Reply reply) {
    parts_.submit(create_turn(std::move(caller), std::move(request), std::move(reply)));
}

TurnRequest StrategyService::create_turn(
    Caller caller, CreateStrategyRequest request, Reply reply) {
    ControlFunction function{"create_strategy", request.call.idempotency_key};
    return control_turn(
        std::move(caller),
        std::move(function),
        [this, request = std::move(request)](Turn& turn) { return run_create(turn, request); },
        std::move(reply));
}

Result<TurnReply> StrategyService::run_create(Turn& turn, const CreateStrategyRequest& request) {
    TRY(open_or_refuse(request.strategy_type, request.config));
    TRY_ASSIGN(const Symbol symbol, Symbol::parse(request.market_symbol));
    const MarketSet market = parts_.feed.facts(std::vector<Symbol>{symbol});
    const MarketFacts* facts = market.find(symbol);
    if (facts == nullptr) {
        return fail(
            errors::unknown_symbol, "There is no market " + std::string(symbol.text()) + ".");
    }
    TRY_ASSIGN(const VenueAccount account, parts_.loop.account_of(turn, request.account_id));
    TRY(parts_.loop.open_or_load(turn, account));
    TRY_ASSIGN(const ConcernId concern_id, make_concern_id(account.account_id, symbol));
    const StrategyScope where = scope_of(account);
    TRY_ASSIGN(const auto known, load_instance_list(turn, where));
    if (known->ids.size() >= kInstancesMax) {
        return fail(
            errors::overloaded,
            "This tenant has " + std::to_string(kInstancesMax) + " strategies.");
    }
    StrategyInstance instance;
    instance.strategy_id = StrategyId::trusted(turn.new_id("str"));
    instance.strategy_type = request.strategy_type;
    instance.account = account;
    instance.symbol = symbol;
    instance.base = facts->rules.base;
    instance.quote = facts->rules.quote;
    instance.created_at = turn.now();
    instance.mode = request.mode;
    instance.config = request.config;
    instance.policy = request.policy;
    instance.name = request.name;
    instance.last_transition = "created";
    InstanceList list = *known;
    list.ids.push_back(instance.strategy_id);
    save_instance_list(turn, where, std::move(list));
    TRY_ASSIGN(const auto concern, load_concern(turn, where, concern_id));
    if (!concern) {
        Concern fresh;
        fresh.concern_id = concern_id;
        fresh.account = account;
        fresh.symbol = symbol;
        save_concern(turn, std::move(fresh));
        turn.after_commit([this, account, symbol] { parts_.control.watch(account, symbol); });
    }
    return done(
        turn,
        std::move(instance),
        {.event = "STRATEGY_CREATED",
         .reason = reason_or(request.call.reason, "created"),
         .detail = Json::object(
             {{"strategy_type", request.strategy_type},
              {"concern_id", concern_id.text()},
              {"config", request.config}})});
}

void StrategyService::update(
    Caller caller, StrategyId id, UpdateStrategyRequest request, Reply reply) {
    ControlFunction function{"update_strategy", request.call.idempotency_key};
    parts_.submit(control_turn(
        std::move(caller),
        std::move(function),
        [this, id = std::move(id), request = std::move(request)](Turn& turn) {
            return run_update(turn, id, request);
        },
        std::move(reply)));
}

// A change of config, state or mode reloads the instance and lifts its error latch
// (control-decision.md#strategy-instances); a new name does not.
Result<TurnReply> StrategyService::run_update(
    Turn& turn, const StrategyId& id, const UpdateStrategyRequest& request) {
    TRY_ASSIGN(StrategyInstance next, find_own(turn, id));
    const StrategyType* type = find_strategy_type(next.strategy_type);
    Json detail = Json::object();
    if (request.config) {
        TRY(open_or_refuse(next.strategy_type, *request.config));
        detail.set("from", next.config);
        detail.set("to", *request.config);
        next.config = *request.config;
        next.memory = type == nullptr ? Json() : carried_memory(*type, next.memory);
    }
    if (request.state) {
        const Json kept = type == nullptr ? Json() : carried_memory(*type, *request.state);
        if (kept != *request.state) {
            return fail(
                errors::invalid_strategy_config,
                "The state has keys that this type does not know.");
        }
        next.memory = kept;
        detail.set("state", *request.state);
    }
    if (request.name) {
        next.name = *request.name;
    }
    if (request.mode && next.mode == InstanceMode::active) {
        return fail(errors::instance_is_active, "An active strategy is stopped or switched from.");
    }
    if (request.mode) {
        next.last_transition = std::string(to_word(next.mode)) + " -> " +
                               std::string(to_word(*request.mode)) + " by a person";
        next.mode = *request.mode;
    }
    const bool is_reloaded = request.config || request.state || request.mode;
    if (is_reloaded) {
        next.is_latched = false;
        next.fail_count = 0;
        next.last_error.clear();
    }
    return done(
        turn,
        std::move(next),
        {.event = "STRATEGY_UPDATED",
         .reason = reason_or(request.call.reason, "updated"),
         .detail = std::move(detail)});
}

Result<bool> StrategyService::has_open_orders(Turn& turn, const StrategyInstance& instance) {
    TRY_ASSIGN(const AccountView view, load_account(turn, instance.account));
    const SymbolBook* book = find_book(view.books->books, instance.symbol);
    return book != nullptr &&
           std::any_of(book->open.begin(), book->open.end(), [&](const OrderRecord& order) {
               return order.strategy_id == instance.strategy_id;
           });
}

void StrategyService::remove(
    Caller caller, StrategyId id, DeleteStrategyRequest request, Reply reply) {
    ControlFunction function{"delete_strategy", request.call.idempotency_key};
    parts_.submit(control_turn(
        std::move(caller),
        std::move(function),
        [this, id = std::move(id), call = request.call](Turn& turn) {
            return run_remove(turn, id, call);
        },
        std::move(reply)));
}

Result<TurnReply> StrategyService::run_remove(
    Turn& turn, const StrategyId& id, const StrategyCall& call) {
    TRY_ASSIGN(StrategyInstance next, find_own(turn, id));
    if (next.mode == InstanceMode::active) {
        return fail(errors::instance_is_active, "This strategy is active.");
    }
    TRY_ASSIGN(const auto concern, load_concern_of(turn, next.account, next.symbol));
    const bool awaited = concern && concern->switching && concern->switching->to == id;
    if (awaited) {
        return fail(errors::instance_is_active, "A switch to this strategy is under way.");
    }
    TRY_ASSIGN(const bool open, has_open_orders(turn, next));
    if (open) {
        return fail(errors::orders_still_open, "This strategy still has open orders.");
    }
    TRY_ASSIGN(const auto known, load_instance_list(turn, scope_of(next.account)));
    InstanceList list = *known;
    std::erase(list.ids, id);
    save_instance_list(turn, scope_of(next.account), std::move(list));
    next.is_deleted = true;
    next.mode = InstanceMode::off;
    return done(
        turn,
        std::move(next),
        {.event = "STRATEGY_DELETED", .reason = reason_or(call.reason, "deleted")});
}

void StrategyService::set_policy(
    Caller caller, StrategyId id, StrategyPolicyRequest request, Reply reply) {
    ControlFunction function{"set_strategy_policy", request.call.idempotency_key};
    parts_.submit(control_turn(
        std::move(caller),
        std::move(function),
        [this, id = std::move(id), request = std::move(request)](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(StrategyInstance next, find_own(turn, id));
            Json detail =
                Json::object({{"from", encode(next.policy)}, {"to", encode(request.policy)}});
            next.policy = request.policy;
            return done(
                turn,
                std::move(next),
                {.event = "STRATEGY_POLICY",
                 .reason = reason_or(request.call.reason, "policy set"),
                 .detail = std::move(detail)});
        },
        std::move(reply)));
}

void StrategyService::reconcile(Caller caller, StrategyId id, StrategyCall call, Reply reply) {
    ControlFunction function{"reconcile_instance", call.idempotency_key};
    parts_.submit(control_turn(
        std::move(caller),
        std::move(function),
        [this, id = std::move(id), call](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(StrategyInstance next, find_own(turn, id));
            return done(
                turn,
                std::move(next),
                {.event = "STRATEGY_RECONCILED", .reason = reason_or(call.reason, "reconciled")});
        },
        std::move(reply)));
}

void StrategyService::set_concern(
    Caller caller, ConcernId id, ConcernRequest request, Reply reply) {
    ControlFunction function{"set_concern", request.call.idempotency_key};
    parts_.submit(control_turn(
        std::move(caller),
        std::move(function),
        [this, id = std::move(id), request = std::move(request)](Turn& turn) -> Result<TurnReply> {
            TRY_ASSIGN(const StrategyScope where, scope(turn));
            TRY_ASSIGN(const auto concern, load_concern(turn, where, id));
            if (!concern) {
                return fail(errors::unknown_concern, "There is no concern " + id.text() + ".");
            }
            Concern next = *concern;
            AuditDraft draft = turn.draft("CONCERN_CHANGED");
            draft.reason = reason_or(request.call.reason, "status set");
            draft.detail = Json::object({
                {"concern_id", id.text()},
                {"from", to_word(next.status)},
                {"to", to_word(request.status)},
            });
            TRY_ASSIGN(const std::string ref, turn.audit(std::move(draft)));
            next.status = request.status;
            save_concern(turn, next);
            if (next.status == ConcernStatus::informational) {
                // What rests at the venue would go on trading.
                TRY(parts_.loop.cancel_orders(
                    turn,
                    {.account = next.account,
                     .decision_id = "sys_control",
                     .which = [symbol = next.symbol](const OrderRecord& order) {
                         return order.symbol() == symbol;
                     }}));
            }
            return Answer{
                200,
                to_text(Json::object({
                    {"concern_id", id.text()},
                    {"status", to_word(next.status)},
                    {"audit_ref", ref},
                }))};
        },
        std::move(reply)));
}

}  // namespace interlock
