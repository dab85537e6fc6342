// What people and agents ask of a bot's life: initialize_bot, start, stop, restart.
#include "base/errors.h"
#include "base/log.h"
#include "bots/service/bot_service.h"

namespace interlock {
namespace {

std::string_view function_of(BotCall call) {
    switch (call) {
        case BotCall::initialize:
            return "initialize_bot";
        case BotCall::start:
            return "start";
        case BotCall::stop:
            return "stop";
        case BotCall::restart:
            break;
    }
    return "restart";
}

Answer already_answer(const BotRecord& record) {
    return {
        200,
        to_text(Json::object({
            {"message", "The bot is initialised already."},
            {"bot_state", to_word(record.state)},
        }))};
}

}  // namespace

void BotService::call(Caller caller, Call wanted, Reply reply) {
    if (wanted.call == BotCall::initialize && !caller.key) {
        // One that is initialised answers with its state, which needs no turn: nobody waits for
        // another's commit to learn it.
        const auto seen = board_.view(caller.tenant_id);
        const bool may_ask = !rules_.is_active || rules_.is_active(caller.tenant_id);
        if (may_ask && seen && seen->record.state != BotState::uninitialized) {
            reply(already_answer(seen->record));
            return;
        }
    }
    const auto made = std::make_shared<std::optional<Prepared>>();
    TurnRequest turn = keyed_turn_of(caller, std::string(function_of(wanted.call)));
    turn.decide = [this, caller, wanted, made](Turn& t) -> Result<TurnReply> {
        made->reset();  // A conflict makes a turn run twice.
        TRY_ASSIGN(Prepared prepared, prepare(t, caller, wanted));
        // With a hydration to come, the answer under the key is that of its last turn.
        Answer answer = prepared.answer.value_or(Answer{200, {}, false});
        made->emplace(std::move(prepared));
        return answer;
    };
    turn.reply = [this, made, reply = std::move(reply)](Result<Answer> answer) {
        if (!answer || !*made || !(*made)->hydration) {
            reply(std::move(answer));
            return;
        }
        (*made)->hydration->reply = reply;
        hydrate((*made)->hydration);
    };
    parts_.submit(std::move(turn));
}

Result<BotService::Prepared> BotService::prepare(
    Turn& turn, const Caller& caller, const Call& wanted) {
    TRY_ASSIGN(BotRecord record, load(turn));
    TRY_ASSIGN(const std::optional<std::string> exchange, exchange_of(turn));
    if (wanted.call != BotCall::stop && rules_.may_run) {
        TRY(rules_.may_run(turn, record.config));
    }
    if (wanted.call != BotCall::stop) {
        TRY(check_markets_allowed(turn, record.config));
    }
    TRY_ASSIGN(
        const BotWork work,
        decide_call(wanted.call, {.state = record.state, .keys_loaded = exchange.has_value()}));
    const bool trades = work == BotWork::launch || work == BotWork::rebuild_and_launch;
    if (trades && parts_.latch.is_raised(turn.tenant_id())) {
        return fail(errors::kill_switch_active, "The kill switch is on; no bot starts.");
    }
    if (work == BotWork::already) {
        return Prepared{already_answer(record), nullptr};
    }
    if (work == BotWork::halt) {
        const bool cancel = wanted.cancel_orders.value_or(record.cancel_on_stop);
        TRY_ASSIGN(Answer answer, halt(turn, std::move(record), cancel, "stopped by a call"));
        return Prepared{std::move(answer), nullptr};
    }
    TRY(turn.charge_agent());
    TRY_ASSIGN(HydrationPtr job, begin(turn, record, *exchange));
    job->caller = caller;
    job->function = function_of(wanted.call);
    job->work = work;
    return Prepared{std::nullopt, std::move(job)};
}

Result<BotService::HydrationPtr> BotService::begin(
    Turn& turn, const BotRecord& record, const std::string& exchange) {
    const VenueAccount account = bot_account_of(turn.tenant_id());
    TRY_ASSIGN(const LoopMode mode, load_loop_mode(turn, turn.tenant_id()));
    if (mode.mode != account.mode) {
        return fail(
            errors::wrong_trade_mode,
            "This tenant trades in " + std::string(to_word(mode.mode)) +
                " mode; its bot has keys of the paper exchange.");
    }
    TRY(parts_.loop.open_or_load(turn, account));
    auto job = std::make_shared<Hydration>();
    job->from = record.state;
    job->was_connected = record.is_connected;
    job->config_version = record.config_version;
    job->config = record.config;
    job->exchange = exchange;
    job->account = account;
    return job;
}

Result<Answer> BotService::halt(
    Turn& turn, BotRecord record, bool cancel_orders, const std::string& reason) {
    TRY_ASSIGN(Json open, open_orders_of(turn));
    std::size_t asked = 0;
    if (cancel_orders) {
        TRY_ASSIGN(
            asked,
            parts_.loop.cancel_orders(
                turn,
                {.account = bot_account_of(turn.tenant_id()),
                 .decision_id = "sys_bot",
                 .which = [](const OrderRecord& order) {
                     return is_kept_strategy(order.strategy_id);
                 }}));
    }
    record.stall = {};
    Json more = Json::object({
        {"open_orders", open},
        {"orders_cancelled", cancel_orders},
    });
    TRY_ASSIGN(
        const std::string ref,
        move_to(
            turn,
            record,
            BotState::stopped,
            {.event = "BOT_STOPPED",
             .reason = reason,
             .detail = Json::object({
                 {"open_orders", std::move(open)},
                 {"cancels_asked", static_cast<std::int64_t>(asked)},
             })}));
    record.state = BotState::stopped;
    more.set("audit_ref", ref);
    return state_answer(
        record,
        cancel_orders ? "The bot has stopped; its open orders are being cancelled."
                      : "The bot has stopped; its open orders stay at the exchange.",
        std::move(more));
}

Result<void> BotService::halt_by_rule(Turn& turn, const std::string& reason) {
    TRY_ASSIGN(BotRecord record, load(turn));
    if (record.state == BotState::running) {
        // Nobody looks after the orders from here on.
        TRY(halt(turn, std::move(record), true, reason));
    }
    return {};
}

void BotService::restart_by_rule(const TenantId& tenant_id, const std::string& reason) {
    const auto seen = board_.view(tenant_id);
    if (!seen || seen->record.state != BotState::running) {
        return;
    }
    call(
        {internal_principal("bot"), tenant_id, {}},
        {.call = BotCall::restart},
        [tenant_id, reason](Result<Answer> answer) {
            if (!answer) {
                log_warn(
                    "bot_restart_failed",
                    {{"tenant_id", tenant_id.text()},
                     {"reason", reason},
                     {"message", answer.error().message}});
            }
        });
}

}  // namespace interlock
