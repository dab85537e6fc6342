// A bot's exchange keys and its session with the exchange
// (docs/contracts/vault.md#2-what-a-key-may-do): provisioning, the daily check, connect and
// disconnect.
#include "base/errors.h"
#include "base/log.h"
#include "bots/rules/account_policy.h"
#include "bots/service/bot_service.h"
#include "host/wire/vault_row.h"

namespace interlock {
namespace {

// The first turn of several under one key: an answer that is stored already goes to `reply`, and
// what this turn decides is not the answer.
TurnRequest answered_later(TurnRequest turn, BotService::Reply reply) {
    const auto ran = std::make_shared<bool>(false);
    turn.decide = [ran, decide = std::move(turn.decide)](Turn& t) -> Result<TurnReply> {
        *ran = true;
        TRY(decide(t));
        return Answer{200, {}, false};
    };
    turn.reply =
        [ran, next = std::move(turn.reply), reply = std::move(reply)](Result<Answer> answer) {
            if (*ran || !answer) {
                next(std::move(answer));
            } else {
                reply(std::move(answer));
            }
        };
    return turn;
}

}  // namespace

Result<std::optional<std::string>> BotService::exchange_of(Turn& turn) {
    TRY_ASSIGN(
        const VaultRow row,
        turn.load_or(vault_machine(turn.tenant_id()), decode_vault_row, VaultRow{}));
    return row.entries.empty() ? std::nullopt : std::optional(row.entries.back().exchange);
}

// The keys travel beside the turn, never inside it: nothing of them can be stored or logged.
void BotService::put_keys(Caller caller, ExchangeKeys keys, Reply reply) {
    const auto held = std::make_shared<ExchangeKeys>(std::move(keys));
    TypedDecide<bool> allowed = [this, held](Turn& turn) -> Result<Outcome<bool>> {
        // First, so that nobody asks an owner to grant what does not exist.
        TRY(check_exchange(held->exchange));
        const bool needs = needs_grant(turn.principal(), held->exchange);
        if (needs && rules_.check_grant) {
            TRY(rules_.check_grant(turn, held->exchange));
        } else if (needs) {
            return fail(
                errors::forbidden,
                "Without a human's grant only keys of the paper exchange can be provisioned.");
        }
        return true;
    };
    TypedReply<bool> next = [this, caller, held, reply](Result<bool> may) {
        if (!may) {
            reply(std::unexpected(std::move(may).error()));
            return;
        }
        const std::string exchange = held->exchange;
        parts_.vault.put(
            {caller.principal, caller.tenant_id},
            std::move(*held),
            [this, caller, reply](Result<KeyReport> report) {
                if (!report) {
                    reply(std::unexpected(std::move(report).error()));
                    return;
                }
                board_.forget_text(caller.tenant_id, kExchangeText);
                Json body = encode(*report);
                body.set("message", "The keys are in the vault.");
                body.set("keys_loaded", true);
                begin_key_checks(caller, Answer{200, to_text(body)}, reply);
            },
            [this, exchange](Turn& turn) {
                return rules_.take_grant ? rules_.take_grant(turn, exchange) : Result<void>();
            });
    };
    TurnRequest turn = typed_turn<bool>(
        keyed_turn_of(caller, "update_exchange_keys"), std::move(allowed), std::move(next));
    parts_.submit(answered_later(std::move(turn), std::move(reply)));
}

// Puts the answer under the caller's key, too.
void BotService::begin_key_checks(const Caller& caller, Answer answer, Reply reply) {
    TurnRequest turn = keyed_turn_of(caller, "update_exchange_keys");
    turn.principal = internal_principal("bot");
    turn.decide = [answer](Turn& t) -> Result<TurnReply> {
        set_key_check(t);
        return answer;
    };
    turn.reply = [answer, reply = std::move(reply)](const Result<Answer>& stored) {
        if (!stored) {
            log_error(
                "bot_turn_failed",
                {{"turn", "bot_key_checks"}, {"message", stored.error().message}});
        }
        reply(stored ? *stored : answer);  // The keys are in the vault all the same.
    };
    parts_.submit(std::move(turn));
}

void BotService::set_key_check(Turn& turn) {
    turn.set_timer(
        {.timer_id = TimerId::trusted("bot_key_check." + turn.tenant_id().text()),
         .tenant_id = turn.tenant_id(),
         .kind = std::string(kKeyCheckTimer),
         .json = "{}",
         .due_at = turn.now() + kKeyCheckEvery});
}

Result<void> BotService::on_key_check(Turn& turn, const TimerItem& timer) {
    TRY_ASSIGN(const std::optional<std::string> exchange, exchange_of(turn));
    if (!exchange) {
        return {};  // Wiped; provisioning begins it again.
    }
    set_key_check(turn);
    turn.after_commit([this, tenant_id = timer.tenant_id, name = *exchange] {
        parts_.vault.check(
            {internal_principal("bot"), tenant_id},
            {.exchange = name, .moment = KeyMoment::daily},
            [this, tenant_id](Result<KeyReport> report) {
                board_.forget_text(tenant_id, kExchangeText);
                if (!report && report.error() == errors::key_rejected) {
                    lose_keys(tenant_id, report.error());
                }
            });
    });
    return {};
}

// What a key may do has changed behind our back: nothing trades with it any more
// (kill-switch.md#1-turning-it-on).
void BotService::lose_keys(const TenantId& tenant_id, const Error& error) {
    parts_.kill.activate_by_rule(tenant_id, "key_check", error.message);
    TurnRequest turn = rule_turn(tenant_id, "bot_keys_lost");
    turn.decide = [this, error](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(BotRecord record, load(t));
        record.trouble = std::string(error.code()) + ": " + error.message;
        record.stall = {};
        TRY(move_to(
            t,
            std::move(record),
            BotState::uninitialized,
            {.event = "BOT_FAILED",
             .reason = error.message,
             .detail = Json::object({{"code", error.code()}}),
             .severity = AuditSeverity::critical}));
        return Answer{};
    };
    parts_.submit(std::move(turn));
}

void BotService::connect(Caller caller, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), "connect_exchange");
    turn.reply = std::move(reply);
    turn.decide = [this](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const BotRecord record, load(t));
        TRY_ASSIGN(const std::optional<std::string> exchange, exchange_of(t));
        if (!exchange) {
            return fail(errors::keys_missing, "No exchange keys are loaded for this tenant.");
        }
        TRY(check_markets_allowed(t, record.config));
        if (record.is_connected) {
            return state_answer(record, "The session is open.", Json::object());
        }
        TRY(t.charge_agent());
        BotRecord next = record;
        next.is_connected = true;
        // What happened meanwhile is not known: everything is read anew before it trades.
        next.stall = {
            .is_stalled = next.state == BotState::running,
            .cause = StallCause::session,
            .is_told = record.stall.is_told};
        TRY_ASSIGN(
            const std::string ref,
            note(
                t,
                next,
                {.event = "BOT_CONNECTED",
                 .detail = Json::object(),
                 .severity = severity_of_end(next.stall.is_told)}));
        save(t, next);
        return state_answer(next, "The session is open again.", Json::object({{"audit_ref", ref}}));
    };
    parts_.submit(std::move(turn));
}

void BotService::disconnect(Caller caller, Reply reply) {
    TurnRequest turn = keyed_turn_of(std::move(caller), "disconnect_exchange");
    turn.reply = std::move(reply);
    turn.decide = [this](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(BotRecord record, load(t));
        if (!record.is_connected) {
            return state_answer(record, "The session is closed.", Json::object());
        }
        record.is_connected = false;
        record.stall.is_stalled = record.state == BotState::running;
        // People who did not ask for it hear that their bot trades no more.
        const bool is_news = record.stall.is_stalled && !record.stall.is_told &&
                             t.principal().kind == PrincipalKind::agent;
        record.stall.is_told = record.stall.is_told || is_news;
        TRY_ASSIGN(
            const std::string ref,
            note(
                t,
                record,
                {.event = "BOT_DISCONNECTED",
                 .detail = Json::object(),
                 .severity = is_news ? AuditSeverity::critical : AuditSeverity::info}));
        save(t, record);
        return state_answer(
            record,
            "The session is closed; a running bot places nothing until it is opened.",
            Json::object({{"audit_ref", ref}}));
    };
    parts_.submit(std::move(turn));
}

}  // namespace interlock
