// Safe recovery and the heartbeat of an account (docs/contracts/agent-loop.md#safe-recovery).
#include "base/errors.h"
#include "base/log.h"
#include "codec/json_list.h"
#include "loop/service/loop_service.h"

namespace interlock {
namespace {

TimerId timer_of(const VenueAccount& account) {
    return TimerId::trusted(
        "recovery." + account.tenant_id.text() + "." + std::string(to_word(account.mode)) + "." +
        account.account_id.text());
}

TimerItem kill_check(const VenueAccount& account, const std::string& reason, Timestamp now) {
    constexpr Duration kPause = Duration::of_seconds(1);
    return {
        .timer_id = TimerId::trusted("kill_check." + timer_of(account).text()),
        .tenant_id = account.tenant_id,
        .kind = "loop_kill_check",
        .json = to_text(Json::object({{"account", encode(account)}, {"reason", reason}})),
        .due_at = now + kPause,
    };
}

bool is_startup(const std::vector<std::string>& reasons) {
    return reasons.size() == 1 && reasons.front() == "startup";
}

}  // namespace

Result<void> LoopService::enter_recovery_of(
    Turn& turn, const VenueAccount& account, std::vector<std::string> reasons) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return fail(errors::unknown_account, "An account to be recovered does not exist.");
    }
    const bool startup = is_startup(reasons);
    if (startup) {
        AccountBooks books = *view.books;
        for (const OrderRecord& order : mark_interrupted(books.books, turn.now())) {
            save_order(turn, order);
        }
        if (books != *view.books) {
            save_books(turn, account, std::move(books));
        }
    }
    TRY_ASSIGN(const Decimal exposure, worst_case_exposure(view.books->books));
    const RecoveryCause cause{
        .at = turn.now(), .reasons = std::move(reasons), .exposure = exposure};
    return recover(
        turn,
        account,
        startup ? begin_at_startup(view.account->recovery, cause)
                : enter_recovery(view.account->recovery, cause));
}

Result<void> LoopService::recover(Turn& turn, const VenueAccount& account, RecoveryStep step) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    const bool changed = step.state != view.account->recovery;
    if (changed) {
        Account next = *view.account;
        next.recovery = step.state;
        ++next.version;
        put_account(turn, std::move(next));
    }
    if (!step.state.next_cycle_at) {
        turn.clear_timer(timer_of(account));
    } else if (step.state.next_cycle_at != view.account->recovery.next_cycle_at) {
        // Left alone otherwise: a cycle that is due or under way must not be counted twice.
        turn.set_timer({
            .timer_id = timer_of(account),
            .tenant_id = account.tenant_id,
            .kind = "loop_recovery",
            .json = to_text(encode(account)),
            .due_at = *step.state.next_cycle_at,
        });
    }
    const auto say = [&](std::string event, AuditStatus status, AuditSeverity severity) {
        AuditDraft draft = turn.draft(std::move(event));
        draft.tenant_id = account.tenant_id;
        draft.actor = AuditActor::python;
        draft.step = AuditStep::verify;
        draft.status = status;
        draft.severity = severity;
        draft.reason = step.state.reasons.empty() ? "" : step.state.reasons.front();
        draft.detail.set("account", encode(account));
        draft.detail.set("reasons", json_list(step.state.reasons));
        draft.detail.set("cycles", step.state.cycles);
        return turn.audit(std::move(draft));
    };
    if (step.entered) {
        TRY(say("SAFE_RECOVERY_TRIGGERED", AuditStatus::started, AuditSeverity::info));
    }
    if (step.cancel_entries) {
        TRY(cancel_orders(
            turn,
            {.account = account, .decision_id = "sys_recovery", .which = [](const OrderRecord& o) {
                 return !o.is_reduce;
             }}));
    }
    if (step.resolved) {
        TRY(say("SAFE_RECOVERY_RESOLVED", AuditStatus::passed, AuditSeverity::info));
    }
    if (step.escalated) {
        TRY(say("SAFE_RECOVERY_ESCALATED", AuditStatus::failed, AuditSeverity::critical));
    }
    if (!step.kill_reason.empty()) {
        turn.after_commit([this, tenant_id = account.tenant_id, reason = step.kill_reason] {
            parts_.kill.activate_by_rule(tenant_id, "safe_recovery", reason);
        });
        // Committed with the escalation: should we go down before the kill is on the record, this
        // is what still knows of it.
        turn.set_timer(kill_check(account, step.kill_reason, turn.now()));
    }
    return {};
}

Result<std::size_t> LoopService::cancel_orders(Turn& turn, const CancelWish& wish) {
    TRY_ASSIGN(const AccountView view, load_account(turn, wish.account));
    AccountBooks books = *view.books;
    std::size_t asked = 0;
    for (SymbolBook& book : books.books) {
        for (OrderRecord& order : book.open) {
            const bool was_asked = order.cancel_requested && !wish.again;
            if (was_asked || is_uncertain(order) || !wish.which(order)) {
                continue;
            }
            ++asked;
            order = step_order(std::move(order), CancelRequested{}, turn.now()).order;
            turn.effect({
                .kind = std::string(kCancelKind),
                .json = Json::object({
                    {"decision_id", wish.decision_id},
                    {"tick_id", "-"},
                    {"account", encode(wish.account)},
                    {"symbol", order.symbol().text()},
                    {"order_client_id", order.id().text()},
                }),
                .delivery = Delivery::repeatable,
                .life = Duration::of_days(365),
            });
        }
    }
    if (asked > 0) {
        save_books(turn, wish.account, std::move(books));
    }
    return asked;
}

Result<void> LoopService::on_recovery_timer(Turn& turn, const TimerItem& timer) {
    TRY_ASSIGN(const Json json, parse_json(timer.json));
    TRY_ASSIGN(const VenueAccount account, decode_venue_account(json));
    return ask_venue(turn, account, {.cause = AskCause::recovery});
}

TurnRequest LoopService::beat_turn(const VenueAccount& account) {
    TurnRequest turn;
    turn.tenant_id = account.tenant_id;
    turn.principal = internal_principal("loop_beat");
    turn.function = "loop_beat";
    turn.decide = [this, account](Turn& t) -> Result<TurnReply> {
        TRY(run_beat(t, account));
        return Answer{200, "{}"};
    };
    turn.reply = [](Result<Answer> answer) {
        if (!answer) {
            log_error("loop_beat_failed", {{"message", answer.error().message}});
        }
    };
    return turn;
}

Result<void> LoopService::run_beat(Turn& turn, const VenueAccount& account) {
    TRY_ASSIGN(const AccountView view, load_account(turn, account));
    if (!view.account) {
        return {};
    }
    Account next = *view.account;
    TRY(roll_to(next, turn.now()));
    const MarketSet market = parts_.feed.facts(priced_symbols(view));
    mark(next, view.books->books, market);
    TRY_ASSIGN(const RiskMode aftermath, kill_aftermath(turn, account.tenant_id));
    const GatherInput input{
        .account = next,
        .books = view.books->books,
        .market = market,
        .now = turn.now(),
        .kill_switch_active = parts_.latch.is_raised(account.tenant_id),
        .stricter_mode = aftermath,
        .permissions_verified = account.mode != TradeMode::live,
    };
    TRY_ASSIGN(const TierStep step, scale_risk(next, input));
    for (const TierReason& stop : step.new_stops) {
        AuditDraft draft = turn.draft("STOP_CONDITION");
        draft.tenant_id = account.tenant_id;
        draft.status = AuditStatus::failed;
        draft.severity = AuditSeverity::critical;
        draft.reason = stop.detail;
        draft.detail.set("code", stop.code);
        draft.detail.set("account", encode(account));
        TRY(turn.audit(std::move(draft)));
    }
    if (step.changed) {
        AuditDraft draft = turn.draft("RISK_TIER_CHANGED");
        draft.tenant_id = account.tenant_id;
        draft.reason = "risk tier is " + std::string(to_word(step.state.tier));
        draft.detail.set("tier", to_word(step.state.tier));
        draft.detail.set("account", encode(account));
        TRY(turn.audit(std::move(draft)));
    }
    if (next != *view.account) {
        put_account(turn, std::move(next));
    }
    return {};
}

}  // namespace interlock
